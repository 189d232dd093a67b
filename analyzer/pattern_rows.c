/* SPDX-License-Identifier: Apache-2.0 */
/* The rows behind a misaligned two-dimensional launch, from its shape and the bytes asked for. */
#include <math.h>

#include "analyzer/pattern.h"
#include "analyzer/thresholds.h"

enum { WARP_LANES = 32, PHASES = 32 };

/* Sectors per request that full rows of that many bytes take, one after the other without padding. */
static double packed_sectors(const struct gmt_tl_class *class, double row_bytes, double word_bytes)
{
    size_t row = (size_t)row_bytes, word = (size_t)word_bytes;
    size_t lanes = (size_t)(class->block[0] < WARP_LANES ? class->block[0] : WARP_LANES);
    size_t sectors = 0, segments = 0;

    for (size_t r = 0; r < PHASES; r++) {
        size_t start = r * row % GMT_SECTOR_BYTES;

        for (size_t at = 0; at < row; at += lanes * word) {
            size_t bytes = row - at < lanes * word ? row - at : lanes * word;

            sectors += (start + at + bytes - 1) / GMT_SECTOR_BYTES -
                       (start + at) / GMT_SECTOR_BYTES + 1;
            segments++;
        }
    }
    /* A warp covers several rows where the block is narrower than it. */
    return (double)sectors * (double)WARP_LANES / (double)lanes / (double)segments;
}

/* Words of a row and number of rows, within the last block of each dimension, whose product it is. */
static bool factor(const struct gmt_tl_class *class, double words, double *width, double *height)
{
    int64_t most_x = class->grid[0] * class->block[0];
    double most_y = (double)(class->grid[1] * class->block[1]);

    for (int64_t x = most_x; x > most_x - class->block[0] && x >= 1; x--) {
        double y = words / (double)x;

        if (y == floor(y) && y <= most_y && y > most_y - (double)class->block[1]) {
            *width = (double)x;
            *height = y;
            return true;
        }
    }
    return false;
}

bool gmt_pattern_rows(const struct gmt_tl_class *class, const struct gmt_access *access,
                      struct gmt_pattern *pattern)
{
    double blocks = (double)class->grid[0] * (double)class->grid[1];
    double threads = (double)class->block[0] * (double)class->block[1];
    double warps = blocks * ceil(threads / WARP_LANES);
    double arrays = round(access->requests / warps), width, height;

    if (class->grid[1] < 2 || class->grid[2] > 1 || class->block[2] > 1 || !(arrays >= 1) ||
        !(access->requests > 0))
        return false;
    /* The smallest word with which the grid's threads could ask for so much. */
    double word = exp2(ceil(log2(access->bytes / (arrays * blocks * threads))));
    if (!(word >= 1) || word > 16 ||
        !factor(class, access->bytes / (arrays * word), &width, &height))
        return false;
    double row = width * word, expected = packed_sectors(class, row, word);
    double measured = access->sectors / access->requests;
    if (fmod(row, GMT_SECTOR_BYTES) == 0 || fabs(measured / expected - 1) > GMT_ROWS_MATCH)
        return false;
    pattern->row_bytes = row;
    pattern->rows = height;
    pattern->width_bytes = word;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The rows behind a misaligned two-dimensional launch, from its shape and the bytes asked for. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/pattern.h"

enum { WARP_LANES = 32, PHASES = 32, BLOCK_THREADS_MOST = 1024 };

/* Sectors that the first n of a row's segments of that many bytes touch, from `start` on. */
static size_t sectors_of(size_t start, size_t bytes, size_t n)
{
    size_t sectors = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = start + i * bytes;

        sectors += (at + bytes - 1) / GMT_SECTOR_BYTES - at / GMT_SECTOR_BYTES + 1;
    }
    return sectors;
}

/* Sectors per request that full rows of that many bytes take, one after the other without padding. */
static double packed_sectors(const struct gmt_tl_class *class, double row_bytes, double word_bytes)
{
    size_t row = (size_t)row_bytes, word = (size_t)word_bytes;
    size_t lanes = (size_t)(class->block[0] < WARP_LANES ? class->block[0] : WARP_LANES);
    size_t bytes = lanes * word, whole = row / bytes, rest = row % bytes;
    /* A cycle: as many segments as a sector has bytes; after it they lie in their sectors as at first. */
    size_t cycles = whole / GMT_SECTOR_BYTES;
    double sectors = 0;

    for (size_t r = 0; r < PHASES; r++) {
        size_t start = r * row % GMT_SECTOR_BYTES;

        /* Rows may be long: each cycle is counted once. */
        sectors += (double)cycles * (double)sectors_of(start, bytes, GMT_SECTOR_BYTES) +
                   (double)sectors_of(start, bytes, whole % GMT_SECTOR_BYTES);
        if (rest > 0) {
            sectors += (double)sectors_of((start + whole * bytes) % GMT_SECTOR_BYTES, rest, 1);
        }
    }
    /* A warp covers several rows where the block is narrower than it. */
    double segments = (double)PHASES * (double)(whole + (rest > 0));
    return sectors * (double)WARP_LANES / (double)lanes / segments;
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

    /* No device has larger blocks; each width within one is tried. */
    if (threads < 1 || threads > BLOCK_THREADS_MOST || class->grid[1] < 2 || class->grid[2] > 1 ||
        class->block[2] > 1 || !(arrays >= 1) || !(access->requests > 0)) {
        return false;
    }
    /* The smallest word with which the grid's threads could ask for so much. */
    double word = exp2(ceil(log2(access->bytes / (arrays * blocks * threads))));
    if (!(word >= 1) || word > 16 ||
        !factor(class, access->bytes / (arrays * word), &width, &height)) {
        return false;
    }
    double row = width * word, expected = packed_sectors(class, row, word);
    double measured = access->sectors / access->requests;
    if (fmod(row, GMT_SECTOR_BYTES) == 0 || fabs(measured / expected - 1) > GMT_ROWS_MATCH) {
        return false;
    }
    pattern->row_bytes = row;
    pattern->rows = height;
    pattern->width_bytes = word;
    return true;
}

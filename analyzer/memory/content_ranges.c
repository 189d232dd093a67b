/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted array of disjoint ranges. */
#include "analyzer/memory/content_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"

size_t gmt_content_ranges_behind(const struct gmt_content_ranges *places, int64_t offset)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (places->rows[middle].offset + places->rows[middle].bytes <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct gmt_content_range *gmt_content_ranges_find(const struct gmt_content_ranges *places,
                                                  int64_t offset, int64_t bytes)
{
    size_t at = gmt_content_ranges_behind(places, offset);

    return at < places->count && places->rows[at].offset == offset &&
                   places->rows[at].bytes == bytes
               ? &places->rows[at]
               : NULL;
}

void gmt_content_ranges_forget(struct gmt_content_ranges *places, int64_t offset, int64_t bytes)
{
    size_t from = gmt_content_ranges_behind(places, offset), to = from;

    while (to < places->count && places->rows[to].offset < offset + bytes) {
        to++;
    }
    if (to > from) {
        memmove(places->rows + from, places->rows + to,
                (places->count - to) * sizeof(*places->rows));
    }
    places->count -= to - from;
}

static bool has_room(struct gmt_content_ranges *places)
{
    size_t capacity = places->capacity != 0 ? 2 * places->capacity : 4;

    if (places->count < places->capacity) {
        return true;
    }
    struct gmt_content_range *rows = realloc(places->rows, capacity * sizeof(*rows));
    if (rows == NULL) {
        return false;
    }
    places->rows = rows;
    places->capacity = capacity;
    return true;
}

bool gmt_content_ranges_remember(struct gmt_content_ranges *places,
                                 const struct gmt_content_range *place)
{
    gmt_content_ranges_forget(places, place->offset, place->bytes);
    /* Pieces of a pool: what is not looked up soon is not worth the search. */
    if (places->count == GMT_CONTENT_RANGES) {
        places->count = 0;
    }
    if (!has_room(places)) {
        return false;
    }
    size_t at = gmt_content_ranges_behind(places, place->offset);
    memmove(places->rows + at + 1, places->rows + at, (places->count - at) * sizeof(*places->rows));
    places->rows[at] = *place;
    places->count++;
    return true;
}

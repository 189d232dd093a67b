/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted array of disjoint ranges. */
#include "analyzer/memory/content_places.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"

size_t gmt_places_behind(const struct gmt_places *places, int64_t offset)
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

struct gmt_place *gmt_places_find(const struct gmt_places *places, int64_t offset, int64_t bytes)
{
    size_t at = gmt_places_behind(places, offset);

    return at < places->count && places->rows[at].offset == offset &&
                   places->rows[at].bytes == bytes
               ? &places->rows[at]
               : NULL;
}

void gmt_places_forget(struct gmt_places *places, int64_t offset, int64_t bytes)
{
    size_t from = gmt_places_behind(places, offset), to = from;

    while (to < places->count && places->rows[to].offset < offset + bytes) {
        to++;
    }
    if (to > from) {
        memmove(places->rows + from, places->rows + to,
                (places->count - to) * sizeof(*places->rows));
    }
    places->count -= to - from;
}

static bool has_room(struct gmt_places *places)
{
    size_t capacity = places->capacity != 0 ? 2 * places->capacity : 4;

    if (places->count < places->capacity) {
        return true;
    }
    struct gmt_place *rows = realloc(places->rows, capacity * sizeof(*rows));
    if (rows == NULL) {
        return false;
    }
    places->rows = rows;
    places->capacity = capacity;
    return true;
}

bool gmt_places_remember(struct gmt_places *places, const struct gmt_place *place)
{
    gmt_places_forget(places, place->offset, place->bytes);
    /* Pieces of a pool: what is not looked up soon is not worth the search. */
    if (places->count == GMT_CONTENT_PLACES) {
        places->count = 0;
    }
    if (!has_room(places)) {
        return false;
    }
    size_t at = gmt_places_behind(places, place->offset);
    memmove(places->rows + at + 1, places->rows + at, (places->count - at) * sizeof(*places->rows));
    places->rows[at] = *place;
    places->count++;
    return true;
}

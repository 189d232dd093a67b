/* SPDX-License-Identifier: Apache-2.0 */
/* What was seen about one thing, for the passes over the records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/recording/ring_sift_internal.h"

enum { KEY_BYTES = 256 };

struct sift_pair *gmt_sift_pair(struct sift *sift, enum subject subject, const void *key,
                                size_t bytes)
{
    static struct sift_pair none;
    uint8_t whole[KEY_BYTES];
    uint64_t id = 0;
    size_t used = bytes < sizeof(whole) - 1 ? bytes : sizeof(whole) - 1;
    none = (struct sift_pair){0};
    whole[0] = (uint8_t)subject;
    memcpy(whole + 1, key, used);
    int known = gmt_intern_id(&sift->keys, whole, used + 1, sift->count, &id);
    if (known == 0 && sift->count == sift->capacity) {
        size_t capacity = sift->capacity != 0 ? 2 * sift->capacity : 1024;
        struct sift_pair *pairs = realloc(sift->pairs, capacity * sizeof(*pairs));
        known = pairs != NULL ? 0 : -ENOMEM;
        sift->pairs = pairs != NULL ? pairs : sift->pairs;
        sift->capacity = pairs != NULL ? capacity : sift->capacity;
    }
    if (known < 0) {
        sift->error = known;
        return &none;
    }
    if (known == 0) {
        sift->pairs[sift->count++] = (struct sift_pair){0};
    }
    return &sift->pairs[id];
}

const void *gmt_sift_data(const struct sift *sift, size_t one_more)
{
    return sift->content->records[one_more - 1].data;
}

void gmt_sift_drop(const struct sift *sift, size_t one_more)
{
    if (one_more != 0) {
        sift->content->records[one_more - 1].verdict = GMT_RING_DROPPED;
    }
}

uint8_t gmt_sift_in_or(const struct sift *sift, uint64_t ns, enum gmt_ring_verdict otherwise)
{
    return (uint8_t)(ns >= sift->begin_ns ? GMT_RING_IN : otherwise);
}

void gmt_sift_keep_latest(struct sift *sift, struct sift_pair *pair, size_t i, uint64_t ticks,
                          uint64_t (*ticks_of)(const void *data))
{
    if (pair->first != 0 && ticks_of(gmt_sift_data(sift, pair->first)) > ticks) {
        gmt_sift_drop(sift, i + 1);
        return;
    }
    gmt_sift_drop(sift, pair->first);
    pair->first = i + 1;
}

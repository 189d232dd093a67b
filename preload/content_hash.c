/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 over a range of memory or over blocks of it. */
#include "preload/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

size_t gmt_hash_bytes(size_t bytes, size_t limit)
{
    return bytes <= limit || bytes <= GMT_HASH_SAMPLED_BYTES ? bytes : GMT_HASH_SAMPLED_BYTES;
}

/* `count` bytes of the rows put one after another, from byte `at`. */
static void add(XXH3_state_t *state, const struct gmt_hash_range *range, size_t at, size_t count)
{
    while (count != 0) {
        size_t row = at / range->width, column = at % range->width;
        size_t run = range->width - column < count ? range->width - column : count;
        (void)XXH3_128bits_update(state, (const char *)range->start + row * range->pitch + column,
                                  run);
        at += run;
        count -= run;
    }
}

/* Block i begins at i / (n - 1) of what is left beside a block; the last one ends where the memory does. */
static void add_blocks(XXH3_state_t *state, const struct gmt_hash_range *range, size_t bytes)
{
    size_t step = (bytes - GMT_HASH_BLOCK_BYTES) / (GMT_HASH_BLOCKS - 1);
    for (size_t i = 0; i + 1 < GMT_HASH_BLOCKS; i++) {
        add(state, range, i * step, GMT_HASH_BLOCK_BYTES);
    }
    add(state, range, bytes - GMT_HASH_BLOCK_BYTES, GMT_HASH_BLOCK_BYTES);
}

struct gmt_hash gmt_hash_of(const struct gmt_hash_range *range, size_t limit)
{
    size_t bytes = range->width * range->rows;
    struct gmt_hash hash = {.bytes_hashed = gmt_hash_bytes(bytes, limit)};
    XXH128_hash_t value;
    hash.whole = hash.bytes_hashed == bytes;
    if (hash.whole && (range->rows == 1 || range->pitch == range->width)) {
        value = XXH3_128bits(range->start, bytes);
    } else {
        XXH3_state_t state;
        (void)XXH3_128bits_reset(&state);
        if (hash.whole) {
            add(&state, range, 0, bytes);
        } else {
            add_blocks(&state, range, bytes);
        }
        value = XXH3_128bits_digest(&state);
    }
    hash.low = value.low64;
    hash.high = value.high64;
    return hash;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 over a range of memory or over blocks of it. */
#include "preload/hash/content_hash.h"

#include <sys/uio.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libtrace/record/scratch.h"

#define CAREFUL_BYTES ((size_t)8192)

struct hasher {
    XXH3_state_t state;
    char *copy; /* CAREFUL_BYTES */
};

static bool add_carefully(struct hasher *hasher, const char *start, size_t count)
{
    while (count != 0) {
        size_t piece = count < CAREFUL_BYTES ? count : CAREFUL_BYTES;
        struct iovec to = {hasher->copy, piece}, from = {(void *)(uintptr_t)start, piece}; // NOLINT
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)piece) {
            return false;
        }
        (void)XXH3_128bits_update(&hasher->state, hasher->copy, piece);
        start += piece;
        count -= piece;
    }
    return true;
}

size_t gmt_hash_bytes(size_t bytes, size_t limit)
{
    return bytes <= limit || bytes <= GMT_HASH_SAMPLED_BYTES ? bytes : GMT_HASH_SAMPLED_BYTES;
}

/* `count` bytes of the rows put one after another, from byte `at`. */
static bool add(struct hasher *hasher, const struct gmt_hash_range *range, size_t at, size_t count)
{
    bool good = true;
    while (count != 0 && good) {
        size_t row = at / range->width, column = at % range->width;
        size_t run = range->width - column < count ? range->width - column : count;
        const char *from = (const char *)range->start + row * range->pitch + column;
        if (range->careful) {
            good = add_carefully(hasher, from, run);
        } else {
            (void)XXH3_128bits_update(&hasher->state, from, run);
        }
        at += run;
        count -= run;
    }
    return good;
}

/* Block i begins at i / (n - 1) of what is left beside a block; the last one ends where the memory does. */
static bool add_blocks(struct hasher *hasher, const struct gmt_hash_range *range, size_t bytes)
{
    size_t step = (bytes - GMT_HASH_BLOCK_BYTES) / (GMT_HASH_BLOCKS - 1);
    bool good = true;
    for (size_t i = 0; i + 1 < GMT_HASH_BLOCKS && good; i++) {
        good = add(hasher, range, i * step, GMT_HASH_BLOCK_BYTES);
    }
    return good && add(hasher, range, bytes - GMT_HASH_BLOCK_BYTES, GMT_HASH_BLOCK_BYTES);
}

struct gmt_hash gmt_hash_of(const struct gmt_hash_range *range, size_t limit)
{
    size_t bytes = range->width * range->rows;
    struct gmt_hash hash = {.bytes_hashed = gmt_hash_bytes(bytes, limit)};
    XXH128_hash_t value;
    hash.whole = hash.bytes_hashed == bytes;
    if (!range->careful && hash.whole && (range->rows == 1 || range->pitch == range->width)) {
        value = XXH3_128bits(range->start, bytes);
    } else {
        struct hasher hasher = {.copy = range->careful ? gmt_scratch_take(CAREFUL_BYTES) : NULL};
        (void)XXH3_128bits_reset(&hasher.state);
        bool good = (!range->careful || hasher.copy != NULL) &&
                    (hash.whole ? add(&hasher, range, 0, bytes)
                                : add_blocks(&hasher, range, bytes));
        if (hasher.copy != NULL) {
            gmt_scratch_give(hasher.copy, CAREFUL_BYTES);
        }
        if (!good) {
            return (struct gmt_hash){0};
        }
        value = XXH3_128bits_digest(&hasher.state);
    }
    hash.low = value.low64;
    hash.high = value.high64;
    return hash;
}

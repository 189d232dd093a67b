/* SPDX-License-Identifier: Apache-2.0 */
/* 128-bit fingerprints of host memory: of every byte, or of blocks spread over it. Needs only libc. */
#ifndef GMT_PRELOAD_HASH_CONTENT_HASH_H
#define GMT_PRELOAD_HASH_CONTENT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of larger memory: so many blocks of so many bytes, the first and the last ones among them, at places
 * that follow from the size alone. */
#define GMT_HASH_BLOCKS 64u
#define GMT_HASH_BLOCK_BYTES ((size_t)4096)
#define GMT_HASH_SAMPLED_BYTES (GMT_HASH_BLOCKS * GMT_HASH_BLOCK_BYTES)

/* Rows of `width` bytes, `pitch` apart. One row: any number of bytes that follow one another. */
struct gmt_hash_range {
    const void *start;
    size_t width, rows, pitch;
    bool careful; /* through the kernel: slower, but memory that cannot be read does no harm */
};

struct gmt_hash {
    uint64_t low, high; /* XXH3, 128 bits, of the bytes in their order; the pitch plays no part */
    uint64_t bytes_hashed;
    bool whole; /* every byte was looked at */
};

/* What gmt_hash_of would read of `bytes` bytes: all of them up to `limit`, else the blocks. */
size_t gmt_hash_bytes(size_t bytes, size_t limit);

/* The fingerprint of a range whose bytes can all be read. bytes_hashed = 0: they could not (careful
 * only). */
struct gmt_hash gmt_hash_of(const struct gmt_hash_range *range, size_t limit);

#endif

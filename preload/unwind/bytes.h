/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over bytes that may be damaged: reading beyond the end yields 0 and marks it failed. */
#ifndef GMT_PRELOAD_UNWIND_BYTES_H
#define GMT_PRELOAD_UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gmt_bytes {
    const uint8_t *at, *end;
    bool failed;
};

static inline size_t gmt_bytes_left(const struct gmt_bytes *bytes)
{
    return (size_t)(bytes->end - bytes->at);
}

static inline void gmt_bytes_skip(struct gmt_bytes *bytes, uint64_t count)
{
    if (count > gmt_bytes_left(bytes)) {
        bytes->failed = true;
        bytes->at = bytes->end;
    } else {
        bytes->at += count;
    }
}

/* A little-endian number of `size` bytes, at most 8. */
static inline uint64_t gmt_bytes_unsigned(struct gmt_bytes *bytes, size_t size)
{
    uint64_t value = 0;
    const uint8_t *at = bytes->at;
    gmt_bytes_skip(bytes, size);
    if (!bytes->failed) {
        memcpy(&value, at, size);
    }
    return value;
}

static inline int64_t gmt_bytes_signed(struct gmt_bytes *bytes, size_t size)
{
    unsigned unused = 64 - 8 * (unsigned)size;
    return (int64_t)(gmt_bytes_unsigned(bytes, size) << unused) >> unused;
}

/* DWARF's LEB128; bits beyond the 64th are lost. */
static inline uint64_t gmt_bytes_uleb(struct gmt_bytes *bytes)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = gmt_bytes_unsigned(bytes, 1);
        value |= shift < 64 ? (byte & 127) << shift : 0;
        shift += 7;
    } while ((byte & 128) != 0);
    return value;
}

static inline int64_t gmt_bytes_sleb(struct gmt_bytes *bytes)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = gmt_bytes_unsigned(bytes, 1);
        value |= shift < 64 ? (byte & 127) << shift : 0;
        shift += 7;
    } while ((byte & 128) != 0);
    return (int64_t)(shift < 64 && (byte & 64) != 0 ? value | UINT64_MAX << shift : value);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of inputs that need not know their form: bits, bytes, fields, pieces. */
#include <string.h>

#include "tests/fuzz/fuzz.h"

/* A length, count or offset: aligned, an extreme value or one next to what is there. */
static void set_field(uint64_t *state, uint8_t *data, size_t bytes)
{
    static const uint64_t values[] = {0,          1,
                                      0x10,       0x40,
                                      0x50,       4096,
                                      INT32_MAX,  (uint64_t)INT32_MAX + 1,
                                      UINT32_MAX, UINT64_C(1) << 32,
                                      INT64_MAX,  (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX};
    const size_t count = sizeof(values) / sizeof(values[0]);
    size_t width = (size_t)1 << gmt_fuzz_below(state, 4);
    size_t at = gmt_fuzz_below(state, bytes) & ~(width - 1),
           which = gmt_fuzz_below(state, count * 2);
    uint64_t value = 0;

    if (at + width > bytes) {
        return;
    }
    memcpy(&value, data + at, width);
    value = which < count ? values[which] : value + gmt_fuzz_below(state, 65) - 32;
    memcpy(data + at, &value, width);
}

static size_t remove_piece(uint64_t *state, uint8_t *data, size_t bytes)
{
    size_t at = gmt_fuzz_below(state, bytes), most = bytes - at < 64 ? bytes - at : 64;
    size_t count = 1 + gmt_fuzz_below(state, most);

    memmove(data + at, data + at + count, bytes - at - count);
    return bytes - count;
}

/* A piece again at another place: pushed in between, or over what is there. */
static size_t repeat_piece(uint64_t *state, uint8_t *data, size_t bytes, size_t limit)
{
    uint8_t piece[256];
    size_t from = gmt_fuzz_below(state, bytes), most = bytes - from;
    size_t count = 1 + gmt_fuzz_below(state, most < sizeof(piece) ? most : sizeof(piece));
    size_t to = gmt_fuzz_below(state, bytes);

    memcpy(piece, data + from, count);
    if (gmt_fuzz_below(state, 2) == 0) {
        memcpy(data + to, piece, to + count <= bytes ? count : bytes - to);
        return bytes;
    }
    if (bytes + count > limit) {
        return bytes;
    }
    memmove(data + to + count, data + to, bytes - to);
    memcpy(data + to, piece, count);
    return bytes + count;
}

size_t gmt_fuzz_mutate_bytes(uint64_t *state, uint8_t *data, size_t bytes, size_t limit)
{
    size_t rounds = (size_t)1 << gmt_fuzz_below(state, 1 + gmt_fuzz_below(state, 5));

    if (bytes == 0 && limit > 0) {
        data[bytes++] = 0;
    }
    for (size_t i = 0; i < rounds && bytes > 0; i++) {
        size_t at = gmt_fuzz_below(state, bytes);

        switch (gmt_fuzz_below(state, 16)) {
        case 0: bytes = remove_piece(state, data, bytes); break;
        case 1: bytes = repeat_piece(state, data, bytes, limit); break;
        case 2: bytes = gmt_fuzz_below(state, 8) == 0 ? 1 + at : bytes; break;
        case 3:
        case 4:
        case 5:
        case 6: data[at] = (uint8_t)(data[at] ^ 1U << gmt_fuzz_below(state, 8)); break;
        case 7: data[at] = (uint8_t)gmt_fuzz_random(state); break;
        default: set_field(state, data, bytes); break;
        }
    }
    return bytes;
}

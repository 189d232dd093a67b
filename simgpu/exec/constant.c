/* SPDX-License-Identifier: Apache-2.0 */
/* Space in the frame of a function being decoded, and the constants in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/decode.h"

/* ---- the frame ------------------------------------------------------------------------------ */

uint32_t sim_frame_reserve(struct sim_decoder *decoder, size_t bytes)
{
    const size_t at = decoder->image_bytes;

    bytes = (bytes + 63) & ~(size_t)63;
    if (bytes > SIM_MAX_FRAME || at + bytes > SIM_MAX_FRAME) {
        sim_decode_refuse(decoder, "a function with more than %u MiB of registers and constants",
                          SIM_MAX_FRAME >> 20);
        return SIM_NOWHERE;
    }
    if (at + bytes > decoder->image_capacity) {
        size_t capacity = decoder->image_capacity != 0 ? decoder->image_capacity : 16384;

        while (capacity < at + bytes) {
            capacity *= 2;
        }
        uint8_t *grown = realloc(decoder->image, capacity);
        if (grown == NULL) {
            decoder->no_memory = decoder->failed = true;
            return SIM_NOWHERE;
        }
        decoder->image = grown;
        decoder->image_capacity = capacity;
    }
    memset(decoder->image + at, 0, bytes);
    decoder->image_bytes = at + bytes;
    return (uint32_t)at;
}

uint32_t sim_decode_carry(struct sim_decoder *decoder)
{
    if (decoder->carry == 0) {
        decoder->carry = sim_frame_reserve(decoder, sizeof(uint32_t));
    }
    return decoder->carry;
}

/* ---- constants ------------------------------------------------------------------------------ */

static void fill_lanes(uint8_t *at, uint64_t low, uint64_t high, unsigned bytes)
{
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        memcpy(at + (size_t)lane * bytes, &low, bytes < 8 ? bytes : 8);
        if (bytes == 16) {
            memcpy(at + (size_t)lane * bytes + 8, &high, 8);
        }
    }
}

static size_t hash_of(uint64_t low, uint64_t high, unsigned bytes)
{
    uint64_t hash = (low ^ (high * 31) ^ bytes) * UINT64_C(0x9E3779B97F4A7C15);

    return (size_t)(hash ^ (hash >> 29));
}

static struct sim_constant_key *find_constant(struct sim_constant_key *table, size_t capacity,
                                              uint64_t low, uint64_t high, unsigned bytes)
{
    size_t at = hash_of(low, high, bytes) & (capacity - 1);

    while (table[at].offset != 0 &&
           (table[at].low != low || table[at].high != high || table[at].bytes != bytes)) {
        at = (at + 1) & (capacity - 1);
    }
    return &table[at];
}

static int grow_constants(struct sim_decoder *decoder)
{
    const size_t capacity = decoder->constant_capacity != 0 ? decoder->constant_capacity * 2 : 64;
    struct sim_constant_key *table = calloc(capacity, sizeof(*table));

    if (table == NULL) {
        decoder->no_memory = decoder->failed = true;
        return -ENOMEM;
    }
    for (size_t i = 0; i < decoder->constant_capacity; i++) {
        const struct sim_constant_key *old = &decoder->constants[i];

        if (old->offset != 0) {
            *find_constant(table, capacity, old->low, old->high, old->bytes) = *old;
        }
    }
    free(decoder->constants);
    decoder->constants = table;
    decoder->constant_capacity = capacity;
    return 0;
}

uint32_t sim_frame_constant(struct sim_decoder *decoder, uint64_t low, uint64_t high,
                            unsigned bytes)
{
    if (decoder->constant_count * 2 >= decoder->constant_capacity && grow_constants(decoder) != 0) {
        return SIM_NOWHERE;
    }
    struct sim_constant_key *key = find_constant(decoder->constants, decoder->constant_capacity,
                                                 low, high, bytes);
    if (key->offset != 0) {
        return key->offset;
    }
    const uint32_t at = sim_frame_reserve(decoder, bytes == 0 ? sizeof(uint32_t)
                                                              : (size_t)bytes * SIM_LANES);
    if (at == SIM_NOWHERE) {
        return SIM_NOWHERE;
    }
    if (bytes == 0) {
        const uint32_t word = low != 0 ? SIM_FULL_MASK : 0;

        memcpy(decoder->image + at, &word, sizeof(word));
    } else {
        fill_lanes(decoder->image + at, low, high, bytes);
    }
    *key = (struct sim_constant_key){low, high, bytes, at};
    decoder->constant_count++;
    return at;
}

unsigned sim_storage_bytes(unsigned bytes)
{
    return bytes <= 2 ? 2 : bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

uint64_t sim_narrowed(uint64_t value, unsigned bytes)
{
    return bytes >= 8 ? value : value & ((UINT64_C(1) << (8 * bytes)) - 1);
}

uint32_t sim_constant(struct sim_decoder *decoder, uint64_t value, unsigned bytes)
{
    return sim_frame_constant(decoder, bytes == 0 ? value : sim_narrowed(value, bytes), 0,
                              bytes == 0 ? 0 : sim_storage_bytes(bytes));
}

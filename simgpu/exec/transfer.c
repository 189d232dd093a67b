/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of loads and stores, one pair per size of element and of register. */
#include "simgpu/exec/transfer.h"

/* Memory is read as what is there, whatever the host's own alignment rules. */
#define ANY __attribute__((aligned(1), may_alias))
typedef uint8_t any8 ANY;
typedef uint16_t any16 ANY;
typedef uint32_t any32 ANY;
typedef uint64_t any64 ANY;
typedef unsigned __int128 any128 ANY;
typedef unsigned __int128 wide;

/* X(bits of the element, as signed, register type, bits of the register) */
#define SIZES(X) \
    X(8, int8_t, uint16_t, 16) \
    X(8, int8_t, uint32_t, 32) \
    X(8, int8_t, uint64_t, 64) \
    X(16, int16_t, uint16_t, 16) \
    X(16, int16_t, uint32_t, 32) \
    X(16, int16_t, uint64_t, 64) \
    X(32, int32_t, uint32_t, 32) \
    X(32, int32_t, uint64_t, 64) \
    X(64, int64_t, uint64_t, 64) \
    X(128, wide, wide, 128)

static bool is_dense(const struct sim_access *access, size_t element_bytes)
{
    return access->shape == SIM_SHAPE_UNIT && access->mask == SIM_FULL_MASK &&
           access->width == element_bytes && access->lane_stride == 0;
}

static bool is_broadcast(const struct sim_access *access)
{
    return access->shape == SIM_SHAPE_SAME && access->lane_stride == 0;
}

#define DEFINE_LOAD(name, element, as, reg) \
    static void name(const struct sim_access *access, uint8_t *registers, unsigned at) \
    { \
        reg *out = SIM_AT(registers, 0, reg); \
        if (is_dense(access, sizeof(element))) { \
            const element *from = (const element *)sim_access_at(access, 0); \
            for (unsigned i = 0; i < SIM_LANES; i++) \
                out[i] = (reg)(as)from[i]; \
        } else if (is_broadcast(access)) { \
            const unsigned lead = sim_first_lane(access->mask); \
            const reg value = (reg)(as) * (const element *)(sim_access_at(access, lead) + at); \
            SIM_FOR_LANES(access->mask, i, out[i] = value); \
        } else { \
            SIM_FOR_LANES(access->mask, i, \
                          out[i] = (reg)(as) * (const element *)(sim_access_at(access, i) + at)); \
        } \
    }

/* Lanes in ascending order: the highest one's value stays. */
#define DEFINE_STORE(name, element, reg) \
    static void name(const struct sim_access *access, uint8_t *registers, unsigned at) \
    { \
        const reg *in = SIM_AT(registers, 0, const reg); \
        if (is_dense(access, sizeof(element))) { \
            element *to = (element *)sim_access_at(access, 0); \
            for (unsigned i = 0; i < SIM_LANES; i++) \
                to[i] = (element)in[i]; \
        } else { \
            SIM_FOR_LANES(access->mask, i, \
                          *(element *)(sim_access_at(access, i) + at) = (element)in[i]); \
        } \
    }

#define DEFINE_ALL(bits, as_signed, reg, reg_bits) \
    DEFINE_LOAD(load_##bits##_##reg_bits, any##bits, reg, reg) \
    DEFINE_LOAD(load_signed_##bits##_##reg_bits, any##bits, as_signed, reg) \
    DEFINE_STORE(store_##bits##_##reg_bits, any##bits, reg)
SIZES(DEFINE_ALL)

const struct sim_transfer_pair sim_transfers[] = {
#define ROW(bits, as_signed, reg, reg_bits) \
    {bits, reg_bits, load_##bits##_##reg_bits, load_signed_##bits##_##reg_bits, \
     store_##bits##_##reg_bits},
    SIZES(ROW)
#undef ROW
};
#define PAIRS (sizeof sim_transfers / sizeof sim_transfers[0])
_Static_assert(PAIRS <= 1u << SIM_TRANSFER_BITS, "an index fits its bits");

int sim_transfer_find(unsigned element_bytes, unsigned register_bytes)
{
    for (size_t i = 0; i < PAIRS; i++) {
        if (sim_transfers[i].element_bits == 8 * element_bytes &&
            sim_transfers[i].register_bits == 8 * register_bytes) {
            return (int)i;
        }
    }
    return -1;
}

void sim_transfer_spread(const struct sim_transfer_pair *pair, bool extend_sign, const void *value,
                         uint32_t mask, uint8_t *registers)
{
    struct sim_access access;

    access.address[sim_first_lane(mask)] = 0;
    access.origin = (uintptr_t)value;
    access.lane_stride = 0;
    access.mask = mask;
    access.shape = SIM_SHAPE_SAME;
    (extend_sign ? pair->load_signed : pair->load)(&access, registers, 0);
}

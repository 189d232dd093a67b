/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of comparison, selection and moves; compiled once per level. */
#include "simgpu/exec/float_bits.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/move.h"

/* ---- comparison ----------------------------------------------------------------------------- */

#define COMPARE(name, pattern, T, value) \
    static inline uint32_t compare_##name(const uint8_t *frame, const struct sim_op *op) \
    { \
        const sim_##T *pa = SIM_SOURCE(frame, op, a, sim_##T); \
        const sim_##T *pb = SIM_SOURCE(frame, op, b, sim_##T); \
        uint32_t result = 0; \
        SIM_LANE_LOOP(i) \
        { \
            const sim_##T a = pa[i], b = pb[i]; \
            result |= (value) ? 1u << i : 0; \
        } \
        return result; \
    } \
    static const struct sim_op *run_##name(struct sim_warp *warp, const struct sim_op *op, \
                                           uint32_t mask) \
    { \
        return sim_compare_finish(warp, op, mask, compare_##name(warp->frame, op)); \
    }
#include "simgpu/exec/compare.def"
#undef COMPARE

static const struct sim_op *run_set(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const struct sim_set *set = op->more;
    const uint32_t holds = sim_compare_combine(warp->frame, op, set->compare(warp->frame, op)).p;
    uint32_t *d = SIM_TARGET(warp->frame, op, uint32_t), v[SIM_LANES];
    SIM_LANE_LOOP(i) v[i] = holds >> i & 1 ? set->value : 0;
    SIM_BLEND(d, v, mask);
    return op + 1;
}

/* ---- moves and selection, for each size of a lane ------------------------------------------- */

#define SIZES(X) X(16) X(32) X(64)

#define MOVE(bits) \
    SIM_WIDE_HANDLER(move##bits, uint##bits##_t, uint##bits##_t, sim_u32, sim_u32, sim_u32, a)
SIZES(MOVE)

#define SELECT(bits) \
    static const struct sim_op *run_select##bits(struct sim_warp *warp, const struct sim_op *op, \
                                                 uint32_t mask) \
    { \
        const uint##bits##_t *a = SIM_SOURCE(warp->frame, op, a, uint##bits##_t); \
        const uint##bits##_t *b = SIM_SOURCE(warp->frame, op, b, uint##bits##_t); \
        uint##bits##_t *d = SIM_TARGET(warp->frame, op, uint##bits##_t), v[SIM_LANES]; \
        const uint32_t p = *SIM_AT(warp->frame, op->c, const uint32_t) ^ \
                           (op->flags & SIM_NEGATED_C ? UINT32_MAX : 0); \
        if (mask == SIM_FULL_MASK) { \
            SIM_LANE_LOOP(i) d[i] = p >> i & 1 ? a[i] : b[i]; \
            return op + 1; \
        } \
        SIM_LANE_LOOP(i) v[i] = p >> i & 1 ? a[i] : b[i]; \
        SIM_BLEND(d, v, mask); \
        return op + 1; \
    }
SIZES(SELECT)

#define CHOOSE(bits) \
    SIM_WIDE_HANDLER(choose_signed##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, sim_s32, \
                     sim_u32, c >= 0 ? a : b) \
    SIM_WIDE_HANDLER( \
        choose_float##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, sim_f32, sim_u32, \
        __builtin_isgreaterequal(op->flags &SIM_FTZ ? sim_flush(c) : c, 0.0f) ? a : b)
SIZES(CHOOSE)

/* ---- bytes ---------------------------------------------------------------------------------- */

/* What modes of prmt pick by the two low bits of the selector: nibbles as in its plain mode. */
static const uint16_t permutations[][4] = {
    [SIM_F4E] = {0x3210, 0x4321, 0x5432, 0x6543}, [SIM_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [SIM_RC8] = {0x0000, 0x1111, 0x2222, 0x3333}, [SIM_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [SIM_ECR] = {0x0000, 0x1110, 0x2210, 0x3210}, [SIM_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
};

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t nibble = selector >> 4 * i;
        uint32_t byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 255;
        if (nibble & 8) { /* copies of the sign bit */
            byte = byte & 128 ? 255 : 0;
        }
        result |= byte << 8 * i;
    }
    return result;
}

SIM_WIDE_HANDLER(permute, sim_u32, sim_u32, sim_u32, sim_u32, sim_u32,
                 permute(a, b, op->flags == SIM_PRMT_INDEX ? c : permutations[op->flags][c & 3]))

/* ---- two halves ----------------------------------------------------------------------------- */

#define HALVES(whole, half) \
    static const struct sim_op *run_unpack##whole(struct sim_warp *warp, const struct sim_op *op, \
                                                  uint32_t mask) \
    { \
        const uint##whole##_t *a = SIM_SOURCE(warp->frame, op, a, uint##whole##_t); \
        uint##half##_t *low = SIM_TARGET(warp->frame, op, uint##half##_t), u[SIM_LANES]; \
        uint##half##_t *high = SIM_AT(warp->frame, op->dst2, uint##half##_t), v[SIM_LANES]; \
        SIM_LANE_LOOP(i) u[i] = (uint##half##_t)a[i]; \
        SIM_LANE_LOOP(i) v[i] = (uint##half##_t)(a[i] >> half); \
        SIM_BLEND(low, u, mask); \
        SIM_BLEND(high, v, mask); \
        return op + 1; \
    } \
    SIM_WIDE_HANDLER(pack##whole, uint##whole##_t, uint##half##_t, uint##half##_t, sim_u32, \
                     sim_u32, (uint##whole##_t)b << half | a)
HALVES(64, 32)
HALVES(32, 16)

const struct sim_move_table SIM_LEVEL_NAME(sim_move_table) = {
    .compares =
        {
#define COMPARE(name, pattern, T, value) {pattern, run_##name, compare_##name, SIM_PTX_##T},
#include "simgpu/exec/compare.def"
#undef COMPARE
        },
    .set = run_set,
    .move = {run_move16, run_move32, run_move64},
    .select = {run_select16, run_select32, run_select64},
    .choose_signed = {run_choose_signed16, run_choose_signed32, run_choose_signed64},
    .choose_float = {run_choose_float16, run_choose_float32, run_choose_float64},
    .permute = run_permute,
    .unpack64 = run_unpack64,
    .unpack32 = run_unpack32,
    .pack64 = run_pack64,
    .pack32 = run_pack32,
};

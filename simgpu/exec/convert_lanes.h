/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of the commonest conversions; compiled once per level. */
#include "simgpu/exec/convert.h"
#include "simgpu/exec/float_bits.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/narrow.h"

/* Toward zero, kept within the type; NaN is 0. Written so that no conversion is out of range. */
static inline int32_t truncate_signed(float a)
{
    const float number = a == a ? a : 0.0f;
    const float below = number < 0x1.fffffep30f ? number : 0x1.fffffep30f;
    const int32_t whole = (int32_t)(below > -0x1p31f ? below : -0x1p31f);
    return number >= 0x1p31f ? INT32_MAX : whole;
}

static inline uint32_t truncate_unsigned(float a)
{
    const float number = a > 0.0f ? a : 0.0f;
    const float below = number < 0x1.fffffep31f ? number : 0x1.fffffep31f;
    const uint32_t whole = (uint32_t)below;
    return number >= 0x1p32f ? UINT32_MAX : whole;
}

static inline float widen_half(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7fff;
    const float finite = sim_float(magnitude << 13) * 0x1p+112f;
    uint32_t result = sim_bits32(finite);
    result = magnitude >= 0x7c00 ? UINT32_C(0x7f800000) : result;
    result |= (bits & 0x8000) << 16;
    return sim_float(magnitude > 0x7c00 ? SIM_NAN32 : result);
}

#define CONVERSIONS(X, Y) \
    X(f32_s32, "cvt.rn.f32.s32", f32, s32, a) \
    X(f32_u32, "cvt.rn.f32.u32", f32, u32, a) \
    X(f64_s32, "cvt.rn.f64.s32", f64, s32, a) \
    X(f64_u32, "cvt.rn.f64.u32", f64, u32, a) \
    X(s32_f32, "cvt.rzi.s32.f32", s32, f32, truncate_signed(a)) \
    X(u32_f32, "cvt.rzi.u32.f32", u32, f32, truncate_unsigned(a)) \
    X(f64_f32, "cvt.f64.f32", f64, f32, a) \
    X(f32_f64, "cvt.rn.f32.f64", f32, f64, a) \
    X(f32_f16, "cvt.f32.f16", f32, b16, widen_half(a)) \
    Y(f16_f32, "cvt.rn.f16.f32", b16, f32, sim_to_half((double)a, SIM_RN))

#define WIDE(name, pattern, D, A, value) \
    SIM_WIDE_HANDLER(name, sim_##D, sim_##A, sim_u32, sim_u32, sim_u32, value)
#define EACH(name, pattern, D, A, value) \
    SIM_EACH_HANDLER(name, sim_##D, sim_##A, sim_u32, sim_u32, sim_u32, value)
CONVERSIONS(WIDE, EACH)

/* Between registers of two sizes, computed in the wider. */
#define EXTEND(from, to, width) \
    static const struct sim_op *run_extend_##from##_##to(struct sim_warp *warp, \
                                                         const struct sim_op *op, uint32_t mask) \
    { \
        typedef uint##width##_t word; \
        const struct sim_extension *extension = op->more; \
        const word keep = (word)extension->from_mask, sign = (word)extension->from_sign; \
        const word to_keep = (word)extension->to_mask, to_sign = (word)extension->to_sign; \
        const uint##from##_t *a = SIM_SOURCE(warp->frame, op, a, uint##from##_t); \
        uint##to##_t *d = SIM_TARGET(warp->frame, op, uint##to##_t), v[SIM_LANES]; \
        SIM_LANE_LOOP(i) \
        { \
            const word x = (((word)a[i] & keep) ^ sign) - sign; \
            v[i] = (uint##to##_t)(((x & to_keep) ^ to_sign) - to_sign); \
        } \
        if (mask == SIM_FULL_MASK) \
            memcpy(d, v, sizeof(v)); \
        else \
            SIM_BLEND(d, v, mask); \
        return op + 1; \
    }
EXTEND(16, 16, 32)
EXTEND(16, 32, 32)
EXTEND(16, 64, 64)
EXTEND(32, 16, 32)
EXTEND(32, 32, 32)
EXTEND(32, 64, 64)
EXTEND(64, 16, 64)
EXTEND(64, 32, 64)
EXTEND(64, 64, 64)

const struct sim_convert_table SIM_LEVEL_NAME(sim_convert_table) = {
    .forms =
        {
#define ROW(name, pattern, D, A, value) {pattern, run_##name, SIM_PTX_##D, {SIM_PTX_##A}},
            CONVERSIONS(ROW, ROW)
#undef ROW
        },
    .extend =
        {
            {run_extend_16_16, run_extend_16_32, run_extend_16_64},
            {run_extend_32_16, run_extend_32_32, run_extend_32_64},
            {run_extend_64_16, run_extend_64_32, run_extend_64_64},
        },
};

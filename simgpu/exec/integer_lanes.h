/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of integer.def, extended-precision arithmetic and lop3; compiled once per level. */
#include "simgpu/exec/integer.h"
#include "simgpu/exec/integer_bits.h"
#include "simgpu/exec/lanes.h"

#define ONE(cost, name, pattern, D, A, value) \
    SIM_##cost##_HANDLER(name, sim_##D, sim_##A, sim_u32, sim_u32, sim_u32, value)
#define TWO(cost, name, pattern, D, A, B, value) \
    SIM_##cost##_HANDLER(name, sim_##D, sim_##A, sim_##B, sim_u32, sim_u32, value)
#define THREE(cost, name, pattern, D, A, B, C, value) \
    SIM_##cost##_HANDLER(name, sim_##D, sim_##A, sim_##B, sim_##C, sim_u32, value)
#define FOUR(cost, name, pattern, D, A, B, C, E, value) \
    SIM_##cost##_HANDLER(name, sim_##D, sim_##A, sim_##B, sim_##C, sim_##E, value)
#include "simgpu/exec/integer.def"
#undef ONE
#undef TWO
#undef THREE
#undef FOUR

/*
 * Extended precision: `sum` in twice the width has the carry (or borrow) out in its bit `BITS`.
 * The carry flag is a word of the frame, a bit per lane, at op->d.
 */
#define CARRY(name, pattern, T, W, sum) \
    static const struct sim_op *run_##name(struct sim_warp *warp, const struct sim_op *op, \
                                           uint32_t mask) \
    { \
        const T *pa = SIM_SOURCE(warp->frame, op, a, T); \
        const T *pb = SIM_SOURCE(warp->frame, op, b, T); \
        const T *pc = SIM_SOURCE(warp->frame, op, c, T); \
        T *pd = SIM_TARGET(warp->frame, op, T); \
        uint32_t *flag = SIM_AT(warp->frame, op->d, uint32_t); \
        const uint32_t carries = *flag; \
        uint32_t out = 0; \
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) { \
            const unsigned i = (unsigned)__builtin_ctz(rest); \
            const W a = pa[i], b = pb[i], c = pc[i], carry = carries >> i & 1; \
            (void)c, (void)carry; \
            const W wide = (sum); \
            pd[i] = (T)wide; \
            out |= (uint32_t)(wide >> (8 * sizeof(T)) & 1) << i; \
        } \
        if (op->flags & SIM_CC) \
            *flag = sim_merge(carries, out, mask); \
        return op + 1; \
    }
#define CARRY2 CARRY
#define CARRY3 CARRY
#include "simgpu/exec/integer_carry.def"
#undef CARRY
#undef CARRY2
#undef CARRY3

/* Any function of three bits: `op->flags` is its truth table, row abc at bit 4a + 2b + c. */
static const struct sim_op *run_lop3(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const uint32_t *a = SIM_SOURCE(warp->frame, op, a, uint32_t);
    const uint32_t *b = SIM_SOURCE(warp->frame, op, b, uint32_t);
    const uint32_t *c = SIM_SOURCE(warp->frame, op, c, uint32_t);
    uint32_t *d = SIM_TARGET(warp->frame, op, uint32_t);
    uint32_t row[8], v[SIM_LANES];
    for (unsigned i = 0; i < 8; i++) {
        row[i] = op->flags >> i & 1 ? UINT32_MAX : 0;
    }
    SIM_LANE_LOOP(i)
    {
        const uint32_t c0 = (~c[i] & row[0]) | (c[i] & row[1]);
        const uint32_t c1 = (~c[i] & row[2]) | (c[i] & row[3]);
        const uint32_t c2 = (~c[i] & row[4]) | (c[i] & row[5]);
        const uint32_t c3 = (~c[i] & row[6]) | (c[i] & row[7]);
        v[i] = (~a[i] & ((~b[i] & c0) | (b[i] & c1))) | (a[i] & ((~b[i] & c2) | (b[i] & c3)));
    }
    SIM_BLEND(d, v, mask);
    if (op->dst2 != SIM_NOWHERE) {
        const uint32_t q = *SIM_AT(warp->frame, op->d, uint32_t) ^
                           (op->flags & SIM_LOP3_NEGATED ? UINT32_MAX : 0);
        uint32_t *p = SIM_AT(warp->frame, op->dst2, uint32_t), any = 0;
        SIM_LANE_LOOP(i) any |= v[i] != 0 ? 1u << i : 0;
        *p = sim_merge(*p, op->flags & SIM_LOP3_AND ? any & q : any | q, mask);
    }
    return op + 1;
}

const struct sim_integer_table SIM_LEVEL_NAME(sim_integer_table) = {
    .forms =
        {
#define ROW(name, pattern, ...) {pattern, run_##name, __VA_ARGS__},
#define ONE(cost, name, pattern, D, A, value) ROW(name, pattern, SIM_PTX_##D, {SIM_PTX_##A})
#define TWO(cost, name, pattern, D, A, B, value) \
    ROW(name, pattern, SIM_PTX_##D, {SIM_PTX_##A, SIM_PTX_##B})
#define THREE(cost, name, pattern, D, A, B, C, value) \
    ROW(name, pattern, SIM_PTX_##D, {SIM_PTX_##A, SIM_PTX_##B, SIM_PTX_##C})
#define FOUR(cost, name, pattern, D, A, B, C, E, value) \
    ROW(name, pattern, SIM_PTX_##D, {SIM_PTX_##A, SIM_PTX_##B, SIM_PTX_##C, SIM_PTX_##E})
#include "simgpu/exec/integer.def"
#undef ONE
#undef TWO
#undef THREE
#undef FOUR
        },
    .carries =
        {
#define TYPE_OF(T) (sizeof(T) == 8 ? PTX_B64 : PTX_B32)
#define CARRY2(name, pattern, T, W, sum) ROW(name, pattern, TYPE_OF(T), {TYPE_OF(T), TYPE_OF(T)})
#define CARRY3(name, pattern, T, W, sum) \
    ROW(name, pattern, TYPE_OF(T), {TYPE_OF(T), TYPE_OF(T), TYPE_OF(T)})
#include "simgpu/exec/integer_carry.def"
#undef CARRY2
#undef CARRY3
#undef TYPE_OF
#undef ROW
        },
    .lop3 = run_lop3,
};

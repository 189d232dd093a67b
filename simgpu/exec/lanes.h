/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over lanes, for files that are compiled once for each enum sim_level.
 *
 * A family's <family>_lanes.h holds its handlers as static functions and one table of forms. It is
 * included by <family>.c, for any processor, and by <family>_avx2.c, which sets SIM_AVX2 first.
 */
#ifndef SIMGPU_EXEC_LANES_H
#define SIMGPU_EXEC_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(SIM_AVX2) && defined(__x86_64__)
#define SIM_HAS_AVX2 1 /* elsewhere the second level is never chosen, and compiled as the first */
#include <immintrin.h>
#endif

#include "simgpu/exec/form.h"
#include "simgpu/exec/warp.h"

#ifdef SIM_AVX2
#define SIM_LEVEL_NAME(name) name##_avx2
#else
#define SIM_LEVEL_NAME(name) name##_any
#endif
#ifdef SIM_HAS_AVX2
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt")
#endif
#endif

/* Lane arrays are the same or apart, never shifted: no iteration depends on another. */
#ifdef __clang__
#define SIM_LANE_LOOP(i) \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < SIM_LANES; i++)
#else
#define SIM_LANE_LOOP(i) _Pragma("GCC ivdep") for (unsigned i = 0; i < SIM_LANES; i++)
#endif

/* Types as rows of the .def files write them: of a lane in C, and of the operand in PTX. */
typedef uint16_t sim_u16, sim_b16;
typedef int16_t sim_s16;
typedef uint32_t sim_u32, sim_b32;
typedef int32_t sim_s32;
typedef uint64_t sim_u64, sim_b64;
typedef int64_t sim_s64;
typedef float sim_f32;
typedef double sim_f64;
#define SIM_PTX_u16 PTX_U16
#define SIM_PTX_s16 PTX_S16
#define SIM_PTX_u32 PTX_U32
#define SIM_PTX_s32 PTX_S32
#define SIM_PTX_u64 PTX_U64
#define SIM_PTX_s64 PTX_S64
#define SIM_PTX_b16 PTX_B16
#define SIM_PTX_b32 PTX_B32
#define SIM_PTX_b64 PTX_B64
#define SIM_PTX_f32 PTX_F32
#define SIM_PTX_f64 PTX_F64

/* The lanes of an operation's operand, as an array of `type`. */
#define SIM_SOURCE(frame, op, field, type) ((const type *)SIM_AT(frame, (op)->field, type))
#define SIM_TARGET(frame, op, type) SIM_AT(frame, (op)->dst, type)

/* d[i] = v[i] for the lanes of `mask`. Writing back what other lanes hold is no harm: the paths of a
 * warp run one after another. */
#define SIM_BLEND(d, v, mask) \
    do { \
        SIM_LANE_LOOP(i_)(d)[i_] = (mask) >> i_ & 1 ? (v)[i_] : (d)[i_]; \
    } while (0)

/* Handler of a form whose expression may be computed for lanes that are not active: d of a, b, c, e. */
#define SIM_WIDE_HANDLER(name, D, A, B, C, E, expression) \
    static const struct sim_op *run_##name(struct sim_warp *warp, const struct sim_op *op, \
                                           uint32_t mask) \
    { \
        uint8_t *frame = warp->frame; \
        const A *pa = SIM_SOURCE(frame, op, a, A); \
        const B *pb = SIM_SOURCE(frame, op, b, B); \
        const C *pc = SIM_SOURCE(frame, op, c, C); \
        const E *pe = SIM_SOURCE(frame, op, d, E); \
        D *pd = SIM_TARGET(frame, op, D); \
        if (mask == SIM_FULL_MASK) { \
            SIM_LANE_LOOP(i) \
            { \
                SIM_OPERANDS(A, B, C, E) \
                pd[i] = (D)(expression); \
            } \
        } else { \
            D v[SIM_LANES]; \
            SIM_LANE_LOOP(i) \
            { \
                SIM_OPERANDS(A, B, C, E) \
                v[i] = (D)(expression); \
            } \
            SIM_BLEND(pd, v, mask); \
        } \
        return op + 1; \
    }

/* Handler of a form that is computed for active lanes only: costly ones, and calls. */
#define SIM_EACH_HANDLER(name, D, A, B, C, E, expression) \
    static const struct sim_op *run_##name(struct sim_warp *warp, const struct sim_op *op, \
                                           uint32_t mask) \
    { \
        uint8_t *frame = warp->frame; \
        const A *pa = SIM_SOURCE(frame, op, a, A); \
        const B *pb = SIM_SOURCE(frame, op, b, B); \
        const C *pc = SIM_SOURCE(frame, op, c, C); \
        const E *pe = SIM_SOURCE(frame, op, d, E); \
        D *pd = SIM_TARGET(frame, op, D); \
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) { \
            const unsigned i = (unsigned)__builtin_ctz(rest); \
            SIM_OPERANDS(A, B, C, E) \
            pd[i] = (D)(expression); \
        } \
        return op + 1; \
    }

#define SIM_OPERANDS(A, B, C, E) \
    const A a = pa[i]; \
    const B b = pb[i]; \
    const C c = pc[i]; \
    const E e = pe[i]; \
    (void)a, (void)b, (void)c, (void)e;

/* A word with the bits of `mask` taken from `value`, the others as they were. */
static inline uint32_t sim_merge(uint32_t old, uint32_t value, uint32_t mask)
{
    return (old & ~mask) | (value & mask);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of floating.def, fma and testp; compiled once per level. */
#include "simgpu/exec/float_bits.h"
#include "simgpu/exec/floating.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/narrow.h"
#include "simgpu/exec/rounding.h"

#define SIGN64 UINT64_C(0x8000000000000000)

/* ---- pieces --------------------------------------------------------------------------------- */

/* The lesser of two, -0 before +0; a NaN gives the other one, or with .NaN itself. */
static inline float least_f32(float a, float b, uint32_t flags)
{
    const float x = flags & SIM_XORSIGN ? __builtin_fabsf(a) : a;
    const float y = flags & SIM_XORSIGN ? __builtin_fabsf(b) : b;
    float least = x < y ? x : y < x ? y : sim_float(sim_bits32(x) | sim_bits32(y));
    if (x != x || y != y) {
        least = flags & SIM_NAN ? sim_float(SIM_NAN32) : x != x ? y : x;
    }
    if (flags & SIM_XORSIGN && least == least) {
        least = sim_float(sim_bits32(least) | ((sim_bits32(a) ^ sim_bits32(b)) & 0x80000000));
    }
    return least;
}

static inline float greatest_f32(float a, float b, uint32_t flags)
{
    const float x = flags & SIM_XORSIGN ? __builtin_fabsf(a) : a;
    const float y = flags & SIM_XORSIGN ? __builtin_fabsf(b) : b;
    float most = x > y ? x : y > x ? y : sim_float(sim_bits32(x) & sim_bits32(y));
    if (x != x || y != y) {
        most = flags & SIM_NAN ? sim_float(SIM_NAN32) : x != x ? y : x;
    }
    if (flags & SIM_XORSIGN && most == most) {
        most = sim_float(sim_bits32(most) | ((sim_bits32(a) ^ sim_bits32(b)) & 0x80000000));
    }
    return most;
}

static inline double least_f64(double a, double b)
{
    if (a != a || b != b) {
        return b != b ? a : b;
    }
    return a < b ? a : b < a ? b : sim_double(sim_bits64(a) | sim_bits64(b));
}

static inline double greatest_f64(double a, double b)
{
    if (a != a || b != b) {
        return b != b ? a : b;
    }
    return a > b ? a : b > a ? b : sim_double(sim_bits64(a) & sim_bits64(b));
}

/* The hardware turns the angle into turns first; out of PTX's range this says what comes of it. */
static inline float turns(float a)
{
    const float turn = sim_flush(a * 0x1.45f306p-3f); /* 1 / (2 pi) */
    return turn - __builtin_rintf(turn);
}

static inline float sine(float a)
{
    const float part = turns(a);
    return part == 0.0f || __builtin_fabsf(part) == 0.5f
               ? __builtin_copysignf(0.0f, a)
               : sinf((float)(0x1.921fb54442d18p+2 * part));
}

static inline float cosine(float a)
{
    return cosf((float)(0x1.921fb54442d18p+2 * turns(a)));
}

/* Beyond 2^126 the reciprocal of b is taken for zero: 0, or NaN for infinite a. */
static inline float divide_approximately(float a, float b)
{
    const float size = __builtin_fabsf(b);
    return size > 0x1p126f && size <= 0x1.fffffep127f ? a * __builtin_copysignf(0.0f, b) : a / b;
}

/* .approx.ftz.f64: the upper 32 bits, subnormal numbers flushed. */
static inline double upper_half(double value)
{
    const uint64_t bits = sim_bits64(value) & ~(uint64_t)UINT32_MAX;
    return sim_double((bits & 0x7ff0000000000000) == 0 ? bits & SIGN64 : bits);
}

/* ---- stages of the general handlers --------------------------------------------------------- */

static inline void load_f32(float *x, const float *source, uint32_t flags)
{
    if (flags & SIM_FTZ) {
        SIM_LANE_LOOP(i) x[i] = sim_flush(source[i]);
    } else {
        SIM_LANE_LOOP(i) x[i] = source[i];
    }
}

static inline void load_f64(double *x, const double *source, uint32_t flags)
{
    (void)flags;
    SIM_LANE_LOOP(i) x[i] = source[i];
}

static inline bool any_least_normal_f32(const float *v)
{
    uint32_t any = 0;
    SIM_LANE_LOOP(i) any |= (sim_bits32(v[i]) & 0x7fffffff) == 0x00800000;
    return any != 0;
}

static inline bool any_least_normal_f64(const double *v)
{
    (void)v;
    return false; /* f64 has no .ftz */
}

/* What comes after the rounding: flush, saturate, canonical NaN. */
static inline void settle_f32(float *v, uint32_t flags)
{
    if (flags & SIM_FTZ) {
        SIM_LANE_LOOP(i) v[i] = sim_flush(v[i]);
    }
    if (flags & SIM_SAT) {
        SIM_LANE_LOOP(i) v[i] = sim_saturate(v[i]);
    } else {
        SIM_LANE_LOOP(i) v[i] = sim_canonical(v[i]);
    }
}

static inline void settle_f64(double *v, uint32_t flags)
{
    (void)v;
    (void)flags;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A core computes all lanes, or those of the mask, in the rounding mode that is set. */
#define CORE(name, T, value) \
    static void core_##name(const sim_##T(*x)[SIM_LANES], sim_##T *v, uint32_t flags, \
                            uint32_t mask) \
    { \
        (void)flags, (void)mask; \
        SIM_LANE_LOOP(i) \
        { \
            const sim_##T a = x[0][i], b = x[1][i], c = x[2][i]; \
            (void)a, (void)b, (void)c; \
            v[i] = (value); \
        } \
    }

#define EACH_CORE(name, T, value) \
    static void core_##name(const sim_##T(*x)[SIM_LANES], sim_##T *v, uint32_t flags, \
                            uint32_t mask) \
    { \
        (void)flags; \
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) { \
            const unsigned i = (unsigned)__builtin_ctz(rest); \
            const sim_##T a = x[0][i]; \
            v[i] = (value); \
        } \
    }

/* v = the core's value of x, rounded and flushed as op->flags say. */
#define COMPUTE(core, T, x, v) \
    do { \
        SIM_ROUNDED(op->flags, x, v, core_##core(LANES(T, x), v, op->flags, mask)); \
        if (op->flags & SIM_FTZ && any_least_normal_##T(v)) \
            flush_##core(LANES(T, x), v, op->flags); \
        settle_##T(v, op->flags); \
    } while (0)

/*
 * Flushing asks whether the result would be subnormal if there were no least exponent: a number that
 * becomes the least normal one only because subnormal numbers have fewer bits is flushed (read on
 * an H200). `exact` is the value in double.
 */
#define FLUSH_SMALL(name, T, exact) \
    static void flush_##name(const sim_##T(*x)[SIM_LANES], sim_##T *v, uint32_t flags) \
    { \
        for (unsigned i = 0; i < SIM_LANES; i++) { \
            const double a = (double)x[0][i], b = (double)x[1][i], c = (double)x[2][i]; \
            (void)a, (void)b, (void)c; \
            if (sim_bits32((float)v[i]) << 1 == 0x01000000 && sim_is_tiny((exact), flags)) \
                v[i] = (sim_##T)__builtin_copysign(0.0, (double)v[i]); \
        } \
    }
#define NO_FLUSH(name, T) \
    static inline void flush_##name(const sim_##T(*x)[SIM_LANES], sim_##T *v, uint32_t flags) \
    { \
        (void)x, (void)v, (void)flags; \
    }

#define STAGED(name, T, count) \
    static const struct sim_op *run_##name(struct sim_warp *warp, const struct sim_op *op, \
                                           uint32_t mask) \
    { \
        sim_##T x[3][SIM_LANES], v[SIM_LANES] = {0}; \
        const uint32_t sources[3] = {op->a, op->b, op->c}; \
        for (unsigned k = 0; k < (count); k++) \
            load_##T(x[k], SIM_AT(warp->frame, sources[k], const sim_##T), op->flags); \
        COMPUTE(name, T, x, v); \
        SIM_BLEND(SIM_TARGET(warp->frame, op, sim_##T), v, mask); \
        return op + 1; \
    }
#define LANES(T, x) ((const sim_##T(*)[SIM_LANES])(x))

#define PLAIN(name, T, load, value, settle) \
    static const struct sim_op *run_##name(struct sim_warp *warp, const struct sim_op *op, \
                                           uint32_t mask) \
    { \
        const sim_##T *pa = SIM_SOURCE(warp->frame, op, a, sim_##T); \
        const sim_##T *pb = SIM_SOURCE(warp->frame, op, b, sim_##T); \
        sim_##T *d = SIM_TARGET(warp->frame, op, sim_##T), v[SIM_LANES]; \
        if (mask == SIM_FULL_MASK) { \
            SIM_LANE_LOOP(i) \
            { \
                const sim_##T a = load(pa[i]), b = load(pb[i]); \
                (void)b; \
                d[i] = settle(value); \
            } \
            return op + 1; \
        } \
        SIM_LANE_LOOP(i) \
        { \
            const sim_##T a = load(pa[i]), b = load(pb[i]); \
            (void)b; \
            v[i] = settle(value); \
        } \
        SIM_BLEND(d, v, mask); \
        return op + 1; \
    }
#define AS_IT_IS(x) (x)
#define SETTLE_f32 sim_canonical
#define SETTLE_f64 AS_IT_IS
#define FLUSH_AND_SETTLE(x) sim_canonical(sim_flush(x))

#define FAST(name, pattern, T, count, value) PLAIN(name, T, AS_IT_IS, value, SETTLE_##T)
#define FLUSH(name, pattern, T, count, value) PLAIN(name, T, sim_flush, value, FLUSH_AND_SETTLE)
#define RAW(name, pattern, T, count, value) PLAIN(name, T, AS_IT_IS, value, AS_IT_IS)
#define ANY(name, pattern, T, count, value) \
    CORE(name, T, value) NO_FLUSH(name, T) STAGED(name, T, count)
#define SMALL(name, pattern, T, count, value, exact) \
    CORE(name, T, value) FLUSH_SMALL(name, T, exact) STAGED(name, T, count)
#define EACH(name, pattern, T, count, value) \
    EACH_CORE(name, T, value) NO_FLUSH(name, T) STAGED(name, T, count)
#define PAIR(name, pattern, count, core)
#include "simgpu/exec/floating.def"
#undef FAST
#undef FLUSH
#undef RAW
#undef ANY
#undef SMALL
#undef EACH
#undef PAIR

/* ---- fused multiply-add --------------------------------------------------------------------- */

/* Compilers do not vectorize fma where rounding modes matter, so the copy for AVX2 says it itself. */
static inline void fuse_f32(const float *a, const float *b, const float *c, float *v)
{
#ifdef SIM_HAS_AVX2
    for (unsigned i = 0; i < SIM_LANES; i += 8) {
        _mm256_storeu_ps(v + i, _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i),
                                                _mm256_loadu_ps(c + i)));
    }
#else
    for (unsigned i = 0; i < SIM_LANES; i++) {
        v[i] = fmaf(a[i], b[i], c[i]);
    }
#endif
}

static inline void fuse_f64(const double *a, const double *b, const double *c, double *v)
{
#ifdef SIM_HAS_AVX2
    for (unsigned i = 0; i < SIM_LANES; i += 4) {
        _mm256_storeu_pd(v + i, _mm256_fmadd_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i),
                                                _mm256_loadu_pd(c + i)));
    }
#else
    for (unsigned i = 0; i < SIM_LANES; i++) {
        v[i] = fma(a[i], b[i], c[i]);
    }
#endif
}

#define FUSED(T) \
    static void core_fma_##T##_any(const sim_##T(*x)[SIM_LANES], sim_##T *v, uint32_t flags, \
                                   uint32_t mask) \
    { \
        (void)flags, (void)mask; \
        fuse_##T(x[0], x[1], x[2], v); \
    } \
    FLUSH_SMALL(fma_##T##_any, T, sim_fuse_to_odd(a, b, c)) \
    STAGED(fma_##T##_any, T, 3) \
    static const struct sim_op *run_fma_##T(struct sim_warp *warp, const struct sim_op *op, \
                                            uint32_t mask) \
    { \
        sim_##T v[SIM_LANES], *d = SIM_TARGET(warp->frame, op, sim_##T); \
        fuse_##T(SIM_SOURCE(warp->frame, op, a, sim_##T), SIM_SOURCE(warp->frame, op, b, sim_##T), \
                 SIM_SOURCE(warp->frame, op, c, sim_##T), v); \
        if (mask == SIM_FULL_MASK) { \
            SIM_LANE_LOOP(i) d[i] = SETTLE_##T(v[i]); \
            return op + 1; \
        } \
        SIM_LANE_LOOP(i) v[i] = SETTLE_##T(v[i]); \
        SIM_BLEND(d, v, mask); \
        return op + 1; \
    }
FUSED(f32)
FUSED(f64)

/* ---- two numbers in one register ------------------------------------------------------------ */

#define PAIR(name, pattern, count, core) \
    static const struct sim_op *run_##name(struct sim_warp *warp, const struct sim_op *op, \
                                           uint32_t mask) \
    { \
        const uint32_t sources[3] = {op->a, op->b, op->c}; \
        float *d = SIM_TARGET(warp->frame, op, float); \
        float x[3][SIM_LANES], y[2][SIM_LANES]; \
        for (unsigned half = 0; half < 2; half++) { \
            float v[SIM_LANES] = {0}; \
            for (unsigned k = 0; k < (count); k++) { \
                const float *s = SIM_AT(warp->frame, sources[k], const float); \
                for (unsigned i = 0; i < SIM_LANES; i++) \
                    x[k][i] = s[2 * i + half]; \
                load_f32(x[k], x[k], op->flags); \
            } \
            COMPUTE(core, f32, x, v); \
            memcpy(y[half], v, sizeof(v)); \
        } \
        SIM_FOR_LANES(mask, i, (d[2 * i] = y[0][i], d[2 * i + 1] = y[1][i])); \
        return op + 1; \
    }
#define FAST(...)
#define FLUSH(...)
#define RAW(...)
#define ANY(...)
#define SMALL(...)
#define EACH(...)
#include "simgpu/exec/floating.def"
#undef FAST
#undef FLUSH
#undef RAW
#undef ANY
#undef SMALL
#undef EACH
#undef PAIR

#define ROW(name, pattern, type, count) \
    {pattern, run_##name, type, {type, (count) > 1 ? type : 0, (count) > 2 ? type : 0}},
const struct sim_form SIM_LEVEL_NAME(sim_floating_forms)[SIM_FLOATING_FORMS] = {
#define FAST(name, pattern, T, count, value) ROW(name, pattern, SIM_PTX_##T, count)
#define FLUSH FAST
#define RAW FAST
#define ANY FAST
#define SMALL(name, pattern, T, count, value, exact) ROW(name, pattern, SIM_PTX_##T, count)
#define EACH FAST
#define PAIR(name, pattern, count, core) ROW(name, pattern, PTX_B64, count)
    ROW(fma_f32, "fma.rn.f32", PTX_F32, 3) ROW(fma_f64, "fma.rn.f64", PTX_F64, 3)
        ROW(fma_f32, "mad.rn.f32", PTX_F32, 3) ROW(fma_f64, "mad.rn.f64", PTX_F64, 3)
#include "simgpu/exec/floating.def"
            ROW(fma_f32_any, "fma.<rn,rz,rm,rp><,.ftz><,.sat>.f32", PTX_F32, 3)
                ROW(fma_f32_any, "mad<.rn,.rz,.rm,.rp><,.ftz><,.sat>.f32", PTX_F32, 3)
                    ROW(fma_f64_any, "fma.<rz,rm,rp>.f64", PTX_F64, 3)
                        ROW(fma_f64_any, "mad.<rz,rm,rp>.f64", PTX_F64, 3)};

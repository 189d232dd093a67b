/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floating-point formats narrower than f32: exact values of them, and rounding to them.
 *
 * Everything is computed in double, which holds products of two such numbers exactly; sums are
 * rounded to odd, so that rounding once more to at most 11 bits gives the correctly rounded result.
 * Source: S. Boldo, G. Melquiond, "Emulation of a FMA and Correctly Rounded Sums", 2008.
 */
#ifndef SIMGPU_EXEC_NARROW_H
#define SIMGPU_EXEC_NARROW_H

#include <stdbool.h>
#include <stdint.h>

#include "simgpu/exec/float_bits.h"
#include "simgpu/exec/form.h"

struct sim_format {
    unsigned fraction_bits;
    int least_exponent, greatest_exponent; /* of normal numbers */
    uint64_t greatest;                     /* encoding of the greatest finite number */
    bool has_infinity;
};

#define SIM_FORMAT_f64 ((struct sim_format){52, -1022, 1023, 0x7fefffffffffffff, true})
#define SIM_FORMAT_f32 ((struct sim_format){23, -126, 127, 0x7f7fffff, true})
#define SIM_FORMAT_f16 ((struct sim_format){10, -14, 15, 0x7bff, true})
#define SIM_FORMAT_bf16 ((struct sim_format){7, -126, 127, 0x7f7f, true})
#define SIM_FORMAT_tf32 ((struct sim_format){10, -126, 127, 0x3fbff, true})
#define SIM_FORMAT_e5m2 ((struct sim_format){2, -14, 15, 0x7b, true})
#define SIM_FORMAT_e4m3 ((struct sim_format){3, -6, 8, 0x7e, false})

#define SIM_RNA 4 /* beside enum sim_rounding: to nearest, ties away from zero */

static inline bool sim_rounds_up(uint64_t kept, uint64_t rest, uint64_t half, bool negative,
                                 unsigned mode)
{
    switch (mode) {
    case SIM_RN: return rest > half || (rest == half && (kept & 1));
    case SIM_RM: return negative && rest != 0;
    case SIM_RP: return !negative && rest != 0;
    case SIM_RNA: return rest >= half;
    default: return false;
    }
}

/* Whether a number beyond the greatest finite one becomes infinite. */
static inline bool sim_overflows(bool negative, unsigned mode)
{
    return mode == SIM_RN || mode == SIM_RNA || (mode == SIM_RM && negative) ||
           (mode == SIM_RP && !negative);
}

/*
 * Magnitude, in `format`, of significand * 2^(exponent - 63); the significand's highest bit is set.
 * `satfinite`: never infinite.
 */
static inline uint64_t sim_narrow_scaled(uint64_t significand, int exponent, bool negative,
                                         struct sim_format format, unsigned mode, bool satfinite)
{
    if (exponent > format.greatest_exponent + 1) {
        exponent = format.greatest_exponent + 1;
    }
    const int scale = exponent > format.least_exponent ? exponent : format.least_exponent;
    int shift = 63 - (int)format.fraction_bits + (scale - exponent);
    if (shift > 64) { /* less than half of the least number: only its being there counts */
        shift = 64;
        significand = 1;
    }
    uint64_t kept = shift < 64 ? significand >> shift : 0;
    const uint64_t rest = shift < 64 ? significand & ((UINT64_C(1) << shift) - 1) : significand;
    kept += sim_rounds_up(kept, rest, UINT64_C(1) << (shift - 1), negative, mode);
    const uint64_t code = ((uint64_t)(scale - format.least_exponent) << format.fraction_bits) +
                          kept;
    if (code <= format.greatest) {
        return code;
    }
    return satfinite || !sim_overflows(negative, mode) ? format.greatest : format.greatest + 1;
}

/* Magnitude of `value`, not NaN, in `format`. */
static inline uint64_t sim_narrow(double value, struct sim_format format, unsigned mode,
                                  bool satfinite)
{
    const uint64_t bits = sim_bits64(value);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t significand = bits << 11;
    if (exponent == 0x7ff) {
        return satfinite || !format.has_infinity ? format.greatest : format.greatest + 1;
    }
    if (significand == 0 && exponent == 0) {
        return 0;
    }
    if (exponent != 0) {
        return sim_narrow_scaled(significand | UINT64_C(1) << 63, exponent - 1023, bits >> 63,
                                 format, mode, satfinite);
    }
    const int zeros = __builtin_clzll(significand);
    return sim_narrow_scaled(significand << zeros, -1022 - zeros, bits >> 63, format, mode,
                             satfinite);
}

static inline uint16_t sim_to_half(double value, unsigned mode)
{
    if (value != value) {
        return SIM_NAN16;
    }
    const uint64_t sign = sim_bits64(value) >> 48 & 0x8000;
    return (uint16_t)(sign | sim_narrow(value, SIM_FORMAT_f16, mode, false));
}

static inline uint16_t sim_to_bfloat(double value, unsigned mode)
{
    if (value != value) {
        return SIM_NAN16;
    }
    const uint64_t sign = sim_bits64(value) >> 48 & 0x8000;
    return (uint16_t)(sign | sim_narrow(value, SIM_FORMAT_bf16, mode, false));
}

static inline double sim_from_half(uint16_t bits)
{
    const uint32_t magnitude = bits & 0x7fffu;
    /* Moved to the exponent field of f32, all but infinities and NaN are a power of two off. */
    double value = (double)(sim_float(magnitude << 13) * 0x1p+112f);
    if (magnitude >= 0x7c00) {
        value = (double)sim_float(magnitude << 13 | 0x7f800000);
    }
    return bits & 0x8000 ? -value : value;
}

static inline double sim_from_bfloat(uint16_t bits)
{
    return (double)sim_float((uint32_t)bits << 16);
}

/* Whether a value is subnormal in f32 also when it is rounded to 24 bits with any exponent. */
static inline bool sim_is_tiny(double value, uint32_t flags)
{
    const double size = __builtin_fabs(value);
    const unsigned mode = flags & SIM_ROUND_MODE;
    if (mode == SIM_RN) {
        return size < 0x1p-126 * (1 - 0x1p-25);
    }
    if (sim_overflows(value < 0.0, mode)) { /* rounded away from zero */
        return size <= 0x1p-126 * (1 - 0x1p-24);
    }
    return size < 0x1p-126;
}

/* a * b + c, rounded to odd; the product must be exact in double. */
static inline double sim_fuse_to_odd(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (c - back);
    const uint64_t bits = sim_bits64(sum);
    if (!__builtin_isfinite(sum) || error == 0.0 || (bits & 1)) {
        return sum;
    }
    return sim_double((error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1);
}

#endif

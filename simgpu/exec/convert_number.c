/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converting one number: between integers, to and from floating point, and between its formats.
 *
 * Source: PTX ISA 9.0, "cvt". What it leaves open (payloads of NaN) is as an H200 gives it.
 */
#include <math.h>

#include "simgpu/exec/convert.h"
#include "simgpu/exec/narrow.h"

/* ---- integers ------------------------------------------------------------------------------- */

static bool is_signed(enum ptx_type type)
{
    return ptx_types[type].kind == PTX_KIND_SIGNED;
}

static uint64_t all_bits(enum ptx_type type)
{
    return UINT64_MAX >> (64 - 8 * ptx_types[type].bytes);
}

/* The low bits that the type has, extended as its sign says. */
static uint64_t extend(enum ptx_type type, uint64_t bits)
{
    const uint64_t sign = is_signed(type) ? all_bits(type) / 2 + 1 : 0;
    return ((bits & all_bits(type)) ^ sign) - sign;
}

/* `magnitude`, negative or not, kept within the type's range. */
static uint64_t clamp_integer(enum ptx_type type, bool negative, uint64_t magnitude)
{
    const uint64_t most = is_signed(type) ? all_bits(type) / 2 : all_bits(type);
    if (!negative) {
        return magnitude < most ? magnitude : most;
    }
    if (!is_signed(type)) {
        return 0;
    }
    return 0 - (magnitude < most + 1 ? magnitude : most + 1);
}

uint64_t sim_convert_integer(const struct sim_conversion *conversion, uint64_t bits)
{
    const uint64_t value = extend(conversion->from, bits);
    const bool negative = is_signed(conversion->from) && value >> 63;
    if (conversion->flags & SIM_SAT) {
        return clamp_integer(conversion->to, negative, negative ? 0 - value : value);
    }
    return extend(conversion->to, value);
}

/* ---- formats -------------------------------------------------------------------------------- */

static struct sim_format format_of(enum ptx_type type)
{
    switch (type) {
    case PTX_F16: return SIM_FORMAT_f16;
    case PTX_BF16: return SIM_FORMAT_bf16;
    case PTX_TF32: return SIM_FORMAT_tf32;
    case PTX_F32: return SIM_FORMAT_f32;
    case PTX_E4M3X2: return SIM_FORMAT_e4m3;
    case PTX_E5M2X2: return SIM_FORMAT_e5m2;
    default: return SIM_FORMAT_f64;
    }
}

/* An encoding whose sign stands at the top of the type. tf32 is f32 with 13 bits of zeros. */
static uint64_t with_sign(enum ptx_type type, bool negative, uint64_t magnitude)
{
    if (type == PTX_TF32) {
        magnitude <<= 13;
    }
    return magnitude | (negative ? all_bits(type) / 2 + 1 : 0);
}

static double value_of(enum ptx_type type, uint64_t bits)
{
    switch (type) {
    case PTX_F16: return sim_from_half((uint16_t)bits);
    case PTX_BF16: return sim_from_bfloat((uint16_t)bits);
    case PTX_F32: return (double)sim_float((uint32_t)bits);
    default: return sim_double(bits);
    }
}

static uint64_t one_of(enum ptx_type type)
{
    return sim_narrow(1.0, format_of(type), SIM_RN, false);
}

uint64_t sim_convert_to_float(const struct sim_conversion *conversion, uint64_t bits)
{
    const uint64_t value = extend(conversion->from, bits);
    const bool negative = is_signed(conversion->from) && value >> 63;
    const uint64_t magnitude = negative ? 0 - value : value;
    if (magnitude == 0 || (conversion->flags & SIM_SAT && negative)) {
        return 0;
    }
    if (conversion->flags & SIM_SAT) {
        return one_of(conversion->to);
    }
    const int zeros = __builtin_clzll(magnitude);
    return with_sign(conversion->to, negative,
                     sim_narrow_scaled(magnitude << zeros, 63 - zeros, negative,
                                       format_of(conversion->to),
                                       conversion->flags & SIM_ROUND_MODE, false));
}

/* ---- from floating point -------------------------------------------------------------------- */

static double to_whole(double value, uint32_t flags)
{
    switch (flags & SIM_ROUND_MODE) {
    case SIM_RZ: return trunc(value);
    case SIM_RM: return floor(value);
    case SIM_RP: return ceil(value);
    default: return rint(value);
    }
}

/* .ftz has no effect on what becomes f16. */
static double flushed(const struct sim_conversion *conversion, double value)
{
    return conversion->flags & SIM_FTZ && conversion->from == PTX_F32 &&
                   conversion->to != PTX_F16 && fabs(value) < 0x1p-126
               ? copysign(0.0, value)
               : value;
}

/* NaN is 0, but the highest bit alone where 64 bits take part. */
uint64_t sim_convert_to_integer(const struct sim_conversion *conversion, uint64_t bits)
{
    const enum ptx_type to = conversion->to;
    const double value = flushed(conversion, value_of(conversion->from, bits));
    if (value != value) {
        return conversion->from == PTX_F64 || ptx_types[to].bytes == 8
                   ? extend(to, all_bits(to) / 2 + 1)
                   : 0;
    }
    const double whole = to_whole(value, conversion->flags);
    const double size = fabs(whole);
    return clamp_integer(to, whole < 0.0, size < 0x1p64 ? (uint64_t)size : UINT64_MAX);
}

/* ---- between floating-point formats --------------------------------------------------------- */

static uint64_t canonical_nan(enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
    case PTX_BF16: return SIM_NAN16;
    case PTX_TF32: return 0x7fffe000;
    case PTX_F32: return SIM_NAN32;
    default: return 0x7fffffffffffffff;
    }
}

/* Which NaN comes of NaN: some conversions keep what fits of its payload. */
static uint64_t convert_nan(const struct sim_conversion *conversion, uint64_t bits, double value)
{
    const enum ptx_type to = conversion->to, from = conversion->from;
    const bool whole = conversion->flags & SIM_TO_WHOLE;
    if (conversion->flags & SIM_SAT) {
        return 0;
    }
    if (from == PTX_F32 && conversion->flags & SIM_FTZ && !whole) {
        return to == PTX_F64 ? 0x7fffffffe0000000 : canonical_nan(to);
    }
    if (to == PTX_TF32 && conversion->flags & SIM_TIES_AWAY) {
        return bits & 0xffffe000;
    }
    if (to == from && (to == PTX_F64 || !whole)) {
        return bits;
    }
    if (from == PTX_BF16 && to == PTX_F32) {
        return conversion->flags & SIM_FTZ ? SIM_NAN32 : bits << 16;
    }
    if (to == PTX_F64) {
        return sim_bits64(value);
    }
    if (from == PTX_F64 && to == PTX_F32) {
        return sim_bits32((float)value);
    }
    if (from == PTX_F64 && to == PTX_F16) {
        return (bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x3ff);
    }
    if (from == PTX_F64 && to == PTX_BF16) {
        return (bits >> 48 & 0x8000) | 0x7fc0 | (bits >> 45 & 0x7f);
    }
    return canonical_nan(to);
}

uint64_t sim_convert_float(const struct sim_conversion *conversion, uint64_t bits)
{
    const uint32_t flags = conversion->flags;
    const enum ptx_type to = conversion->to;
    double value = flushed(conversion, value_of(conversion->from, bits));
    if (value != value) {
        return convert_nan(conversion, bits, value);
    }
    if (flags & SIM_TO_WHOLE) {
        value = to_whole(value, flags);
    }
    if (flags & SIM_SAT) {
        value = value > 0.0 ? fmin(value, 1.0) : 0.0;
    }
    if (flags & SIM_RELU && !(value > 0.0)) {
        value = 0.0;
    }
    if (flags & SIM_FTZ && to == PTX_F32 && sim_is_tiny(value, flags)) {
        value = copysign(0.0, value);
    }
    const unsigned mode = flags & SIM_TIES_AWAY ? SIM_RNA : flags & SIM_ROUND_MODE;
    return with_sign(to, signbit(value),
                     sim_narrow(value, format_of(to), flags & SIM_TO_WHOLE ? SIM_RN : mode,
                                flags & SIM_SATFINITE));
}

/* ---- 8-bit formats -------------------------------------------------------------------------- */

uint32_t sim_to_f8(enum ptx_type to, double value, uint32_t flags)
{
    if (value != value) {
        return 0x7f;
    }
    if (flags & SIM_RELU && !(value > 0.0)) {
        value = 0.0;
    }
    return (signbit(value) ? 0x80 : 0) | (uint32_t)sim_narrow(value, format_of(to), SIM_RN, true);
}

uint16_t sim_from_f8(enum ptx_type from, uint32_t bits)
{
    const uint16_t sign = (uint16_t)((bits & 0x80) << 8);
    const uint32_t magnitude = bits & 0x7f;
    if (from == PTX_E5M2X2) { /* f16 with a shorter fraction */
        return magnitude > 0x7c ? SIM_NAN16 : (uint16_t)(sign | magnitude << 8);
    }
    if (magnitude == 0x7f) {
        return SIM_NAN16;
    }
    /* Moved to the exponent field of f16, it is 2^8 times too small. */
    return sim_to_half(ldexp(sim_from_half((uint16_t)(sign | magnitude << 7)), 8), SIM_RN);
}

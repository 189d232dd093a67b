/* SPDX-License-Identifier: Apache-2.0 */
/* Bits of floating-point numbers: flushing, canonical NaN, saturation, as PTX defines them. */
#ifndef SIMGPU_EXEC_FLOAT_BITS_H
#define SIMGPU_EXEC_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

#define SIM_NAN32 UINT32_C(0x7fffffff) /* every NaN that f32 arithmetic gives */
#define SIM_NAN16 UINT16_C(0x7fff)     /* the same of f16 and bf16 */

static inline uint32_t sim_bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float sim_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint64_t sim_bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double sim_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* .ftz: subnormal numbers become zero of the same sign. */
static inline float sim_flush(float value)
{
    const uint32_t bits = sim_bits32(value);
    return sim_float((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}

static inline float sim_canonical(float value)
{
    return value != value ? sim_float(SIM_NAN32) : value;
}

/* .sat: into [0, 1], NaN to +0. */
static inline float sim_saturate(float value)
{
    const float most = value < 1.0f ? value : 1.0f;
    return value > 0.0f ? most : 0.0f;
}

#endif

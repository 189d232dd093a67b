/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red, operation by operation. Source: PTX ISA 9.0, "Parallel synchronization: atom". */
#include "simgpu/exec/atomic_apply.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "simgpu/exec/decode.h"

#define ORDER __ATOMIC_SEQ_CST /* of all orders that PTX can ask for, the strongest */

/* Lanes in order: `word` points into memory, `value` and `other` are the operands. */
#define DEFINE(name, type, expression) \
    static void name(const struct sim_access *access, unsigned at, const uint8_t *b, \
                     const uint8_t *c, uint8_t *old) \
    { \
        const type *values = SIM_AT(b, 0, const type); \
        const type *others = SIM_AT(c, 0, const type); \
        type *results = SIM_AT(old, 0, type); \
        for (uint32_t left = access->mask; left != 0; left &= left - 1) { \
            const unsigned i = sim_first_lane(left); \
            type *word = (type *)(sim_access_at(access, i) + at); \
            const type value = values[i], other = others[i]; \
            (void)other; \
            results[i] = (expression); \
        } \
    }

/* Operations that the host has no instruction for: what `was` becomes is `next`. */
#define DEFINE_LOOP(name, type, next) \
    DEFINE(name, type, ({ \
               type was = __atomic_load_n(word, ORDER); \
               while (!__atomic_compare_exchange_n(word, &was, (type)(next), true, ORDER, ORDER)) \
                   ; \
               was; \
           }))

#define DEFINE_BITS(bits) \
    DEFINE(add_##bits, uint##bits##_t, __atomic_fetch_add(word, value, ORDER)) \
    DEFINE(and_##bits, uint##bits##_t, __atomic_fetch_and(word, value, ORDER)) \
    DEFINE(or_##bits, uint##bits##_t, __atomic_fetch_or(word, value, ORDER)) \
    DEFINE(xor_##bits, uint##bits##_t, __atomic_fetch_xor(word, value, ORDER)) \
    DEFINE(exch_##bits, uint##bits##_t, __atomic_exchange_n(word, value, ORDER)) \
    DEFINE_LOOP(min_u##bits, uint##bits##_t, value < was ? value : was) \
    DEFINE_LOOP(max_u##bits, uint##bits##_t, value > was ? value : was) \
    DEFINE_LOOP(min_s##bits, uint##bits##_t, \
                (int##bits##_t)value < (int##bits##_t)was ? value : was) \
    DEFINE_LOOP(max_s##bits, uint##bits##_t, \
                (int##bits##_t)value > (int##bits##_t)was ? value : was)
DEFINE_BITS(32)
DEFINE_BITS(64)
DEFINE_LOOP(inc_32, uint32_t, was >= value ? 0 : was + 1)
DEFINE_LOOP(dec_32, uint32_t, was == 0 || was > value ? value : was - 1)

/* cas: `value` is what must be there, `other` what is put. */
#define DEFINE_CAS(bits) \
    DEFINE(cas_##bits, uint##bits##_t, ({ \
               uint##bits##_t was = value; \
               __atomic_compare_exchange_n(word, &was, other, false, ORDER, ORDER); \
               was; \
           }))
DEFINE_CAS(16)
DEFINE_CAS(32)
DEFINE_CAS(64)

/* ---- floating point --------------------------------------------------------------------------- */

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffffu : bits; /* PTX's canonical NaN */
}

static float flush(float value)
{
    return fabsf(value) < FLT_MIN ? copysignf(0.0f, value) : value;
}

/* In global memory subnormal numbers are flushed, in shared memory they are not. */
static uint32_t add_f32_of(const struct sim_access *access, uint32_t was, uint32_t value)
{
    if (access->space != PTX_GLOBAL) {
        return bits_of(float_of(was) + float_of(value));
    }
    return bits_of(flush(flush(float_of(was)) + flush(float_of(value))));
}

static uint64_t add_f64_of(uint64_t was, uint64_t value)
{
    double a, b;

    memcpy(&a, &was, sizeof a);
    memcpy(&b, &value, sizeof b);
    a += b;
    memcpy(&was, &a, sizeof was);
    return was;
}

static double half_value(uint16_t bits)
{
    const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;

    if (exponent == 31) {
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    }
    if (exponent == 0) {
        return sign * ldexp(fraction, -24);
    }
    return sign * ldexp(fraction + 1024, (int)exponent - 25);
}

static double bfloat_value(uint16_t bits)
{
    return (double)float_of((uint32_t)bits << 16);
}

/* The sum of two halves has fewer bits than twice theirs and two: rounding it to double first, and then
 * to half, is rounding once (S. Figueroa, "When is double rounding innocuous?", 1995). */
static uint16_t add_f16_of(uint16_t was, uint16_t value)
{
    const double sum = half_value(was) + half_value(value);
    return isnan(sum) ? 0x7fff : sim_half_bits(sum);
}

static uint16_t add_bf16_of(uint16_t was, uint16_t value)
{
    const double sum = bfloat_value(was) + bfloat_value(value);
    return isnan(sum) ? 0x7fff : sim_bfloat_bits(sum);
}

static uint32_t add_pair(uint32_t was, uint32_t value, uint16_t (*add)(uint16_t, uint16_t))
{
    return add((uint16_t)was, (uint16_t)value) |
           (uint32_t)add((uint16_t)(was >> 16), (uint16_t)(value >> 16)) << 16;
}

DEFINE_LOOP(add_f32, uint32_t, add_f32_of(access, was, value))
DEFINE_LOOP(add_f64, uint64_t, add_f64_of(was, value))
DEFINE_LOOP(add_f16, uint16_t, add_f16_of(was, value))
DEFINE_LOOP(add_bf16, uint16_t, add_bf16_of(was, value))
DEFINE_LOOP(add_f16x2, uint32_t, add_pair(was, value, add_f16_of))
DEFINE_LOOP(add_bf16x2, uint32_t, add_pair(was, value, add_bf16_of))

/* ---- table ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum ptx_type type;
    sim_atomic apply;
} atomics[] = {
    {"add", PTX_U32, add_32},        {"add", PTX_S32, add_32},    {"add", PTX_U64, add_64},
    {"add", PTX_S64, add_64},        {"add", PTX_F32, add_f32},   {"add", PTX_F64, add_f64},
    {"add", PTX_F16, add_f16},       {"add", PTX_BF16, add_bf16}, {"add", PTX_F16X2, add_f16x2},
    {"add", PTX_BF16X2, add_bf16x2}, {"min", PTX_U32, min_u32},   {"min", PTX_S32, min_s32},
    {"min", PTX_U64, min_u64},       {"min", PTX_S64, min_s64},   {"max", PTX_U32, max_u32},
    {"max", PTX_S32, max_s32},       {"max", PTX_U64, max_u64},   {"max", PTX_S64, max_s64},
    {"inc", PTX_U32, inc_32},        {"dec", PTX_U32, dec_32},    {"and", PTX_B32, and_32},
    {"and", PTX_B64, and_64},        {"or", PTX_B32, or_32},      {"or", PTX_B64, or_64},
    {"xor", PTX_B32, xor_32},        {"xor", PTX_B64, xor_64},    {"exch", PTX_B32, exch_32},
    {"exch", PTX_B64, exch_64},      {"cas", PTX_B16, cas_16},    {"cas", PTX_B32, cas_32},
    {"cas", PTX_B64, cas_64},
};

sim_atomic sim_atomic_find(const char *name, enum ptx_type type)
{
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++) {
        if (atomics[i].type == type && strcmp(atomics[i].name, name) == 0) {
            return atomics[i].apply;
        }
    }
    return NULL;
}

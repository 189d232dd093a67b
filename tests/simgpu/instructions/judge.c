/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of results, and whether an approximation is as near the true value as PTX promises. */
#include <math.h>
#include <string.h>

#include "vectors.h"

uint64_t results_hash(const struct form *form, const struct results *results)
{
    uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a over 64-bit words */
    /* Lane by lane, guarded results follow from the plain ones: results_guard_fault checks them, and
     * what ptxas makes of a guard (it drops that of some forms of set and testp) is not recorded. */
    const unsigned runs = form->judgement == JUDGE_WARP ? 2 : 1;
    for (unsigned guarded = 0; guarded < runs; guarded++) {
        for (unsigned target = 0; target < form_targets(form); target++) {
            for (unsigned thread = 0; thread < VECTOR_THREADS; thread++) {
                hash ^= results->value[guarded][target][thread];
                hash *= 0x100000001b3ULL;
                hash ^= hash >> 29;
            }
        }
    }
    return hash;
}

static uint64_t fill_of(char letter)
{
    if (letter == 'p') {
        return 1;
    }
    if (strchr("heg", letter)) {
        return VECTOR_TARGET_FILL >> 48;
    }
    return strchr("ld", letter) ? VECTOR_TARGET_FILL : VECTOR_TARGET_FILL >> 32;
}

int results_guard_fault(const struct form *form, const struct results *results)
{
    if (form->judgement == JUDGE_WARP || form->judgement == JUDGE_PLAIN) {
        return -1;
    }
    for (unsigned target = 0; target < form_targets(form); target++) {
        for (unsigned thread = 0; thread < VECTOR_THREADS; thread++) {
            uint64_t expected = input_guard(thread) ? results->value[0][target][thread]
                                                    : fill_of(form->targets[target]);
            if (results->value[1][target][thread] != expected) {
                return (int)thread;
            }
        }
    }
    return -1;
}

static long double from_half(uint64_t bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    long double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? ldexpl(fraction, -24)
                                        : ldexpl(fraction + 1024, (int)exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static long double from_single(uint64_t bits)
{
    float value;
    uint32_t word = (uint32_t)bits;
    memcpy(&value, &word, sizeof(value));
    return value;
}

/* The value of part `part` (packed kinds have two) of an operand of kind `letter`. */
static long double value_of(char letter, uint64_t bits, unsigned part)
{
    double value;
    bits >>= part * 16;
    switch (letter) {
    case 'e':
    case 'E': return from_half(bits & 0xffff);
    case 'g':
    case 'G': return from_single((bits & 0xffff) << 16);
    case 'f': return from_single(bits);
    default: memcpy(&value, &bits, sizeof(value)); return value;
    }
}

/* The true value for sources a and b; NaN outside the range for which an error is stated. */
static long double truth_of(unsigned row, long double a, long double b)
{
    (void)b;
    enum { BEFORE = __COUNTER__ + 1 };
    switch (row) {
#define EXACT(text, operands) \
    case __COUNTER__ - BEFORE: \
        break;
#define WARP(text, operands) EXACT(text, operands)
#define PLAIN(text, operands) EXACT(text, operands)
#define APPROX(text, operands, truth, kind, bound, range) \
    case __COUNTER__ - BEFORE: \
        return (range) ? (truth) : (long double)NAN;
#include "forms.def"
#undef EXACT
#undef WARP
#undef PLAIN
#undef APPROX
    default: break;
    }
    return NAN;
}

/* The least number above zero: results that are subnormal cannot be nearer than that. */
static long double least_of(char letter)
{
    switch (letter) {
    case 'e':
    case 'E': return 0x1p-24L;
    case 'g':
    case 'G': return 0x1p-133L;
    case 'f': return 0x1p-149L;
    default: return 0x1p-1074L;
    }
}

static bool judge_part(const struct form *form, unsigned thread, unsigned part, uint64_t actual,
                       uint64_t recorded)
{
    char letter = form->targets[0];
    long double a = value_of(form->sources[0], input_value(form->sources[0], 0, thread), part);
    long double b = form_sources(form) > 1
                        ? value_of(form->sources[1], input_value(form->sources[1], 1, thread), part)
                        : 0;
    long double hardware = value_of(letter, recorded, part), ours = value_of(letter, actual, part);
    long double truth = truth_of(form->row, a, b);
    if (isnan(hardware)) {
        return isnan(ours);
    }
    if (hardware == 0 || isinf(hardware)) {
        return ours == hardware && signbit(ours) == signbit(hardware);
    }
    if (isnan(truth)) { /* no error is stated: near the hardware's value */
        return fabsl(ours - hardware) <= fmaxl(fabsl(hardware), 1) * 0x1p-7L;
    }
    return fabsl(ours - truth) <=
           least_of(letter) + form->bound * (form->judgement == JUDGE_RELATIVE ? fabsl(truth) : 1);
}

bool judge(const struct form *form, unsigned thread, uint64_t actual, uint64_t recorded)
{
    unsigned parts = strchr("EG", form->targets[0]) ? 2 : 1;
    for (unsigned part = 0; part < parts; part++) {
        if (!judge_part(form, thread, part, actual, recorded)) {
            return false;
        }
    }
    return true;
}

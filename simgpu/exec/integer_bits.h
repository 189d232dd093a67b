/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of integer.def compute with: bit fields, packed halves, saturation. */
#ifndef SIMGPU_EXEC_INTEGER_BITS_H
#define SIMGPU_EXEC_INTEGER_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t saturate32(int64_t value)
{
    return (int32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

static inline uint64_t high_unsigned(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

static inline uint64_t high_signed(int64_t a, int64_t b)
{
    return (uint64_t)((__int128)a * b >> 64);
}

static inline uint64_t product24_unsigned(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}

static inline int64_t product24_signed(uint32_t a, uint32_t b)
{
    return (int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8);
}

/* ---- packed halves -------------------------------------------------------------------------- */

static inline uint32_t pair(uint32_t low_half, uint32_t high_half)
{
    return (low_half & 0xffff) | high_half << 16;
}

static inline int32_t low(uint32_t a)
{
    return (int32_t)(a & 0xffff);
}

static inline int32_t high(uint32_t a)
{
    return (int32_t)(a >> 16);
}

static inline int32_t slow(uint32_t a)
{
    return (int32_t)(a << 16) >> 16;
}

static inline int32_t shigh(uint32_t a)
{
    return (int32_t)a >> 16;
}

static inline int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t greatest(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t join(uint32_t low_word, uint32_t high_word)
{
    return (uint64_t)high_word << 32 | low_word;
}

/* ---- bit fields ----------------------------------------------------------------------------- */

static inline uint32_t reverse32(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

static inline uint32_t top_bit(uint64_t a)
{
    return a ? 63 - (uint32_t)__builtin_clzll(a) : UINT32_MAX;
}

static inline uint32_t shift_to_top(uint64_t a, uint32_t top)
{
    return a ? top - top_bit(a) : UINT32_MAX;
}

static inline uint64_t ones(uint32_t count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* 64-bit fields: positions and lengths beyond a byte mean "beyond the end"; 32-bit ones wrap. */
static inline uint32_t within_byte(uint32_t position)
{
    return position < 255 ? position : 255;
}

/* `length` bits of `a` from `start`; bits above `top` are copies of the sign, or zero. */
static inline uint64_t field(uint64_t a, uint32_t start, uint32_t length, uint32_t top,
                             bool is_signed)
{
    uint64_t bits = start <= top ? (a & ones(top + 1)) >> start : 0;
    uint32_t last = length == 0 || start + length - 1 > top ? top : start + length - 1;
    bool negative = is_signed && length != 0 && (a >> last & 1);
    uint32_t present = start <= top ? last - start + 1 : 0; /* bits that `a` has of the field */
    if (length < present) {
        present = length;
    }
    bits &= ones(present);
    return negative ? bits | ~ones(present) : bits;
}

/* `b` with `length` bits from `start` replaced by the lowest of `a`. */
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t start, uint32_t length,
                              uint32_t width)
{
    if (start >= width) {
        return b;
    }
    uint64_t mask = ones(length) << start;
    return (b & ~mask) | (a << start & mask);
}

static inline uint32_t zero_extend(uint32_t a, uint32_t bits)
{
    return a & (uint32_t)ones(bits);
}

static inline uint32_t sign_extend(uint32_t a, uint32_t bits)
{
    return bits == 0 ? 0 : (uint32_t)((int32_t)(a << (32 - bits)) >> (32 - bits));
}

static inline uint32_t bit_mask(uint32_t start, uint32_t width)
{
    return start < 32 ? (uint32_t)ones(width) << start : 0;
}

/* Position of the n-th set bit at or above (n > 0) or below `base`; n = 0 asks for `base` itself. */
static inline uint32_t nth_set(uint32_t a, uint32_t base, int32_t n)
{
    int64_t step = n > 0 ? 1 : -1, left = n == 0 ? 1 : n > 0 ? n : -(int64_t)n;
    for (int64_t at = base; at >= 0 && at < 32; at += step) {
        if ((a >> at & 1) && --left == 0) {
            return (uint32_t)at;
        }
        if (n == 0) {
            break;
        }
    }
    return UINT32_MAX;
}

/* ---- dot products --------------------------------------------------------------------------- */

static inline uint32_t byte_of(uint32_t a, unsigned i, bool is_signed)
{
    uint32_t byte = a >> 8 * i & 255;
    return is_signed ? (byte ^ 128) - 128 : byte;
}

static inline uint32_t half_of(uint32_t a, unsigned i, bool is_signed)
{
    uint32_t half = a >> 16 * i & 0xffff;
    return is_signed ? (half ^ 0x8000) - 0x8000 : half;
}

static inline uint32_t dot4(uint32_t a, uint32_t b, bool a_signed, bool b_signed)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        sum += byte_of(a, i, a_signed) * byte_of(b, i, b_signed);
    }
    return sum;
}

static inline uint32_t dot2(uint32_t a, uint32_t b, bool a_signed, bool b_signed)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 2; i++) {
        sum += half_of(a, i, a_signed) * byte_of(b, i, b_signed);
    }
    return sum;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the vectors: every pair of special values, then mixtures of special and random ones. */
#include "vectors.h"

static const uint64_t shifts[] = {
    0,  1,  2,  3,  4,  5,  7,  8,  9,  12, 15, 16, 17,  23,  24,  25,  30,         31,
    32, 33, 34, 40, 47, 48, 62, 63, 64, 65, 95, 96, 127, 128, 255, 256, 0x80000000, UINT32_MAX};

static const uint64_t halves[] = {
    0,      0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x3c00, 0xbc00,
    0x3c01, 0x3bff, 0x3800, 0x3e00, 0xc000, 0x4200, 0x4248, 0x1400, 0x0c00, 0x7bff, 0xfbff,
    0x7bfe, 0x7c00, 0xfc00, 0x7e00, 0x7fff, 0x7c01, 0xfe01, 0x5bf8, 0xd808, 0x77ff,
};
static const uint64_t bfloats[] = {
    0,      0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081, 0x3f80, 0xbf80,
    0x3f81, 0x3f7f, 0x3f00, 0x3fc0, 0xc000, 0x4040, 0x4049, 0x3c00, 0x0100, 0x7f7f, 0xff7f,
    0x7f7e, 0x7f80, 0xff80, 0x7fc0, 0x7fff, 0x7f81, 0xffc1, 0x42ff, 0xc300, 0x4f00,
};
static const uint64_t singles[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00400000, 0x00800000,
    0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x3fc00000,
    0x40200000, 0xc0490fdb, 0x437f8000, 0xc3008000, 0x477fff80, 0x4effffff, 0x4f000000, 0xcf000000,
    0x5f000000, 0x7e800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc12345, 0xff812345,
};
static const uint64_t doubles[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
    0x0010000000000000, 0x8010000000000001, 0x3ff0000000000000, 0xbff0000000000000,
    0x3ff0000000000001, 0x3fefffffffffffff, 0x3fe0000000000000, 0x3ff8000000000000,
    0x4004000000000000, 0xc00921fb54442d18, 0x406ff00000000000, 0xc060100000000000,
    0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000200000,
    0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000, 0x36a0000000000000,
    0x380fffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8123456789abc,
};

/* SplitMix64's finalizer: G. Steele, D. Lea, C. Flood, OOPSLA 2014. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* Powers of two, their neighbours, and a few others. */
static uint64_t special_integer(unsigned bits, unsigned n)
{
    static const unsigned powers[] = {0, 1, 4, 7, 8, 15, 16, 23, 24, 31, 32, 63};
    uint64_t power = 1ULL << (powers[n / 3 % 12] % bits);
    uint64_t value = n / 3 == 10 ? 0xaaaaaaaaaaaaaaaaULL : power + (n % 3) - 1;
    return (n / 36 % 2 ? 0 - value : value) & (bits == 64 ? UINT64_MAX : (1ULL << bits) - 1);
}

#define PICK(table, n) (table)[(n) % (sizeof(table) / sizeof((table)[0]))]

static uint64_t special_value(char letter, unsigned n)
{
    switch (letter) {
    case 'h': return special_integer(16, n);
    case 'w': return special_integer(32, n);
    case 'l': return special_integer(64, n);
    case 'y': return PICK(shifts, n);
    case 'e': return PICK(halves, n);
    case 'g': return PICK(bfloats, n);
    case 'E': return PICK(halves, n) | PICK(halves, n * 7 + 3) << 16;
    case 'G': return PICK(bfloats, n) | PICK(bfloats, n * 7 + 3) << 16;
    case 'f': return PICK(singles, n);
    case 'd': return PICK(doubles, n);
    default: return n;
    }
}

/* Random bits, with an exponent near another operand's so that sums cancel and products round. */
static uint64_t random_value(char letter, uint64_t random, unsigned thread)
{
    uint64_t near = mix(thread * 3ULL), spread = random >> 60;
    bool close = thread % 4 != 0;
    switch (letter) {
    case 'w': return (uint32_t)random >> (close ? spread * 2 : 0);
    case 'l': return random >> (close ? spread * 4 : 0);
    case 'f':
        return close ? (random & 0x807fffff) | ((near % 64 + 96 + spread) << 23) : (uint32_t)random;
    case 'd':
        return close ? (random & 0x800fffffffffffff) | ((near % 128 + 960 + spread * 4) << 52)
                     : random;
    default: return random;
    }
}

static uint64_t narrow(char letter, uint64_t value)
{
    switch (letter) {
    case 'h':
    case 'e':
    case 'g': return value & 0xffff;
    case 'l':
    case 'd': return value;
    case 'p': return value >> 7 & 1;
    case 'z': return value & 31;
    default: return value & 0xffffffff;
    }
}

uint64_t input_value(char letter, unsigned operand, unsigned thread)
{
    uint64_t random = mix((uint64_t)thread << 8 | operand);
    if (letter == 'p' || letter == 'z') {
        return narrow(letter, random);
    }
    if (letter == 's') { /* selectors: half of them only small ones */
        return thread % 2 ? random & 3 : random & 0xffff;
    }
    if (letter == 'y') {
        return PICK(shifts, random % 100);
    }
    if (thread < 1024) { /* every pair; a third operand mixed in */
        return narrow(letter, special_value(letter, operand == 0   ? thread % 32
                                                    : operand == 1 ? thread / 32
                                                                   : (unsigned)(random % 97)));
    }
    if (thread % 3 == 0) {
        return narrow(letter, special_value(letter, (unsigned)(random % 97)));
    }
    return narrow(letter, random_value(letter, random, thread));
}

bool input_guard(unsigned thread)
{
    return mix(thread ^ 0x6a09e667) >> 17 & 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic and indexes on numbers that a file says: nothing wraps. A result that does not fit is the
 * nearest number that does; a damaged file gives a wrong figure then, and no undefined behaviour.
 */
#ifndef GMT_RECORD_CHECKED_H
#define GMT_RECORD_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int64_t gmt_add_clamped(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t gmt_sub_clamped(int64_t a, int64_t b)
{
    int64_t difference;
    return !__builtin_sub_overflow(a, b, &difference) ? difference : a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t gmt_mul_clamped(int64_t a, int64_t b)
{
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) ? product
           : (a < 0) != (b < 0)                    ? INT64_MIN
                                                   : INT64_MAX;
}

/* Of the three extents of a grid or a block. */
static inline int64_t gmt_volume_clamped(const int64_t extent[3])
{
    return gmt_mul_clamped(gmt_mul_clamped(extent[0], extent[1]), extent[2]);
}

static inline uint64_t gmt_add_clamped_u64(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : UINT64_MAX;
}

static inline uint64_t gmt_mul_clamped_u64(uint64_t a, uint64_t b)
{
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) ? product : UINT64_MAX;
}

/* The number without its fraction; NAN is 0. */
static inline int64_t gmt_integer_clamped(double number)
{
    const double limit = 9223372036854775808.0;
    return number >= limit    ? INT64_MAX
           : number <= -limit ? INT64_MIN
           : number == number ? (int64_t)number
                              : 0;
}

static inline int64_t gmt_clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Whether `value` may index `count` elements. */
static inline bool gmt_index_within(int64_t value, size_t count)
{
    return value >= 0 && (uint64_t)value < count;
}

#endif

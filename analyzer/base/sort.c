/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts pairs by the digits of their keys, from the lowest up; finds one value of many by its digits, from the highest down. */
#include "analyzer/base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, FEW = 2048 };

/* glibc's qsort merges, so pairs of one key stay in their order, unless it has no memory either. */
static int compare_pairs(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    if (x[0] != y[0]) {
        return x[0] < y[0] ? -1 : 1;
    }
    return 0;
}

/* False: they are in order already. */
static bool find_range(int64_t (*const pairs)[2], size_t n, int64_t *least, uint64_t *range)
{
    int64_t most = pairs[0][0];
    bool sorted = true;

    *least = pairs[0][0];
    for (size_t i = 1; i < n; i++) {
        sorted &= pairs[i][0] >= pairs[i - 1][0];
        *least = pairs[i][0] < *least ? pairs[i][0] : *least;
        most = pairs[i][0] > most ? pairs[i][0] : most;
    }
    *range = (uint64_t)most - (uint64_t)*least;
    return !sorted;
}

static size_t digit_of(const int64_t *pair, int64_t least, unsigned shift)
{
    return (size_t)(((uint64_t)pair[0] - (uint64_t)least) >> shift) & (DIGITS - 1);
}

static void sort_digit(int64_t (*const from)[2], int64_t (*to)[2], size_t n, int64_t least,
                       unsigned shift)
{
    size_t start[DIGITS] = {0};
    size_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        start[digit_of(from[i], least, shift)]++;
    }
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = start[d];

        start[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = start[digit_of(from[i], least, shift)]++;

        to[at][0] = from[i][0];
        to[at][1] = from[i][1];
    }
}

void gmt_sort_pairs(int64_t (*pairs)[2], size_t n)
{
    int64_t least;
    uint64_t range;

    if (n < 2 || !find_range(pairs, n, &least, &range)) {
        return;
    }
    int64_t(*spare)[2] = n > FEW ? malloc(n * sizeof(*spare)) : NULL;
    if (spare == NULL) {
        qsort(pairs, n, sizeof(*pairs), compare_pairs);
        return;
    }
    int64_t(*from)[2] = pairs, (*to)[2] = spare;
    for (unsigned shift = 0; shift < 64 && (range >> shift) != 0; shift += DIGIT_BITS) {
        int64_t(*last)[2] = from;

        sort_digit(from, to, n, least, shift);
        from = to;
        to = last;
    }
    if (from != pairs) {
        memcpy(pairs, from, n * sizeof(*pairs));
    }
    free(spare);
}

static void find_limits(const int64_t *values, size_t n, int64_t *least, uint64_t *range)
{
    int64_t most = values[0];

    *least = values[0];
    for (size_t i = 1; i < n; i++) {
        *least = values[i] < *least ? values[i] : *least;
        most = values[i] > most ? values[i] : most;
    }
    *range = (uint64_t)most - (uint64_t)*least;
}

static int compare_values(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static size_t group_of(int64_t value, int64_t least, unsigned shift)
{
    return (size_t)(((uint64_t)value - (uint64_t)least) >> shift);
}

/* Which group of values holds index *at, which becomes the index within that group. */
static size_t find_group(const int64_t *values, size_t n, int64_t least, unsigned shift, size_t *at)
{
    size_t counts[DIGITS] = {0};
    size_t group = 0;

    for (size_t i = 0; i < n; i++) {
        counts[group_of(values[i], least, shift)]++;
    }
    for (; *at >= counts[group]; group++) {
        *at -= counts[group];
    }
    return group;
}

int64_t gmt_sort_select(int64_t *values, size_t n, size_t at)
{
    for (;;) {
        int64_t least;
        uint64_t range;
        unsigned shift = 0;
        size_t kept = 0;

        if (n <= FEW) {
            qsort(values, n, sizeof(*values), compare_values);
            return values[at];
        }
        find_limits(values, n, &least, &range);
        if (range == 0) {
            return least;
        }
        while (range >> shift >= DIGITS) {
            shift++;
        }
        size_t group = find_group(values, n, least, shift, &at);
        for (size_t i = 0; i < n; i++) {
            int64_t value = values[i];

            if (group_of(value, least, shift) == group) {
                values[i] = values[kept];
                values[kept++] = value;
            }
        }
        n = kept;
    }
}

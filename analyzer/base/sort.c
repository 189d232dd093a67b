/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts pairs by the digits of their keys, from the lowest up. */
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

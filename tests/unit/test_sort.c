/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting pairs: by key whatever the range of keys, and in the order they came where keys are equal. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"

static void check(size_t n, int64_t (*key)(size_t i))
{
    int64_t(*pairs)[2] = calloc(n + 1, sizeof(*pairs));

    cr_assert_not_null(pairs);
    for (size_t i = 0; i < n; i++) {
        pairs[i][0] = key(i);
        pairs[i][1] = (int64_t)i;
    }
    gmt_sort_pairs(pairs, n);
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(pairs[i][0], key((size_t)pairs[i][1]), "a key went with another value");
        if (i > 0) {
            cr_assert(pairs[i - 1][0] < pairs[i][0] ||
                          (pairs[i - 1][0] == pairs[i][0] && pairs[i - 1][1] < pairs[i][1]),
                      "at %zu of %zu", i, n);
        }
    }
    free(pairs);
}

/* The same number for the same index each time. */
static uint64_t scrambled(size_t i)
{
    uint64_t x = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 1;

    return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static int64_t anything(size_t i)
{
    return (int64_t)scrambled(i);
}

static int64_t few_values(size_t i)
{
    return (int64_t)(scrambled(i) % 7) - 3;
}

static int64_t times(size_t i)
{
    return 1767225600000000000 + (int64_t)(scrambled(i) % 150000000000);
}

static int64_t descending(size_t i)
{
    return -(int64_t)i;
}

static int64_t ends_of_the_range(size_t i)
{
    return i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : 0;
}

Test(sort, orders_pairs_by_key_and_keeps_equal_ones_as_they_came)
{
    static int64_t (*const keys[])(size_t) = {anything, few_values, times, descending,
                                              ends_of_the_range};
    static const size_t sizes[] = {0, 1, 2, 3, 100, 2048, 2049, 5000, 100000};

    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            check(sizes[s], keys[k]);
        }
    }
}

static int compare_values(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Of every index, or of some of many; the values are those that were given, and in any order. */
static void check_select(size_t n, int64_t (*key)(size_t i))
{
    int64_t *values = calloc(n, sizeof(*values)), *sorted = calloc(n, sizeof(*sorted));

    cr_assert(values != NULL && sorted != NULL);
    for (size_t i = 0; i < n; i++) {
        values[i] = sorted[i] = key(i);
    }
    qsort(sorted, n, sizeof(*sorted), compare_values);
    for (size_t at = 0; at < n; at += n / 64 + 1) {
        cr_assert_eq(gmt_sort_select(values, n, at), sorted[at], "at %zu of %zu", at, n);
    }
    cr_assert_eq(gmt_sort_select(values, n, n - 1), sorted[n - 1], "the last of %zu", n);
    qsort(values, n, sizeof(*values), compare_values);
    cr_assert_arr_eq(values, sorted, n * sizeof(*values), "values were lost");
    free(values);
    free(sorted);
}

Test(sort, selects_what_sorting_would_put_at_an_index)
{
    static int64_t (*const keys[])(size_t) = {anything, few_values, times, descending,
                                              ends_of_the_range};
    static const size_t sizes[] = {1, 2, 3, 100, 2048, 2049, 100000};

    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            check_select(sizes[s], keys[k]);
        }
    }
}

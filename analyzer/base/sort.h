/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting as many rows as a long trace has. */
#ifndef GMT_ANALYZER_BASE_SORT_H
#define GMT_ANALYZER_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Pairs of a key and something that goes with it, by key; those of one key stay in their order. In a
 * time that grows with n alone: by digits, as keys of a trace are times and ids within a narrow range.
 */
void gmt_sort_pairs(int64_t (*pairs)[2], size_t n);

/* The value that stands at index `at` (< n) once they are sorted. Leaves them in another order; in a time that grows with n alone. */
int64_t gmt_sort_select(int64_t *values, size_t n, size_t at);

#endif

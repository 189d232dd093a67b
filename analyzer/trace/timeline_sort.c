/* SPDX-License-Identifier: Apache-2.0 */
/* Puts calls into the order of time. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/trace/timeline.h"

/* All rows start with struct gmt_tl_call. */
static int compare_calls(const void *a, const void *b)
{
    const struct gmt_tl_call *x = a, *y = b;

    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_sorted(const char *rows, size_t n, size_t bytes)
{
    for (size_t i = 1; i < n; i++) {
        if (compare_calls(rows + (i - 1) * bytes, rows + i * bytes) > 0) {
            return false;
        }
    }
    return true;
}

/* The rows of `from` in the order of their begin, in new memory; NULL: there is none for it. */
static char *put_in_order(const char *from, size_t n, size_t bytes)
{
    int64_t(*order)[2] = malloc(n * sizeof(*order));
    char *rows = order != NULL ? malloc((n + 1) * bytes) : NULL;

    if (rows != NULL) {
        for (size_t i = 0; i < n; i++) {
            order[i][0] = ((const struct gmt_tl_call *)(const void *)(from + i * bytes))->begin_ns;
            order[i][1] = (int64_t)i;
        }
        gmt_sort_pairs(order, n);
        for (size_t i = 0; i < n; i++) {
            memcpy(rows + i * bytes, from + (size_t)order[i][1] * bytes, bytes);
        }
    }
    free(order);
    return rows;
}

/*
 * Rows come in the order of their ids, which calls of one thread are in already; those of several
 * threads are not. Rows are large: each is moved once only. Returns where they are then.
 */
void *gmt_timeline_sort(void *rows, size_t n, size_t bytes)
{
    if (is_sorted(rows, n, bytes)) {
        return rows;
    }
    char *sorted = put_in_order(rows, n, bytes);
    if (sorted != NULL) {
        free(rows);
        rows = sorted;
    }
    if (sorted == NULL || !is_sorted(rows, n, bytes)) { /* ids of one moment were not in order */
        qsort(rows, n, bytes, compare_calls);
    }
    return rows;
}

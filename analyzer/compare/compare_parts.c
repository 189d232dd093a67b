/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, kinds of copies and places that hold memory, of two traces side by side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/compare_result.h"

/* What a row is ranked by: time, else bytes, else how many. */
static double weight(const struct gmt_part_sum *sum)
{
    if (sum->name == NULL) {
        return 0;
    }
    return isfinite(sum->time_ns) ? sum->time_ns : isfinite(sum->bytes) ? sum->bytes : sum->count;
}

static int compare_rows(const void *a, const void *b)
{
    const struct gmt_part_change *x = a, *y = b;
    double p = fmax(weight(&x->a), weight(&x->b)), q = fmax(weight(&y->a), weight(&y->b));

    if (p < q || p > q) {
        return p < q ? 1 : -1;
    }
    return strcmp(x->a.name != NULL ? x->a.name : x->b.name,
                  y->a.name != NULL ? y->a.name : y->b.name);
}

static void pair_up(struct gmt_arena *arena, const struct gmt_part_sum *a, size_t a_count,
                    const struct gmt_part_sum *b, size_t b_count, struct gmt_part_change **rows,
                    size_t *count)
{
    for (size_t i = 0; i < a_count; i++) {
        struct gmt_part_change *row = GMT_PUSH(arena, *rows, *count);

        if (row != NULL) {
            *row = (struct gmt_part_change){.a = a[i]};
        }
    }
    size_t first = *count;
    for (size_t k = 0; k < b_count; k++) {
        struct gmt_part_change *row = NULL;

        /* Places may occur twice: each of A's takes one of B's. */
        for (size_t i = 0; i < first && row == NULL; i++) {
            if ((*rows)[i].b.name == NULL && strcmp((*rows)[i].a.name, b[k].name) == 0) {
                row = &(*rows)[i];
            }
        }
        if (row == NULL) {
            row = GMT_PUSH(arena, *rows, *count);
            if (row == NULL) {
                return;
            }
            *row = (struct gmt_part_change){0};
        }
        row->b = b[k];
    }
    if (*count > 1) {
        qsort(*rows, *count, sizeof(**rows), compare_rows);
    }
}

void gmt_compare_parts(struct gmt_comparison *c, struct gmt_arena *arena)
{
    const struct gmt_summary *a = c->a, *b = c->b;

    pair_up(arena, a->kernels, a->kernel_count, b->kernels, b->kernel_count, &c->kernels,
            &c->kernel_count);
    pair_up(arena, a->copies, a->copy_count, b->copies, b->copy_count, &c->copies, &c->copy_count);
    pair_up(arena, a->holders, a->holder_count, b->holders, b->holder_count, &c->holders,
            &c->holder_count);
}

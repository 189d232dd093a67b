/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the two allocations of a parked result, and what the peak would be with the first one kept. */
#include "analyzer/rules/common/parked_results.h"

#include <stdlib.h>

#include "analyzer/trace/unseen.h"

struct row_number {
    int64_t id;
    size_t row;
};

static int compare_numbered(const void *a, const void *b)
{
    const struct row_number *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

/* Rows are in the order of their lives. */
static struct row_number *number_rows(const struct gmt_memory *memory)
{
    struct row_number *rows = calloc(memory->count + 1, sizeof(*rows));

    for (size_t i = 0; rows != NULL && i < memory->count; i++) {
        rows[i] = (struct row_number){memory->rows[i].id, i};
    }
    if (rows != NULL) {
        qsort(rows, memory->count, sizeof(*rows), compare_numbered);
    }
    return rows;
}

static const struct row_number *find(const struct gmt_memory *memory, const struct row_number *rows,
                                     int64_t id)
{
    struct row_number key = {.id = id};

    return bsearch(&key, rows, memory->count, sizeof(*rows), compare_numbered);
}

static bool can_be_kept(const struct gmt_memory_row *first, const struct gmt_memory_row *second)
{
    return !first->host && !second->host && !first->segment && !second->segment &&
           first->bytes > 0 && first->bytes == second->bytes && first->kind == second->kind &&
           first->free_begin_ns != GMT_NO_TIME && second->lives_ns > first->free_begin_ns;
}

/* Lets the first buffers of all members that can be kept live until the second ones are made. */
static size_t keep(const struct gmt_analysis *analysis, const struct gmt_copy_content *contents,
                   const struct row_number *rows, struct gmt_interval *lives, size_t *members,
                   size_t n)
{
    const struct gmt_memory *memory = analysis->memory;
    const struct gmt_tl_copy *copies = analysis->timeline->copies;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_copy *up = &copies[members[i]];
        const struct gmt_tl_copy *down = &copies[contents[members[i]].source];
        const struct row_number *first = find(memory, rows, down->src_allocation);
        const struct row_number *second = find(memory, rows, up->dst_allocation);

        if (first == NULL || second == NULL ||
            !can_be_kept(&memory->rows[first->row], &memory->rows[second->row])) {
            continue;
        }
        int64_t until_ns = memory->rows[second->row].lives_ns;
        bool other = lives[first->row].end_ns != memory->rows[first->row].free_begin_ns;
        /* It can become one of them only. */
        if (other && lives[first->row].end_ns != until_ns) {
            continue;
        }
        lives[first->row].end_ns = until_ns;
        members[kept++] = members[i];
    }
    return kept;
}

size_t gmt_parked_kept(const struct gmt_analysis *analysis, const struct gmt_copy_content *contents,
                       size_t *members, size_t n)
{
    const struct gmt_memory *memory = analysis->memory;
    const struct gmt_unseen *unseen = analysis->timeline->unseen;
    struct gmt_memory_peak before, after;
    size_t kept = 0;

    if (n == 0 || analysis->timeline->device_count > 1 || memory->shared ||
        memory->last_failure_ns != GMT_NO_TIME || (unseen != NULL && unseen->uses != NULL)) {
        return 0;
    }
    struct gmt_interval *lives = gmt_memory_lives(memory);
    struct row_number *rows = number_rows(memory);
    if (lives != NULL && rows != NULL && gmt_memory_peak(memory, lives, false, &before) == 0) {
        kept = keep(analysis, contents, rows, lives, members, n);
        if (gmt_memory_peak(memory, lives, false, &after) != 0 || after.bytes > before.bytes) {
            kept = 0;
        }
    }
    free(lives);
    free(rows);
    return kept;
}

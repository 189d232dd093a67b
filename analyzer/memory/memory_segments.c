/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the segments of a program's own allocator (PyTorch's, CuPy's, RMM's) by how they are used. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/memory/memory.h"
#include "analyzer/trace/query.h"

/* Where kernels' pointers point into one allocation. */
struct offsets {
    int64_t id;
    size_t distinct, aligned; /* the start does not count */
    int64_t common;           /* largest distance that divides them all */
};

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/*
 * Parts of an array that is worked off in equal pieces lie at multiples of one distance, which fill
 * it: those are no parts that an allocator gave out.
 */
static bool is_segment(const struct gmt_memory_row *row, const struct offsets *seen)
{
    bool even = (double)seen->common * (double)(seen->distinct + 1) * 2 >= (double)row->bytes;
    bool whole = row->bytes % GMT_SEGMENT_BYTES == 0;
    size_t least = whole ? GMT_SEGMENT_PARTS_WHOLE : GMT_SEGMENT_PARTS;

    return !row->host && row->bytes >= GMT_SEGMENT_MIN_BYTES && !even && seen->aligned >= least &&
           (double)seen->aligned >= GMT_SEGMENT_ALIGNED_SHARE * (double)seen->distinct;
}

static int compare_sites(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Rows are in the order of their ids, and so are the offsets: `at` goes on from call to call. */
static bool mark(struct gmt_memory *memory, const struct offsets *seen, size_t *at)
{
    while (*at < memory->count && memory->rows[*at].id < seen->id) {
        (*at)++;
    }
    if (*at == memory->count || memory->rows[*at].id != seen->id ||
        !is_segment(&memory->rows[*at], seen)) {
        return false;
    }
    memory->rows[*at].segment = true;
    return true;
}

/* An allocator asks for all its segments in one place. */
static int mark_sites(struct gmt_memory *memory, size_t marked)
{
    uint64_t *sites = calloc(marked + 1, sizeof(*sites));
    size_t n = 0;

    if (sites == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->count && n < marked; i++) {
        if (memory->rows[i].segment) {
            sites[n++] = memory->rows[i].site;
        }
    }
    qsort(sites, n, sizeof(*sites), compare_sites);
    for (size_t i = 0; i < memory->count; i++) {
        struct gmt_memory_row *row = &memory->rows[i];

        row->segment |= !row->host && row->bytes >= GMT_SEGMENT_MIN_BYTES && row->site != 0 &&
                        bsearch(&row->site, sites, n, sizeof(*sites), compare_sites) != NULL;
        memory->segment_count += row->segment;
    }
    free(sites);
    return 0;
}

/* A piece of memory that was mapped, and the piece that stands for all of its range. */
struct segment_piece {
    struct gmt_memory_row *row;
    size_t range;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct gmt_memory_row *x = ((const struct segment_piece *)a)->row;
    const struct gmt_memory_row *y = ((const struct segment_piece *)b)->row;

    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return (x->lives_ns > y->lives_ns) - (x->lives_ns < y->lives_ns);
}

static size_t range_of(struct segment_piece *pieces, size_t i)
{
    while (pieces[i].range != i) {
        i = pieces[i].range = pieces[pieces[i].range].range;
    }
    return i;
}

/* The piece that begins where this one ends, at a time when both were mapped; n: there is none. */
static size_t next_piece(const struct segment_piece *pieces, size_t n, size_t i)
{
    const struct gmt_memory_row *row = pieces[i].row;
    int64_t end = row->address + row->bytes;
    size_t low = i + 1, high = n;

    /* The last there that was mapped before this one went: no two lie at one address at once. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct gmt_memory_row *other = pieces[middle].row;

        if (other->address < end ||
            (other->address == end && other->lives_ns < gmt_memory_freed_ns(row))) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct gmt_memory_row *found = pieces[low - 1].row;
    return low - 1 > i && found->address == end && gmt_memory_freed_ns(found) > row->lives_ns
               ? low - 1
               : n;
}

static size_t mark_used_ranges(struct segment_piece *pieces, size_t n)
{
    size_t marked = 0;

    for (size_t i = 0; i < n; i++) {
        size_t next = next_piece(pieces, n, i);

        if (next < n) {
            pieces[range_of(pieces, next)].range = range_of(pieces, i);
        }
    }
    bool *used = calloc(2 * n + 1, sizeof(*used)), *several = used + n;
    for (size_t i = 0; used != NULL && i < n; i++) {
        size_t range = range_of(pieces, i);

        used[range] |= pieces[i].row->first_use_ns != GMT_NO_TIME;
        several[range] |= range != i;
    }
    for (size_t i = 0; used != NULL && i < n; i++) {
        size_t range = range_of(pieces, i);

        if (used[range] && several[range]) {
            pieces[i].row->segment = true;
            marked++;
        }
    }
    free(used);
    return marked;
}

/*
 * Memory that is mapped piece by piece into one range of addresses (PyTorch's expandable segments, and
 * arrays that grow) is one thing to its program: a kernel is given the address of the first piece and
 * goes on into the next ones. What is used of a range uses all of its pieces. A range of which nothing is
 * used is no segment, but unused memory like any other.
 */
static int mark_ranges(struct gmt_memory *memory, size_t *marked)
{
    struct segment_piece *pieces = calloc(memory->count + 1, sizeof(*pieces));
    size_t n = 0;

    if (pieces == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->count; i++) {
        struct gmt_memory_row *row = &memory->rows[i];

        if (row->kind == GMT_ALLOC_MAPPED && !row->host && row->bytes > 0 &&
            row->address <= INT64_MAX - row->bytes) {
            pieces[n++].row = row;
        }
    }
    qsort(pieces, n, sizeof(*pieces), compare_pieces);
    for (size_t i = 0; i < n; i++) {
        pieces[i].range = i;
    }
    *marked += mark_used_ranges(pieces, n);
    free(pieces);
    return 0;
}

int gmt_memory_find_segments(struct gmt_memory *memory)
{
    struct gmt_query query;
    struct offsets seen = {0};
    size_t at = 0, marked = 0;
    int rc = gmt_query_open(&query, memory->timeline->db,
                            "SELECT DISTINCT allocation_id, allocation_offset FROM launch_argument "
                            "WHERE allocation_offset > 0 ORDER BY 1, 2");

    while (rc == 0 && gmt_query_next(&query)) {
        int64_t id = gmt_query_id(&query, 0), offset = gmt_query_bytes(&query, 1);

        if (id != seen.id) {
            marked += mark(memory, &seen, &at);
            seen = (struct offsets){.id = id};
        }
        seen.distinct++;
        seen.aligned += offset % GMT_ALLOCATION_ALIGNMENT == 0;
        seen.common = common_divisor(seen.common, offset);
    }
    marked += mark(memory, &seen, &at);
    rc = gmt_query_close(&query, rc);
    if (rc == 0) {
        rc = mark_ranges(memory, &marked);
    }
    return rc == 0 && marked > 0 ? mark_sites(memory, marked) : rc;
}

bool gmt_memory_is_segment(const struct gmt_memory *memory, int64_t id)
{
    for (size_t i = 0; memory->segment_count > 0 && i < memory->count; i++) {
        if (memory->rows[i].segment && memory->rows[i].id == id) {
            return true;
        }
    }
    return false;
}

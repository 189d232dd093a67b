/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the segments of a program's own allocator (PyTorch's, CuPy's, RMM's) by how they are used. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/memory.h"
#include "analyzer/query.h"
#include "analyzer/thresholds.h"

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
    while (*at < memory->count && memory->rows[*at].id < seen->id)
        (*at)++;
    if (*at == memory->count || memory->rows[*at].id != seen->id ||
        !is_segment(&memory->rows[*at], seen))
        return false;
    memory->rows[*at].segment = true;
    return true;
}

/* An allocator asks for all its segments in one place. */
static int mark_sites(struct gmt_memory *memory, size_t marked)
{
    uint64_t *sites = calloc(marked + 1, sizeof(*sites));
    size_t n = 0;

    if (sites == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < memory->count && n < marked; i++) {
        if (memory->rows[i].segment)
            sites[n++] = memory->rows[i].site;
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

int gmt_memory_find_segments(struct gmt_memory *memory)
{
    struct gmt_query query;
    struct offsets seen = {0};
    size_t at = 0, marked = 0;
    int rc = gmt_query_open(&query, memory->timeline->db,
                            "SELECT DISTINCT allocation_id, allocation_offset FROM launch_argument "
                            "WHERE allocation_offset > 0 ORDER BY 1, 2");

    while (rc == 0 && gmt_query_next(&query)) {
        int64_t id = gmt_query_int(&query, 0), offset = gmt_query_int(&query, 1);

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
    return rc == 0 && marked > 0 ? mark_sites(memory, marked) : rc;
}

bool gmt_memory_is_segment(const struct gmt_memory *memory, int64_t id)
{
    for (size_t i = 0; memory->segment_count > 0 && i < memory->count; i++) {
        if (memory->rows[i].segment && memory->rows[i].id == id)
            return true;
    }
    return false;
}

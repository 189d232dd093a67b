/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the pass over a trace ask of its state (content_scan.h). */
#include "analyzer/memory/content_scan.h"

#include <stdlib.h>

static int compare_memories(const void *a, const void *b)
{
    const struct gmt_content_memory *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

void gmt_content_memories_sort(struct gmt_content_scan *scan)
{
    qsort(scan->memories, scan->memory_count, sizeof(*scan->memories), compare_memories);
}

struct gmt_content_memory *gmt_content_memory_find(const struct gmt_content_scan *scan, int64_t id)
{
    struct gmt_content_memory key = {.id = id};

    return id <= 0 || scan->memory_count == 0
               ? NULL
               : bsearch(&key, scan->memories, scan->memory_count, sizeof(key), compare_memories);
}

enum gmt_content_known gmt_print_compare(const struct gmt_print *a, const struct gmt_print *b)
{
    if (a->whole < 0 || b->whole < 0 || a->whole != b->whole ||
        a->bytes_hashed != b->bytes_hashed) {
        return GMT_CONTENT_UNKNOWN;
    }
    return a->high == b->high && a->low == b->low ? GMT_CONTENT_SAME : GMT_CONTENT_OTHER;
}

bool gmt_prints_lack_time(const struct gmt_print *a, const struct gmt_print *b)
{
    bool lacks_a = a->whole < 0, lacks_b = b->whole < 0;

    return (lacks_a || lacks_b) && (!lacks_a || a->skipped == GMT_PRINT_OVER_BUDGET) &&
           (!lacks_b || b->skipped == GMT_PRINT_OVER_BUDGET);
}

bool gmt_content_is_pending(const struct gmt_content_scan *scan,
                            const struct gmt_content_pending *work)
{
    bool known = work->stream >= 0 && work->stream < GMT_CONTENT_STREAMS;

    return work->serial > scan->wait_all && (!known || work->serial > scan->wait[work->stream]);
}

int32_t gmt_content_doubt_of(const struct gmt_content_scan *scan,
                             const struct gmt_content_memory *memory,
                             const struct gmt_content_range *place)
{
    if (scan->shared) {
        return GMT_DOUBT_SHARED;
    }
    if (place->serial < scan->unknown) {
        return scan->unknown_doubt;
    }
    if (place->doubt == GMT_DOUBT_NONE && !memory->handed && scan->timeline->launch_count > 0) {
        return GMT_DOUBT_INDIRECT;
    }
    return place->doubt;
}

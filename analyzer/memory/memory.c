/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations from the trace's tables, and the peak they make. */
#include "analyzer/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"

const char *gmt_memory_kind_name(unsigned kind)
{
    const char *name = gmt_name_alloc_kind(kind);

    return name != NULL ? name : "unknown";
}

static uint8_t kind_of(const char *name)
{
    return gmt_index_of_name(name, gmt_name_alloc_kind, GMT_ALLOC_KIND_COUNT, GMT_ALLOC_UNKNOWN);
}

/* The first of the two that is known. */
static int64_t known(int64_t first, int64_t second)
{
    return first != GMT_NO_TIME ? first : second;
}

/* Both tables; %s: what host memory has no column for. */
#define GMT_MEMORY_COLUMNS(stream) \
    "id, kind, begin_ns, end_ns, free_begin_ns, free_end_ns, bytes, address, stack_id, " \
    "free_stack_id, context_id, thread_id, free_thread_id, api_id, free_api_id, caller, " stream \
    ", (SELECT device_id FROM context c WHERE c.id = context_id)"

static int load_table(struct gmt_memory *memory, const char *sql, bool host, size_t capacity)
{
    const struct gmt_timeline *tl = memory->timeline;
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, sql);

    while (rc == 0 && memory->count < capacity && gmt_query_next(&query)) {
        struct gmt_memory_row *row = &memory->rows[memory->count++];
        int64_t *const times[] = {&row->begin_ns, &row->end_ns, &row->free_begin_ns,
                                  &row->free_end_ns};
        int64_t *const fields[] = {&row->bytes,          &row->address,    &row->stack_id,
                                   &row->free_stack_id,  &row->context_id, &row->thread_id,
                                   &row->free_thread_id, &row->api_id,     &row->free_api_id,
                                   &row->caller,         &row->stream_id};

        row->id = gmt_query_id(&query, 0);
        row->kind = kind_of(gmt_query_text_here(&query, 1));
        row->host = host;
        for (int i = 0; i < 4; i++) {
            *times[i] = gmt_query_time(&query, 2 + i);
        }
        for (int i = 0; i < 4; i += 2) { /* both or none */
            if (*times[i] == GMT_NO_TIME || *times[i + 1] == GMT_NO_TIME) {
                *times[i] = *times[i + 1] = GMT_NO_TIME;
            }
        }
        for (int i = 0; i < (int)(sizeof(fields) / sizeof(fields[0])); i++) {
            *fields[i] = gmt_query_known(&query, 6 + i);
        }
        row->device_id = tl->device_count < 2 ? 0 : gmt_query_known_id(&query, 17);
        row->first_use_ns = row->last_use_ns = GMT_NO_TIME;
        row->copied_begin = INT64_MAX;
        row->site = gmt_timeline_site(tl, gmt_query_id(&query, 8),
                                      (uint64_t)gmt_query_int(&query, 15));
        /* Memory lives from the return of its call; one whose call was not seen was there before
           all others. */
        row->lives_ns = known(known(row->end_ns, row->begin_ns), tl->start_ns);
    }
    return gmt_query_close(&query, rc);
}

static int compare_ids(const void *a, const void *b)
{
    const struct gmt_memory_row *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int compare_begins(const void *a, const void *b)
{
    const struct gmt_memory_row *x = a, *y = b;

    if (x->lives_ns != y->lives_ns) {
        return x->lives_ns < y->lives_ns ? -1 : 1;
    }
    return compare_ids(a, b);
}

int gmt_memory_load(struct gmt_memory *memory, const struct gmt_timeline *timeline)
{
    int64_t n = 0;
    int rc;

    *memory = (struct gmt_memory){.timeline = timeline, .last_failure_ns = GMT_NO_TIME};
    rc = gmt_query_int64(timeline->db,
                         "SELECT (SELECT count(*) FROM allocation) + "
                         "(SELECT count(*) FROM host_allocation)",
                         &n);
    if (rc != 0) {
        return rc;
    }
    memory->rows = calloc((size_t)n + 1, sizeof(*memory->rows));
    if (memory->rows == NULL) {
        return -ENOMEM;
    }
    rc = load_table(memory, "SELECT " GMT_MEMORY_COLUMNS("stream_id") " FROM allocation", false,
                    (size_t)n);
    size_t device = memory->count;
    if (rc == 0) {
        rc = load_table(memory, "SELECT " GMT_MEMORY_COLUMNS("NULL") " FROM host_allocation", true,
                        (size_t)n);
    }
    if (rc != 0) {
        return rc;
    }
    memory->host_count = memory->count - device;
    qsort(memory->rows, memory->count, sizeof(*memory->rows), compare_ids);
    rc = gmt_memory_find_uses(memory);
    if (rc == 0) {
        rc = gmt_memory_find_indirect(memory);
    }
    if (rc == 0) {
        rc = gmt_memory_find_segments(memory);
    }
    if (rc == 0) {
        rc = gmt_heaps_load(memory);
    }
    qsort(memory->rows, memory->count, sizeof(*memory->rows), compare_begins);
    return rc;
}

void gmt_memory_free(struct gmt_memory *memory)
{
    free(memory->rows);
    free(memory->doubts);
    free(memory->syncs);
    gmt_heaps_free(&memory->heaps);
    *memory = (struct gmt_memory){0};
}

struct gmt_interval *gmt_memory_lives(const struct gmt_memory *memory)
{
    struct gmt_interval *lives = calloc(memory->count + 1, sizeof(*lives));

    for (size_t i = 0; lives != NULL && i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        lives[i] = (struct gmt_interval){row->lives_ns, gmt_memory_freed_ns(row)};
    }
    return lives;
}

struct gmt_tl_call gmt_memory_call(const struct gmt_memory *memory,
                                   const struct gmt_memory_row *row)
{
    bool api = row->api_id > 0 && (uint64_t)row->api_id < memory->timeline->api_count;

    return (struct gmt_tl_call){
        .id = row->id,
        .begin_ns = known(row->begin_ns, row->lives_ns),
        .end_ns = row->lives_ns,
        .site = row->site,
        .caller = row->caller != GMT_UNKNOWN ? (uint64_t)row->caller : 0,
        .stack_id = row->stack_id != GMT_UNKNOWN ? row->stack_id : 0,
        .api = api ? (int32_t)row->api_id : 0,
    };
}

struct change {
    int64_t at_ns, bytes;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    /* Frees first: what was given back can be had again at the same moment. */
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int gmt_memory_peak(const struct gmt_memory *memory, const struct gmt_interval *lives, bool host,
                    struct gmt_memory_peak *peak)
{
    struct change *changes = calloc(2 * memory->count + 1, sizeof(*changes));
    size_t n = 0;
    int64_t now = 0;

    *peak = (struct gmt_memory_peak){0, GMT_NO_TIME, GMT_NO_TIME};
    if (changes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (row->host != host || row->bytes <= 0 || lives[i].end_ns <= lives[i].begin_ns) {
            continue;
        }
        /* Within what can be added up, however damaged the trace is. */
        int64_t bytes = row->bytes < INT64_C(1) << 43 ? row->bytes : INT64_C(1) << 43;
        changes[n++] = (struct change){lives[i].begin_ns, bytes};
        if (lives[i].end_ns != INT64_MAX) {
            changes[n++] = (struct change){lives[i].end_ns, -bytes};
        }
    }
    qsort(changes, n, sizeof(*changes), compare_changes);
    for (size_t i = 0; i < n; i++) {
        now = gmt_add_clamped(now, changes[i].bytes);
        if (now < peak->bytes && peak->until_ns == INT64_MAX) {
            peak->until_ns = changes[i].at_ns;
        }
        if (now > peak->bytes) {
            *peak = (struct gmt_memory_peak){now, changes[i].at_ns, INT64_MAX};
        }
    }
    free(changes);
    return 0;
}

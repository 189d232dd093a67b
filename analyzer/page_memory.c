/* SPDX-License-Identifier: Apache-2.0 */
/* The page's allocations: when each lived, and when the program first and last used it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/page_parts.h"
#include "analyzer/query.h"

const char *const gmt_page_allocation_kinds[] = {
    "device", "pitched", "managed", "async", "pool",     "pinned", "registered",
    "mapped", "array",   "mipmap",  "ipc",   "external", "unknown"};
const size_t gmt_page_allocation_kind_count = sizeof(gmt_page_allocation_kinds) /
                                              sizeof(gmt_page_allocation_kinds[0]);

static uint8_t kind_of(const char *name)
{
    size_t kind = 0;

    while (kind + 1 < gmt_page_allocation_kind_count &&
           (name == NULL || strcmp(gmt_page_allocation_kinds[kind], name) != 0))
        kind++;
    return (uint8_t)kind;
}

/* The first of the two that is known. */
static int64_t known(int64_t first, int64_t second)
{
    return first != GMT_UNKNOWN ? first : second;
}

/* Both tables, told apart by their kinds; %s: what host memory has no column for. */
#define GMT_ALLOCATION_COLUMNS(stream) \
    "id, kind, begin_ns, end_ns, free_begin_ns, free_end_ns, bytes, address, stack_id, " \
    "free_stack_id, context_id, thread_id, free_thread_id, api_id, free_api_id, caller, " stream

static int load_table(struct gmt_page *page, const char *sql, size_t capacity)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, page->timeline->db, sql);

    while (rc == 0 && page->allocation_count < capacity && gmt_query_next(&query)) {
        struct gmt_page_allocation *a = &page->allocations[page->allocation_count++];
        int64_t *const times[] = {&a->begin_ns, &a->end_ns, &a->free_begin_ns, &a->free_end_ns};
        int64_t *const fields[] = {&a->bytes,          &a->address,    &a->stack_id,
                                   &a->free_stack_id,  &a->context_id, &a->thread_id,
                                   &a->free_thread_id, &a->api_id,     &a->free_api_id,
                                   &a->caller,         &a->stream_id};

        a->id = gmt_query_int(&query, 0);
        a->kind = kind_of((const char *)sqlite3_column_text(query.statement, 1));
        for (int i = 0; i < 4; i++)
            *times[i] = gmt_query_time(&query, 2 + i);
        for (int i = 0; i < (int)(sizeof(fields) / sizeof(fields[0])); i++)
            *fields[i] = gmt_query_known(&query, 6 + i);
        a->first_use_ns = a->last_use_ns = GMT_UNKNOWN;
        /* Memory lives from the return of its call, as in the verdict's peak; one whose call was
           not seen was there before all others. */
        a->lives_ns = known(known(a->end_ns, a->begin_ns), page->timeline->start_ns);
    }
    return gmt_query_close(&query, rc);
}

static int compare_ids(const void *a, const void *b)
{
    const struct gmt_page_allocation *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int compare_begins(const void *a, const void *b)
{
    const struct gmt_page_allocation *x = a, *y = b;

    if (x->lives_ns != y->lives_ns)
        return x->lives_ns < y->lives_ns ? -1 : 1;
    return compare_ids(a, b);
}

/* Only while allocations are in the order of their ids. */
static void use(struct gmt_page *page, int64_t id, int64_t first_ns, int64_t last_ns)
{
    struct gmt_page_allocation key = {.id = id};
    struct gmt_page_allocation *a = id != GMT_UNKNOWN && id != 0
                                        ? bsearch(&key, page->allocations, page->allocation_count,
                                                  sizeof(key), compare_ids)
                                        : NULL;

    if (a == NULL || first_ns == GMT_UNKNOWN)
        return;
    if (a->first_use_ns == GMT_UNKNOWN || first_ns < a->first_use_ns)
        a->first_use_ns = first_ns;
    if (a->last_use_ns == GMT_UNKNOWN || last_ns > a->last_use_ns)
        a->last_use_ns = last_ns;
}

static void use_in_copies(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        int64_t first = known(copy->device_start_ns, copy->call.begin_ns);
        int64_t last = known(copy->device_end_ns, copy->call.end_ns);

        use(page, copy->dst_allocation, first, last);
        use(page, copy->src_allocation, first, last);
    }
}

static int use_in_memsets(struct gmt_page *page)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, page->timeline->db,
                            "SELECT dst_allocation_id, coalesce(device_start_ns, begin_ns), "
                            "coalesce(device_end_ns, end_ns) FROM memset "
                            "WHERE result = 0 AND capturing = 0");

    while (rc == 0 && gmt_query_next(&query))
        use(page, gmt_query_known(&query, 0), gmt_query_time(&query, 1), gmt_query_time(&query, 2));
    return gmt_query_close(&query, rc);
}

/* Launches with equal arguments share a set: its first and last use are found before its members. */
static int use_in_launches(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;
    struct gmt_ids sets = {0};
    struct gmt_interval *spans = NULL;
    struct gmt_query query;
    int rc = gmt_ids_load(&sets, tl->db, "SELECT DISTINCT set_id FROM launch_argument ORDER BY 1");

    spans = calloc(sets.n + 1, sizeof(*spans));
    if (rc == 0 && spans == NULL)
        rc = -ENOMEM;
    for (size_t i = 0; rc == 0 && i < sets.n; i++)
        spans[i] = (struct gmt_interval){GMT_UNKNOWN, GMT_UNKNOWN};
    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];
        int64_t set = gmt_ids_index(&sets, launch->argument_set);

        if (set == GMT_UNKNOWN)
            continue;
        int64_t first = known(launch->device_start_ns, launch->call.begin_ns);
        int64_t last = known(launch->device_end_ns, launch->call.end_ns);
        struct gmt_interval *span = &spans[set];
        if (span->begin_ns == GMT_UNKNOWN || first < span->begin_ns)
            span->begin_ns = first;
        if (span->end_ns == GMT_UNKNOWN || last > span->end_ns)
            span->end_ns = last;
    }
    if (rc == 0) {
        rc = gmt_query_open(&query, tl->db, "SELECT set_id, allocation_id FROM launch_argument");
        while (rc == 0 && gmt_query_next(&query)) {
            int64_t set = gmt_ids_index(&sets, gmt_query_int(&query, 0));

            if (set != GMT_UNKNOWN)
                use(page, gmt_query_int(&query, 1), spans[set].begin_ns, spans[set].end_ns);
        }
        rc = gmt_query_close(&query, rc);
    }
    free(spans);
    free(sets.ids);
    return rc;
}

int gmt_page_load_allocations(struct gmt_page *page)
{
    int64_t n = 0;
    int rc = gmt_query_int64(page->timeline->db,
                             "SELECT (SELECT count(*) FROM allocation) + "
                             "(SELECT count(*) FROM host_allocation)",
                             &n);

    if (rc != 0)
        return rc;
    page->allocations = calloc((size_t)n + 1, sizeof(*page->allocations));
    if (page->allocations == NULL)
        return -ENOMEM;
    rc = load_table(page, "SELECT " GMT_ALLOCATION_COLUMNS("stream_id") " FROM allocation",
                    (size_t)n);
    if (rc == 0)
        rc = load_table(page, "SELECT " GMT_ALLOCATION_COLUMNS("NULL") " FROM host_allocation",
                        (size_t)n);
    if (rc != 0)
        return rc;
    qsort(page->allocations, page->allocation_count, sizeof(*page->allocations), compare_ids);
    use_in_copies(page);
    rc = use_in_memsets(page);
    if (rc == 0)
        rc = use_in_launches(page);
    qsort(page->allocations, page->allocation_count, sizeof(*page->allocations), compare_begins);
    return rc;
}

void gmt_page_write_allocations(struct gmt_page *page)
{
    static const struct gmt_column_head heads[] = {
        {"kind", GMT_ENCODE_U8},          {"bytes", GMT_ENCODE_VARINT},
        {"begin", GMT_ENCODE_DELTA},      {"freed", GMT_ENCODE_VARINT},
        {"first_use", GMT_ENCODE_VARINT}, {"last_use", GMT_ENCODE_VARINT},
        {"stack", GMT_ENCODE_VARINT},     {"free_stack", GMT_ENCODE_VARINT},
        {"device", GMT_ENCODE_VARINT},    {"address", GMT_ENCODE_VARINT},
        {"id", GMT_ENCODE_DELTA},
    };
    struct gmt_table *table = gmt_payload_table(page->payload, "allocation", heads,
                                                sizeof(heads) / sizeof(heads[0]));

    for (size_t i = 0; i < page->allocation_count; i++) {
        const struct gmt_page_allocation *a = &page->allocations[i];
        int64_t context = gmt_ids_index(&page->contexts, a->context_id);
        int64_t row[] = {
            a->kind,
            a->bytes,
            gmt_page_time(page, a->lives_ns),
            gmt_page_difference(a->free_begin_ns, a->lives_ns),
            gmt_page_difference(a->first_use_ns, a->lives_ns),
            gmt_page_difference(a->last_use_ns, a->lives_ns),
            gmt_page_stack(page, a->stack_id, a->caller),
            gmt_ids_index(&page->stacks, a->free_stack_id),
            context != GMT_UNKNOWN ? page->context_device[context] : GMT_UNKNOWN,
            a->address,
            a->id,
        };

        gmt_payload_row(page->payload, table, row);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The page's calls: everything that the host asked of the device, in the order of time. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/page/page_parts.h"
#include "analyzer/trace/query.h"

/*
 * What the timeline does not hold. A call that failed, or that was only put into a graph, took its
 * time and moved nothing.
 */
#define GMT_CALL_COLUMNS \
    "SELECT id, begin_ns, end_ns, stack_id, caller, api_id, thread_id, stream_id, "
#define GMT_NOTHING "NULL, NULL, NULL "
#define GMT_IDLE " WHERE result <> 0 OR capturing <> 0"

static const struct call_source {
    enum gmt_page_kind kind;
    const char *sql;
} sources[] = {
    {GMT_PAGE_MEMSET, GMT_CALL_COLUMNS "bytes, device_start_ns, device_end_ns FROM memset "
                                       "WHERE result = 0 AND capturing = 0"},
    {GMT_PAGE_SYNC, GMT_CALL_COLUMNS GMT_NOTHING "FROM sync"},
    {GMT_PAGE_OTHER, GMT_CALL_COLUMNS
     "CASE WHEN result = 0 AND capturing = 0 THEN bytes END, NULL, NULL FROM api_call"},
    {GMT_PAGE_OTHER, GMT_CALL_COLUMNS GMT_NOTHING "FROM transfer" GMT_IDLE},
    {GMT_PAGE_OTHER, GMT_CALL_COLUMNS GMT_NOTHING "FROM memset" GMT_IDLE},
    {GMT_PAGE_OTHER, GMT_CALL_COLUMNS GMT_NOTHING "FROM launch" GMT_IDLE},
};

/* Room for n calls more. */
static int reserve(struct gmt_page *page, size_t n)
{
    if (page->call_capacity - page->call_count >= n) {
        return 0;
    }
    size_t capacity = page->call_capacity + page->call_capacity / 4 + n;
    struct gmt_page_call *grown = realloc(page->calls, capacity * sizeof(*grown));
    if (grown == NULL) {
        return -ENOMEM;
    }
    page->calls = grown;
    page->call_capacity = capacity;
    return 0;
}

/* After reserve. */
static struct gmt_page_call *push(struct gmt_page *page, enum gmt_page_kind kind, int64_t begin_ns,
                                  int64_t end_ns)
{
    struct gmt_page_call *call = &page->calls[page->call_count++];

    *call = (struct gmt_page_call){
        .begin_ns = begin_ns,
        .host_ns = gmt_page_duration(begin_ns, end_ns),
        .device_start_ns = GMT_UNKNOWN,
        .device_ns = GMT_UNKNOWN,
        .bytes = GMT_UNKNOWN,
        .id = GMT_UNKNOWN,
        .stack = GMT_UNKNOWN,
        .api = -1,
        .stream = -1,
        .kernel = -1,
        .allocation = -1,
        .count = 1,
        .kind = (uint8_t)kind,
        .direction = GMT_DIR_UNKNOWN,
        .host_class = GMT_MEM_UNKNOWN,
    };
    return call;
}

static void set_device(struct gmt_page_call *call, int64_t start_ns, int64_t end_ns)
{
    call->device_start_ns = start_ns;
    call->device_ns = gmt_page_duration(start_ns, end_ns);
}

static struct gmt_page_call *push_timeline(struct gmt_page *page, enum gmt_page_kind kind,
                                           const struct gmt_tl_call *from)
{
    struct gmt_page_call *call = push(page, kind, from->begin_ns, from->end_ns);

    call->id = from->id;
    call->stack = gmt_page_stack(page, from->stack_id, (int64_t)from->caller);
    call->api = gmt_page_api(page, from->api);
    call->thread = gmt_page_thread(page, from->thread);
    call->stream = gmt_page_stream(page, from->stream);
    return call;
}

static void add_copies(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        struct gmt_page_call *call = push_timeline(page, GMT_PAGE_TRANSFER, &copy->call);

        set_device(call, copy->device_start_ns, copy->device_end_ns);
        call->bytes = copy->bytes;
        call->direction = copy->direction;
        call->host_class = copy->host_class;
        call->blocking = copy->blocking;
    }
}

static void add_launches(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;

    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];
        struct gmt_page_call *call = push_timeline(page, GMT_PAGE_LAUNCH, &launch->call);

        set_device(call, launch->device_start_ns, launch->device_end_ns);
        if (launch->class_index >= 0) {
            call->kernel = page->class_row[launch->class_index];
        }
    }
}

/* Kernels of graphs lie where the device ran them, and have thread, stream and stack of the graph's launch. */
static void add_nodes(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;

    for (size_t i = 0; i < tl->node_count; i++) {
        const struct gmt_tl_node *node = &tl->nodes[i];
        const struct gmt_tl_launch *launch = gmt_timeline_launch(tl, node->launch_id);

        if (launch == NULL) {
            continue;
        }
        struct gmt_page_call *call = push_timeline(page, GMT_PAGE_NODE, &launch->call);

        call->begin_ns = node->device_start_ns;
        call->host_ns = GMT_UNKNOWN;
        call->id = GMT_UNKNOWN;
        call->api = -1;
        set_device(call, node->device_start_ns, node->device_end_ns);
        call->kernel = page->class_row[node->class_index];
    }
}

static void add_allocations(struct gmt_page *page)
{
    for (size_t i = 0; i < page->memory.count; i++) {
        const struct gmt_memory_row *a = &page->memory.rows[i];
        const struct {
            enum gmt_page_kind kind;
            int64_t begin_ns, end_ns, stack_id, caller, thread_id, api_id, stream_id;
        } ends[] = {
            {GMT_PAGE_ALLOCATE, a->begin_ns, a->end_ns, a->stack_id, a->caller, a->thread_id,
             a->api_id, a->stream_id},
            {GMT_PAGE_FREE, a->free_begin_ns, a->free_end_ns, a->free_stack_id, GMT_UNKNOWN,
             a->free_thread_id, a->free_api_id, GMT_UNKNOWN},
        };

        for (size_t k = 0; k < 2; k++) {
            if (ends[k].begin_ns == GMT_UNKNOWN) {
                continue;
            }
            struct gmt_page_call *call = push(page, ends[k].kind, ends[k].begin_ns, ends[k].end_ns);
            call->stack = gmt_page_stack(page, ends[k].stack_id, ends[k].caller);
            call->api = gmt_page_api(page, ends[k].api_id);
            call->thread = gmt_page_thread(page, ends[k].thread_id);
            call->stream = gmt_page_stream(page, ends[k].stream_id);
            call->bytes = a->bytes;
            call->allocation = (int32_t)i;
            call->id = a->id;
        }
    }
}

static int add_source(struct gmt_page *page, const struct call_source *source)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, page->timeline->db, source->sql);

    while (rc == 0 && gmt_query_next(&query)) {
        rc = reserve(page, 1);
        if (rc != 0) {
            break;
        }
        struct gmt_page_call *call = push(page, source->kind, gmt_query_time(&query, 1),
                                          gmt_query_time(&query, 2));

        call->id = gmt_query_int(&query, 0);
        call->stack = gmt_page_stack(page, gmt_query_known(&query, 3), gmt_query_known(&query, 4));
        call->api = gmt_page_api(page, gmt_query_known(&query, 5));
        call->thread = gmt_page_thread(page, gmt_query_known(&query, 6));
        call->stream = gmt_page_stream(page, gmt_query_known(&query, 7));
        call->bytes = gmt_query_known(&query, 8);
        set_device(call, gmt_query_time(&query, 9), gmt_query_time(&query, 10));
    }
    return gmt_query_close(&query, rc);
}

static int compare(const void *a, const void *b)
{
    const struct gmt_page_call *x = a, *y = b;

    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    return (x->id > y->id) - (x->id < y->id);
}

int gmt_page_load_calls(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;
    int rc = reserve(page, tl->copy_count + tl->launch_count + tl->node_count +
                               2 * page->memory.count + 1);

    if (rc != 0) {
        return rc;
    }
    add_copies(page);
    add_launches(page);
    add_nodes(page);
    add_allocations(page);
    for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++) {
        rc = add_source(page, &sources[i]);
    }
    qsort(page->calls, page->call_count, sizeof(*page->calls), compare);
    return rc;
}

static int64_t index_or_unknown(int32_t index)
{
    return index >= 0 ? index : GMT_UNKNOWN;
}

void gmt_page_write_calls(struct gmt_page *page)
{
    static const struct gmt_column_head heads[] = {
        {"kind", GMT_ENCODE_U8},
        {"api", GMT_ENCODE_VARINT},
        {"thread", GMT_ENCODE_VARINT},
        {"stream", GMT_ENCODE_VARINT},
        {"begin", GMT_ENCODE_DELTA},
        {"host_ns", GMT_ENCODE_VARINT},
        {"device_start", GMT_ENCODE_VARINT},
        {"device_ns", GMT_ENCODE_VARINT},
        {"bytes", GMT_ENCODE_VARINT},
        {"stack", GMT_ENCODE_VARINT},
        {"direction", GMT_ENCODE_U8},
        {"host_class", GMT_ENCODE_U8},
        {"blocking", GMT_ENCODE_U8},
        {"kernel", GMT_ENCODE_VARINT},
        {"allocation", GMT_ENCODE_VARINT},
        {"count", GMT_ENCODE_VARINT},
        {"id", GMT_ENCODE_DELTA},
    };
    struct gmt_page_table *table = gmt_payload_table(page->payload, "call", heads,
                                                     sizeof(heads) / sizeof(heads[0]));

    for (size_t i = 0; i < page->call_count; i++) {
        const struct gmt_page_call *call = &page->calls[i];
        bool one = call->count == 1;
        int64_t row[] = {
            call->kind,
            index_or_unknown(call->api),
            call->thread,
            index_or_unknown(call->stream),
            gmt_page_time(page, call->begin_ns),
            call->host_ns,
            gmt_page_difference(call->device_start_ns, call->begin_ns),
            call->device_ns,
            call->bytes,
            call->stack,
            call->direction,
            call->host_class,
            call->blocking,
            index_or_unknown(call->kernel),
            one ? index_or_unknown(call->allocation) : GMT_UNKNOWN,
            one ? GMT_UNKNOWN : call->count,
            one ? call->id : GMT_UNKNOWN,
        };

        gmt_payload_row(page->payload, table, row);
    }
}

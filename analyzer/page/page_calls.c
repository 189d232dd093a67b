/* SPDX-License-Identifier: Apache-2.0 */
/* The page's calls: everything that the host asked of the device, in the order of time. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/page/page_parts.h"

/* There is room: gmt_page_gather_calls. */
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

/* What page_others.c has read. */
static void add_others(struct gmt_page *page)
{
    for (size_t i = 0; i < page->other_count; i++) {
        const struct gmt_page_other *from = &page->others[i];
        struct gmt_page_call *call = push(page, from->kind, from->begin_ns, from->end_ns);

        call->id = from->id;
        call->stack = gmt_page_stack(page, from->stack_id, from->caller);
        call->api = gmt_page_api(page, from->api_id);
        call->thread = gmt_page_thread(page, from->thread_id);
        call->stream = gmt_page_stream(page, from->stream_id);
        call->bytes = from->bytes;
        set_device(call, from->device_start_ns, from->device_end_ns);
    }
}

/* By begin, and what begins at once by id. */
static int sort_calls(struct gmt_page *page)
{
    size_t n = page->call_count;
    int64_t(*order)[2] = malloc((n + 1) * sizeof(*order));
    struct gmt_page_call *calls = malloc((n + 1) * sizeof(*calls));

    if (order == NULL || calls == NULL) {
        free(order);
        free(calls);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        order[i][0] = page->calls[i].id;
        order[i][1] = (int64_t)i;
    }
    gmt_sort_pairs(order, n);
    for (size_t i = 0; i < n; i++) {
        order[i][0] = page->calls[order[i][1]].begin_ns;
    }
    gmt_sort_pairs(order, n);
    /* Into other memory: in place, each move would wait for the one before. */
    for (size_t i = 0; i < n; i++) {
        calls[i] = page->calls[order[i][1]];
    }
    free(order);
    free(page->calls);
    page->calls = calls;
    return 0;
}

int gmt_page_gather_calls(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;
    size_t most = tl->copy_count + tl->launch_count + tl->node_count + 2 * page->memory.count +
                  page->other_count;

    page->calls = calloc(most + 1, sizeof(*page->calls));
    if (page->calls == NULL) {
        return -ENOMEM;
    }
    add_copies(page);
    add_launches(page);
    add_nodes(page);
    add_allocations(page);
    add_others(page);
    return sort_calls(page);
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

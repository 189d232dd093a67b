/* SPDX-License-Identifier: Apache-2.0 */
/* The page's calls: everything that the host asked of the device, in the order of time. A million of them take 84 MiB: each is
 * made when it is written. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/page/page_parts.h"

/* Which row of which list a call is made of: one number, as it is sorted beside a time. */
enum source { COPIES, LAUNCHES, NODES, ALLOCATIONS, FREES, OTHERS, SOURCES };

static int64_t source_of(size_t index, enum source source)
{
    return (int64_t)(index * SOURCES + source);
}

static struct gmt_page_call call_of(enum gmt_page_kind kind, int64_t begin_ns, int64_t end_ns)
{
    return (struct gmt_page_call){
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
}

static void set_device(struct gmt_page_call *call, int64_t start_ns, int64_t end_ns)
{
    call->device_start_ns = start_ns;
    call->device_ns = gmt_page_duration(start_ns, end_ns);
}

static struct gmt_page_call of_timeline(struct gmt_page *page, enum gmt_page_kind kind,
                                        const struct gmt_tl_call *from)
{
    struct gmt_page_call call = call_of(kind, from->begin_ns, from->end_ns);

    call.id = from->id;
    call.stack = gmt_page_stack(page, from->stack_id, (int64_t)from->caller);
    call.api = gmt_page_api(page, from->api);
    call.thread = gmt_page_thread(page, from->thread);
    call.stream = gmt_page_stream(page, from->stream);
    return call;
}

static struct gmt_page_call of_copy(struct gmt_page *page, const struct gmt_tl_copy *copy)
{
    struct gmt_page_call call = of_timeline(page, GMT_PAGE_TRANSFER, &copy->call);

    set_device(&call, copy->device_start_ns, copy->device_end_ns);
    call.bytes = copy->bytes;
    call.direction = copy->direction;
    call.host_class = copy->host_class;
    call.blocking = copy->blocking;
    return call;
}

static struct gmt_page_call of_launch(struct gmt_page *page, const struct gmt_tl_launch *launch)
{
    struct gmt_page_call call = of_timeline(page, GMT_PAGE_LAUNCH, &launch->call);

    set_device(&call, launch->device_start_ns, launch->device_end_ns);
    if (launch->class_index >= 0) {
        call.kernel = page->class_row[launch->class_index];
    }
    return call;
}

/* Kernels of graphs lie where the device ran them, and have thread, stream and stack of the graph's launch. */
static struct gmt_page_call of_node(struct gmt_page *page, const struct gmt_tl_node *node)
{
    const struct gmt_tl_launch *launch = gmt_timeline_launch(page->timeline, node->launch_id);
    struct gmt_page_call call = of_timeline(page, GMT_PAGE_NODE, &launch->call);

    call.begin_ns = node->device_start_ns;
    call.host_ns = GMT_UNKNOWN;
    call.id = GMT_UNKNOWN;
    call.api = -1;
    set_device(&call, node->device_start_ns, node->device_end_ns);
    call.kernel = page->class_row[node->class_index];
    return call;
}

static struct gmt_page_call of_allocation(struct gmt_page *page, size_t index, enum source source)
{
    const struct gmt_memory_row *a = &page->memory.rows[index];
    bool is_free = source == FREES;
    struct gmt_page_call call = is_free ? call_of(GMT_PAGE_FREE, a->free_begin_ns, a->free_end_ns)
                                        : call_of(GMT_PAGE_ALLOCATE, a->begin_ns, a->end_ns);

    call.stack = is_free ? gmt_page_stack(page, a->free_stack_id, GMT_UNKNOWN)
                         : gmt_page_stack(page, a->stack_id, a->caller);
    call.api = gmt_page_api(page, is_free ? a->free_api_id : a->api_id);
    call.thread = gmt_page_thread(page, is_free ? a->free_thread_id : a->thread_id);
    call.stream = gmt_page_stream(page, is_free ? GMT_UNKNOWN : a->stream_id);
    call.bytes = a->bytes;
    call.allocation = (int32_t)index;
    call.id = a->id;
    return call;
}

/* What page_others.c has read. */
static struct gmt_page_call of_other(struct gmt_page *page, const struct gmt_page_other *from)
{
    struct gmt_page_call call = call_of(from->kind, from->begin_ns, from->end_ns);

    call.id = from->id;
    call.stack = gmt_page_stack(page, from->stack_id, from->caller);
    call.api = gmt_page_api(page, from->api_id);
    call.thread = gmt_page_thread(page, from->thread_id);
    call.stream = gmt_page_stream(page, from->stream_id);
    call.bytes = from->bytes;
    set_device(&call, from->device_start_ns, from->device_end_ns);
    return call;
}

static struct gmt_page_call make(struct gmt_page *page, int64_t number)
{
    size_t index = (size_t)number / SOURCES;
    enum source source = (enum source)((size_t)number % SOURCES);

    switch (source) {
    case COPIES: return of_copy(page, &page->timeline->copies[index]);
    case LAUNCHES: return of_launch(page, &page->timeline->launches[index]);
    case NODES: return of_node(page, &page->timeline->nodes[index]);
    case ALLOCATIONS:
    case FREES: return of_allocation(page, index, source);
    case OTHERS:
    case SOURCES: break;
    }
    return of_other(page, &page->others[index]);
}

/* There is room. What a call has the first is numbered: functions, return addresses. */
static void take(struct gmt_page *page, size_t index, enum source source)
{
    int64_t number = source_of(index, source);

    page->order[page->call_count][0] = make(page, number).begin_ns;
    page->order[page->call_count++][1] = number;
}

static void take_all(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;

    for (size_t i = 0; i < tl->copy_count; i++) {
        take(page, i, COPIES);
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        take(page, i, LAUNCHES);
    }
    for (size_t i = 0; i < tl->node_count; i++) {
        if (gmt_timeline_launch(tl, tl->nodes[i].launch_id) != NULL) {
            take(page, i, NODES);
        }
    }
    for (size_t i = 0; i < page->memory.count; i++) {
        if (page->memory.rows[i].begin_ns != GMT_UNKNOWN) {
            take(page, i, ALLOCATIONS);
        }
        if (page->memory.rows[i].free_begin_ns != GMT_UNKNOWN) {
            take(page, i, FREES);
        }
    }
    for (size_t i = 0; i < page->other_count; i++) {
        take(page, i, OTHERS);
    }
}

/* By begin, and what begins at once by id. */
static void sort_calls(struct gmt_page *page)
{
    int64_t(*order)[2] = page->order;

    gmt_sort_pairs(order, page->call_count);
    for (size_t i = 0, next; i < page->call_count; i = next) {
        for (next = i + 1; next < page->call_count && order[next][0] == order[i][0]; next++) {
        }
        for (size_t k = i; next - i > 1 && k < next; k++) {
            order[k][0] = make(page, order[k][1]).id;
        }
        gmt_sort_pairs(order + i, next - i);
    }
}

int gmt_page_gather_calls(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;
    size_t most = tl->copy_count + tl->launch_count + tl->node_count + 2 * page->memory.count +
                  page->other_count;

    page->order = malloc((most + 1) * sizeof(*page->order));
    if (page->order == NULL) {
        return -ENOMEM;
    }
    take_all(page);
    sort_calls(page);
    return 0;
}

/* Of very many calls, all are made at once, and then merged. */
int gmt_page_reduce_calls(struct gmt_page *page, size_t limit, int64_t *below_ns)
{
    *below_ns = 0;
    if (page->call_count <= limit) {
        return 0;
    }
    page->calls = malloc(page->call_count * sizeof(*page->calls));
    if (page->calls == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < page->call_count; i++) {
        page->calls[i] = make(page, page->order[i][1]);
    }
    free(page->order);
    page->order = NULL;
    return gmt_page_merge_calls(page->calls, &page->call_count, limit, below_ns);
}

void gmt_page_free_calls(struct gmt_page *page)
{
    free(page->order);
    free(page->calls);
    free(page->others);
    page->order = NULL;
    page->calls = NULL;
    page->others = NULL;
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
        const struct gmt_page_call made = page->calls != NULL ? page->calls[i]
                                                              : make(page, page->order[i][1]);
        const struct gmt_page_call *call = &made;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Idle times between operations of a device, cut by the calls of the host. */
#include "libtrace/store/live/live_idle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SPANS 131072u /* of calls, or of a device's operations, that are kept: 3 MiB */
#define MOST_IN_PASS (4 * MOST_SPANS) /* a reader that is far behind finds more at once: left out */

struct gmt_live_span {
    uint64_t begin_ns, end_ns;
    uint32_t cause; /* enum gmt_live_cause, of a call */
};

/* A thread enters or leaves a call. */
struct call_edge {
    uint64_t ns;
    uint32_t cause;
    int32_t step;
};

void gmt_live_idle_free(struct gmt_live_idle *idle)
{
    free(idle->calls.item);
    for (size_t i = 0; i < GMT_LIVE_DEVICES; i++) {
        free(idle->ops[i].item);
    }
    *idle = (struct gmt_live_idle){0};
}

static int add(struct gmt_live_spans *spans, const struct gmt_live_span *span)
{
    if (spans->count == MOST_IN_PASS) {
        return 0;
    }
    if (spans->count == spans->capacity) {
        size_t capacity = spans->capacity != 0 ? 2 * spans->capacity : 1024;
        struct gmt_live_span *item = realloc(spans->item, capacity * sizeof(*item));
        if (item == NULL) {
            return -ENOMEM;
        }
        spans->item = item;
        spans->capacity = capacity;
    }
    spans->item[spans->count++] = *span;
    return 0;
}

int gmt_live_idle_call(struct gmt_live_idle *idle, enum gmt_live_cause cause, uint64_t begin_ns,
                       uint64_t end_ns)
{
    if (idle->devices == 0 || end_ns <= begin_ns) {
        return 0;
    }
    return add(&idle->calls, &(struct gmt_live_span){begin_ns, end_ns, (uint32_t)cause});
}

int gmt_live_idle_op(struct gmt_live_idle *idle, uint32_t device, uint64_t begin_ns,
                     uint64_t end_ns)
{
    device = device < GMT_LIVE_DEVICES ? device : GMT_LIVE_DEVICES - 1;
    idle->devices = idle->devices > device ? idle->devices : device + 1;
    return end_ns >= begin_ns
               ? add(&idle->ops[device], &(struct gmt_live_span){begin_ns, end_ns, 0})
               : 0;
}

int gmt_live_idle_is_full(const struct gmt_live_idle *idle)
{
    bool is_full = idle->calls.count >= MOST_SPANS;
    for (unsigned i = 0; i < idle->devices; i++) {
        is_full = is_full || idle->ops[i].count >= MOST_SPANS;
    }
    return is_full;
}

static int by_begin(const void *a, const void *b)
{
    const struct gmt_live_span *left = a, *right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

static int by_ns(const void *a, const void *b)
{
    const struct call_edge *left = a, *right = b;
    return (left->ns > right->ns) - (left->ns < right->ns);
}

static void sort(struct gmt_live_spans *spans)
{
    if (spans->count > 1) {
        qsort(spans->item, spans->count, sizeof(*spans->item), by_begin);
    }
}

/* Leave out what ended before; the rest is counted later. */
static void forget(struct gmt_live_spans *spans, uint64_t until_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < spans->count; i++) {
        if (spans->item[i].end_ns > until_ns) {
            spans->item[kept++] = spans->item[i];
        }
    }
    spans->count = kept;
}

/* The idle times of a device that ended before `until_ns`, in order; its busy time is counted. */
static int find_gaps(struct gmt_live_idle *idle, unsigned device, uint64_t until_ns,
                     uint64_t *busy_ns, struct gmt_live_spans *gaps)
{
    struct gmt_live_spans *ops = &idle->ops[device];
    uint64_t at_ns = idle->counted_ns[device];
    size_t i = 0;
    int error = 0;
    sort(ops);
    for (; i < ops->count && ops->item[i].begin_ns < until_ns && error == 0; i++) {
        const struct gmt_live_span *op = &ops->item[i];
        at_ns = at_ns != 0 ? at_ns : op->begin_ns;
        if (op->begin_ns > at_ns) {
            error = add(gaps, &(struct gmt_live_span){at_ns, op->begin_ns, 0});
            at_ns = op->begin_ns;
        }
        *busy_ns += op->end_ns > at_ns ? op->end_ns - at_ns : 0;
        at_ns = op->end_ns > at_ns ? op->end_ns : at_ns;
    }
    if (i != 0) {
        memmove(ops->item, ops->item + i, (ops->count - i) * sizeof(*ops->item));
        ops->count -= i;
    }
    idle->counted_ns[device] = at_ns;
    return error;
}

/* From the end of the call that put the operation there to its begin: the latest one that began before. */
static void cut_latency(const struct gmt_live_spans *calls, struct gmt_live_spans *gaps,
                        uint64_t *latency_ns)
{
    uint64_t put_ns = 0; /* when that call ended */
    size_t at = 0;
    for (size_t i = 0; i < gaps->count; i++) {
        struct gmt_live_span *gap = &gaps->item[i];
        for (; at < calls->count && calls->item[at].begin_ns < gap->end_ns; at++) {
            bool puts = calls->item[at].cause == GMT_LIVE_LAUNCH ||
                        calls->item[at].cause == GMT_LIVE_COPY_CALLS;
            put_ns = puts ? calls->item[at].end_ns : put_ns;
        }
        if (put_ns > gap->begin_ns && put_ns < gap->end_ns) {
            *latency_ns += gap->end_ns - put_ns;
            gap->end_ns = put_ns;
        }
    }
}

static enum gmt_live_cause cause_of(const int32_t active[static GMT_LIVE_CAUSE_COUNT])
{
    unsigned cause = 0;
    while (cause < GMT_LIVE_HOST && active[cause] <= 0) {
        cause++;
    }
    return (enum gmt_live_cause)cause;
}

/* One walk along both, which are in order. */
static void share_out(const struct call_edge *edges, size_t count,
                      const struct gmt_live_spans *gaps,
                      uint64_t idle_ns[static GMT_LIVE_CAUSE_COUNT])
{
    int32_t active[GMT_LIVE_CAUSE_COUNT] = {0};
    uint64_t at_ns = 0;
    size_t gap = 0;
    for (size_t i = 0; i <= count; i++) {
        uint64_t next_ns = i < count ? edges[i].ns : UINT64_MAX;
        while (gap < gaps->count && gaps->item[gap].begin_ns < next_ns) {
            const struct gmt_live_span *span = &gaps->item[gap];
            uint64_t from_ns = span->begin_ns > at_ns ? span->begin_ns : at_ns;
            uint64_t to_ns = span->end_ns < next_ns ? span->end_ns : next_ns;
            idle_ns[cause_of(active)] += to_ns > from_ns ? to_ns - from_ns : 0;
            if (span->end_ns > next_ns) {
                break;
            }
            gap++;
        }
        if (i < count) {
            active[edges[i].cause] += edges[i].step;
            at_ns = next_ns;
        }
    }
}

/* Where calls are entered and left, in order. NULL: no memory, or no calls. */
static struct call_edge *find_edges(const struct gmt_live_spans *calls)
{
    struct call_edge *edges = calls->count != 0 ? malloc(2 * calls->count * sizeof(*edges)) : NULL;
    for (size_t i = 0; edges != NULL && i < calls->count; i++) {
        const struct gmt_live_span *call = &calls->item[i];
        edges[2 * i] = (struct call_edge){call->begin_ns, call->cause, 1};
        edges[2 * i + 1] = (struct call_edge){call->end_ns, call->cause, -1};
    }
    if (edges != NULL) {
        qsort(edges, 2 * calls->count, sizeof(*edges), by_ns);
    }
    return edges;
}

int gmt_live_idle_settle(struct gmt_live_idle *idle, uint64_t until_ns, struct gmt_live_page *page)
{
    struct gmt_live_spans gaps = {0};
    uint64_t counted_ns = until_ns;
    int error = 0;
    if (idle->devices == 0) {
        return 0;
    }
    sort(&idle->calls);
    struct call_edge *edges = find_edges(&idle->calls);
    error = edges == NULL && idle->calls.count != 0 ? -ENOMEM : 0;
    for (unsigned i = 0; i < idle->devices && error == 0; i++) {
        gaps.count = 0;
        error = find_gaps(idle, i, until_ns, &page->device[i].busy_ns, &gaps);
        cut_latency(&idle->calls, &gaps, &page->device[i].idle_ns[GMT_LIVE_LAUNCH]);
        share_out(edges, 2 * idle->calls.count, &gaps, page->device[i].idle_ns);
        bool is_behind = idle->counted_ns[i] != 0 && idle->counted_ns[i] < counted_ns;
        counted_ns = is_behind ? idle->counted_ns[i] : counted_ns;
    }
    /* A device that has had no work for long would have all calls kept. */
    forget(&idle->calls, idle->calls.count >= MOST_SPANS ? until_ns : counted_ns);
    if (idle->calls.count >= MOST_SPANS) {
        idle->calls.count = 0;
    }
    free(edges);
    free(gaps.item);
    return error;
}

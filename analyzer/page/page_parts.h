/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of gmt_page_fill: where the trace's ids lie in the page, and who fills which table. */
#ifndef GMT_ANALYZER_PAGE_PAGE_PARTS_H
#define GMT_ANALYZER_PAGE_PAGE_PARTS_H

#include "analyzer/memory/memory.h"
#include "analyzer/page/page.h"
#include "analyzer/trace/ids.h"

/* Return addresses of calls that have no stack. */
struct gmt_callers {
    int64_t *addresses;
    size_t n, slot_count;
    uint32_t *slots; /* hash table: index + 1, 0 is free */
};

/* Values of column `kind` of table call, in the order of names.kind. */
enum gmt_page_kind {
    GMT_PAGE_TRANSFER,
    GMT_PAGE_MEMSET,
    GMT_PAGE_LAUNCH,
    GMT_PAGE_SYNC,
    GMT_PAGE_ALLOCATE,
    GMT_PAGE_FREE,
    GMT_PAGE_OTHER,
    GMT_PAGE_NODE, /* a kernel of a graph: no call of its own, but the launch of the graph's */
    GMT_PAGE_KINDS
};

/* A call of the host; GMT_UNKNOWN in any field but begin_ns, kind and the four bytes. */
struct gmt_page_call {
    int64_t begin_ns, host_ns, device_start_ns, device_ns, bytes, id, stack;
    int32_t api, thread, stream, kernel, allocation; /* indices; -1: none, or not known */
    uint32_t count;
    uint8_t kind, direction, host_class, blocking;
};

/* A call that the timeline does not hold, with the ids of the trace. */
struct gmt_page_other {
    int64_t id, begin_ns, end_ns, stack_id, caller, api_id, thread_id, stream_id, bytes;
    int64_t device_start_ns, device_end_ns;
    enum gmt_page_kind kind;
};

/* What is under way while a page is filled. */
struct gmt_page {
    struct gmt_payload *payload;
    const struct gmt_timeline *timeline;
    const struct gmt_report *report;
    struct gmt_timeline beside; /* the timeline, with a connection for the worker; without: zeros */
    const struct gmt_timeline
        *whole; /* while the worker has it: the timeline, with the caller's connection */
    struct gmt_ids threads, streams, devices, contexts, stacks, frames;
    int64_t *context_device; /* index of the device of each context */
    int32_t *api_index;      /* by id: where its name stands, -1: nowhere yet */
    json_t *api_names;
    int32_t *class_row; /* by class of the timeline: index of its row in report->kernels, -1 */
    struct gmt_callers callers;
    bool lost_thread; /* a call of a thread that the trace does not list */
    struct gmt_memory memory;
    struct gmt_page_other *others;
    size_t other_count, other_capacity;
    int64_t (*order)[2];         /* begin of each call, and what it is made of (page_calls.c) */
    struct gmt_page_call *calls; /* after gmt_page_reduce_calls; NULL: they are made one by one */
    size_t call_count;
    struct gmt_worker worker, *before; /* the latter NULL: nobody's end is waited for */
    int gathered;  /* whether the calls are in the payload: 0, or a negative errno */
    char why[256]; /* what the worker found wrong with the trace; "": nothing */
};

/* a - b, or GMT_UNKNOWN where one of them is, or the difference is beyond any clock. */
int64_t gmt_page_difference(int64_t a, int64_t b);
/* The same, GMT_UNKNOWN where it is negative. */
int64_t gmt_page_duration(int64_t begin_ns, int64_t end_ns);
/* Time from the origin; within the limits of the payload, so that the order stays. */
int64_t gmt_page_time(const struct gmt_page *page, int64_t at_ns);
/* Index of the name of an api; GMT_UNKNOWN is -1 here. */
int32_t gmt_page_api(struct gmt_page *page, int64_t api_id);
int32_t gmt_page_thread(struct gmt_page *page, int64_t thread_id);
int32_t gmt_page_stream(const struct gmt_page *page, int64_t stream_id);

/* Of a call; where it has no stack, that of its return address. */
int64_t gmt_page_stack(struct gmt_page *page, int64_t stack_id, int64_t caller);

int gmt_page_load_places(struct gmt_page *page);
void gmt_page_free_places(struct gmt_page *page);
/* head.threads, streams, devices: after all calls are gathered. */
int gmt_page_write_places(struct gmt_page *page);
int gmt_page_write_stacks(struct gmt_page *page);
/* Rows behind those of the trace. */
void gmt_page_write_callers(struct gmt_page *page, struct gmt_page_table *stack_frames);
int gmt_page_write_caller_frames(struct gmt_page *page, struct gmt_page_table *frames);

int gmt_page_load_allocations(struct gmt_page *page);
void gmt_page_write_allocations(struct gmt_page *page);

/* Pieces of idle time, after gmt_page_load_places. */
void gmt_page_write_idle(struct gmt_page *page);

/* Of kernels whose instructions were counted. */
void gmt_page_write_lines(struct gmt_page *page);

int gmt_page_load_others(struct gmt_page *page);
/* All calls, without a look into the trace: after what the two above load, and the places. 0 or -ENOMEM. */
int gmt_page_gather_calls(struct gmt_page *page);
/* Leaves no more than about `limit` of them, as gmt_page_merge_calls does. 0 or -ENOMEM. */
int gmt_page_reduce_calls(struct gmt_page *page, size_t limit, int64_t *below_ns);
void gmt_page_write_calls(struct gmt_page *page);
void gmt_page_free_calls(struct gmt_page *page);

/*
 * Merges neighbours of one lane until at most `limit` rows are left; counts, bytes and times of the
 * merged are sums. *below_ns: they begin closer than that; 0: none were merged. 0 or -ENOMEM.
 */
int gmt_page_merge_calls(struct gmt_page_call *calls, size_t *count, size_t limit,
                         int64_t *below_ns);

#endif

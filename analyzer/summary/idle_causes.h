/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a device was idle: each idle interval, cut where its cause changes.
 *
 * The operation that ends an interval says which thread the device waited for. From the moment that it was called until it
 * starts, the device waits for the launch (GMT_LAUNCH_LATENCY_NS after the call at most: what takes longer waits in
 * its stream, which is a synchronization). Before that, the cause is the call that this thread is in, and where it is in none,
 * the call of another thread that is no wait, else the code of the host. Calls of any thread that allocate, page-lock or load
 * code go first: they hold locks of the driver. What is before the first operation of the device and in none of
 * the calls named is start-up, and what is after its last one likewise shutdown.
 */
#ifndef GMT_ANALYZER_SUMMARY_IDLE_CAUSES_H
#define GMT_ANALYZER_SUMMARY_IDLE_CAUSES_H

#include "analyzer/summary/host_calls.h"

/* An operation of a device, and the call that asked for it. */
struct gmt_idle_op {
    int64_t start_ns, end_ns;
    int64_t call_begin_ns, call_end_ns; /* GMT_NO_TIME: not known */
    int32_t thread, device;             /* the latter -1: not known */
    bool is_copy;                       /* or a memset */
};

struct gmt_idle_ops {
    struct gmt_idle_op *rows; /* by start */
    size_t count;
    int64_t until_ns; /* when the last of all devices' ended, also where these are one device's */
};

/* All that have times. 0, -ENOMEM or -EIO; gmt_idle_ops_free in every case. */
int gmt_idle_ops_load(struct gmt_idle_ops *ops, const struct gmt_timeline *timeline);
void gmt_idle_ops_free(struct gmt_idle_ops *ops);
/* Those of one device; `of` must have room for as many as `ops` has. */
void gmt_idle_ops_select(const struct gmt_idle_ops *ops, int32_t device, struct gmt_idle_ops *of);

/* A piece of an idle interval. */
struct gmt_idle_cause {
    int64_t begin_ns, end_ns;
    enum gmt_time_part part;
    size_t call,
        until; /* indices of calls: the one that is the cause; of code of the host the ones before and after.
                           SIZE_MAX: none */
};

/*
 * Calls in the orders in which causes are looked up: indices of calls, by begin and by end. Of a list, a call lasts from the end of
 * the one before it on, if it began earlier.
 */
struct gmt_idle_calls {
    const struct gmt_host_calls *calls;
    uint32_t *holding;   /* which allocate, page-lock or load code */
    uint32_t *moving;    /* of the others all that are no waits */
    uint32_t *by_thread; /* all, thread by thread: each thread is a list of its own */
    size_t holding_count, moving_count;
    int64_t (
        *threads)[2]; /* id, and index of its first one in by_thread; with one more at the end */
    size_t thread_count;
};

/* 0 or -ENOMEM; gmt_idle_calls_free in every case. */
int gmt_idle_calls_make(struct gmt_idle_calls *made, const struct gmt_host_calls *calls);
void gmt_idle_calls_free(struct gmt_idle_calls *made);

/*
 * Calls `take` for each piece of these intervals (disjoint, ascending, and without any operation of `ops` in them), in the
 * order of time. 0, or what `take` returned.
 */
int gmt_idle_causes_find(const struct gmt_idle_calls *calls, const struct gmt_idle_ops *ops,
                         const struct gmt_interval *idle, size_t n,
                         int (*take)(void *user, const struct gmt_idle_cause *cause), void *user);

#endif

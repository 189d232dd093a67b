/* SPDX-License-Identifier: Apache-2.0 */
/* Streams with work that may wait for the host, and events behind it (waits.h). */
#include "preload/state/waits.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/driver/resolve.h"
#include "preload/session/session.h"
#include "preload/state/hook_call.h"

enum { STREAMS = 64 }; /* that are tracked */
enum { TURNS = 2 };    /* launches of other threads, measured, that a call waits for */

/* Of a stream that had such operations. */
static struct wait {
    CUcontext context;
    CUstream stream;
    uint32_t thread; /* whose default stream it is, 0 = a stream with a handle of its own */
    bool per_thread;
    bool gone;     /* the stream is: only the event can be asked */
    bool unmarked; /* there was such an operation behind the event */
    bool recorded; /* the event is, and has not been seen to be over */
    bool has_event;
    CUevent event;
    uint64_t ticks; /* when the last operation had been put in */
} waits[STREAMS];
static unsigned count;
static struct gmt_mutex mutex = GMT_MUTEX(WAITS);
static _Atomic bool wanted;        /* somebody may measure */
static _Atomic unsigned calls;     /* under way: their operation is about to come */
static _Atomic bool any, in_graph; /* any: of all of this, so far */
/* Of one that has no entry: it may be under way until its context is idle. */
static struct {
    bool any;
    CUcontext context; /* NULL: not known, and so it is for good */
    uint64_t ticks;
} unknown;

void gmt_waits_want(bool want)
{
    atomic_store(&wanted, want);
}

/* A launch that is being measured by another thread would wait for what comes now. While that is waited for this call is
 * not under way; whoever begins to measure behind it sees that it is. */
void gmt_waits_begin(void)
{
    if (!atomic_load_explicit(&wanted, memory_order_relaxed)) {
        return;
    }
    atomic_store(&any, true);
    for (unsigned turns = 0;; turns++) {
        atomic_fetch_add(&calls, 1);
        if (gmt_collector == NULL || gmt_collector->measuring == NULL || turns == TURNS ||
            !gmt_collector->measuring()) {
            return;
        }
        atomic_fetch_sub(&calls, 1);
        gmt_collector->quiesce();
    }
}

/* The default stream of a context or of a thread: its handle means another stream to each who asks. */
static bool is_default(const struct wait *wait)
{
    return wait->stream == NULL || wait->stream == CU_STREAM_LEGACY ||
           wait->stream == CU_STREAM_PER_THREAD;
}

static bool is_of_thread(CUstream stream, bool per_thread)
{
    return stream == CU_STREAM_PER_THREAD || (stream == NULL && per_thread);
}

static bool can_name(const struct wait *wait, CUcontext current)
{
    return !wait->gone &&
           (!is_default(wait) || (wait->context == current &&
                                  (wait->thread == 0 || wait->thread == gmt_spool_thread_id())));
}

static CUresult ask_stream(const struct wait *wait)
{
    CUresult (*ask)(CUstream) = wait->per_thread ? gmt_driver.cuStreamQuery_ptsz
                                                 : gmt_driver.cuStreamQuery;
    return ask != NULL ? ask(wait->stream) : CUDA_ERROR_NOT_READY;
}

/* Never in a default stream: there it would be a barrier between other streams, which may wait for it. */
static void record_event(struct wait *wait)
{
    CUresult (*record)(CUevent, CUstream) = wait->per_thread ? gmt_driver.cuEventRecord_ptsz
                                                             : gmt_driver.cuEventRecord;
    bool can = wait->has_event && !wait->gone && !is_default(wait) && record != NULL &&
               record(wait->event, wait->stream) == CUDA_SUCCESS;
    wait->recorded = wait->recorded || can;
    wait->unmarked = !can;
}

/* One event at most is behind in a stream, however often somebody asks: its queue is the program's. */
static bool is_under_way(struct wait *wait, CUcontext current)
{
    wait->recorded = wait->recorded && gmt_driver.cuEventQuery(wait->event) == CUDA_ERROR_NOT_READY;
    if (wait->recorded || !wait->unmarked) {
        return wait->recorded;
    }
    if (can_name(wait, current)) {
        wait->unmarked = ask_stream(wait) == CUDA_ERROR_NOT_READY;
        if (wait->unmarked) {
            record_event(wait);
            return true;
        }
    }
    return wait->unmarked;
}

/* The entry of the stream, else one that is over; STREAMS: there is none. */
static unsigned find(const struct wait *wanted_entry, CUcontext current)
{
    unsigned at = 0;
    while (at < count &&
           (waits[at].gone || waits[at].context != wanted_entry->context ||
            waits[at].stream != wanted_entry->stream || waits[at].thread != wanted_entry->thread ||
            waits[at].per_thread != wanted_entry->per_thread)) {
        at++;
    }
    if (at < count) {
        return at;
    }
    at = count < STREAMS ? count : 0;
    while (count == STREAMS && at < STREAMS &&
           (atomic_load(&gmt_captures) != 0 || is_under_way(&waits[at], current))) {
        at++;
    }
    if (at < STREAMS) {
        struct wait old = waits[at];
        bool reuse = at < count && old.has_event && old.context == wanted_entry->context;
        waits[at] = *wanted_entry;
        waits[at].event = reuse ? old.event : NULL;
        waits[at].has_event = reuse;
        count += at == count;
    }
    return at;
}

static void note_unknown(CUcontext context)
{
    unknown.context = unknown.any && unknown.context != context ? NULL : context;
    unknown.any = true;
    unknown.ticks = gmt_clock_ticks();
}

/* An event is of the context that is current: of a stream in another one only the stream itself is asked. */
static void note(const struct gmt_hook_call *call)
{
    CUcontext current = NULL, context = NULL;
    struct wait entry = {.stream = call->stream,
                         .per_thread = (call->flags & GMT_CALL_PER_THREAD) != 0};
    if (gmt_driver.cuCtxGetCurrent(&current) != CUDA_SUCCESS) {
        note_unknown(NULL);
        return;
    }
    entry.context = current;
    entry.thread = is_of_thread(entry.stream, entry.per_thread) ? gmt_spool_thread_id() : 0;
    if (!is_default(&entry) && gmt_driver.cuStreamGetCtx != NULL &&
        gmt_driver.cuStreamGetCtx(entry.stream, &context) == CUDA_SUCCESS) {
        entry.context = context;
    }
    unsigned at = find(&entry, current);
    if (at == STREAMS) {
        note_unknown(entry.context);
        return;
    }
    struct wait *wait = &waits[at];
    wait->unmarked = true;
    wait->ticks = gmt_clock_ticks();
    if (!wait->has_event && !is_default(wait) && wait->context == current &&
        gmt_driver.cuEventCreate != NULL && gmt_driver.cuEventQuery != NULL) {
        wait->has_event = gmt_driver.cuEventCreate(&wait->event, CU_EVENT_DISABLE_TIMING) ==
                          CUDA_SUCCESS;
    }
}

void gmt_waits_end(const struct gmt_hook_call *call)
{
    if (!atomic_load_explicit(&wanted, memory_order_relaxed)) {
        return;
    }
    if (call->result == CUDA_SUCCESS && gmt_collector != NULL) {
        if ((call->flags & GMT_CALL_CAPTURING) != 0) {
            gmt_waits_in_graphs();
        } else {
            gmt_mutex_lock(&mutex);
            note(call);
            gmt_mutex_unlock(&mutex);
        }
    }
    unsigned under_way = atomic_load(&calls);
    while (under_way > 0 && !atomic_compare_exchange_weak(&calls, &under_way, under_way - 1)) {
    }
}

void gmt_waits_in_graphs(void)
{
    atomic_store(&in_graph, true);
}

bool gmt_waits_any_in_graphs(void)
{
    return atomic_load_explicit(&in_graph, memory_order_relaxed);
}

bool gmt_waits_under_way(void)
{
    CUcontext current = NULL;
    if (!atomic_load_explicit(&any, memory_order_relaxed)) {
        return false;
    }
    bool under_way = atomic_load(&calls) != 0 || gmt_driver.cuCtxGetCurrent(&current) != 0;
    gmt_mutex_lock(&mutex);
    under_way |= unknown.any;
    for (unsigned i = 0; i < count; i++) {
        under_way |= is_under_way(&waits[i], current);
    }
    gmt_mutex_unlock(&mutex);
    return under_way;
}

bool gmt_waits_under_way_after(uint64_t within_ns)
{
    uint64_t began_ns = 0;
    while (gmt_waits_under_way()) {
        uint64_t now_ns = gmt_clock_monotonic_ns();
        began_ns = began_ns == 0 ? now_ns : began_ns;
        if (atomic_load(&gmt_captures) != 0 || now_ns - began_ns >= within_ns) {
            return true;
        }
        (void)sched_yield();
    }
    return false;
}

void gmt_waits_drained(CUcontext context, uint64_t begin_ticks)
{
    if (!atomic_load_explicit(&any, memory_order_relaxed)) {
        return;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < count; i++) {
        if (waits[i].context == context && waits[i].ticks < begin_ticks) {
            waits[i].unmarked = waits[i].recorded = false;
        }
    }
    unknown.any = unknown.any && (unknown.context == NULL || unknown.context != context ||
                                  unknown.ticks >= begin_ticks);
    gmt_mutex_unlock(&mutex);
}

void gmt_waits_stream_going(CUstream stream)
{
    if (!atomic_load_explicit(&any, memory_order_relaxed) || stream == NULL) {
        return;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < count; i++) {
        if (waits[i].stream == stream && !waits[i].gone) {
            if (waits[i].unmarked) {
                record_event(&waits[i]);
            }
            waits[i].gone = true;
        }
    }
    gmt_mutex_unlock(&mutex);
}

void gmt_waits_forget(CUcontext context)
{
    if (context == NULL) {
        gmt_mutex_renew(&mutex);
        count = 0;
        unknown.any = false;
        atomic_store(&calls, 0);
        atomic_store(&any, false);
        return;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < count;) {
        if (waits[i].context == context) {
            waits[i] = waits[--count];
        } else {
            i++;
        }
    }
    unknown.any = unknown.any && unknown.context != context;
    gmt_mutex_unlock(&mutex);
}

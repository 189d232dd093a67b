/* SPDX-License-Identifier: Apache-2.0 */
/* Events behind work that may wait for the host (waits.h). */
#include "preload/waits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "preload/hook.h"
#include "preload/resolve.h"
#include "preload/start.h"

enum { STREAMS = 64 }; /* that are told apart */

/* Of a stream that had such operations. */
static struct wait {
    CUcontext context;
    CUstream stream;
    bool per_thread;
    bool gone;     /* the stream is: only the event tells */
    bool unmarked; /* some operation has no event behind it yet */
    bool recorded; /* the event is, and has not been seen to be over */
    CUevent event;
} waits[STREAMS];
static unsigned count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned calls;     /* under way: their operation is about to come */
static _Atomic bool any, in_graph; /* any: of all of this, so far */
static bool untold;                /* of one nothing is known: it may be under way for good */

void gmt_waits_begin(void)
{
    atomic_fetch_add(&calls, 1);
    atomic_store(&any, true);
}

/* The entry of the stream, else one that is free; STREAMS: there is none. */
static unsigned find(CUcontext context, CUstream stream, bool per_thread)
{
    unsigned free_at = STREAMS;
    for (unsigned at = 0; at < count; at++) {
        if (!waits[at].gone && waits[at].context == context && waits[at].stream == stream &&
            waits[at].per_thread == per_thread) {
            return at;
        }
        if (!waits[at].unmarked && !waits[at].recorded && waits[at].context == context) {
            free_at = at;
        }
    }
    if (free_at == STREAMS && count < STREAMS &&
        gmt_driver.cuEventCreate(&waits[count].event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS) {
        free_at = count++;
    }
    if (free_at < STREAMS) {
        waits[free_at] = (struct wait){.context = context,
                                       .stream = stream,
                                       .per_thread = per_thread,
                                       .event = waits[free_at].event};
    }
    return free_at;
}

static bool is_of_thread(const struct wait *wait)
{
    return wait->stream == CU_STREAM_PER_THREAD || (wait->stream == NULL && wait->per_thread);
}

/* The event behind all that has been put into the stream. A default stream is that of whoever asks. */
static void mark(struct wait *wait, CUcontext current)
{
    bool by_default = wait->stream == NULL || wait->stream == CU_STREAM_LEGACY ||
                      wait->stream == CU_STREAM_PER_THREAD;
    CUresult (*record)(CUevent, CUstream) = wait->per_thread ? gmt_driver.cuEventRecord_ptsz
                                                             : gmt_driver.cuEventRecord;
    bool can = !wait->gone && (!by_default || wait->context == current) &&
               record(wait->event, wait->stream) == CUDA_SUCCESS;
    wait->recorded = wait->recorded || can;
    wait->unmarked = !can;
}

static void note(const struct gmt_site *site)
{
    CUcontext context = NULL;
    bool can = gmt_driver.cuEventRecord != NULL && gmt_driver.cuEventRecord_ptsz != NULL &&
               gmt_driver.cuEventCreate != NULL && gmt_driver.cuEventQuery != NULL &&
               gmt_driver.cuCtxGetCurrent(&context) == CUDA_SUCCESS;
    unsigned at = STREAMS;
    if (can) {
        at = find(context, site->stream, (site->flags & GMT_CALL_PER_THREAD) != 0);
    }
    if (at == STREAMS) {
        untold = true;
        return;
    }
    waits[at].unmarked = true;
    if (is_of_thread(&waits[at])) {
        mark(&waits[at], context); /* nobody else can name its stream */
    }
}

void gmt_waits_end(const struct gmt_site *site)
{
    if (site->result == CUDA_SUCCESS && gmt_collector != NULL) {
        if ((site->flags & GMT_CALL_CAPTURING) != 0) {
            gmt_waits_in_graphs();
        } else {
            pthread_mutex_lock(&mutex);
            note(site);
            pthread_mutex_unlock(&mutex);
        }
    }
    atomic_fetch_sub(&calls, 1);
}

void gmt_waits_in_graphs(void)
{
    atomic_store(&in_graph, true);
}

bool gmt_waits_any_in_graphs(void)
{
    return atomic_load_explicit(&in_graph, memory_order_relaxed);
}

static bool is_under_way(struct wait *wait, CUcontext current)
{
    if (wait->unmarked) {
        if (!is_of_thread(wait)) {
            mark(wait, current);
        }
        return true;
    }
    wait->recorded = wait->recorded && gmt_driver.cuEventQuery(wait->event) == CUDA_ERROR_NOT_READY;
    return wait->recorded;
}

bool gmt_waits_under_way(void)
{
    CUcontext current = NULL;
    if (!atomic_load_explicit(&any, memory_order_relaxed)) {
        return false;
    }
    bool under_way = atomic_load(&calls) != 0 || gmt_driver.cuCtxGetCurrent(&current) != 0;
    pthread_mutex_lock(&mutex);
    under_way |= untold;
    for (unsigned i = 0; i < count; i++) {
        under_way |= is_under_way(&waits[i], current);
    }
    pthread_mutex_unlock(&mutex);
    return under_way;
}

void gmt_waits_stream_going(CUstream stream)
{
    CUcontext current = NULL;
    if (!atomic_load_explicit(&any, memory_order_relaxed) || stream == NULL) {
        return;
    }
    (void)gmt_driver.cuCtxGetCurrent(&current);
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < count; i++) {
        if (waits[i].stream == stream && !waits[i].gone) {
            if (waits[i].unmarked) {
                mark(&waits[i], current);
            }
            waits[i].gone = true;
        }
    }
    pthread_mutex_unlock(&mutex);
}

void gmt_waits_forget(CUcontext context)
{
    if (context == NULL) {
        pthread_mutex_init(&mutex, NULL);
        count = 0;
        untold = false;
        atomic_store(&calls, 0);
        atomic_store(&any, false);
        return;
    }
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < count;) {
        if (waits[i].context == context) {
            waits[i] = waits[--count];
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&mutex);
}

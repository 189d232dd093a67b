/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps CUPTI's worker thread asleep (fetch_thread.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/base/fetch_thread.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "libtrace/cupti/base/fetch_search.h"
#include "libtrace/cupti/base/task.h"
#include "libtrace/record/clock.h"

/* Longer than a launch may take that is counted. Should nobody end the pause, records still come. */
#define PAUSE_MS 100000u
#define LONGEST_NS UINT64_C(20000000)
#define USUAL_NS UINT64_C(300000)
#define POLL_NS UINT64_C(20000)
#define PAUSES_IN_VAIN 3u /* in a row: then the thread is looked for anew */
/* What was in vain is not tried again before so many times its time has passed. */
#define AGAIN_PART 50u
#define SEARCHES_MAX 8u
#define SEARCH_PAUSE_NS UINT64_C(20000000) /* after the first in vain; twice as long each time */
#define STARTED_MAX 16u
#define THREADS_MAX 4096u

static uint32_t thread;               /* 0: not known */
static struct gmt_task_place resting; /* where it sleeps while it has nothing to do */
static unsigned pauses_in_vain;       /* in a row */
static uint64_t pause_not_before_ns;

static unsigned searches; /* in vain */
static uint64_t search_not_before_ns;
static uint32_t started[STARTED_MAX]; /* threads that began with CUPTI */
static size_t started_count;

/* All threads of the process, or none. The caller frees `tids`. */
struct threads {
    uint32_t *tids;
    size_t count;
};
static struct threads there_before;

/* The period is set first, the thread woken after: what it does next is the work of the period, and then it sleeps for as long. */
static bool wake(const struct gmt_cupti_api *api, uint32_t period_ms)
{
    return api->cuptiActivityFlushPeriod(period_ms) == CUPTI_SUCCESS;
}

static bool wake_for_long(const void *api)
{
    return wake(api, PAUSE_MS);
}

/* ---- which thread it is ------------------------------------------------------------------------- */

static struct threads all_threads(void)
{
    struct threads all = {calloc(THREADS_MAX, sizeof(*all.tids)), 0};
    all.count = all.tids != NULL ? gmt_task_list(all.tids, THREADS_MAX) : 0;
    all.count = all.count <= THREADS_MAX ? all.count : 0;
    return all;
}

void gmt_fetch_thread_starting(void)
{
    int saved_errno = errno;
    there_before = all_threads();
    errno = saved_errno;
}

static bool was_there(uint32_t tid)
{
    size_t at = 0;
    while (at < there_before.count && there_before.tids[at] != tid) {
        at++;
    }
    return at < there_before.count;
}

void gmt_fetch_thread_started(void)
{
    int saved_errno = errno;
    struct threads now = all_threads();
    started_count = 0;
    for (size_t i = 0; i < now.count && there_before.count != 0; i++) {
        if (!was_there(now.tids[i]) && started_count < STARTED_MAX) {
            started[started_count++] = now.tids[i];
        }
    }
    free(now.tids);
    free(there_before.tids);
    there_before = (struct threads){0};
    errno = saved_errno;
}

static uint32_t search_all(const struct gmt_cupti_api *api)
{
    struct threads all = all_threads();
    uint32_t found = gmt_fetch_search(all.tids, all.count, wake_for_long, api, &resting);
    free(all.tids);
    return found;
}

static void search(const struct gmt_cupti_api *api)
{
    thread = gmt_fetch_search(started, started_count, wake_for_long, api, &resting);
    if (thread == 0) {
        thread = search_all(api);
    }
    (void)wake(api, GMT_FETCH_THREAD_PERIOD_MS);
    if (thread != 0) {
        searches = 0;
        pauses_in_vain = 0;
    } else {
        search_not_before_ns = gmt_clock_monotonic_ns() + (SEARCH_PAUSE_NS << searches);
        searches++;
    }
}

void gmt_fetch_thread_find(const struct gmt_cupti_api *api)
{
    int saved_errno = errno;
    if (thread == 0 && searches < SEARCHES_MAX &&
        gmt_clock_monotonic_ns() >= search_not_before_ns) {
        search(api);
    }
    errno = saved_errno;
}

/* ---- its pause ---------------------------------------------------------------------------------- */

static bool is_resting(uint64_t sleeps_before)
{
    struct gmt_task_place place;
    uint64_t sleeps;
    return gmt_task_is_asleep(thread, &place) && place.stack == resting.stack &&
           place.code == resting.code && gmt_task_sleeps_made(thread, &sleeps) &&
           sleeps != sleeps_before;
}

/* When `wake` has returned the thread has been woken, if it slept: where it rests after that it has seen the new period. */
static bool rests_soon(uint64_t sleeps_before, uint64_t began_ns)
{
    while (!is_resting(sleeps_before)) {
        uint64_t took_ns = gmt_clock_monotonic_ns() - began_ns;
        if (took_ns >= LONGEST_NS) {
            return false;
        }
        if (took_ns < USUAL_NS) {
            (void)sched_yield();
        } else {
            gmt_fetch_search_rest(POLL_NS);
        }
    }
    return true;
}

static bool pause_known(const struct gmt_cupti_api *api)
{
    uint64_t began_ns = gmt_clock_monotonic_ns(), before, after;
    bool known = gmt_task_sleeps_made(thread, &before);
    if (known && wake(api, PAUSE_MS) && rests_soon(before, began_ns)) {
        pauses_in_vain = 0;
        return true;
    }
    (void)wake(api, GMT_FETCH_THREAD_PERIOD_MS);
    uint64_t now_ns = gmt_clock_monotonic_ns();
    pause_not_before_ns = now_ns + AGAIN_PART * (now_ns - began_ns);
    /* CUPTI was shut down and has begun anew, or it is another thread that does not heed the period, or rests elsewhere. */
    if (!known || !gmt_task_sleeps_made(thread, &after) || after == before ||
        ++pauses_in_vain == PAUSES_IN_VAIN) {
        thread = 0;
    }
    return false;
}

bool gmt_fetch_thread_may_pause(void)
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    return now_ns >= pause_not_before_ns &&
           (thread != 0 || searches == SEARCHES_MAX || now_ns >= search_not_before_ns);
}

enum gmt_fetch_thread gmt_fetch_thread_pause(const struct gmt_cupti_api *api)
{
    int saved_errno = errno;
    enum gmt_fetch_thread found = GMT_FETCH_THREAD_BUSY;
    if (gmt_fetch_thread_may_pause()) {
        gmt_fetch_thread_find(api);
        if (thread != 0 && pause_known(api)) {
            found = GMT_FETCH_THREAD_SLEEPS;
        } else if (thread == 0 && searches == SEARCHES_MAX) {
            found = GMT_FETCH_THREAD_UNKNOWN;
        }
    }
    errno = saved_errno;
    return found;
}

void gmt_fetch_thread_resume(const struct gmt_cupti_api *api)
{
    int saved_errno = errno;
    (void)wake(api, GMT_FETCH_THREAD_PERIOD_MS);
    errno = saved_errno;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* When measuring stops: a capture begins, a context goes, another CUPTI client takes over, the process forks or ends (measure.h). */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>

#include "libtrace/cupti/base/activity.h"
#include "libtrace/cupti/code/instructions.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/cupti/measure/sessions.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/mutex.h"

/* For what is under way, before its context goes or CUPTI is the program's; before the process ends. */
#define WAIT_NS UINT64_C(1000000000)
#define EXIT_WAIT_NS UINT64_C(500000000)
#define FORK_TRIES 50u
#define SUSPEND_TRIES 1600u /* outlasts the start of a first session */
#define MAX_MISSING_ROWS 512u

static struct gmt_measuring *const m = &gmt_measuring;

void gmt_measure_quiesce(void)
{
    if (!atomic_load(&m->counting)) {
        return;
    }
    if (gmt_mutex_try(&m->lock)) {
        gmt_mutex_unlock(&m->lock);
        return;
    }
    uint64_t began_ns = gmt_clock_monotonic_ns(), section = gmt_section_begin(GMT_SECTION_HELD);
    if (gmt_session_lock(GMT_LOCK_TRIES)) {
        gmt_mutex_unlock(&m->lock);
    }
    gmt_section_end(section);
    gmt_spool_own_time(GMT_OWN_WAIT, began_ns, 0);
}

/* It is among those that wait before it is counted: nobody sees it under way too early. */
void gmt_measure_capture_begins(void (*count)(void))
{
    atomic_fetch_add(&m->captures_waiting, 1);
    count();
    gmt_measure_quiesce();
    atomic_fetch_sub(&m->captures_waiting, 1);
}

void gmt_measure_drop_context(void *context)
{
    if (!atomic_load(&m->counting)) {
        return;
    }
    if (!gmt_session_lock(GMT_LOCK_TRIES)) {
        return; /* the session finds out by itself that its context is gone */
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    bool ends = m->ranges.context != NULL && (context == NULL || m->ranges.context == context);
    gmt_session_enter();
    if (!gmt_measure_finish_pending(0, WAIT_NS) || (ends && !gmt_session_may_close(WAIT_NS))) {
        /* Its kernel runs on: nothing of CUPTI's would return, but for what its own thread does. */
        atomic_store(&m->counting, false);
        gmt_activity_resume_fetching();
        atomic_store(&m->sampling.phase, GMT_GROUP_NONE);
        gmt_spool_loss("kernel counters", "a context was destroyed while a kernel was measured", 1);
    } else if (ends) {
        gmt_session_close();
        gmt_spool_own_time(GMT_OWN_SESSION, began_ns, 0);
    }
    if (!m->pending) {
        gmt_instructions_drop_context(context);
    }
    gmt_session_leave();
    gmt_mutex_unlock(&m->lock);
}

bool gmt_measure_suspend(void)
{
    atomic_store(&m->suspended, true);
    if (!atomic_load(&m->counting)) {
        return true;
    }
    /* Asked from inside of a measured launch (a callback of the program's): its end does the rest. */
    if (gmt_measure_is_in_launch() || !gmt_session_lock(SUSPEND_TRIES)) {
        return false;
    }
    /* Else it is the watch thread that ends the session, or whoever ends the pending launch. */
    bool now = gmt_measure_finish_pending(0, 0) && gmt_session_may_close(WAIT_NS);
    if (now) {
        gmt_session_close();
    }
    gmt_mutex_unlock(&m->lock);
    return now;
}

static bool initialize_anew; /* the program has taken the profiler down */

void gmt_measure_resume(bool initialize)
{
    initialize_anew |= initialize;
    if (atomic_load(&m->counting) && initialize_anew) {
        CUpti_Profiler_Initialize_Params p = {
            .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
        initialize_anew = m->api->cuptiProfilerInitialize(&p) != CUPTI_SUCCESS;
    }
    atomic_store(&m->suspended, initialize_anew);
}

static void note_missing(const struct gmt_collector_class *cls, bool partly,
                         enum gmt_unmeasured why, void *data)
{
    unsigned *left = data;
    if (*left == 0) {
        gmt_spool_loss("kernel class not measured", "further classes", 1);
        return;
    }
    (*left)--;
    char detail[1024];
    (void)snprintf(detail, sizeof(detail), "%.800s: %s",
                   cls->kernel_name != NULL ? cls->kernel_name : "?",
                   gmt_unmeasured_texts[why].reason);
    gmt_spool_loss(partly ? "kernel class measured only in part" : "kernel class not measured",
                   detail, 1);
}

void gmt_measure_finish(void)
{
    if (!atomic_exchange(&m->counting, false)) {
        return; /* never started, or refused: the capability row says it all */
    }
    atomic_store(&m->sampling.phase, GMT_GROUP_NONE);
    bool locked = !m->pending && gmt_session_lock(GMT_LOCK_TRIES);
    if (!locked) {
        gmt_spool_loss("kernel counters", "a kernel was being measured at exit", 1);
    } else if (gmt_session_may_close(EXIT_WAIT_NS)) {
        gmt_session_close();
    } else {
        gmt_spool_loss("kernel counters", "the device was at work at exit", m->ranges.count);
    }
    if (locked) {
        gmt_instructions_drop_context(NULL);
        gmt_mutex_unlock(&m->lock);
    }
    if (!m->any_session && m->config->counters) {
        gmt_spool_capability("counters", GMT_CAP_OK, 0, "no launch was measured", "");
    }
    gmt_instructions_report();
    unsigned left = MAX_MISSING_ROWS;
    gmt_sampling_report(&m->sampling, note_missing, &left);
}

void gmt_measure_forking(void)
{
    if (!atomic_load(&m->counting) || m->config->instructions == GMT_INSTRUCTIONS_NONE ||
        !gmt_session_lock(FORK_TRIES)) {
        return;
    }
    if (!m->pending) {
        gmt_session_enter();
        gmt_instructions_drop_context(NULL);
        gmt_session_leave();
    }
    gmt_mutex_unlock(&m->lock);
}

void gmt_measure_abandon(void)
{
    atomic_store(&m->counting, false);
    m->pending = false;
    atomic_store(&m->sampling.phase, GMT_GROUP_NONE);
    gmt_instructions_abandon();
}

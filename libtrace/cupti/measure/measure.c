/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring one launch, from its begin to its end (measure.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure/measure.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/cupti/base/activity.h"
#include "libtrace/cupti/base/contexts.h"
#include "libtrace/cupti/base/refusal.h"
#include "libtrace/cupti/base/watch.h"
#include "libtrace/cupti/code/instructions.h"
#include "libtrace/cupti/measure/open_range.h"
#include "libtrace/cupti/measure/sessions.h"
#include "libtrace/cupti/measure/turns.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/mutex.h"

/* For what is under way before a launch that is to be measured: it may wait for what this thread does next. */
#define LONGEST_NS UINT64_C(1000000000)
#define NOTABLE_NS UINT64_C(1000000) /* of preparing: shorter times get no row of own_time */

static struct gmt_measuring *const m = &gmt_measuring;

/* The launch that is being measured. */
static struct {
    uint64_t began_ns; /* of measuring it */
    uint64_t ready_ns; /* earlier work is over, and a session runs */
    uint64_t idle_ns;  /* right before the launch, the device idle; 0: its kernel is not timed */
    uint64_t ended_ns; /* the kernel is seen to be over */
    uint64_t section;  /* for the end of that of the launch */
} current;

/* The launch that is pending (gmt_measuring.pending). */
static struct {
    enum gmt_counter_group group;
    struct gmt_launch_call call;
} pending;

static _Thread_local __attribute__((tls_model("initial-exec"))) bool launch_is_mine;

void gmt_measure_start(const struct gmt_cupti_api *cupti, const struct gmt_collector_config *given)
{
    m->api = cupti;
    m->config = given;
    m->ranges.api = cupti;
    gmt_sampling_init(&m->sampling, m->config, gmt_clock_monotonic_ns());
    if (m->config->instructions != GMT_INSTRUCTIONS_NONE &&
        !gmt_instructions_start(cupti, m->config)) {
        gmt_sampling_offer(&m->sampling, GMT_GROUP_SASS, false);
    }
    atomic_store(&m->counting, true);
    if (m->config->counters) {
        gmt_watch_spawn(gmt_session_read_profiler);
    }
}

/* The launch lacks what it was asked for. */
static enum gmt_counter_group declined(const struct gmt_launch_call *call,
                                       enum gmt_counter_group group, enum gmt_unmeasured why)
{
    if (why !=
        GMT_UNMEASURED_BUDGET) { /* which gmt_sampling_may has noted, where that is the reason */
        gmt_sampling_note(call->cls, why);
    }
    if (group == GMT_GROUP_SASS) {
        gmt_instructions_missed(why);
    }
    return GMT_GROUP_NONE;
}

static enum gmt_unmeasured begin_range(const struct gmt_launch_call *call,
                                       enum gmt_counter_group group)
{
    gmt_activity_set_kernels(false);
    gmt_open_range_begins(call->cls->kernel_name, current.began_ns);
    uint64_t section = gmt_section_begin(GMT_SECTION_PUSH);
    CUptiResult result = gmt_ranges_push(&m->ranges, call->launch_seq, call->cls->id);
    gmt_section_end(section);
    if (result != CUPTI_SUCCESS) {
        (void)gmt_open_range_ends();
        gmt_activity_set_kernels(true);
        gmt_session_refused(result, group);
    }
    return result == CUPTI_SUCCESS ? GMT_MEASURABLE : GMT_UNMEASURED_REFUSED;
}

static enum gmt_unmeasured begin_counting(const struct gmt_launch_call *call, uint32_t at)
{
    gmt_open_range_begins(call->cls->kernel_name, current.began_ns);
    bool for_good = false;
    enum gmt_unmeasured why = gmt_instructions_begin(call, gmt_contexts_device(at), &for_good);
    if (why != GMT_MEASURABLE) {
        (void)gmt_open_range_ends();
        gmt_sampling_charge(&m->sampling, gmt_clock_monotonic_ns() - current.began_ns);
        gmt_spool_own_time(GMT_OWN_WAIT, current.began_ns, 0);
    }
    if (for_good) {
        gmt_sampling_offer(&m->sampling, GMT_GROUP_SASS, false);
    }
    return why;
}

/* Nothing would wait for the launch at hand, and no other launch is under way. */
static enum gmt_unmeasured disturbed(const struct gmt_collector_class *cls,
                                     enum gmt_counter_group group)
{
    if (gmt_session_host_waits()) {
        return GMT_UNMEASURED_WAITS;
    }
    return gmt_turn_is_alone(cls, group) ? GMT_MEASURABLE : GMT_UNMEASURED_BUSY;
}

static void measured(const struct gmt_launch_call *call, enum gmt_counter_group group,
                     uint64_t now_ns)
{
    if (current.idle_ns != 0) {
        gmt_sampling_ran(&m->sampling, call->cls, group, current.ended_ns - current.idle_ns);
    }
    gmt_sampling_measured(&m->sampling, call->cls, group, now_ns);
}

/* The range of the launch is at its end: its values are kept, unless they are not its own, for the reason `spoiled`. */
static void end_range(const struct gmt_launch_call *call, enum gmt_counter_group group,
                      enum gmt_unmeasured spoiled)
{
    uint64_t section = gmt_section_begin(GMT_SECTION_POP);
    CUptiResult result = gmt_ranges_pop(&m->ranges);
    gmt_section_end(section);
    uint64_t now_ns = gmt_clock_monotonic_ns();
    gmt_activity_set_kernels(true);
    if (result != CUPTI_SUCCESS) {
        gmt_sampling_note(call->cls, GMT_UNMEASURED_REFUSED);
        gmt_session_refused(result, group);
    } else if (spoiled == GMT_MEASURABLE) {
        gmt_ranges_keep_last(&m->ranges);
        if (group == GMT_GROUP_HARDWARE && current.idle_ns != 0) {
            gmt_sampling_timed(&m->sampling, call->cls, now_ns - current.idle_ns);
        }
        measured(call, group, now_ns);
    } else {
        gmt_sampling_discarded(call->cls, spoiled);
    }
}

static void end_counting(const struct gmt_launch_call *call, enum gmt_unmeasured spoiled)
{
    struct gmt_sass_outcome outcome;
    if (!gmt_instructions_end(call, spoiled == GMT_MEASURABLE, &outcome)) {
        gmt_sampling_offer(&m->sampling, GMT_GROUP_SASS, false);
        (void)declined(call, GMT_GROUP_SASS, GMT_UNMEASURED_REFUSED);
    } else if (spoiled != GMT_MEASURABLE) {
        gmt_instructions_missed(spoiled);
        gmt_sampling_discarded(call->cls, spoiled);
    } else if ((outcome.no_cubin || outcome.instructions == 0) &&
               m->config->instructions == GMT_INSTRUCTIONS_ACCESSES) {
        /* Without its cubin an instruction has no kind, and a kernel without any executed access has no
         * record: the range profiler counts this class. */
        atomic_store(&call->cls->no_cubin, 1);
    } else {
        measured(call, GMT_GROUP_SASS, gmt_clock_monotonic_ns());
    }
}

/* Nothing is under way. `own`: launches that are counted and not made yet. Of other launches since it began, if there
 * were any, the reason is `others`. */
static void end_measured(const struct gmt_launch_call *call, enum gmt_counter_group group,
                         unsigned own, enum gmt_unmeasured others)
{
    enum gmt_unmeasured spoiled = gmt_turn_was_alone(own) ? GMT_MEASURABLE : others;
    if (group != GMT_GROUP_SASS) {
        end_range(call, group, spoiled);
        return;
    }
    /* Without CUPTI's subscription not all of it may have been patched. */
    end_counting(call, gmt_instructions_free() ? spoiled : GMT_UNMEASURED_TAKEN);
}

/* Other launches came after the pending one, of its own thread perhaps: it held its caller for as long as it may. */
static enum gmt_unmeasured why_overtaken(void)
{
    return pending.call.suspected != GMT_MEASURABLE ? pending.call.suspected
                                                    : GMT_UNMEASURED_OVERTAKEN;
}

static enum gmt_own_work own_work_of(enum gmt_counter_group group)
{
    return group == GMT_GROUP_SASS ? GMT_OWN_INSTRUCTIONS : GMT_OWN_LAUNCH;
}

bool gmt_measure_finish_pending(unsigned own, uint64_t ns)
{
    if (!m->pending) {
        return true;
    }
    if (gmt_session_capturing() || !gmt_session_idle_within(ns) ||
        (m->config->idle_in != NULL && !m->config->idle_in(pending.call.context))) {
        return false; /* the caller may have another context */
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    m->pending = false;
    current.idle_ns = 0;
    end_measured(&pending.call, pending.group, own, why_overtaken());
    /* Not as what measuring the class costs: gmt_measure_end has charged that. */
    gmt_sampling_charge(&m->sampling, gmt_clock_monotonic_ns() - began_ns);
    gmt_spool_own_time(own_work_of(pending.group), began_ns, pending.call.launch_seq);
    if (atomic_load(&m->suspended)) {
        gmt_session_close();
    }
    return true;
}

/* What is under way is over, as far as the streams show, also that in the context of a session that is to end. Waiting for it in
 * vain goes to the budget. */
static bool idle_now(bool ends_session)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    if (gmt_session_idle_within(LONGEST_NS) &&
        (!ends_session || gmt_session_may_close(LONGEST_NS))) {
        return true;
    }
    gmt_sampling_charge(&m->sampling, gmt_clock_monotonic_ns() - began_ns);
    gmt_spool_own_time(GMT_OWN_WAIT, began_ns, 0);
    return false;
}

/* What the launch that is pending does meanwhile. */
static enum gmt_unmeasured why_pending(void)
{
    return m->pending && pending.call.suspected != GMT_MEASURABLE ? GMT_UNMEASURED_WAITS
                                                                  : GMT_UNMEASURED_AFTER;
}

/* Everything but the range or the counting itself: the session runs that `group` needs. */
static enum gmt_unmeasured make_ready(const struct gmt_launch_call *call,
                                      enum gmt_counter_group group, uint32_t at)
{
    bool runs = group == GMT_GROUP_SASS || gmt_session_runs(call->context, group);
    uint64_t session_ns = runs ? 0 : gmt_session_cost_ns(call->context, group);
    if (gmt_session_is_late()) {
        return GMT_UNMEASURED_AFTER; /* also where waiting has used up the budget */
    }
    if (!gmt_sampling_may(&m->sampling, call->cls, group, session_ns, current.began_ns)) {
        return GMT_UNMEASURED_BUDGET;
    }
    enum gmt_unmeasured why = disturbed(call->cls, group);
    if (why != GMT_MEASURABLE) {
        return why;
    }
    if (!idle_now(session_ns != 0)) {
        return GMT_UNMEASURED_AFTER;
    }
    if (runs) {
        return GMT_MEASURABLE;
    }
    /* What is waited for is no part of what a session costs. */
    gmt_sampling_charge(&m->sampling, gmt_clock_monotonic_ns() - current.began_ns);
    gmt_spool_own_time(GMT_OWN_WAIT, current.began_ns, 0);
    current.began_ns = gmt_clock_monotonic_ns();
    atomic_store(&m->opening, true);
    bool opened = gmt_session_open(at, group, current.began_ns);
    atomic_store(&m->opening, false);
    if (!opened) {
        return GMT_UNMEASURED_REFUSED;
    }
    current.began_ns = gmt_clock_monotonic_ns();
    why = disturbed(call->cls, group);
    return why == GMT_MEASURABLE && !idle_now(false) ? GMT_UNMEASURED_AFTER : why;
}

static enum gmt_counter_group begin_locked(const struct gmt_launch_call *call)
{
    enum gmt_counter_group group = gmt_sampling_pick(&m->sampling, call->cls);
    uint32_t at = gmt_contexts_find(call->context);
    if (group == GMT_GROUP_NONE || at == GMT_CONTEXTS) {
        return GMT_GROUP_NONE;
    }
    if (!gmt_measure_finish_pending(1, LONGEST_NS)) {
        return declined(call, group, why_pending());
    }
    current.began_ns = gmt_clock_monotonic_ns();
    if (gmt_sampling_is_trial(call) && group != GMT_GROUP_HARDWARE) {
        return declined(call, group, call->suspected); /* left unfinished, counting breaks CUPTI */
    }
    if (gmt_sampling_is_trial(call) && !gmt_sampling_may_hold(&m->sampling, current.began_ns)) {
        return declined(call, group, GMT_UNMEASURED_WAITS);
    }
    if (group == GMT_GROUP_SASS && !call->alone) {
        return declined(call, group, GMT_UNMEASURED_OTHERS_INSIDE);
    }
    if (group == GMT_GROUP_SASS && !gmt_instructions_may_begin()) {
        return declined(call, group, GMT_UNMEASURED_FETCHING);
    }
    if (group == GMT_GROUP_SASS && !gmt_instructions_free()) {
        gmt_sampling_pause_sass(&m->sampling, m->config->counters);
        return declined(call, group, GMT_UNMEASURED_TAKEN);
    }
    enum gmt_unmeasured why = make_ready(call, group, at);
    if (why != GMT_MEASURABLE) {
        return declined(call, group, why);
    }
    current.ready_ns = gmt_clock_monotonic_ns();
    why = group == GMT_GROUP_SASS ? begin_counting(call, at) : begin_range(call, group);
    if (why != GMT_MEASURABLE) {
        return declined(call, group, why);
    }
    current.idle_ns = gmt_clock_monotonic_ns();
    return group;
}

/* Most often there is nothing to prepare. */
static void prepare_counting(void)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    gmt_instructions_prepare();
    if (gmt_clock_monotonic_ns() - began_ns > NOTABLE_NS) {
        gmt_spool_own_time(GMT_OWN_SESSION, began_ns, 0);
    }
}

/* A session is begun before others are held for a repeated launch: it takes longer than they may wait. */
static bool prepare_locked(const struct gmt_launch_call *call)
{
    uint32_t at = gmt_contexts_find(call->context);
    enum gmt_counter_group group = gmt_sampling_first_lacked(&m->sampling, call->cls);
    if (group == GMT_GROUP_NONE || at == GMT_CONTEXTS) {
        return false;
    }
    if (!gmt_measure_finish_pending(1, LONGEST_NS)) {
        (void)declined(call, group, why_pending());
        return false;
    }
    current.began_ns = gmt_clock_monotonic_ns();
    enum gmt_unmeasured why = make_ready(call, group, at);
    if (why != GMT_MEASURABLE) {
        (void)declined(call, group, why);
        return false;
    }
    prepare_counting();
    gmt_sampling_charge(&m->sampling, gmt_clock_monotonic_ns() - current.began_ns);
    return true;
}

enum gmt_counter_group gmt_measure_want(struct gmt_collector_class *cls)
{
    if (atomic_load_explicit(&m->sampling.sass_paused, memory_order_relaxed) &&
        gmt_instructions_free()) {
        gmt_sampling_pause_sass(&m->sampling, false);
    }
    return gmt_sampling_want(&m->sampling, cls);
}

/* True: the lock is taken. */
static bool lock_for(const struct gmt_launch_call *call, enum gmt_counter_group group)
{
    enum gmt_unmeasured why = atomic_load(&m->suspended)          ? GMT_UNMEASURED_TAKEN
                              : call->forbidden != GMT_MEASURABLE ? call->forbidden
                              : gmt_session_capturing()           ? GMT_UNMEASURED_BUSY
                              : group != GMT_GROUP_SASS && !gmt_session_load_profiler()
                                  ? GMT_UNMEASURED_BUSY
                              : gmt_turn_take(call->cls, group) ? GMT_MEASURABLE
                                                                : GMT_UNMEASURED_BUSY;
    if (why != GMT_MEASURABLE) {
        (void)declined(call, group, why);
    }
    return why == GMT_MEASURABLE;
}

bool gmt_measure_prepare(const struct gmt_launch_call *call)
{
    bool ready = false;
    if (!atomic_load(&m->counting) || !lock_for(call, GMT_GROUP_HARDWARE)) {
        return false;
    }
    if (!gmt_session_capturing() && !atomic_load(&m->suspended)) {
        gmt_session_enter();
        ready = prepare_locked(call);
        gmt_session_leave();
    }
    gmt_mutex_unlock(&m->lock);
    return ready;
}

enum gmt_counter_group gmt_measure_begin(const struct gmt_launch_call *call)
{
    if (call->suspected != GMT_MEASURABLE || call->others) {
        gmt_sampling_suspect(&m->sampling, call->cls);
    }
    enum gmt_counter_group group = gmt_sampling_pick(&m->sampling, call->cls);
    if (!atomic_load(&m->counting) || group == GMT_GROUP_NONE || !lock_for(call, group)) {
        return GMT_GROUP_NONE;
    }
    /* Asked again under the lock: gmt_measure_quiesce waits for it before a capture begins. */
    group = GMT_GROUP_NONE;
    launch_is_mine = true;
    if (!gmt_session_capturing() && !atomic_load(&m->suspended)) {
        gmt_session_enter();
        group = begin_locked(call);
        gmt_session_leave();
    }
    launch_is_mine = group != GMT_GROUP_NONE;
    if (group == GMT_GROUP_NONE) {
        gmt_mutex_unlock(&m->lock);
    } else {
        current.section = gmt_section_begin(GMT_SECTION_LAUNCH);
    }
    return group; /* else the lock stays held until gmt_measure_end */
}

void gmt_measure_launched(struct gmt_collector_class *cls, uint64_t count)
{
    gmt_sampling_launched(&m->sampling, cls, count, gmt_clock_monotonic_ns());
}

bool gmt_measure_lacks(const struct gmt_collector_class *cls)
{
    return atomic_load(&m->counting) && !atomic_load(&m->suspended) &&
           atomic_load_explicit(&cls->discards, memory_order_relaxed) < GMT_SAMPLING_MAX_DISCARDS &&
           atomic_load_explicit(&cls->retry_ns, memory_order_relaxed) <= gmt_clock_monotonic_ns() &&
           gmt_sampling_first_lacked(&m->sampling, cls) != GMT_GROUP_NONE;
}

bool gmt_measure_is_busy(void)
{
    if (!atomic_load(&m->counting) || launch_is_mine) {
        return false;
    }
    bool free = gmt_mutex_try(&m->lock);
    if (free) {
        gmt_mutex_unlock(&m->lock);
    }
    return !free;
}

void gmt_measure_end(const struct gmt_launch_call *call, enum gmt_counter_group group)
{
    if (group == GMT_GROUP_NONE) {
        return;
    }
    gmt_section_end(current.section);
    gmt_session_enter();
    uint64_t waited_ns = gmt_clock_monotonic_ns();
    bool ended = gmt_session_idle_within(gmt_sampling_timeout_ns(&m->sampling, call, group));
    current.ended_ns = gmt_clock_monotonic_ns();
    if (call->suspected != GMT_MEASURABLE) {
        gmt_sampling_tried(call->cls, ended);
    }
    if (ended) {
        end_measured(call, group, 0, GMT_UNMEASURED_POLLUTED);
    } else {
        gmt_sampling_missed(&m->sampling, call, group, gmt_clock_monotonic_ns() - waited_ns);
        pending.group = group;
        pending.call = *call;
        m->pending = true;
    }
    /* The driver call between begin and end counts too: it is the one that waits when patched. */
    uint64_t began_ns = gmt_open_range_ends();
    uint64_t over_ns = gmt_clock_monotonic_ns(), before_ns = current.ready_ns - current.began_ns;
    gmt_sampling_charge(&m->sampling, ended ? before_ns : over_ns - began_ns);
    if (ended) { /* the next one need not wait for as much */
        gmt_sampling_charge_launch(&m->sampling, call->cls, group, over_ns - current.ready_ns);
    }
    gmt_spool_own_time(own_work_of(group), began_ns, call->launch_seq);
    launch_is_mine = false;
    if (!m->pending && atomic_load(&m->suspended) && !gmt_session_capturing()) {
        gmt_session_close(); /* gmt_measure_suspend did not wait for this launch */
    }
    gmt_session_leave();
    gmt_mutex_unlock(&m->lock);
}

void gmt_measure_waited(void)
{
    bool wanted = atomic_load_explicit(&m->pending, memory_order_relaxed) ||
                  atomic_load_explicit(&m->end_wanted, memory_order_relaxed);
    if (__builtin_expect(!wanted, 1) || !atomic_load(&m->counting) || gmt_session_capturing() ||
        !gmt_mutex_try(&m->lock)) {
        return;
    }
    gmt_session_enter();
    if (!gmt_session_capturing() && gmt_session_idle_within(0) &&
        gmt_measure_finish_pending(0, 0)) {
        gmt_session_end_idle();
    }
    gmt_session_leave();
    gmt_mutex_unlock(&m->lock);
}

bool gmt_measure_is_in_launch(void)
{
    return launch_is_mine;
}

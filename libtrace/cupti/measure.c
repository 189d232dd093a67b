/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges around launches, and the sessions they need (measure.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/cupti/activity.h"
#include "libtrace/cupti/contexts.h"
#include "libtrace/cupti/instructions.h"
#include "libtrace/cupti/open_range.h"
#include "libtrace/cupti/ranges.h"
#include "libtrace/cupti/refusal.h"
#include "libtrace/cupti/sampling.h"
#include "libtrace/cupti/watch.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"

#define FIRST_SESSION_NS UINT64_C(500000000) /* expected: the first session of a process ... */
#define NEW_CONFIG_NS UINT64_C(280000000)    /* ... and one for which it is enabled anew */
#define ALONE_WAIT_NS UINT64_C(20000)        /* for other threads' launches to get through */
#define TICK_NS UINT64_C(100000000)
#define IDLE_SESSION_NS UINT64_C(500000000) /* a session that measures nothing is ended */
#define LOCK_TRIES 400u                     /* of 1 ms */
#define FORK_TRIES 50u
#define SUSPEND_TRIES 1600u /* outlasts the start of a first session */
#define MAX_MISSING_ROWS 512u

static const struct gmt_cupti_api *api;
static const struct gmt_collector_config *config;
static struct gmt_sampling sampling;
static struct gmt_ranges ranges;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool counting; /* started, and not refused or finished */
static bool any_session;      /* one has run in this process */

static uint64_t launches_before; /* of the process, when the one at hand was begun to be measured */
static uint64_t launch_began_ns; /* ... and when that was; the device was idle then, in a range */
static uint64_t device_idle_ns;

/* Another user of CUPTI is at work: no range begins, no session runs. */
static _Atomic bool suspended;
static bool initialize_anew; /* the program has taken the profiler down */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool launch_is_mine;

static void enter(void)
{
    if (config->enter != NULL) {
        config->enter();
    }
}

static void leave(void)
{
    if (config->leave != NULL) {
        config->leave();
    }
}

/* Reading these libraries from disk takes 0.1 to 0.5 s: meanwhile the program makes its context. */
static void load_profiler(void)
{
    gmt_cupti_load_profiler(api);
}

void gmt_measure_start(const struct gmt_cupti_api *cupti, const struct gmt_collector_config *given)
{
    api = cupti;
    config = given;
    ranges.api = cupti;
    gmt_sampling_init(&sampling, config, gmt_clock_monotonic_ns());
    if (config->instructions != GMT_INSTRUCTIONS_NONE && !gmt_instructions_start(cupti, config)) {
        gmt_sampling_offer(&sampling, GMT_GROUP_SASS, false);
    }
    atomic_store(&counting, true);
    if (config->counters) {
        gmt_watch_spawn(load_profiler);
    }
}

static bool lock_within(unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        if (pthread_mutex_trylock(&lock) == 0) {
            return true;
        }
        (void)usleep(1000);
    }
    return false;
}

/* Starting or ending a session during a capture, by any thread, breaks the capture. */
static bool capturing(void)
{
    return config->captures != NULL && atomic_load(config->captures) != 0;
}

static void close_session(void)
{
    (void)gmt_ranges_stop(&ranges);
    gmt_ranges_disable(&ranges);
}

/* A refusal that will not go away ends all measuring, one of a single group takes that group out. */
static void refused(CUptiResult result, enum gmt_counter_group group)
{
    if (gmt_refusal_is_of_group(result)) {
        gmt_sampling_offer(&sampling, group, false);
    } else {
        close_session();
        gmt_instructions_drop_context(NULL); /* nobody does it afterwards */
        atomic_store(&counting, false);
        atomic_store(&sampling.phase, GMT_GROUP_NONE);
    }
    gmt_refusal_row("counters", api, result, ranges.failed);
}

void gmt_measure_drop_context(void *context)
{
    if (!atomic_load(&counting)) {
        return;
    }
    if (!lock_within(LOCK_TRIES)) {
        return; /* the session finds out by itself that its context is gone */
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    bool ends = ranges.context != NULL && (context == NULL || ranges.context == context);
    enter();
    if (ends) {
        close_session();
        gmt_spool_own_time(GMT_OWN_SESSION, began_ns, 0);
    }
    gmt_instructions_drop_context(context);
    leave();
    (void)pthread_mutex_unlock(&lock);
}

/* From the watch thread, every TICK_NS while a session runs; false = it runs no more. */
static bool tick(void)
{
    gmt_open_range_warn();
    if (pthread_mutex_trylock(&lock) != 0) {
        return atomic_load(&counting);
    }
    uint64_t now_ns = gmt_clock_monotonic_ns();
    enter();
    bool stop = atomic_load(&suspended) ||
                now_ns > atomic_load(&sampling.last_need_ns) + IDLE_SESSION_NS;
    if (ranges.running && config->captures != NULL && !capturing() && stop) {
        (void)gmt_ranges_stop(&ranges);
        if (atomic_load(&suspended)) {
            gmt_ranges_disable(&ranges);
        }
        gmt_sampling_charge(&sampling, gmt_clock_monotonic_ns() - now_ns);
        gmt_spool_own_time_beside(GMT_OWN_SESSION, now_ns);
    }
    leave();
    bool runs = ranges.running;
    (void)pthread_mutex_unlock(&lock);
    return runs;
}

static bool open_session(uint32_t at, enum gmt_counter_group group, uint64_t began_ns)
{
    void *context = gmt_contexts_handle(at);
    bool typical = gmt_ranges_is_cheap(&ranges, context, group);
    (void)gmt_ranges_stop(&ranges);
    CUptiResult result = gmt_ranges_start(&ranges, context, gmt_contexts_device(at), group);
    uint64_t now_ns = gmt_clock_monotonic_ns();
    gmt_sampling_charge_session(&sampling, now_ns - began_ns, typical);
    gmt_spool_own_time(GMT_OWN_SESSION, began_ns, 0);
    if (result != CUPTI_SUCCESS) {
        refused(result, group);
        return false;
    }
    if (!any_session) {
        gmt_spool_capability("counters", GMT_CAP_OK, 0, "", "");
    }
    any_session = true;
    gmt_refusal_dropped(&ranges.chip->groups[group], group);
    gmt_sampling_enter(&sampling, group, now_ns);
    gmt_watch_start(tick, TICK_NS);
    return true;
}

/* Expected cost of the session that this launch needs, 0 = the running one will do. */
static uint64_t session_cost_ns(void *context, enum gmt_counter_group group)
{
    if (ranges.running && ranges.context == context && ranges.which == group &&
        !gmt_ranges_full(&ranges) && gmt_ranges_alive(&ranges)) {
        return 0;
    }
    if (!any_session) {
        return FIRST_SESSION_NS;
    }
    return gmt_ranges_is_cheap(&ranges, context, group) ? sampling.session_cost_ns : NEW_CONFIG_NS;
}

/* True when no other launch is between its two counts; waits a little for that. */
static bool alone_now(void)
{
    uint64_t until_ns = 0;
    for (;;) {
        launches_before = atomic_load(config->launches);
        if (config->launches_done == NULL ||
            atomic_load(config->launches_done) + 1 >= launches_before) {
            return true;
        }
        uint64_t now_ns = gmt_clock_monotonic_ns();
        until_ns = until_ns == 0 ? now_ns + ALONE_WAIT_NS : until_ns;
        if (now_ns >= until_ns) {
            return false;
        }
    }
}

/* The launch lacks what it was asked for. */
static enum gmt_counter_group declined(const struct gmt_launch_site *site,
                                       enum gmt_counter_group group, enum gmt_unmeasured why)
{
    gmt_sampling_note(site->cls, why);
    if (group == GMT_GROUP_SASS) {
        gmt_instructions_missed(why);
    }
    return GMT_GROUP_NONE;
}

static bool begin_range(const struct gmt_launch_site *site, enum gmt_counter_group group)
{
    gmt_activity_set_kernels(false);
    gmt_open_range_begins(site->cls->kernel_name, launch_began_ns);
    CUptiResult result = gmt_ranges_push(&ranges, site->launch_seq, site->cls->id);
    if (result != CUPTI_SUCCESS) {
        (void)gmt_open_range_ends();
        gmt_activity_set_kernels(true);
        refused(result, group);
    }
    return result == CUPTI_SUCCESS;
}

static bool begin_counting(const struct gmt_launch_site *site, uint32_t at)
{
    gmt_open_range_begins(site->cls->kernel_name, launch_began_ns);
    if (gmt_instructions_begin(site, gmt_contexts_device(at))) {
        return true;
    }
    (void)gmt_open_range_ends();
    gmt_sampling_offer(&sampling, GMT_GROUP_SASS, false);
    return false;
}

/* Nothing would wait for the launch at hand, and no other launch is under way. */
static enum gmt_unmeasured disturbed(void)
{
    if (config->waiting != NULL && config->waiting()) {
        return GMT_UNMEASURED_WAITS;
    }
    return alone_now() ? GMT_MEASURABLE : GMT_UNMEASURED_BUSY;
}

/* Everything but the range or the counting itself: the session runs that `group` needs. */
static enum gmt_unmeasured make_ready(const struct gmt_launch_site *site,
                                      enum gmt_counter_group group, uint32_t at)
{
    bool single = group == GMT_GROUP_SASS;
    enum gmt_unmeasured why = disturbed();
    if (why != GMT_MEASURABLE) {
        return why;
    }
    uint64_t session_ns = single ? 0 : session_cost_ns(site->context, group);
    if (!gmt_sampling_may(&sampling, site->cls, group, session_ns, launch_began_ns)) {
        return GMT_UNMEASURED_BUDGET;
    }
    if (session_ns == 0) {
        return GMT_MEASURABLE;
    }
    if (!open_session(at, group, launch_began_ns)) {
        return GMT_UNMEASURED_REFUSED;
    }
    launch_began_ns = gmt_clock_monotonic_ns();
    return disturbed();
}

static enum gmt_counter_group begin_locked(const struct gmt_launch_site *site)
{
    launch_began_ns = gmt_clock_monotonic_ns();
    enum gmt_counter_group group = gmt_sampling_pick(&sampling, site->cls);
    uint32_t at = gmt_contexts_find(site->context);
    if (group == GMT_GROUP_NONE || at == GMT_CONTEXTS) {
        return GMT_GROUP_NONE;
    }
    if (group == GMT_GROUP_SASS && !gmt_instructions_free()) {
        gmt_sampling_pause_sass(&sampling, config->counters);
        return declined(site, group, GMT_UNMEASURED_TAKEN);
    }
    enum gmt_unmeasured why = make_ready(site, group, at);
    if (why != GMT_MEASURABLE) {
        return declined(site, group, why);
    }
    if (!(group == GMT_GROUP_SASS ? begin_counting(site, at) : begin_range(site, group))) {
        return declined(site, group, GMT_UNMEASURED_REFUSED);
    }
    device_idle_ns = gmt_clock_monotonic_ns();
    return group;
}

/* A session is begun before others are held for a repeated launch: it takes longer than they may wait. */
static bool prepare_locked(const struct gmt_launch_site *site)
{
    uint32_t at = gmt_contexts_find(site->context);
    enum gmt_counter_group group = gmt_sampling_first_lacked(&sampling, site->cls);
    launch_began_ns = gmt_clock_monotonic_ns();
    if (group == GMT_GROUP_NONE || at == GMT_CONTEXTS) {
        return false;
    }
    enum gmt_unmeasured why = make_ready(site, group, at);
    if (why != GMT_MEASURABLE) {
        (void)declined(site, group, why);
    }
    return why == GMT_MEASURABLE;
}

enum gmt_counter_group gmt_measure_want(struct gmt_collector_class *cls)
{
    if (atomic_load_explicit(&sampling.sass_paused, memory_order_relaxed) &&
        gmt_instructions_free()) {
        gmt_sampling_pause_sass(&sampling, false);
    }
    return gmt_sampling_want(&sampling, cls);
}

/* True: the lock is taken. */
static bool lock_for(const struct gmt_launch_site *site, enum gmt_counter_group group)
{
    enum gmt_unmeasured why = atomic_load(&suspended)             ? GMT_UNMEASURED_TAKEN
                              : site->forbidden != GMT_MEASURABLE ? site->forbidden
                              : capturing()                       ? GMT_UNMEASURED_BUSY
                              : pthread_mutex_trylock(&lock) == 0 ? GMT_MEASURABLE
                                                                  : GMT_UNMEASURED_BUSY;
    if (why != GMT_MEASURABLE) {
        (void)declined(site, group, why);
    }
    return why == GMT_MEASURABLE;
}

bool gmt_measure_prepare(const struct gmt_launch_site *site)
{
    bool ready = false;
    if (!atomic_load(&counting) || !lock_for(site, GMT_GROUP_HARDWARE)) {
        return false;
    }
    if (!capturing() && !atomic_load(&suspended)) {
        enter();
        ready = prepare_locked(site);
        leave();
    }
    (void)pthread_mutex_unlock(&lock);
    return ready;
}

enum gmt_counter_group gmt_measure_begin(const struct gmt_launch_site *site)
{
    enum gmt_counter_group group = gmt_sampling_pick(&sampling, site->cls);
    if (!atomic_load(&counting) || group == GMT_GROUP_NONE || !lock_for(site, group)) {
        return GMT_GROUP_NONE;
    }
    /* Asked again under the lock: gmt_measure_quiesce waits for it before a capture begins. */
    group = GMT_GROUP_NONE;
    launch_is_mine = true;
    if (!capturing() && !atomic_load(&suspended)) {
        enter();
        group = begin_locked(site);
        leave();
    }
    launch_is_mine = group != GMT_GROUP_NONE;
    if (group == GMT_GROUP_NONE) {
        (void)pthread_mutex_unlock(&lock);
    }
    return group; /* else the lock stays held until gmt_measure_end */
}

uint64_t gmt_measure_repeats(struct gmt_collector_class *cls, uint64_t kernel_ns,
                             uint64_t copies_ns)
{
    /* Repeated work would be in the records of a program that profiles itself. */
    if (!atomic_load(&counting) || atomic_load(&suspended) || !gmt_instructions_free()) {
        return 0;
    }
    return gmt_sampling_repeats(&sampling, cls, kernel_ns, copies_ns, gmt_clock_monotonic_ns());
}

void gmt_measure_charge(uint64_t ns)
{
    gmt_sampling_charge(&sampling, ns);
}

void gmt_measure_quiesce(void)
{
    if (!atomic_load(&counting)) {
        return;
    }
    if (pthread_mutex_trylock(&lock) == 0) {
        (void)pthread_mutex_unlock(&lock);
        return;
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    if (lock_within(LOCK_TRIES)) {
        (void)pthread_mutex_unlock(&lock);
    }
    gmt_spool_own_time(GMT_OWN_WAIT, began_ns, 0);
}

/* The range of the launch is at its end: its values are kept, unless they are not its own. */
static void end_range(const struct gmt_launch_site *site, enum gmt_counter_group group, bool alone)
{
    CUptiResult result = gmt_ranges_pop(&ranges);
    uint64_t now_ns = gmt_clock_monotonic_ns();
    gmt_activity_set_kernels(true);
    if (result != CUPTI_SUCCESS) {
        gmt_sampling_note(site->cls, GMT_UNMEASURED_REFUSED);
        refused(result, group);
    } else if (alone) {
        gmt_ranges_keep_last(&ranges);
        if (group == GMT_GROUP_HARDWARE) {
            gmt_sampling_timed(&sampling, site->cls, now_ns - device_idle_ns);
        }
        gmt_sampling_measured(&sampling, site->cls, group, now_ns);
    } else {
        gmt_sampling_discarded(site->cls);
    }
}

static void end_counting(const struct gmt_launch_site *site, bool alone)
{
    struct gmt_sass_outcome outcome;
    if (!gmt_instructions_end(site, alone, &outcome)) {
        gmt_sampling_offer(&sampling, GMT_GROUP_SASS, false);
        (void)declined(site, GMT_GROUP_SASS, GMT_UNMEASURED_REFUSED);
    } else if (!alone) {
        gmt_instructions_missed(GMT_UNMEASURED_POLLUTED);
        gmt_sampling_discarded(site->cls);
    } else if ((outcome.no_cubin || outcome.instructions == 0) &&
               config->instructions == GMT_INSTRUCTIONS_ACCESSES) {
        /* Without its cubin an instruction has no kind, and a kernel without any executed access has no
         * record: the range profiler counts this class. */
        atomic_store(&site->cls->no_cubin, 1);
    } else {
        gmt_sampling_measured(&sampling, site->cls, GMT_GROUP_SASS, gmt_clock_monotonic_ns());
    }
}

void gmt_measure_end(const struct gmt_launch_site *site, enum gmt_counter_group group)
{
    if (group == GMT_GROUP_NONE) {
        return;
    }
    bool single = group == GMT_GROUP_SASS;
    enter();
    if (!single) {
        end_range(site, group, atomic_load(config->launches) == launches_before);
    } else {
        /* Without CUPTI's subscription not all of it may have been patched. */
        end_counting(site,
                     atomic_load(config->launches) == launches_before && gmt_instructions_free());
    }
    /* The driver call between begin and end counts too: it is the one that waits when patched. */
    uint64_t began_ns = gmt_open_range_ends();
    gmt_sampling_charge_launch(&sampling, site->cls, group, gmt_clock_monotonic_ns() - began_ns);
    gmt_spool_own_time(single ? GMT_OWN_INSTRUCTIONS : GMT_OWN_LAUNCH, began_ns, site->launch_seq);
    launch_is_mine = false;
    if (atomic_load(&suspended) && !capturing()) {
        close_session(); /* gmt_measure_suspend did not wait for this launch */
    }
    leave();
    (void)pthread_mutex_unlock(&lock);
}

bool gmt_measure_suspend(void)
{
    atomic_store(&suspended, true);
    if (!atomic_load(&counting)) {
        return true;
    }
    /* Asked from inside of a measured launch (a callback of the program's): its end does the rest. */
    if (launch_is_mine || !lock_within(SUSPEND_TRIES)) {
        return false;
    }
    bool now = !capturing(); /* else it is the watch thread that ends the session */
    if (now) {
        close_session();
    }
    (void)pthread_mutex_unlock(&lock);
    return now;
}

void gmt_measure_resume(bool initialize)
{
    initialize_anew |= initialize;
    if (atomic_load(&counting) && initialize_anew) {
        CUpti_Profiler_Initialize_Params p = {
            .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
        initialize_anew = api->cuptiProfilerInitialize(&p) != CUPTI_SUCCESS;
    }
    atomic_store(&suspended, initialize_anew);
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
    if (!atomic_exchange(&counting, false)) {
        return; /* never started, or refused: the capability row says it all */
    }
    atomic_store(&sampling.phase, GMT_GROUP_NONE);
    if (lock_within(LOCK_TRIES)) {
        close_session();
        gmt_instructions_drop_context(NULL);
        (void)pthread_mutex_unlock(&lock);
    } else {
        gmt_spool_loss("kernel counters", "a kernel was being measured at exit", 1);
    }
    if (!any_session && config->counters) {
        gmt_spool_capability("counters", GMT_CAP_OK, 0, "no launch was measured", "");
    }
    gmt_instructions_report();
    unsigned left = MAX_MISSING_ROWS;
    gmt_sampling_report(&sampling, note_missing, &left);
}

void gmt_measure_forking(void)
{
    if (!atomic_load(&counting) || config->instructions == GMT_INSTRUCTIONS_NONE ||
        !lock_within(FORK_TRIES)) {
        return;
    }
    enter();
    gmt_instructions_drop_context(NULL);
    leave();
    (void)pthread_mutex_unlock(&lock);
}

void gmt_measure_abandon(void)
{
    atomic_store(&counting, false);
    atomic_store(&sampling.phase, GMT_GROUP_NONE);
    gmt_instructions_abandon();
}

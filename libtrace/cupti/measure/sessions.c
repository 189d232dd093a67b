/* SPDX-License-Identifier: Apache-2.0 */
/* The session of the range profiler, from its begin to its end (sessions.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure/sessions.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "libtrace/cupti/base/contexts.h"
#include "libtrace/cupti/base/refusal.h"
#include "libtrace/cupti/base/watch.h"
#include "libtrace/cupti/code/instructions.h"
#include "libtrace/cupti/measure/open_range.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/mutex.h"

#define NEW_CONFIG_NS UINT64_C(280000000) /* expected: a session for which it is enabled anew */
#define HOST_NS UINT64_C(2000000)         /* for what may wait for the host */
#define TICK_NS UINT64_C(100000000)
#define CLOSE_POLL_US 200u

struct gmt_measuring gmt_measuring = {.lock = GMT_MUTEX(MEASURE)};

static struct gmt_measuring *const m = &gmt_measuring;

void gmt_session_enter(void)
{
    if (m->config->enter != NULL) {
        m->config->enter();
    }
}

void gmt_session_leave(void)
{
    if (m->config->leave != NULL) {
        m->config->leave();
    }
}

bool gmt_session_lock(unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        if (gmt_mutex_try(&m->lock)) {
            return true;
        }
        (void)usleep(1000);
    }
    return false;
}

bool gmt_session_capturing(void)
{
    return m->config->captures != NULL && atomic_load(m->config->captures) != 0;
}

/* A capture that still waits for the measured launch is not. A launch counted by SASS that is left unfinished would break it. */
static bool capture_is_under_way(void)
{
    return m->config->captures != NULL &&
           atomic_load(m->config->captures) > atomic_load(&m->captures_waiting);
}

static _Atomic bool timed_out; /* and the device has not been idle since */

bool gmt_session_is_late(void)
{
    return atomic_load(&timed_out) && !capture_is_under_way() && m->config->idle != NULL &&
           !m->config->idle();
}

static bool wait_until_idle(uint64_t ns)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    for (;;) {
        if (capture_is_under_way()) {
            return false; /* asking about its streams would break it */
        }
        if (m->config->idle == NULL || m->config->idle()) {
            break;
        }
        if (atomic_load(&timed_out) || gmt_clock_monotonic_ns() - began_ns > ns) {
            atomic_store(&timed_out, atomic_load(&timed_out) || ns != 0);
            return false;
        }
        (void)sched_yield();
    }
    atomic_store(&timed_out, false);
    return true;
}

bool gmt_session_idle_within(uint64_t ns)
{
    uint64_t section = gmt_section_begin(GMT_SECTION_IDLE);
    bool idle = wait_until_idle(ns);
    gmt_section_end(section);
    return idle;
}

bool gmt_session_host_waits(void)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    /* As at the start: it may be asked at each of thousands of launches. */
    bool waits = gmt_sampling_may_hold(&m->sampling, m->sampling.began_ns);
    if (m->config->waiting == NULL || !m->config->waiting(waits ? HOST_NS : 0)) {
        return false;
    }
    if (waits) {
        gmt_sampling_held_in_vain(&m->sampling, gmt_clock_monotonic_ns() - began_ns);
        gmt_spool_own_time(GMT_OWN_WAIT, began_ns, 0);
    }
    return true;
}

void gmt_session_read_profiler(void)
{
    gmt_cupti_read_profiler(m->api);
}

bool gmt_session_load_profiler(void)
{
    enum { NOT_YET, BEGUN, LOADED };
    static _Atomic int state;
    int found = NOT_YET;
    if (atomic_load_explicit(&state, memory_order_acquire) == LOADED) {
        return true;
    }
    if (!atomic_compare_exchange_strong(&state, &found, BEGUN)) {
        return found == LOADED;
    }
    uint64_t began_ns = gmt_clock_monotonic_ns(), section = gmt_section_begin(GMT_SECTION_LOAD);
    gmt_session_enter();
    gmt_cupti_load_profiler(m->api);
    gmt_session_leave();
    gmt_section_end(section);
    gmt_spool_own_time_excused(GMT_OWN_SESSION, began_ns, UINT64_MAX);
    atomic_store_explicit(&state, LOADED, memory_order_release);
    return true;
}

static bool is_idle_in_session(void)
{
    if (m->config->idle_in != NULL) {
        return m->config->idle_in(m->ranges.context);
    }
    return m->config->idle == NULL || m->config->idle();
}

bool gmt_session_may_close(uint64_t ns)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    while (m->ranges.running && !gmt_session_capturing()) {
        if (is_idle_in_session()) {
            return true;
        }
        if (gmt_clock_monotonic_ns() - began_ns >= ns) {
            return false;
        }
        (void)usleep(CLOSE_POLL_US);
    }
    return !gmt_session_capturing();
}

void gmt_session_close(void)
{
    uint64_t section = gmt_section_begin(GMT_SECTION_SESSION);
    (void)gmt_ranges_stop(&m->ranges);
    gmt_ranges_disable(&m->ranges);
    gmt_section_end(section);
}

void gmt_session_end_idle(void)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    if (!atomic_exchange(&m->end_wanted, false) || !m->ranges.running ||
        began_ns < atomic_load(&m->sampling.last_need_ns) + GMT_SAMPLING_IDLE_SESSION_NS ||
        !gmt_session_may_close(0)) {
        return;
    }
    uint64_t section = gmt_section_begin(GMT_SECTION_SESSION);
    (void)gmt_ranges_stop(&m->ranges);
    gmt_section_end(section);
    gmt_sampling_charge(&m->sampling, gmt_clock_monotonic_ns() - began_ns);
    gmt_spool_own_time(GMT_OWN_SESSION, began_ns, 0);
}

void gmt_session_refused(CUptiResult result, enum gmt_counter_group group)
{
    if (gmt_refusal_is_of_group(result)) {
        gmt_sampling_offer(&m->sampling, group, false);
    } else {
        gmt_session_close();
        gmt_instructions_drop_context(NULL); /* nobody does it afterwards */
        atomic_store(&m->counting, false);
        atomic_store(&m->sampling.phase, GMT_GROUP_NONE);
    }
    gmt_refusal_row("counters", m->api, result, m->ranges.failed);
}

/* From the watch thread, every TICK_NS while a session runs; false = it runs no more. It ends a session itself only
 * where another user of CUPTI waits for that. */
static bool tick(void)
{
    gmt_open_range_warn();
    if (!gmt_mutex_try(&m->lock)) {
        return atomic_load(&m->counting);
    }
    uint64_t now_ns = gmt_clock_monotonic_ns();
    gmt_session_enter();
    bool closes = m->ranges.running && m->config->captures != NULL && atomic_load(&m->suspended) &&
                  !atomic_load(&m->pending);
    if (closes && gmt_session_may_close(0)) {
        gmt_session_close();
        gmt_sampling_charge(&m->sampling, gmt_clock_monotonic_ns() - now_ns);
        gmt_spool_own_time_beside(GMT_OWN_SESSION, now_ns);
    } else if (!closes &&
               now_ns > atomic_load(&m->sampling.last_need_ns) + GMT_SAMPLING_IDLE_SESSION_NS) {
        atomic_store(&m->end_wanted, m->ranges.running);
    }
    gmt_session_leave();
    bool runs = m->ranges.running;
    gmt_mutex_unlock(&m->lock);
    return runs;
}

/* A row for a group of which this device cannot count all metrics in one pass. */
static void write_dropped(const struct gmt_group *metrics, enum gmt_counter_group group)
{
    if (metrics->dropped_count == 0) {
        return;
    }
    char text[512] = "";
    size_t at = 0;
    for (size_t i = 0; i < metrics->dropped_count && at < sizeof(text); i++) {
        for (size_t row = 0; row < gmt_metric_row_count; row++) {
            if (gmt_metric_rows[row].id == metrics->dropped[i]) {
                int length = snprintf(text + at, sizeof(text) - at, "%s%s", i != 0 ? ", " : "",
                                      gmt_metric_rows[row].name);
                at += length > 0 ? (size_t)length : 0;
            }
        }
    }
    static const char *const names[] = {"", "counters.patched", "counters.hardware",
                                        "counters.spill"};
    char detail[600];
    (void)snprintf(detail, sizeof(detail), "not counted on this GPU: %s", text);
    gmt_spool_capability(names[group], GMT_CAP_PARTIAL, 0, detail, "");
}

bool gmt_session_open(uint32_t at, enum gmt_counter_group group, uint64_t began_ns)
{
    void *context = gmt_contexts_handle(at);
    bool typical = gmt_ranges_is_cheap(&m->ranges, context, group);
    uint64_t section = gmt_section_begin(GMT_SECTION_SESSION);
    (void)gmt_ranges_stop(&m->ranges);
    CUptiResult result = gmt_ranges_start(&m->ranges, context, gmt_contexts_device(at), group);
    gmt_section_end(section);
    uint64_t now_ns = gmt_clock_monotonic_ns(), took_ns = now_ns - began_ns;
    /* The first one is the same for one kernel and for a thousand, 0.5 s and on some machines twice that: taken off the
     * budget, it would leave a program with many kernels half of it, or none. */
    bool first = !m->any_session;
    gmt_sampling_charge_session(&m->sampling, took_ns, first, typical);
    gmt_spool_own_time_excused(GMT_OWN_SESSION, began_ns, first ? took_ns : 0);
    if (result != CUPTI_SUCCESS) {
        gmt_session_refused(result, group);
        return false;
    }
    if (!m->any_session) {
        gmt_spool_capability("counters", GMT_CAP_OK, 0, "", "");
    }
    m->any_session = true;
    write_dropped(&m->ranges.chip->groups[group], group);
    gmt_sampling_enter(&m->sampling, group, now_ns);
    gmt_watch_start(tick, TICK_NS);
    return true;
}

bool gmt_session_runs(const void *context, enum gmt_counter_group group)
{
    return m->ranges.running && m->ranges.context == context && m->ranges.which == group &&
           !gmt_ranges_full(&m->ranges) && gmt_ranges_alive(&m->ranges);
}

uint64_t gmt_session_cost_ns(void *context, enum gmt_counter_group group)
{
    if (!m->any_session) {
        return 0; /* it is not charged */
    }
    return gmt_ranges_is_cheap(&m->ranges, context, group) ? m->sampling.session_cost_ns
                                                           : NEW_CONFIG_NS;
}

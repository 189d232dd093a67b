/* SPDX-License-Identifier: Apache-2.0 */
/* The budget and the phases of measuring (sampling.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/sampling.h"

#include <string.h>

#include "libtrace/record/clock.h"

#define EXPECTED_SESSION_NS UINT64_C(60000000) /* start, stop and decode of a later session */
#define EXPECTED_PATCHED_NS UINT64_C(100000)
#define EXPECTED_HARDWARE_NS UINT64_C(1200000)
#define CLOSED_LOOK_EVERY 16u /* launches of a class between two looks at the clock */

void gmt_sampling_init(struct gmt_sampling *s, const struct gmt_collector_config *config,
                       uint64_t now_ns)
{
    memset(s, 0, sizeof(*s));
    s->samples = config->samples_per_class != 0 ? config->samples_per_class : 1;
    s->share = config->overhead_share;
    s->start_allowance_ns = config->overhead_start_ns;
    s->began_ns = now_ns;
    s->session_cost_ns = EXPECTED_SESSION_NS;
    s->range_cost_ns[GMT_GROUP_PATCHED] = EXPECTED_PATCHED_NS;
    s->range_cost_ns[GMT_GROUP_HARDWARE] = EXPECTED_HARDWARE_NS;
    s->range_cost_ns[GMT_GROUP_SPILL] = EXPECTED_HARDWARE_NS;
    atomic_store(&s->groups, 1u << GMT_GROUP_PATCHED | 1u << GMT_GROUP_HARDWARE |
                                 1u << GMT_GROUP_SPILL);
    atomic_store(&s->last_need_ns, now_ns);
    atomic_store(&s->phase, GMT_GROUP_PATCHED);
}

static bool can_count(const struct gmt_sampling *s, uint32_t group)
{
    return (atomic_load_explicit(&s->groups, memory_order_relaxed) & (1u << group)) != 0;
}

void gmt_sampling_disable(struct gmt_sampling *s, enum gmt_counter_group group)
{
    uint32_t left = atomic_load(&s->groups) & ~(1u << group);
    atomic_store(&s->groups, left);
    uint32_t next = GMT_GROUP_NONE;
    for (uint32_t g = GMT_GROUP_COUNT - 1; g > GMT_GROUP_NONE; g--) {
        next = (left & (1u << g)) != 0 ? g : next;
    }
    if (atomic_load(&s->phase) == group || next == GMT_GROUP_NONE) {
        atomic_store(&s->phase, next);
    }
}

void gmt_sampling_note(struct gmt_collector_class *cls, uint32_t why)
{
    if ((gmt_sampling_count(cls, GMT_GROUP_NONE) & why) != why) {
        atomic_fetch_or_explicit(&cls->measured[GMT_GROUP_NONE], why, memory_order_relaxed);
    }
}

void gmt_sampling_list(struct gmt_sampling *s, struct gmt_collector_class *cls)
{
    uint32_t before = atomic_fetch_or(&cls->measured[GMT_GROUP_NONE], GMT_CLASS_LISTED);
    if ((before & GMT_CLASS_LISTED) != 0) {
        return; /* two threads saw the first launch */
    }
    atomic_fetch_add(&s->class_count, 1);
    cls->next = atomic_load(&s->classes);
    while (!atomic_compare_exchange_weak(&s->classes, &cls->next, cls)) {
    }
}

static bool given_up(const struct gmt_collector_class *cls)
{
    return (gmt_sampling_count(cls, GMT_GROUP_NONE) >> 8 & 0xffu) >= GMT_SAMPLING_MAX_DISCARDS;
}

static enum gmt_sampling_ask what_is_asked(const struct gmt_collector_class *cls, uint32_t group,
                                           bool needs_session)
{
    if (needs_session) {
        return GMT_ASK_SESSION;
    }
    return gmt_sampling_count(cls, group) == 0 ? GMT_ASK_FIRST : GMT_ASK_FURTHER;
}

/* True while the budget is known to forbid this. The clock is read only now and then. */
bool gmt_sampling_closed(const struct gmt_sampling *s, struct gmt_collector_class *cls,
                         uint32_t group)
{
    if (given_up(cls)) {
        return true;
    }
    bool running = atomic_load_explicit(&s->running, memory_order_relaxed) != 0 &&
                   atomic_load_explicit(&s->phase, memory_order_relaxed) == group;
    enum gmt_sampling_ask ask = what_is_asked(cls, group, !running);
    uint64_t reopen_ns = atomic_load_explicit(&s->reopen_ns[ask], memory_order_relaxed);
    if (reopen_ns == 0) {
        return false;
    }
    uint64_t launches = atomic_load_explicit(&cls->launches, memory_order_relaxed);
    if (launches > CLOSED_LOOK_EVERY && launches % CLOSED_LOOK_EVERY != 0) {
        return true;
    }
    if (gmt_clock_monotonic_ns() >= reopen_ns) {
        return false;
    }
    gmt_sampling_note(cls, GMT_CLASS_BUDGET);
    return true;
}

enum gmt_counter_group gmt_sampling_elsewhere(struct gmt_sampling *s,
                                              struct gmt_collector_class *cls)
{
    uint32_t group = GMT_GROUP_NONE;
    for (uint32_t g = GMT_GROUP_COUNT - 1; g > GMT_GROUP_NONE; g--) {
        if (can_count(s, g) && gmt_sampling_count(cls, g) < s->samples) {
            group = g;
        }
    }
    if (group == GMT_GROUP_NONE || gmt_sampling_closed(s, cls, group)) {
        return GMT_GROUP_NONE;
    }
    uint32_t quiet = atomic_load_explicit(&s->quiet, memory_order_relaxed) + 1;
    atomic_store_explicit(&s->quiet, quiet, memory_order_relaxed);
    if (quiet <= GMT_SAMPLING_QUIET_PER_CLASS * atomic_load(&s->class_count)) {
        return GMT_GROUP_NONE;
    }
    uint64_t since_ns = atomic_load_explicit(&s->last_need_ns, memory_order_relaxed);
    uint64_t moves = atomic_load_explicit(&s->moves, memory_order_relaxed);
    moves = moves < 20 ? moves : 20;
    bool moved_long_ago = gmt_clock_monotonic_ns() >= since_ns + moves * GMT_SAMPLING_QUIET_NS;
    return moved_long_ago ? (enum gmt_counter_group)group : GMT_GROUP_NONE;
}

uint64_t gmt_sampling_allowance_ns(const struct gmt_sampling *s, uint64_t now_ns)
{
    double elapsed_ns = now_ns > s->began_ns ? (double)(now_ns - s->began_ns) : 0.0;
    return s->start_allowance_ns + (uint64_t)(s->share * elapsed_ns);
}

bool gmt_sampling_may(struct gmt_sampling *s, struct gmt_collector_class *cls,
                      enum gmt_counter_group group, uint64_t session_ns, uint64_t now_ns)
{
    enum gmt_sampling_ask ask = what_is_asked(cls, group, session_ns != 0);
    uint64_t needed_ns = s->spent_ns + s->range_cost_ns[group] + session_ns;
    if (gmt_sampling_count(cls, group) != 0) {
        needed_ns += s->start_allowance_ns / 4; /* kept for classes that have no sample */
    }
    uint64_t allowed_ns = gmt_sampling_allowance_ns(s, now_ns);
    if (needed_ns <= allowed_ns) {
        atomic_store(&s->reopen_ns[ask], 0);
        return true;
    }
    double wait_ns = s->share > 1e-6 ? (double)(needed_ns - allowed_ns) / s->share : 1e18;
    atomic_store(&s->reopen_ns[ask], now_ns + 1 + (uint64_t)(wait_ns < 1e18 ? wait_ns : 1e18));
    gmt_sampling_note(cls, GMT_CLASS_BUDGET);
    return false;
}

void gmt_sampling_enter(struct gmt_sampling *s, enum gmt_counter_group group, uint64_t now_ns)
{
    if (atomic_exchange(&s->phase, (uint32_t)group) != (uint32_t)group) {
        atomic_fetch_add(&s->moves, 1);
    }
    atomic_store(&s->last_need_ns, now_ns);
    atomic_store(&s->quiet, 0);
    atomic_store(&s->running, 1);
}

void gmt_sampling_leave(struct gmt_sampling *s)
{
    atomic_store(&s->running, 0);
}

void gmt_sampling_charge(struct gmt_sampling *s, uint64_t ns)
{
    s->spent_ns += ns;
}

void gmt_sampling_charge_session(struct gmt_sampling *s, uint64_t ns, bool typical)
{
    s->spent_ns += ns;
    if (typical) {
        s->session_cost_ns = (s->session_cost_ns + ns) / 2;
    }
}

void gmt_sampling_charge_range(struct gmt_sampling *s, enum gmt_counter_group group, uint64_t ns)
{
    s->spent_ns += ns;
    s->range_cost_ns[group] = (3 * s->range_cost_ns[group] + ns) / 4;
}

void gmt_sampling_measured(struct gmt_sampling *s, struct gmt_collector_class *cls,
                           enum gmt_counter_group group, uint64_t now_ns)
{
    atomic_fetch_add_explicit(&cls->measured[group], 1, memory_order_relaxed);
    atomic_store_explicit(&s->last_need_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&s->quiet, 0, memory_order_relaxed);
}

void gmt_sampling_discarded(struct gmt_collector_class *cls)
{
    gmt_sampling_note(cls, GMT_CLASS_POLLUTED);
    if (!given_up(cls)) {
        atomic_fetch_add(&cls->measured[GMT_GROUP_NONE], GMT_CLASS_DISCARD);
    }
}

static const char *why_missing(const struct gmt_collector_class *cls)
{
    static const struct {
        uint32_t bit;
        const char *text;
    } reasons[] = {
        {GMT_CLASS_UNSAFE, "measuring it could have made the program wait for itself"},
        {GMT_CLASS_POLLUTED, "other threads launched kernels at the same time"},
        {GMT_CLASS_BUDGET, "the overhead budget was spent"},
        {GMT_CLASS_REFUSED, "CUPTI refused the measurement"},
        {GMT_CLASS_BUSY, "other kernels were being measured whenever it ran"},
    };
    if (cls->never) {
        return "cooperative and communication kernels are never measured";
    }
    uint32_t bits = gmt_sampling_count(cls, GMT_GROUP_NONE);
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if ((bits & reasons[i].bit) != 0) {
            return reasons[i].text;
        }
    }
    return "it was launched too few times";
}

void gmt_sampling_report(const struct gmt_sampling *s,
                         void (*missing)(const struct gmt_collector_class *cls, bool partly,
                                         const char *why, void *data),
                         void *data)
{
    for (const struct gmt_collector_class *cls = atomic_load(&s->classes); cls != NULL;
         cls = cls->next) {
        bool patched = gmt_sampling_count(cls, GMT_GROUP_PATCHED) != 0;
        bool hardware = gmt_sampling_count(cls, GMT_GROUP_HARDWARE) != 0;
        bool lacks = (!patched && can_count(s, GMT_GROUP_PATCHED)) ||
                     (!hardware && can_count(s, GMT_GROUP_HARDWARE));
        if (lacks) {
            missing(cls, patched || hardware, why_missing(cls), data);
        }
    }
}

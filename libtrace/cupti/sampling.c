/* SPDX-License-Identifier: Apache-2.0 */
/* The budget and the phases of measuring (sampling.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/sampling.h"

#include <string.h>

#include "libtrace/record/clock.h"

#define EXPECTED_SESSION_NS UINT64_C(60000000) /* start, stop and decode of a later session */
#define EXPECTED_PATCHED_NS UINT64_C(100000)   /* of a range, on top of the kernel's own time */
#define EXPECTED_HARDWARE_NS UINT64_C(1000000)
#define EXPECTED_SLOWDOWN 20u /* of a kernel that is patched; measured: 1.5 to 20 */
#define LONGEST_WAIT_NS UINT64_C(1000000000)
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
    atomic_store(&s->groups,
                 1u << GMT_GROUP_PATCHED | 1u << GMT_GROUP_HARDWARE | 1u << GMT_GROUP_SPILL);
    atomic_store(&s->last_need_ns, now_ns);
    atomic_store(&s->phase, GMT_GROUP_HARDWARE);
}

/* In the order in which they are wanted. */
static const uint32_t order[] = {GMT_GROUP_HARDWARE, GMT_GROUP_PATCHED, GMT_GROUP_SPILL};
#define ORDERED (sizeof(order) / sizeof(order[0]))

static bool can_count(const struct gmt_sampling *s, uint32_t group)
{
    return (atomic_load_explicit(&s->groups, memory_order_relaxed) & (1u << group)) != 0;
}

static bool has_all(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                    uint32_t group)
{
    return gmt_sampling_count(cls, group) >= s->samples || !can_count(s, group);
}

/* Does `cls` lack samples of `group` that may be taken next? */
static bool lacks(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                  uint32_t group)
{
    if (has_all(s, cls, group)) {
        return false;
    }
    switch (group) {
    case GMT_GROUP_HARDWARE:
        return gmt_sampling_count(cls, group) == 0 || has_all(s, cls, GMT_GROUP_PATCHED);
    case GMT_GROUP_PATCHED:
        return gmt_sampling_count(cls, GMT_GROUP_HARDWARE) != 0 ||
               !can_count(s, GMT_GROUP_HARDWARE);
    default: return has_all(s, cls, GMT_GROUP_HARDWARE) && has_all(s, cls, GMT_GROUP_PATCHED);
    }
}

void gmt_sampling_disable(struct gmt_sampling *s, enum gmt_counter_group group)
{
    uint32_t left = atomic_load(&s->groups) & ~(1u << group);
    atomic_store(&s->groups, left);
    uint32_t next = GMT_GROUP_NONE;
    for (size_t i = ORDERED; i-- > 0;) {
        next = (left & (1u << order[i])) != 0 ? order[i] : next;
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

/* True while the budget is known to forbid this class. The clock is read only now and then. */
static bool closed(struct gmt_collector_class *cls)
{
    if (given_up(cls)) {
        return true;
    }
    uint64_t retry_ns = atomic_load_explicit(&cls->retry_ns, memory_order_relaxed);
    if (retry_ns == 0) {
        return false;
    }
    uint64_t launches = atomic_load_explicit(&cls->launches, memory_order_relaxed);
    if (launches > CLOSED_LOOK_EVERY && launches % CLOSED_LOOK_EVERY != 0) {
        return true;
    }
    return gmt_clock_monotonic_ns() < retry_ns;
}

enum gmt_counter_group gmt_sampling_seek(struct gmt_sampling *s, struct gmt_collector_class *cls,
                                         uint32_t phase)
{
    if (closed(cls)) {
        return GMT_GROUP_NONE;
    }
    if (lacks(s, cls, phase)) {
        return (enum gmt_counter_group)phase;
    }
    uint32_t group = GMT_GROUP_NONE;
    for (size_t i = ORDERED; i-- > 0;) {
        group = lacks(s, cls, order[i]) ? order[i] : group;
    }
    if (group == GMT_GROUP_NONE) {
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

/* Of the launch as a whole, the kernel's own time included: its caller may have had to wait for it
 * anyway, but who knows. */
static uint64_t expected_range_ns(const struct gmt_collector_class *cls, uint32_t group)
{
    uint64_t known_ns = atomic_load_explicit(&cls->cost_ns[group], memory_order_relaxed);
    if (known_ns != 0) {
        return known_ns;
    }
    uint64_t hardware_ns = atomic_load_explicit(&cls->cost_ns[GMT_GROUP_HARDWARE],
                                                memory_order_relaxed);
    if (group != GMT_GROUP_PATCHED) {
        return hardware_ns != 0 ? hardware_ns : EXPECTED_HARDWARE_NS;
    }
    uint64_t kernel_ns = hardware_ns > EXPECTED_HARDWARE_NS ? hardware_ns - EXPECTED_HARDWARE_NS
                                                            : 0;
    return EXPECTED_PATCHED_NS + kernel_ns * EXPECTED_SLOWDOWN;
}

bool gmt_sampling_may(struct gmt_sampling *s, struct gmt_collector_class *cls,
                      enum gmt_counter_group group, uint64_t session_ns, uint64_t now_ns)
{
    uint64_t needed_ns = s->spent_ns + expected_range_ns(cls, group) + session_ns;
    if (gmt_sampling_count(cls, group) != 0) {
        needed_ns += s->start_allowance_ns / 4; /* kept for classes that have no sample */
    }
    uint64_t allowed_ns = gmt_sampling_allowance_ns(s, now_ns);
    if (needed_ns <= allowed_ns) {
        atomic_store(&cls->retry_ns, 0);
        return true;
    }
    double wait_ns = (double)LONGEST_WAIT_NS;
    if (s->share > 1e-6 && (double)(needed_ns - allowed_ns) / s->share < wait_ns) {
        wait_ns = (double)(needed_ns - allowed_ns) / s->share;
    }
    atomic_store(&cls->retry_ns, now_ns + 1 + (uint64_t)wait_ns);
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

void gmt_sampling_charge_range(struct gmt_sampling *s, struct gmt_collector_class *cls,
                               enum gmt_counter_group group, uint64_t ns)
{
    s->spent_ns += ns;
    atomic_store_explicit(&cls->cost_ns[group], ns, memory_order_relaxed);
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
    /* One launch for each group that is wanted would have done. */
    return atomic_load_explicit(&cls->launches, memory_order_relaxed) < ORDERED
               ? "it was launched too few times"
               : "the counters that it lacks were not on when it ran";
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
        bool missed = (!patched && can_count(s, GMT_GROUP_PATCHED)) ||
                      (!hardware && can_count(s, GMT_GROUP_HARDWARE));
        if (missed) {
            missing(cls, patched || hardware, why_missing(cls), data);
        }
    }
}

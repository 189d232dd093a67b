/* SPDX-License-Identifier: Apache-2.0 */
/* Which group a class lacks, and the phases of measuring (sampling.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure/sampling.h"

#include <string.h>

#include "libtrace/cupti/base/device_time.h"
#include "libtrace/record/clock.h"

#define EXPECTED_SESSION_NS UINT64_C(85000000) /* start, stop and decode of a later session */
#define EXPECTED_CHANGE_NS UINT64_C(170000000) /* ... of one for a group that had none yet */

/* Groups in the order in which they are wanted, with what each of them is. */
static const uint32_t order[] = {GMT_GROUP_HARDWARE, GMT_GROUP_SASS, GMT_GROUP_PATCHED,
                                 GMT_GROUP_SPILL};
#define ORDERED (sizeof(order) / sizeof(order[0]))

void gmt_sampling_init(struct gmt_sampling *s, const struct gmt_collector_config *config,
                       uint64_t now_ns)
{
    memset(s, 0, sizeof(*s));
    s->samples = config->samples_per_class != 0 ? config->samples_per_class : 1;
    s->instructions = config->instructions;
    s->repeat_always = config->repeat_always;
    s->only_counts = !config->timestamps && !config->counters;
    s->share = config->overhead_share;
    s->start_allowance_ns = config->overhead_start_ns;
    s->limit_ns = config->overhead_limit_ns;
    s->began_ns = now_ns;
    s->session_cost_ns = EXPECTED_SESSION_NS;
    atomic_store(&s->change_ns, EXPECTED_CHANGE_NS);
    s->least_range_ns = UINT64_MAX;
    atomic_store(&s->last_need_ns, now_ns);
    for (size_t i = 0; i < ORDERED; i++) {
        bool single = order[i] == GMT_GROUP_SASS;
        gmt_sampling_offer(s, (enum gmt_counter_group)order[i],
                           single ? config->instructions != GMT_INSTRUCTIONS_NONE
                                  : config->counters);
    }
}

static bool can_count(const struct gmt_sampling *s, uint32_t group)
{
    return (atomic_load_explicit(&s->groups, memory_order_relaxed) & (1u << group)) != 0;
}

void gmt_sampling_pause_sass(struct gmt_sampling *s, bool pause)
{
    atomic_store(&s->sass_paused, pause);
}

void gmt_sampling_offer(struct gmt_sampling *s, enum gmt_counter_group group, bool can)
{
    uint32_t groups = atomic_load(&s->groups);
    uint32_t left = can ? groups | 1u << group : groups & ~(1u << group);
    uint32_t next = GMT_GROUP_NONE, phase = atomic_load(&s->phase);
    atomic_store(&s->groups, left);
    /* A session is the phase as long as there is any group that has one. */
    for (size_t i = ORDERED; i-- > 0;) {
        bool has = (left & (1u << order[i])) != 0;
        bool session = order[i] != GMT_GROUP_SASS;
        next = has && (session || next == GMT_GROUP_NONE) ? order[i] : next;
    }
    if (phase == GMT_GROUP_NONE || phase == GMT_GROUP_SASS || (left & (1u << phase)) == 0) {
        atomic_store(&s->phase, next);
    }
}

/* ---- what a class lacks ------------------------------------------------------------------------- */

static bool has_all(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                    uint32_t group)
{
    return gmt_sampling_count(cls, group) >= s->samples || !can_count(s, group);
}

/* Launches whose accesses were counted, by whichever way. */
static uint32_t counted(const struct gmt_collector_class *cls)
{
    return gmt_sampling_count(cls, GMT_GROUP_SASS) + gmt_sampling_count(cls, GMT_GROUP_PATCHED);
}

/* Counts are to be had, by the way that this group is. */
static bool counts_by(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                      uint32_t group)
{
    bool sass = can_count(s, GMT_GROUP_SASS) && !atomic_load(&s->sass_paused) &&
                atomic_load(&cls->no_cubin) == 0;
    bool range = can_count(s, GMT_GROUP_PATCHED) && atomic_load(&cls->suspected) == 0 &&
                 (!sass || gmt_sampling_is_long(s, cls));
    if (group == GMT_GROUP_PATCHED) {
        return range;
    }
    return sass && (!range || s->instructions == GMT_INSTRUCTIONS_ALL);
}

static bool lacks_counts(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                         uint32_t group)
{
    bool all = group == GMT_GROUP_SASS && s->instructions == GMT_INSTRUCTIONS_ALL;
    uint32_t have = all ? gmt_sampling_count(cls, GMT_GROUP_SASS) : counted(cls);
    return counts_by(s, cls, group) && have < s->samples;
}

/* Does `cls` lack samples of `group` that may be taken next? */
static bool lacks(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                  uint32_t group)
{
    bool timed = gmt_sampling_count(cls, GMT_GROUP_HARDWARE) != 0 ||
                 !can_count(s, GMT_GROUP_HARDWARE);
    bool no_counts = lacks_counts(s, cls, GMT_GROUP_SASS) ||
                     lacks_counts(s, cls, GMT_GROUP_PATCHED);
    switch (group) {
    case GMT_GROUP_HARDWARE:
        return !has_all(s, cls, group) &&
               (!timed || !no_counts || atomic_load(&cls->time_again) != 0);
    case GMT_GROUP_SASS:
    case GMT_GROUP_PATCHED: return timed && lacks_counts(s, cls, group);
    default: return !has_all(s, cls, group) && has_all(s, cls, GMT_GROUP_HARDWARE) && !no_counts;
    }
}

enum gmt_counter_group gmt_sampling_first_lacked(const struct gmt_sampling *s,
                                                 const struct gmt_collector_class *cls)
{
    if (cls->never || atomic_load(&cls->complete) != 0 ||
        atomic_load(&s->phase) == GMT_GROUP_NONE) {
        return GMT_GROUP_NONE;
    }
    if (can_count(s, GMT_GROUP_HARDWARE) && gmt_sampling_count(cls, GMT_GROUP_HARDWARE) == 0) {
        return GMT_GROUP_HARDWARE;
    }
    if (counted(cls) != 0) {
        return GMT_GROUP_NONE;
    }
    return counts_by(s, cls, GMT_GROUP_SASS)      ? GMT_GROUP_SASS
           : counts_by(s, cls, GMT_GROUP_PATCHED) ? GMT_GROUP_PATCHED
                                                  : GMT_GROUP_NONE;
}

/* ---- the list of classes ------------------------------------------------------------------------ */

void gmt_sampling_note(struct gmt_collector_class *cls, enum gmt_unmeasured why)
{
    atomic_store_explicit(&cls->why, (uint32_t)why + 1, memory_order_relaxed);
}

void gmt_sampling_suspect(struct gmt_sampling *s, struct gmt_collector_class *cls)
{
    atomic_store(&cls->suspected, 1);
    if (counted(cls) == 0 && gmt_sampling_count(cls, GMT_GROUP_HARDWARE) != 0 &&
        !counts_by(s, cls, GMT_GROUP_SASS)) {
        gmt_sampling_note(cls, atomic_load(&s->sass_paused) ? GMT_UNMEASURED_TAKEN
                                                            : GMT_UNMEASURED_REFUSED);
    }
}

void gmt_sampling_list(struct gmt_sampling *s, struct gmt_collector_class *cls)
{
    if (atomic_exchange(&cls->listed, 1) != 0) {
        return; /* two threads saw the first launch */
    }
    atomic_fetch_add(&s->class_count, 1);
    atomic_fetch_add(&s->once_count, 1);
    atomic_store(&cls->device_time, gmt_device_time_of(cls->kernel_name, cls->grid, cls->block));
    cls->next = atomic_load(&s->classes);
    while (!atomic_compare_exchange_weak(&s->classes, &cls->next, cls)) {
    }
}

/* Two threads may both see the second launch. */
void gmt_sampling_launched_again(struct gmt_sampling *s)
{
    unsigned once = atomic_load(&s->once_count);
    while (once != 0 && !atomic_compare_exchange_weak(&s->once_count, &once, once - 1)) {
    }
}

void gmt_sampling_launched(struct gmt_sampling *s, struct gmt_collector_class *cls, uint64_t count,
                           uint64_t now_ns)
{
    uint64_t seen = atomic_fetch_add_explicit(&cls->launches, count, memory_order_relaxed);
    uint64_t retry_ns = atomic_load_explicit(&cls->retry_ns, memory_order_relaxed);
    if (seen == 0 && count != 0) {
        gmt_sampling_list(s, cls);
    }
    atomic_store_explicit(&cls->in_graph, 1, memory_order_relaxed);
    if (seen < 2 && seen + count >= 2) {
        gmt_sampling_launched_again(s);
    }
    if (retry_ns != 0 && now_ns >= retry_ns) {
        (void)atomic_compare_exchange_strong(&cls->retry_ns, &retry_ns, 0);
    }
}

void gmt_sampling_measured(struct gmt_sampling *s, struct gmt_collector_class *cls,
                           enum gmt_counter_group group, uint64_t now_ns)
{
    atomic_fetch_add_explicit(&cls->measured[group], 1, memory_order_relaxed);
    if (group == GMT_GROUP_HARDWARE) {
        atomic_store(&cls->time_again, 0);
    }
    if (group != GMT_GROUP_SASS) {
        atomic_store_explicit(&s->last_need_ns, now_ns, memory_order_relaxed);
        atomic_store_explicit(&s->quiet, 0, memory_order_relaxed);
    }
}

void gmt_sampling_discarded(struct gmt_collector_class *cls, enum gmt_unmeasured why)
{
    gmt_sampling_note(cls, why);
    atomic_fetch_add(&cls->discards, 1);
}

/* ---- phases ------------------------------------------------------------------------------------- */

/* True while the class is given up, or the budget is known to forbid it. */
static bool closed(struct gmt_collector_class *cls)
{
    if (atomic_load_explicit(&cls->discards, memory_order_relaxed) >= GMT_SAMPLING_MAX_DISCARDS) {
        return true;
    }
    uint64_t retry_ns = atomic_load_explicit(&cls->retry_ns, memory_order_relaxed);
    return retry_ns != 0 && gmt_clock_monotonic_ns() < retry_ns;
}

/* The first sample of a class is worth a change of the session while half of what may be spent at the start
 * is left, that of a long kernel always: next to what it costs by itself the change is little. */
static bool moves_at_once(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                          uint32_t group)
{
    bool counts = group == GMT_GROUP_PATCHED;
    bool first = (counts ? counted(cls) : gmt_sampling_count(cls, group)) == 0;
    if (!first || group == GMT_GROUP_SPILL) {
        return false;
    }
    return (counts && gmt_sampling_is_long(s, cls)) ||
           atomic_load_explicit(&s->spent_ns, memory_order_relaxed) < s->start_allowance_ns / 2;
}

enum gmt_counter_group gmt_sampling_seek(struct gmt_sampling *s, struct gmt_collector_class *cls,
                                         uint32_t phase)
{
    uint32_t group = GMT_GROUP_NONE;
    if (closed(cls)) {
        return GMT_GROUP_NONE;
    }
    if (lacks(s, cls, phase)) {
        return (enum gmt_counter_group)phase;
    }
    for (size_t i = ORDERED; i-- > 0;) {
        group = lacks(s, cls, order[i]) ? order[i] : group;
    }
    if (group == GMT_GROUP_NONE) {
        atomic_store_explicit(&cls->complete, !atomic_load(&s->sass_paused), memory_order_relaxed);
        return GMT_GROUP_NONE;
    }
    if (group == GMT_GROUP_SASS || moves_at_once(s, cls, group)) {
        return (enum gmt_counter_group)group;
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

void gmt_sampling_enter(struct gmt_sampling *s, enum gmt_counter_group group, uint64_t now_ns)
{
    if (atomic_exchange(&s->phase, (uint32_t)group) != (uint32_t)group) {
        atomic_fetch_add(&s->moves, 1);
    }
    atomic_store(&s->last_need_ns, now_ns);
    atomic_store(&s->quiet, 0);
}

/* ---- what was not measured ---------------------------------------------------------------------- */

static enum gmt_unmeasured why_missing(const struct gmt_collector_class *cls)
{
    if (cls->never) {
        return GMT_UNMEASURED_NEVER;
    }
    uint32_t last = atomic_load_explicit(&cls->why, memory_order_relaxed);
    if (last != 0) {
        return (enum gmt_unmeasured)(last - 1);
    }
    /* One launch for each kind of counters would have done. */
    return atomic_load_explicit(&cls->launches, memory_order_relaxed) < 2 ? GMT_UNMEASURED_FEW
                                                                          : GMT_UNMEASURED_NOT_ON;
}

void gmt_sampling_report(const struct gmt_sampling *s,
                         void (*missing)(const struct gmt_collector_class *cls, bool partly,
                                         enum gmt_unmeasured why, void *data),
                         void *data)
{
    bool can_time = can_count(s, GMT_GROUP_HARDWARE);
    bool can = can_count(s, GMT_GROUP_PATCHED) || can_count(s, GMT_GROUP_SASS);
    for (const struct gmt_collector_class *cls = atomic_load(&s->classes); cls != NULL;
         cls = cls->next) {
        bool counts = counted(cls) != 0;
        bool hardware = gmt_sampling_count(cls, GMT_GROUP_HARDWARE) != 0;
        if ((!counts && can) || (!hardware && can_time)) {
            missing(cls, counts || hardware, why_missing(cls), data);
        }
    }
}

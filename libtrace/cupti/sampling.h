/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launch is measured, and for which counter group: pure bookkeeping, no CUPTI.
 *
 * One group is counted at a time (a phase), because changing it takes time. Launches drive the
 * phases: a launch that lacks samples in the current group is measured; one that lacks them only in
 * another group moves the phase on when nothing has been measured in the current one for a while
 * (the longer, the more often it has moved).
 *
 * HARDWARE comes first, with one sample per class: it tells how long the kernel runs, and only then
 * is it known what PATCHED will cost, under which kernels run up to 20 times slower. Then PATCHED, then
 * the other HARDWARE samples, then SPILL.
 *
 * All of this stops as soon as the time spent exceeds the budget: start_ns + share x elapsed. The
 * last quarter of start_ns is kept for classes that have no sample of the group.
 *
 * gmt_sampling_want may be called by any thread; everything else by whoever holds the collector's
 * lock. Times are CLOCK_MONOTONIC ns.
 */
#ifndef GMT_CUPTI_SAMPLING_H
#define GMT_CUPTI_SAMPLING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/collector.h"

#define GMT_GROUP_COUNT 4u
/* A phase moves on when, without anything being measured in it, this many launches per known class
 * lacked samples in another group, and this time per earlier move has passed. */
#define GMT_SAMPLING_QUIET_PER_CLASS 1u
#define GMT_SAMPLING_QUIET_NS UINT64_C(10000000)
#define GMT_SAMPLING_MAX_DISCARDS 8u /* polluted ranges after which a class is given up */

/* Bits of gmt_collector_class.measured[GMT_GROUP_NONE], which counts nothing: what is known of the
 * class. Bits 8 to 15 count discarded ranges. */
#define GMT_CLASS_LISTED 0x01u   /* in the list of classes                                     */
#define GMT_CLASS_UNSAFE 0x02u   /* a launch was not measured for a hang-safety rule           */
#define GMT_CLASS_BUDGET 0x04u   /* ... because the budget was spent                           */
#define GMT_CLASS_POLLUTED 0x08u /* ... because another thread launched meanwhile              */
#define GMT_CLASS_BUSY 0x10u     /* ... because another thread was measuring                   */
#define GMT_CLASS_REFUSED 0x20u  /* ... because CUPTI refused                                  */
#define GMT_CLASS_DISCARD 0x100u

struct gmt_sampling {
    _Atomic uint32_t phase;        /* enum gmt_counter_group; NONE = switched off               */
    _Atomic uint32_t groups;       /* bit per group that can be counted                         */
    _Atomic uint64_t last_need_ns; /* when something was last measured in this phase            */
    _Atomic uint32_t quiet;        /* launches since then that lacked samples elsewhere         */
    _Atomic uint32_t class_count;
    _Atomic uint32_t moves; /* changes of phase so far                                   */
    uint32_t samples;       /* per class and group                                       */
    double share;
    uint64_t start_allowance_ns;
    uint64_t began_ns;
    uint64_t spent_ns;
    uint64_t session_cost_ns; /* expected cost of starting and ending a later session      */
    struct gmt_collector_class *_Atomic classes;
};

/* Begin at `now_ns` with the first phase. */
void gmt_sampling_init(struct gmt_sampling *s, const struct gmt_collector_config *config,
                       uint64_t now_ns);

/* Take `group` out (it cannot be counted here); with none left, sampling is off. */
void gmt_sampling_disable(struct gmt_sampling *s, enum gmt_counter_group group);

/* The slow half of gmt_sampling_pick: this class is not complete. */
enum gmt_counter_group gmt_sampling_seek(struct gmt_sampling *s, struct gmt_collector_class *cls,
                                         uint32_t phase);
void gmt_sampling_list(struct gmt_sampling *s, struct gmt_collector_class *cls);

static inline uint32_t gmt_sampling_count(const struct gmt_collector_class *cls, uint32_t group)
{
    return atomic_load_explicit(&cls->measured[group], memory_order_relaxed);
}

/* The group a launch of `cls` should be measured for now, or NONE. */
static inline enum gmt_counter_group gmt_sampling_pick(struct gmt_sampling *s,
                                                       struct gmt_collector_class *cls)
{
    uint32_t phase = atomic_load_explicit(&s->phase, memory_order_relaxed);
    if (phase == GMT_GROUP_NONE || cls->never) {
        return GMT_GROUP_NONE;
    }
    bool complete = gmt_sampling_count(cls, GMT_GROUP_PATCHED) >= s->samples &&
                    gmt_sampling_count(cls, GMT_GROUP_HARDWARE) >= s->samples &&
                    gmt_sampling_count(cls, GMT_GROUP_SPILL) >= s->samples;
    return __builtin_expect(complete, 1) ? GMT_GROUP_NONE : gmt_sampling_seek(s, cls, phase);
}

/* The same, counting the launch (roughly: without a locked instruction). A few ns when nothing is
 * to be measured. */
static inline enum gmt_counter_group gmt_sampling_want(struct gmt_sampling *s,
                                                       struct gmt_collector_class *cls)
{
    uint64_t seen = atomic_load_explicit(&cls->launches, memory_order_relaxed);
    atomic_store_explicit(&cls->launches, seen + 1, memory_order_relaxed);
    if (__builtin_expect(seen == 0, 0)) {
        gmt_sampling_list(s, cls);
    }
    return gmt_sampling_pick(s, cls);
}

/* May `cls` be measured now? `session_ns`: expected cost of the session it needs, 0 = none. When the
 * budget says no, gmt_sampling_want does not ask for this class again before it could say yes (or a
 * second has passed). */
bool gmt_sampling_may(struct gmt_sampling *s, struct gmt_collector_class *cls,
                      enum gmt_counter_group group, uint64_t session_ns, uint64_t now_ns);

/* A session for `group` runs: it is the phase from now on. */
void gmt_sampling_enter(struct gmt_sampling *s, enum gmt_counter_group group, uint64_t now_ns);

/* Charge time to the budget, and learn from it what such a thing costs (the first session of a
 * process or context is not `typical`). */
void gmt_sampling_charge_session(struct gmt_sampling *s, uint64_t ns, bool typical);
void gmt_sampling_charge_range(struct gmt_sampling *s, struct gmt_collector_class *cls,
                               enum gmt_counter_group group, uint64_t ns);
void gmt_sampling_charge(struct gmt_sampling *s, uint64_t ns);

/* The range of one launch was kept, or has to be thrown away. */
void gmt_sampling_measured(struct gmt_sampling *s, struct gmt_collector_class *cls,
                           enum gmt_counter_group group, uint64_t now_ns);
void gmt_sampling_discarded(struct gmt_collector_class *cls);

/* Note why a launch was not measured (GMT_CLASS_*). */
void gmt_sampling_note(struct gmt_collector_class *cls, uint32_t why);

/* Time that may be spent up to `now_ns`, and the part of it that is left. */
uint64_t gmt_sampling_allowance_ns(const struct gmt_sampling *s, uint64_t now_ns);

/* Calls `missing` for each class that lacks a PATCHED or HARDWARE sample although that group could
 * be counted; `partly` tells that it has one of the two. `why` is a sentence, never NULL. */
void gmt_sampling_report(const struct gmt_sampling *s,
                         void (*missing)(const struct gmt_collector_class *cls, bool partly,
                                         const char *why, void *data),
                         void *data);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launch is measured, and for which counter group: pure bookkeeping, no CUPTI.
 *
 * HARDWARE comes first, with one sample per class: it shows how long the kernel runs, and only then is it
 * known what counting its accesses will cost, under which it runs up to 100 times longer. Then the counts:
 *   SASS     single instructions, whose sums are the counters. Any launch can have it, for a session of
 *            the range profiler may go on beside it.
 *   PATCHED  the same counters by the range profiler: for kernels that run so long that it is cheaper
 *            although the session has to change twice (gmt_sampling_is_long), and where SASS is not to be had.
 * Then the other samples of HARDWARE, then SPILL.
 *
 * HARDWARE, PATCHED and SPILL have sessions; the group of the one that runs is the phase. A class that has
 * no sample of another phase's group moves the phase on at once while much of the budget is left; else that
 * happens when nothing has been measured in the current one for a while (the longer, the more often it has
 * moved).
 *
 * All of this stops as soon as the time spent exceeds the budget: start_ns + share x elapsed. It goes to
 * the classes that take most of the device's time: three quarters of start_ns are kept for classes that have no sample
 * of the group, and of the budget all but half of start_ns, start_ns at most, for classes with 1 % of the device's time. Where one of them has to wait
 * for its turn, those with less time at stake leave it room.
 *
 * gmt_sampling_want, _launched, _first_lacked, _repeats and _got_ready may be called by any thread; everything else by whoever holds the
 * collector's lock. Times are CLOCK_MONOTONIC ns.
 */
#ifndef GMT_CUPTI_MEASURE_SAMPLING_H
#define GMT_CUPTI_MEASURE_SAMPLING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/collector.h"

/* A phase moves on when, without anything being measured in it, this many launches per known class
 * lacked samples in another group, and this time per earlier move has passed. */
#define GMT_SAMPLING_QUIET_PER_CLASS 1u
#define GMT_SAMPLING_QUIET_NS UINT64_C(10000000)
/* A session that measures nothing for so long is ended. It costs the program nothing while it is only started (docs/cupti-notes.md),
 * and 0.05 to 0.3 s to begin anew; but the device has only one. XLA compiles for seconds between the kernels that it tries. */
#define GMT_SAMPLING_IDLE_SESSION_NS UINT64_C(5000000000)
/* What a range of HARDWARE costs by itself, without its kernel, where no shorter one has been seen. */
#define GMT_SAMPLING_RANGE_NS UINT64_C(1000000)
#define GMT_SAMPLING_LOOK_EVERY 16u /* launches of a refused class between two looks at the clock */
#define GMT_SAMPLING_MAX_DISCARDS 8u /* polluted ranges after which a class is given up */

/* A kernel that takes longer may be counted by the range profiler. Per launch that takes about a third of what
 * SASS takes (7 to 30 times the kernel for global memory against 35 to 110 times with the sets of metrics in
 * docs/cupti-notes.md, "What counting one launch costs"), and the session has to change and change back: 40 to 90 ms where that is
 * quick, and 340 ms elsewhere (gmt_sampling_is_long). */
#define GMT_SAMPLING_LONG_NS UINT64_C(1000000)
/* How many times as long a counted kernel is expected to run, where no long one was counted. */
#define GMT_SAMPLING_PATCHED_TIMES 30u
#define GMT_SAMPLING_SASS_TIMES 100u
/* ... and at most: 12 ms were seen for a kernel of 33 us that reads shared memory. */
#define GMT_SAMPLING_MOST_TIMES 400u

struct gmt_sampling {
    _Atomic uint32_t phase;        /* enum gmt_counter_group; NONE = switched off               */
    _Atomic uint32_t groups;       /* bit per group that can be counted                         */
    _Atomic uint64_t last_need_ns; /* when something was last measured in this phase            */
    _Atomic uint32_t quiet;        /* launches since then that lacked samples elsewhere         */
    _Atomic uint32_t class_count;
    _Atomic uint32_t moves;   /* changes of phase so far                                 */
    _Atomic bool sass_paused; /* the program has what SASS needs                         */
    uint32_t samples;         /* per class and group                                       */
    enum gmt_instructions instructions;
    bool repeat_always;
    bool only_counts; /* no times: a run that only counts instructions */
    double share;
    uint64_t start_allowance_ns;
    const _Atomic uint64_t *limit_ns; /* of what the share comes to, now; NULL: none */
    uint64_t began_ns;
    _Atomic unsigned once_count;       /* of the classes: launched once so far */
    _Atomic uint64_t ready_ns;         /* getting ready took, for launches that were repeated ... */
    _Atomic uint64_t ready_in_vain_ns; /* ... and for those that were not */
    _Atomic uint64_t total_ns;         /* device time of all classes, about, ... */
    _Atomic uint64_t total_at_ns;      /* ... at that time */
    _Atomic uint64_t spent_ns;
    _Atomic uint64_t in_vain_ns; /* that the program was held for what did not end */
    /* What a measured launch took besides its kernel, on average, of those that took much longer than their kernels can; 0 = none yet. */
    _Atomic uint64_t fixed_ns[GMT_GROUPS];
    /* ... and how many times as long as by itself the kernel ran then; 0 = no long one yet. */
    _Atomic uint64_t times[GMT_GROUPS];
    _Atomic uint64_t session_cost_ns; /* expected of starting and ending a later session */
    _Atomic uint64_t change_ns;       /* ... and of one for another group, on average */
    _Atomic uint64_t long_ns; /* of classes that run long and are not counted, one execution each */
    _Atomic uint64_t least_range_ns; /* of those of HARDWARE so far: what one costs by itself */
    _Atomic uint64_t
        noise_ns; /* the most by which one was longer than that and its kernel together */
    struct gmt_collector_class *_Atomic classes;
    struct { /* the class that waits for the budget, NULL = none */
        struct gmt_collector_class *cls;
        uint64_t cost_ns, until_ns;
    } waits;
};

/* Begin at `now_ns` with the first phase. */
void gmt_sampling_init(struct gmt_sampling *s, const struct gmt_collector_config *config,
                       uint64_t now_ns);

/* Take `group` out (it cannot be counted here), or in again. With none left, sampling is off; with SASS
 * alone the phase is SASS. */
void gmt_sampling_offer(struct gmt_sampling *s, enum gmt_counter_group group, bool can);

/* SASS cannot be had for the time being, or can again. */
void gmt_sampling_pause_sass(struct gmt_sampling *s, bool pause);

/* The slow half of gmt_sampling_pick: this class is not complete. */
enum gmt_counter_group gmt_sampling_seek(struct gmt_sampling *s, struct gmt_collector_class *cls,
                                         uint32_t phase);
void gmt_sampling_list(struct gmt_sampling *s, struct gmt_collector_class *cls);
void gmt_sampling_launched_again(struct gmt_sampling *s);

static inline uint32_t gmt_sampling_count(const struct gmt_collector_class *cls, uint32_t group)
{
    return atomic_load_explicit(&cls->measured[group], memory_order_relaxed);
}

/* The group a launch of `cls` should be measured for now, or NONE. */
static inline enum gmt_counter_group gmt_sampling_pick(struct gmt_sampling *s,
                                                       struct gmt_collector_class *cls)
{
    uint32_t phase = atomic_load_explicit(&s->phase, memory_order_relaxed);
    bool complete = atomic_load_explicit(&cls->complete, memory_order_relaxed) != 0;
    return __builtin_expect(complete, 1) || phase == GMT_GROUP_NONE || cls->never
               ? GMT_GROUP_NONE
               : gmt_sampling_seek(s, cls, phase);
}

/* The same, counting the launch (roughly: without a locked instruction): once for each. A few ns when nothing is to be
 * measured: of a class that the budget has refused, only some launches look whether it may be asked again. */
static inline enum gmt_counter_group gmt_sampling_want(struct gmt_sampling *s,
                                                       struct gmt_collector_class *cls)
{
    uint64_t seen = atomic_load_explicit(&cls->launches, memory_order_relaxed);
    atomic_store_explicit(&cls->launches, seen + 1, memory_order_relaxed);
    if (__builtin_expect(seen == 0, 0)) {
        gmt_sampling_list(s, cls);
    } else if (__builtin_expect(seen == 1, 0)) {
        gmt_sampling_launched_again(s);
    }
    bool refused = atomic_load_explicit(&cls->retry_ns, memory_order_relaxed) != 0;
    return refused && seen >= GMT_SAMPLING_LOOK_EVERY && seen % GMT_SAMPLING_LOOK_EVERY != 0
               ? GMT_GROUP_NONE
               : gmt_sampling_pick(s, cls);
}

/* A graph with the class is launched again, after `count` launches without gmt_sampling_want. If it may be asked again for a class that
 * the budget has refused, the next launch is. */
void gmt_sampling_launched(struct gmt_sampling *s, struct gmt_collector_class *cls, uint64_t count,
                           uint64_t now_ns);

/* May `cls` be measured now? `session_ns`: expected cost of the session it needs, 0 = none. When the
 * budget says no, gmt_sampling_want does not ask for this class again before it could say yes (or a
 * second has passed). */
bool gmt_sampling_may(struct gmt_sampling *s, struct gmt_collector_class *cls,
                      enum gmt_counter_group group, uint64_t session_ns, uint64_t now_ns);

/* How long the end of a measured launch is waited for, ns: its kernel may spin on what its own thread does next. A patched
 * kernel gets more, a trial 20 ms. */
uint64_t gmt_sampling_timeout_ns(const struct gmt_sampling *s, const struct gmt_launch_call *call,
                                 uint32_t group);

/* A launch of `cls` may wait for the host, or for another device. Its accesses are counted by SASS only: a launch that the range profiler patches
 * holds its caller inside of the driver. */
void gmt_sampling_suspect(struct gmt_sampling *s, struct gmt_collector_class *cls);
/* Is it a trial: may the launch wait for the host, and has none of its class ended yet while its caller was held? After one
 * that has, the class is measured like others. */
bool gmt_sampling_is_trial(const struct gmt_launch_call *call);
/* A launch that may wait for the host has ended while its caller was held, or not: a class has three trials, as the first kernel
 * to touch managed memory runs long (docs/cupti-notes.md, "Managed memory"). */
void gmt_sampling_tried(struct gmt_collector_class *cls, bool ended);

/* May the program be held now for something that may wait for it? 50 ms and 2 % of the run may be held for in vain. */
bool gmt_sampling_may_hold(const struct gmt_sampling *s, uint64_t now_ns);
/* It did not end within `ns`, which goes to the budget, too. */
void gmt_sampling_held_in_vain(struct gmt_sampling *s, uint64_t ns);
/* The launch `call` did not end within `ns`, which its caller charges. */
void gmt_sampling_missed(struct gmt_sampling *s, const struct gmt_launch_call *call,
                         enum gmt_counter_group group, uint64_t ns);

/* The kind of counters that `cls` has no sample of at all and is to get next; NONE: there is none. */
enum gmt_counter_group gmt_sampling_first_lacked(const struct gmt_sampling *s,
                                                 const struct gmt_collector_class *cls);

/* Is a launch of `cls` to be repeated (gmt_collector_ops.repeats)? Only the first one is: a class that is launched again
 * gets its samples from launches of their own. Where only counts are wanted the program's own execution gives them. Returns the expected cost, ns, or 0; where the budget says no after the first
 * execution, that is noted as the reason. */
uint64_t gmt_sampling_repeats(struct gmt_sampling *s, struct gmt_collector_class *cls,
                              uint64_t kernel_ns, uint64_t copies_ns, uint64_t now_ns);

/* A session for `group` runs: it is the phase from now on. */
void gmt_sampling_enter(struct gmt_sampling *s, enum gmt_counter_group group, uint64_t now_ns);

/* Charge time of getting ready to repeat a launch; `in_vain`: it was made once then. After much of that nobody gets ready. */
void gmt_sampling_got_ready(struct gmt_sampling *s, uint64_t ns, bool in_vain);

/* Charge time to the budget, and learn from it what such a thing costs. `first` of the process: that is not charged;
 * `typical` is one of a context and a group that had one before. */
void gmt_sampling_charge_session(struct gmt_sampling *s, uint64_t ns, bool first, bool typical);
void gmt_sampling_charge_launch(struct gmt_sampling *s, struct gmt_collector_class *cls,
                                enum gmt_counter_group group, uint64_t ns);
void gmt_sampling_charge(struct gmt_sampling *s, uint64_t ns);

/* A range of HARDWARE took `ns` from its begin, when the device was idle, to its end. */
void gmt_sampling_timed(struct gmt_sampling *s, struct gmt_collector_class *cls, uint64_t ns);

/* How many times as long as by itself a kernel is expected to run that is counted so. */
uint64_t gmt_sampling_times(const struct gmt_sampling *s, uint32_t group);
/* A launch was counted, whose kernel took `ns` from when the device was idle: learn how many times that is, where it is long. */
void gmt_sampling_ran(struct gmt_sampling *s, const struct gmt_collector_class *cls, uint32_t group,
                      uint64_t ns);

/* Is it cheaper to count `cls` by the range profiler, by what changes of the session have taken so far? */
bool gmt_sampling_is_long(const struct gmt_sampling *s, const struct gmt_collector_class *cls);

/* What a launch takes by itself, about; 0 = not known. By the records of the device, else by the first execution of one that was
 * repeated, or a measured range. */
uint64_t gmt_sampling_kernel_ns(const struct gmt_sampling *s,
                                const struct gmt_collector_class *cls);
/* ... and what it takes at least: ranges of one kernel of microseconds lie up to 0.5 ms apart, and more on a busy machine
 * (docs/cupti-notes.md). */
uint64_t gmt_sampling_least_kernel_ns(const struct gmt_sampling *s,
                                      const struct gmt_collector_class *cls);
/* Is that known by more than a range? */
bool gmt_sampling_knows_time(const struct gmt_collector_class *cls);

/* One launch was measured and kept, or has to be thrown away, for that reason. */
void gmt_sampling_measured(struct gmt_sampling *s, struct gmt_collector_class *cls,
                           enum gmt_counter_group group, uint64_t now_ns);
void gmt_sampling_discarded(struct gmt_collector_class *cls, enum gmt_unmeasured why);

/* Note why a launch was not measured. */
void gmt_sampling_note(struct gmt_collector_class *cls, enum gmt_unmeasured why);

/* Time that may be spent up to `now_ns`. */
uint64_t gmt_sampling_allowance_ns(const struct gmt_sampling *s, uint64_t now_ns);

/* Calls `missing` for each class that lacks hardware counters or counts of its accesses although they could
 * be had; `partly` says that it has one of the two. `why` is a reason of unmeasured.def. */
void gmt_sampling_report(const struct gmt_sampling *s,
                         void (*missing)(const struct gmt_collector_class *cls, bool partly,
                                         enum gmt_unmeasured why, void *data),
                         void *data);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What measuring costs, and which class may spend it (sampling.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure/sampling.h"

/* Expected of a launch by itself, besides its kernel, where none of the group has been measured; docs/cupti-notes.md, "What counting one
 * launch costs". */
static const uint64_t usual_ns[GMT_GROUPS] = {
    [GMT_GROUP_HARDWARE] = GMT_SAMPLING_RANGE_NS,
    [GMT_GROUP_PATCHED] = 100000,
    [GMT_GROUP_SPILL] = 1000000,
    [GMT_GROUP_SASS] = 150000,
};
#define EXPECTED_ALL_TIMES 200u /* where every instruction is counted */
#define LONGEST_WAIT_NS UINT64_C(1000000000)
/* For the kernel of a measured launch; with all instructions counted, in the second run of --collect deep. */
#define TIMEOUT_NS UINT64_C(1000000000)
#define TIMEOUT_ALL_NS UINT64_C(60000000000)
/* A launch that may wait for the host is held for so long: XLA's autotuner has kernels that wait for it for 100 ms, and then
 * say so. */
#define HELD_NS UINT64_C(20000000)
#define MOST_TRIALS 3u
#define IN_VAIN_NS UINT64_C(50000000) /* what may wait is held for in vain, in all ... */
#define IN_VAIN_PART 50u              /* ... and one fiftieth of the run */
#define LEAST_SHARE 0.01              /* of the device time of all that may be measured */
#define TOTAL_REFRESH_NS UINT64_C(100000000)
/* At stake, of what counting a launch takes besides its kernel: 0.3 ms, but 12 ms where modules are big, as those of frameworks
 * are. In their first step nearly all classes look as if they were launched once. */
#define LEAST_STAKE 0.01
#define LEAST_STAKE_NS 10000.0
#define MOST_ONCE 64u /* classes of a program that is taken for one that launches each once */
/* Of a launch that got ready in vain: what is beyond was spent waiting for others' work. */
#define MOST_VAIN_NS UINT64_C(10000000)
#define VAIN_PART 16u /* of what measuring may take: what may go into getting ready in vain */
#define LEAST_KERNEL_NS UINT64_C(1000) /* at stake, of a kernel whose time is not known */

uint64_t gmt_sampling_allowance_ns(const struct gmt_sampling *s, uint64_t now_ns)
{
    double elapsed_ns = now_ns > s->began_ns ? (double)(now_ns - s->began_ns) : 0.0;
    double share_ns = s->share * elapsed_ns;
    double limit_ns = s->limit_ns != NULL
                          ? (double)atomic_load_explicit(s->limit_ns, memory_order_relaxed)
                          : share_ns;
    share_ns = limit_ns < share_ns ? limit_ns : share_ns;
    return share_ns < 9e18 ? s->start_allowance_ns + (uint64_t)share_ns : UINT64_MAX;
}

/* What a launch takes besides its kernel: as those so far, where they took longer than is expected. */
static uint64_t fixed_ns(const struct gmt_sampling *s, uint32_t group)
{
    return s->fixed_ns[group] > usual_ns[group] ? s->fixed_ns[group] : usual_ns[group];
}

/* Of the launch as a whole, the kernel's own time included: its caller may have had to wait for it
 * anyway, but who knows. */
static uint64_t expected_ns(const struct gmt_sampling *s, const struct gmt_collector_class *cls,
                            uint32_t group)
{
    uint64_t known_ns = atomic_load_explicit(&cls->cost_ns[group], memory_order_relaxed);
    uint64_t kernel_ns = gmt_sampling_kernel_ns(s, cls);
    bool all = group == GMT_GROUP_SASS && s->instructions == GMT_INSTRUCTIONS_ALL;
    uint64_t times = all ? EXPECTED_ALL_TIMES : gmt_sampling_times(s, group);
    return known_ns != 0 ? known_ns : fixed_ns(s, group) + times * kernel_ns;
}

uint64_t gmt_sampling_timeout_ns(const struct gmt_sampling *s, const struct gmt_launch_call *call,
                                 uint32_t group)
{
    bool patched = group == GMT_GROUP_SASS || group == GMT_GROUP_PATCHED;
    if (gmt_sampling_is_trial(call)) {
        return HELD_NS;
    }
    if (group == GMT_GROUP_SASS && s->instructions == GMT_INSTRUCTIONS_ALL) {
        return TIMEOUT_ALL_NS;
    }
    return TIMEOUT_NS + (patched ? 3 * expected_ns(s, call->cls, group) : 0);
}

/* ---- what may wait for the host ----------------------------------------------------------------- */

bool gmt_sampling_is_trial(const struct gmt_launch_call *call)
{
    return call->suspected != GMT_MEASURABLE &&
           atomic_load(&call->cls->wait_outcome) != GMT_WAIT_ENDED;
}

void gmt_sampling_tried(struct gmt_collector_class *cls, bool ended)
{
    uint32_t outcome = ended ? GMT_WAIT_ENDED : GMT_WAIT_UNTRIED;
    if (!ended && atomic_fetch_add(&cls->trials, 1) + 1 >= MOST_TRIALS) {
        outcome = GMT_WAIT_IN_VAIN;
    }
    atomic_store(&cls->wait_outcome, outcome);
}

bool gmt_sampling_may_hold(const struct gmt_sampling *s, uint64_t now_ns)
{
    uint64_t elapsed_ns = now_ns > s->began_ns ? now_ns - s->began_ns : 0;
    return atomic_load(&s->in_vain_ns) < IN_VAIN_NS + elapsed_ns / IN_VAIN_PART;
}

void gmt_sampling_held_in_vain(struct gmt_sampling *s, uint64_t ns)
{
    atomic_fetch_add(&s->in_vain_ns, ns);
    gmt_sampling_charge(s, ns);
}

void gmt_sampling_missed(struct gmt_sampling *s, const struct gmt_launch_call *call,
                         enum gmt_counter_group group, uint64_t ns)
{
    atomic_store_explicit(&call->cls->cost_ns[group], ns, memory_order_relaxed);
    if (call->suspected != GMT_MEASURABLE) {
        atomic_fetch_add(&s->in_vain_ns, ns);
        gmt_sampling_note(call->cls, call->suspected);
    }
}

/* ---- who may spend what ------------------------------------------------------------------------- */

/* Device time that the class has taken, about. */
static double at_stake_ns(const struct gmt_sampling *s, const struct gmt_collector_class *cls)
{
    uint64_t kernel_ns = gmt_sampling_least_kernel_ns(s, cls);
    uint64_t launches = atomic_load_explicit(&cls->launches, memory_order_relaxed);
    return (double)launches * (double)(kernel_ns > LEAST_KERNEL_NS ? kernel_ns : LEAST_KERNEL_NS);
}

/* A rule forbids to measure it, as far as is known: kernels of XLA's autotuner, which wait for the host, take most of the time of
 * some programs, and no budget is for them. */
static bool is_forbidden(const struct gmt_collector_class *cls)
{
    uint32_t last = atomic_load_explicit(&cls->why, memory_order_relaxed);
    uint32_t why = last != 0 ? last - 1 : (uint32_t)GMT_MEASURABLE;
    return cls->never || atomic_load(&cls->wait_outcome) == GMT_WAIT_IN_VAIN ||
           (gmt_sampling_count(cls, GMT_GROUP_HARDWARE) == 0 &&
            (why == GMT_UNMEASURED_HOST_MEMORY || why == GMT_UNMEASURED_ARGUMENTS ||
             why == GMT_UNMEASURED_SHARED || why == GMT_UNMEASURED_SHARED_UNKNOWN));
}

/* Device time of all classes that may be measured, about. Any thread may ask. */
static double total_ns(struct gmt_sampling *s, uint64_t now_ns)
{
    if (atomic_load(&s->total_ns) == 0 ||
        now_ns > atomic_load(&s->total_at_ns) + TOTAL_REFRESH_NS) {
        double sum_ns = 0;
        atomic_store(&s->total_at_ns, now_ns);
        for (const struct gmt_collector_class *other = atomic_load(&s->classes); other != NULL;
             other = other->next) {
            sum_ns += is_forbidden(other) ? 0 : at_stake_ns(s, other);
        }
        atomic_store(&s->total_ns, (uint64_t)sum_ns);
    }
    return (double)atomic_load(&s->total_ns);
}

/* Has the class taken at least 1 % of it? */
static bool is_significant(struct gmt_sampling *s, const struct gmt_collector_class *cls,
                           uint64_t now_ns)
{
    double own_ns = at_stake_ns(s, cls);
    return own_ns >= LEAST_STAKE_NS &&
           own_ns >= LEAST_STAKE * (double)fixed_ns(s, GMT_GROUP_SASS) &&
           own_ns >= LEAST_SHARE * total_ns(s, now_ns);
}

static bool is_worth_repeating(const struct gmt_sampling *s, uint64_t kernel_ns)
{
    return (double)kernel_ns >= LEAST_STAKE * (double)fixed_ns(s, GMT_GROUP_SASS);
}

/* At its first launch, in a program most of whose classes were launched once so far, and that are few: one with many is in the
 * first step of a loop, or tries kernels. `kernel_ns`: 0 = not known. */
static bool is_probably_launched_once(const struct gmt_sampling *s,
                                      const struct gmt_collector_class *cls, uint64_t kernel_ns)
{
    unsigned others = atomic_load(&s->class_count), once = atomic_load(&s->once_count);
    return atomic_load_explicit(&cls->launches, memory_order_relaxed) <= 1 && others <= MOST_ONCE &&
           2 * (once - (once != 0)) >= others - (others != 0) &&
           (kernel_ns == 0 || is_worth_repeating(s, kernel_ns));
}

/* Counting a launch is expensive, and which classes are significant shows only as they are launched again. So these, and classes that
 * probably are launched once, may have all that may be spent. Others leave all but half of the start allowance, and no more than one
 * start allowance in a long run: the share is not to be counted on, as nothing is left of it where the hooks alone cost what all
 * of gmtrace may cost (limit_ns). Others' hardware counters leave three quarters of the reserve, as they show how long a kernel runs. */
static uint64_t reserve_ns(const struct gmt_sampling *s, uint64_t allowed_ns)
{
    bool times = (atomic_load(&s->groups) & 1u << GMT_GROUP_HARDWARE) != 0;
    uint64_t half_ns = s->start_allowance_ns / 2;
    uint64_t beyond_ns = allowed_ns > half_ns ? allowed_ns - half_ns : 0;
    uint64_t most_ns = s->start_allowance_ns;
    return times ? (beyond_ns < most_ns ? beyond_ns : most_ns) : 0;
}

/* What of the reserve is not for this launch. One that was let in to be repeated is counted, too. Graphs are made to be launched
 * often: of their classes less is waited for, as the loop may be over by then (60 launches of 0.3 ms in a JAX program). */
static uint64_t reserved_ns(struct gmt_sampling *s, const struct gmt_collector_class *cls,
                            enum gmt_counter_group group, uint64_t allowed_ns, uint64_t now_ns)
{
    bool counts = group == GMT_GROUP_SASS || group == GMT_GROUP_PATCHED;
    if (group == GMT_GROUP_SPILL || is_significant(s, cls, now_ns) ||
        (counts && is_probably_launched_once(s, cls, 0))) {
        return 0;
    }
    bool in_graph = atomic_load_explicit(&cls->in_graph, memory_order_relaxed) != 0;
    return reserve_ns(s, allowed_ns) / 4 * (!counts ? 3 : in_graph ? 2 : 4);
}

static bool is_first(const struct gmt_collector_class *cls, uint32_t group)
{
    bool counts = group == GMT_GROUP_SASS || group == GMT_GROUP_PATCHED;
    return gmt_sampling_count(cls, group) == 0 &&
           (!counts ||
            gmt_sampling_count(cls, GMT_GROUP_SASS) + gmt_sampling_count(cls, GMT_GROUP_PATCHED) ==
                0);
}

/* It is kept room for where the run, should it last as long again, will have the budget. */
static void wait_for_budget(struct gmt_sampling *s, struct gmt_collector_class *cls,
                            uint64_t cost_ns, uint64_t short_ns, uint64_t now_ns)
{
    bool other = s->waits.cls != NULL && s->waits.cls != cls && now_ns < s->waits.until_ns;
    double elapsed_ns = now_ns > s->began_ns ? (double)(now_ns - s->began_ns) : 0.0;
    /* A range alone may be wrong: one of a kernel of 8 us took 35 ms on a busy machine, and its class kept all others out. */
    if (!gmt_sampling_knows_time(cls) || (double)short_ns > s->share * elapsed_ns ||
        (other && at_stake_ns(s, s->waits.cls) >= at_stake_ns(s, cls))) {
        return;
    }
    s->waits.cls = cls;
    s->waits.cost_ns = cost_ns;
    s->waits.until_ns = now_ns + 2 * LONGEST_WAIT_NS; /* unless it is launched again */
}

bool gmt_sampling_may(struct gmt_sampling *s, struct gmt_collector_class *cls,
                      enum gmt_counter_group group, uint64_t session_ns, uint64_t now_ns)
{
    uint64_t cost_ns = expected_ns(s, cls, group) + session_ns;
    uint64_t needed_ns = atomic_load(&s->spent_ns) + cost_ns;
    bool first = is_first(cls, group);
    bool waits = s->waits.cls != NULL && s->waits.cls != cls && now_ns < s->waits.until_ns;
    if (waits && at_stake_ns(s, cls) < at_stake_ns(s, s->waits.cls)) {
        needed_ns += s->waits.cost_ns;
    }
    /* For classes that have no sample, or for significant ones: whichever is more. */
    uint64_t kept_ns = first ? 0 : s->start_allowance_ns / 4 * 3, reserved = 0;
    uint64_t allowed_ns = gmt_sampling_allowance_ns(s, now_ns);
    if (needed_ns + kept_ns + reserve_ns(s, allowed_ns) > allowed_ns) {
        uint64_t for_others_ns = reserved_ns(s, cls, group, allowed_ns, now_ns);
        reserved = for_others_ns > kept_ns ? for_others_ns - kept_ns : 0;
    }
    needed_ns += kept_ns + reserved;
    if (group == GMT_GROUP_SPILL && (double)session_ns > at_stake_ns(s, cls)) {
        atomic_store(&cls->retry_ns, now_ns + LONGEST_WAIT_NS / 20);
        return false; /* it would take longer than all launches of the kernel */
    }
    if (needed_ns <= allowed_ns) {
        atomic_store(&cls->retry_ns, 0);
        s->waits.cls = s->waits.cls == cls ? NULL : s->waits.cls;
        return true;
    }
    if ((group == GMT_GROUP_SASS || group == GMT_GROUP_PATCHED) &&
        atomic_load(&cls->suspected) != 0 &&
        gmt_sampling_count(cls, GMT_GROUP_HARDWARE) < s->samples) {
        atomic_store(&cls->time_again, 1); /* the first to touch managed memory runs long */
        gmt_sampling_note(cls, GMT_UNMEASURED_BUDGET);
        return false;
    }
    double wait_ns = (double)LONGEST_WAIT_NS;
    if (s->share > 1e-6 && (double)(needed_ns - allowed_ns) / s->share < wait_ns) {
        wait_ns = (double)(needed_ns - allowed_ns) / s->share;
    }
    if (needed_ns - reserved <= allowed_ns) { /* it may be significant by then */
        double most_ns = (double)TOTAL_REFRESH_NS;
        wait_ns = wait_ns < most_ns ? wait_ns : most_ns;
        wait_ns = wait_ns > most_ns / 10 ? wait_ns : most_ns / 10;
    }
    atomic_store(&cls->retry_ns, now_ns + 1 + (uint64_t)wait_ns);
    if (first) {
        gmt_sampling_note(cls, GMT_UNMEASURED_BUDGET);
        if (reserved == 0) {
            wait_for_budget(s, cls, cost_ns, needed_ns - allowed_ns, now_ns);
        }
    }
    return false;
}

/* What one more execution takes: it is patched, or waited for in a range. */
static uint64_t execution_ns(const struct gmt_sampling *s, enum gmt_counter_group group,
                             uint64_t kernel_ns)
{
    bool session = group == GMT_GROUP_PATCHED;
    return fixed_ns(s, group) + gmt_sampling_times(s, group) * kernel_ns +
           (session ? s->session_cost_ns : 0);
}

/* Getting ready takes some ms. Only then is it known whether the launch can be repeated, and whether its kernel is long enough. Where
 * much has been spent so in vain, beside what was not in vain, nobody gets ready. */
static bool is_in_vain(const struct gmt_sampling *s, uint64_t now_ns)
{
    return atomic_load(&s->ready_in_vain_ns) >
           atomic_load(&s->ready_ns) / 4 + gmt_sampling_allowance_ns(s, now_ns) / VAIN_PART;
}

/* What is not for a first launch of `kernel_ns`: besides the reserve an eighth of the start allowance, as what shows that it is launched
 * again comes first. Three eighths, where the kernel takes less than 1 % of what counting it does, or of the device time so far. */
static uint64_t kept_from_first_ns(struct gmt_sampling *s, uint64_t kernel_ns, uint64_t allowed_ns,
                                   uint64_t now_ns)
{
    uint64_t reserve = reserve_ns(s, allowed_ns);
    bool worth = kernel_ns == 0 || (is_worth_repeating(s, kernel_ns) &&
                                    (double)kernel_ns >= LEAST_SHARE * total_ns(s, now_ns));
    return reserve == 0 ? 0 : reserve + s->start_allowance_ns / 8 * (worth ? 1 : 3);
}

uint64_t gmt_sampling_repeats(struct gmt_sampling *s, struct gmt_collector_class *cls,
                              uint64_t kernel_ns, uint64_t copies_ns, uint64_t now_ns)
{
    if (kernel_ns != 0) {
        atomic_store_explicit(&cls->executed_ns, kernel_ns, memory_order_relaxed);
    }
    enum gmt_counter_group group = gmt_sampling_first_lacked(s, cls);
    bool first = atomic_load_explicit(&cls->launches, memory_order_relaxed) <= 1;
    if (group == GMT_GROUP_NONE || ((!first || s->only_counts) && !s->repeat_always)) {
        return 0;
    }
    if (kernel_ns == 0 && !s->repeat_always && is_in_vain(s, now_ns)) {
        if (atomic_load_explicit(&cls->why, memory_order_relaxed) == 0) {
            gmt_sampling_note(cls, GMT_UNMEASURED_BUDGET);
        }
        return 0;
    }
    uint64_t cost_ns = copies_ns + execution_ns(s, group, kernel_ns);
    if (kernel_ns == 0) { /* nothing is known: at least one execution for each kind */
        cost_ns += execution_ns(s, GMT_GROUP_SASS, 0);
    }
    bool once = s->repeat_always || is_probably_launched_once(s, cls, kernel_ns);
    uint64_t allowed_ns = gmt_sampling_allowance_ns(s, now_ns);
    uint64_t kept_ns = once ? 0 : kept_from_first_ns(s, kernel_ns, allowed_ns, now_ns);
    bool fits = atomic_load(&s->spent_ns) + cost_ns + kept_ns <= allowed_ns;
    if (kernel_ns != 0 && !fits) {
        gmt_sampling_note(cls, GMT_UNMEASURED_BUDGET);
    }
    return fits ? cost_ns : 0;
}

void gmt_sampling_charge(struct gmt_sampling *s, uint64_t ns)
{
    atomic_fetch_add(&s->spent_ns, ns);
}

void gmt_sampling_got_ready(struct gmt_sampling *s, uint64_t ns, bool in_vain)
{
    gmt_sampling_charge(s, ns);
    if (in_vain) {
        atomic_fetch_add(&s->ready_in_vain_ns, ns < MOST_VAIN_NS ? ns : MOST_VAIN_NS);
    } else {
        atomic_fetch_add(&s->ready_ns, ns);
    }
}

void gmt_sampling_charge_session(struct gmt_sampling *s, uint64_t ns, bool first, bool typical)
{
    if (!first) {
        gmt_sampling_charge(s, ns);
    }
    if (typical) {
        s->session_cost_ns = (s->session_cost_ns + ns) / 2;
    }
    if (!first) {
        atomic_store(&s->change_ns, (atomic_load(&s->change_ns) + ns) / 2);
    }
}

void gmt_sampling_charge_launch(struct gmt_sampling *s, struct gmt_collector_class *cls,
                                enum gmt_counter_group group, uint64_t ns)
{
    gmt_sampling_charge(s, ns);
    atomic_store_explicit(&cls->cost_ns[group], ns, memory_order_relaxed);
    uint64_t kernel_ns = gmt_sampling_kernel_ns(s, cls), times = gmt_sampling_times(s, group);
    uint64_t longest_ns = (times > 1 ? GMT_SAMPLING_MOST_TIMES : 1) * kernel_ns;
    uint64_t counted_ns = times * kernel_ns < ns ? times * kernel_ns : ns;
    uint64_t last_ns = s->fixed_ns[group];
    bool not_the_kernel = 2 * longest_ns <= ns;
    bool last_is_too_high = last_ns != 0 && ns < last_ns;
    if (not_the_kernel || last_is_too_high) {
        s->fixed_ns[group] = last_ns != 0 ? (3 * last_ns + ns - counted_ns) / 4 : ns - counted_ns;
    }
}

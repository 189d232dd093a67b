/* SPDX-License-Identifier: Apache-2.0 */
/* How long the kernels of a class run, from records of the device and the ranges that were measured of them, and what follows
 * (sampling.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure/sampling.h"

#include "libtrace/cupti/base/device_time.h"

/* By which ranges of one short kernel differ, at least and at most. A quieter range takes a part of it off. */
#define RANGE_NOISE_NS UINT64_C(500000)
#define MOST_NOISE_NS UINT64_C(50000000)
#define QUIETER 16u

/* The shortest range so far shows what a range costs without its kernel. It may have been the range of a long
 * kernel at first, so the difference is computed anew each time. */
static uint64_t by_range_ns(const struct gmt_sampling *s, const struct gmt_collector_class *cls)
{
    uint64_t range_ns = atomic_load_explicit(&cls->range_ns, memory_order_relaxed);
    uint64_t least_ns = atomic_load_explicit(&s->least_range_ns, memory_order_relaxed);
    uint64_t fixed_ns = least_ns < GMT_SAMPLING_RANGE_NS ? least_ns : GMT_SAMPLING_RANGE_NS;
    return range_ns > fixed_ns ? range_ns - fixed_ns : range_ns != 0;
}

/* The first execution of a repeated launch is timed to some us, a range only to RANGE_NOISE_NS. On a busy machine either may take longer:
 * an execution that took longer than the range of the same kernel by more than that is not believed. 0: nothing is known. */
static uint64_t by_both_ns(const struct gmt_sampling *s, const struct gmt_collector_class *cls)
{
    uint64_t executed_ns = atomic_load_explicit(&cls->executed_ns, memory_order_relaxed);
    uint64_t range_ns = by_range_ns(s, cls);
    bool likely = range_ns == 0 || executed_ns < range_ns + RANGE_NOISE_NS;
    return executed_ns != 0 && likely ? executed_ns : range_ns;
}

uint64_t gmt_sampling_kernel_ns(const struct gmt_sampling *s, const struct gmt_collector_class *cls)
{
    uint64_t recorded_ns = gmt_device_time_mean_ns(atomic_load(&cls->device_time));
    return recorded_ns != 0 ? recorded_ns : by_both_ns(s, cls);
}

bool gmt_sampling_knows_time(const struct gmt_collector_class *cls)
{
    return gmt_device_time_mean_ns(atomic_load(&cls->device_time)) != 0 ||
           (atomic_load_explicit(&cls->executed_ns, memory_order_relaxed) != 0 &&
            atomic_load_explicit(&cls->range_ns, memory_order_relaxed) != 0);
}

uint64_t gmt_sampling_least_kernel_ns(const struct gmt_sampling *s,
                                      const struct gmt_collector_class *cls)
{
    uint64_t range_ns = by_range_ns(s, cls), noise_ns = atomic_load(&s->noise_ns);
    if (gmt_sampling_knows_time(cls)) {
        return gmt_sampling_kernel_ns(s, cls);
    }
    noise_ns = noise_ns > RANGE_NOISE_NS ? noise_ns : RANGE_NOISE_NS;
    return range_ns > noise_ns ? range_ns - noise_ns : 0;
}

/* One execution of each class that runs long and is not counted yet. */
static uint64_t long_ones_ns(const struct gmt_sampling *s)
{
    uint64_t sum_ns = 0;
    for (const struct gmt_collector_class *cls = atomic_load(&s->classes); cls != NULL;
         cls = cls->next) {
        uint64_t kernel_ns = gmt_sampling_least_kernel_ns(s, cls);
        bool is_counted = gmt_sampling_count(cls, GMT_GROUP_PATCHED) != 0 ||
                          gmt_sampling_count(cls, GMT_GROUP_SASS) != 0;
        sum_ns += kernel_ns > GMT_SAMPLING_LONG_NS && !is_counted ? kernel_ns : 0;
    }
    return sum_ns;
}

/* A range of the same launch as the first execution shows how far ranges are off. A later launch may have more to do: where its
 * range is longer, the first execution says nothing any more. */
static void compare_with_first(struct gmt_sampling *s, struct gmt_collector_class *cls)
{
    uint64_t executed_ns = atomic_load_explicit(&cls->executed_ns, memory_order_relaxed);
    uint64_t range_ns = by_range_ns(s, cls), noise_ns = atomic_load(&s->noise_ns);
    uint64_t over_ns = range_ns > executed_ns ? range_ns - executed_ns : 0;
    if (executed_ns == 0) {
        return;
    }
    if (atomic_load_explicit(&cls->launches, memory_order_relaxed) > 1) {
        bool longer = over_ns > (noise_ns > RANGE_NOISE_NS ? noise_ns : RANGE_NOISE_NS);
        atomic_store_explicit(&cls->executed_ns, longer ? 0 : executed_ns, memory_order_relaxed);
        return;
    }
    over_ns = over_ns < MOST_NOISE_NS ? over_ns : MOST_NOISE_NS;
    atomic_store(&s->noise_ns, over_ns > noise_ns ? over_ns : noise_ns - noise_ns / QUIETER);
}

void gmt_sampling_timed(struct gmt_sampling *s, struct gmt_collector_class *cls, uint64_t ns)
{
    if (ns < atomic_load(&s->least_range_ns)) {
        atomic_store(&s->least_range_ns, ns);
    }
    atomic_store_explicit(&cls->range_ns, ns, memory_order_relaxed);
    compare_with_first(s, cls);
    atomic_store_explicit(&s->long_ns, long_ones_ns(s), memory_order_relaxed);
}

/* ---- how much longer kernels run when they are counted ------------------------------------------- */

uint64_t gmt_sampling_times(const struct gmt_sampling *s, uint32_t group)
{
    static const uint64_t usual[GMT_GROUPS] = {
        [GMT_GROUP_HARDWARE] = 1,
        [GMT_GROUP_PATCHED] = GMT_SAMPLING_PATCHED_TIMES,
        [GMT_GROUP_SPILL] = 1,
        [GMT_GROUP_SASS] = GMT_SAMPLING_SASS_TIMES,
    };
    uint64_t seen = atomic_load_explicit(&s->times[group], memory_order_relaxed);
    return seen != 0 ? seen : usual[group];
}

/* It depends on how many accesses a kernel makes: 8 to 54 times were seen of kernels of 1 ms and more (docs/cupti-notes.md). What is
 * expected goes half of the way up, and an eighth down: to expect too little is worse than too much. */
void gmt_sampling_ran(struct gmt_sampling *s, const struct gmt_collector_class *cls, uint32_t group,
                      uint64_t ns)
{
    bool patched = group == GMT_GROUP_PATCHED || group == GMT_GROUP_SASS;
    uint64_t kernel_ns = gmt_sampling_kernel_ns(s, cls), last = gmt_sampling_times(s, group);
    if (!patched || kernel_ns < GMT_SAMPLING_LONG_NS || !gmt_sampling_knows_time(cls) ||
        s->instructions == GMT_INSTRUCTIONS_ALL) {
        return; /* of a short one other things may take long */
    }
    uint64_t seen = ns / kernel_ns;
    seen = seen < GMT_SAMPLING_MOST_TIMES ? seen : GMT_SAMPLING_MOST_TIMES;
    uint64_t next = seen > last ? (last + seen + 1) / 2 : last - (last - seen + 7) / 8;
    atomic_store_explicit(&s->times[group], next, memory_order_relaxed);
}

/*
 * One change of the session serves all long kernels that are not counted yet. The change back is not part of its price: other
 * kernels pay for that, if any. While the session runs there is no change to pay for.
 */
bool gmt_sampling_is_long(const struct gmt_sampling *s, const struct gmt_collector_class *cls)
{
    uint64_t kernel_ns = gmt_sampling_least_kernel_ns(s, cls);
    uint64_t long_ns = atomic_load_explicit(&s->long_ns, memory_order_relaxed);
    uint64_t sass = gmt_sampling_times(s, GMT_GROUP_SASS);
    uint64_t patched = gmt_sampling_times(s, GMT_GROUP_PATCHED);
    uint64_t more = sass > patched ? sass - patched : 0;
    bool runs = atomic_load_explicit(&s->phase, memory_order_relaxed) == GMT_GROUP_PATCHED;
    long_ns = long_ns > kernel_ns ? long_ns : kernel_ns;
    return kernel_ns > GMT_SAMPLING_LONG_NS &&
           ((runs && more != 0) || more * long_ns > atomic_load(&s->change_ns));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What gmtrace costs, as records of a second and as sums in the control page (publish.h). */
#include "preload/overhead/publish.h"

#include <stdio.h>

#include "libtrace/record/spool.h"

#define ROW_NS UINT64_C(1000000000)

static struct gmt_overhead row, all; /* since the last record; since the first step */
static double row_variance, all_variance, taken_squares;
static uint64_t row_on_ns, all_on_ns; /* CUPTI's records were on */
static bool shed_stacks, shed_hashing, shed_counters, shed_device;
static uint64_t said_ns; /* how long the whole was when that was said last */

void gmt_overhead_publish_start(void)
{
    row = all = (struct gmt_overhead){0};
    row_variance = all_variance = taken_squares = 0;
    row_on_ns = all_on_ns = 0;
    shed_stacks = shed_hashing = shed_counters = shed_device = false;
    said_ns = 0;
}

/* By Newton's method: libm is not linked. */
static double square_root(double of)
{
    double root = of > 1 ? of : 1;
    for (int i = 0; i < 100 && root * root > of * 1.000001; i++) {
        root = (root + of / root) / 2;
    }
    return of > 0 ? root : 0;
}

static uint32_t permille(double level)
{
    return (uint32_t)(level * 1000 + 0.5);
}

/* The levels of a record are the lowest of its time. */
static void add(struct gmt_overhead *to, const struct gmt_overhead_period *period,
                const struct gmt_govern *govern)
{
    uint32_t one_in = (uint32_t)(1 / govern->level[GMT_OVERHEAD_STACKS] + 0.5);
    uint32_t hashing = permille(govern->level[GMT_OVERHEAD_HASHING]);
    uint32_t counters = permille(govern->level[GMT_OVERHEAD_COUNTERS]);
    bool is_first = to->begin_ns == 0;
    to->begin_ns = is_first ? period->begin_ns : to->begin_ns;
    to->end_ns = period->end_ns;
    to->calls += period->since->calls;
    to->timed_calls += period->since->timed;
    to->hooks_ns += period->cost_ns[GMT_OVERHEAD_HOOKS];
    to->stacks_ns += period->cost_ns[GMT_OVERHEAD_STACKS];
    to->hashing_ns += period->cost_ns[GMT_OVERHEAD_HASHING];
    to->counters_ns += period->cost_ns[GMT_OVERHEAD_COUNTERS];
    to->stacks_read += period->since->stacks_read;
    to->stacks_walked += period->since->stacks_walked;
    to->stacks_taken += period->since->stacks_taken;
    to->stack_one_in = is_first || one_in > to->stack_one_in ? one_in : to->stack_one_in;
    to->hashing_permille = is_first || hashing < to->hashing_permille ? hashing
                                                                      : to->hashing_permille;
    to->counters_permille = is_first || counters < to->counters_permille ? counters
                                                                         : to->counters_permille;
    to->budget_ppm = (uint32_t)(govern->share * 1e6 + 0.5);
    to->is_beyond = to->is_beyond || govern->is_beyond;
}

/* After `add`. The error is of one estimate in all of them: it adds up. */
static void add_device(struct gmt_overhead *to, uint64_t *on_ns,
                       const struct gmt_overhead_device *device)
{
    if (!device->is_governed) {
        return;
    }
    *on_ns += device->on_ns;
    to->device_ns += device->cost_ns;
    if (!device->is_known) {
        to->device_error_ns = to->device_error_ns == 0 ? UINT64_MAX : to->device_error_ns;
    } else {
        to->device_error_ns = (to->device_error_ns == UINT64_MAX ? 0 : to->device_error_ns) +
                              device->error_ns;
    }
    to->device_cycles = device->pairs;
    double share = to->end_ns > to->begin_ns ? (double)*on_ns / (double)(to->end_ns - to->begin_ns)
                                             : 1;
    to->device_known = 1 + permille(share < 1 ? share : 1);
}

static void write_control(const struct gmt_govern *govern)
{
    struct gmt_control *control = gmt_spool_control();
    if (control == NULL) {
        return;
    }
    const uint64_t sums[GMT_OVERHEAD_SUMS] = {
        all.begin_ns,   all.end_ns,      all.hooks_ns, all.stacks_ns,
        all.hashing_ns, all.counters_ns, all.error_ns,
    };
    for (int i = 0; i < GMT_OVERHEAD_SUMS; i++) {
        __atomic_store_n(&control->overhead_ns[i], sums[i], __ATOMIC_RELAXED);
    }
    __atomic_store_n(&control->overhead_budget_ppm, row.budget_ppm, __ATOMIC_RELAXED);
    __atomic_store_n(&control->overhead_stack_one_in, row.stack_one_in, __ATOMIC_RELAXED);
    __atomic_store_n(&control->overhead_hashing_permille, row.hashing_permille, __ATOMIC_RELAXED);
    __atomic_store_n(&control->overhead_counters_permille, row.counters_permille, __ATOMIC_RELAXED);
    __atomic_store_n(&control->overhead_device_ns, all.device_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&control->overhead_device_error_ns, all.device_error_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&control->overhead_device_known, row.device_known, __ATOMIC_RELAXED);
    __atomic_store_n(&control->overhead_device_cycles, all.device_cycles, __ATOMIC_RELAXED);
    uint32_t hashing = gmt_govern_is_apart(govern, GMT_OVERHEAD_HASHING),
             counters = gmt_govern_is_apart(govern, GMT_OVERHEAD_COUNTERS);
    __atomic_store_n(&control->overhead_apart,
                     hashing << GMT_OVERHEAD_OF_HASHING | counters << GMT_OVERHEAD_OF_COUNTERS,
                     __ATOMIC_RELAXED);
}

/* What counts for the limit, in percent of the time; `besides` gets the names of what does not. */
static double used_percent(const struct gmt_govern *govern, char *besides, size_t bytes)
{
    const struct {
        const char *name;
        uint64_t ns;
    } parts[GMT_OVERHEAD_PARTS] = {
        [GMT_OVERHEAD_HOOKS] = {"calls", all.hooks_ns},
        [GMT_OVERHEAD_STACKS] = {"stacks", all.stacks_ns},
        [GMT_OVERHEAD_HASHING] = {"hashing", all.hashing_ns},
        [GMT_OVERHEAD_COUNTERS] = {"counters", all.counters_ns},
        [GMT_OVERHEAD_DEVICE] = {"device records", all.device_ns},
    };
    double sum_ns = 0;
    size_t used = 0;
    besides[0] = '\0';
    for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
        if (!gmt_govern_is_apart(govern, part)) {
            sum_ns += (double)parts[part].ns;
        } else if (used < bytes) {
            int more = snprintf(besides + used, bytes - used, "%s%s",
                                used != 0 ? " and " : " besides ", parts[part].name);
            used += more > 0 ? (size_t)more : 0;
        }
    }
    return all.end_ns > all.begin_ns ? 100 * sum_ns / (double)(all.end_ns - all.begin_ns) : 0;
}

/* What a reader must know of the trace. The last record of a name counts. */
static void say_shed(const struct gmt_govern *govern)
{
    char detail[768], stacks[280] = "", device[160] = "", besides[64];
    double calls = (double)all.stacks_read + (double)all.stacks_taken;
    double share = used_percent(govern, besides, sizeof(besides));
    if (shed_stacks) {
        /* Of a share of 1/2, which has the most: what is read is drawn by distances that the program does not know, and each
         * stands for as many calls as take it. */
        double half = calls > 0 ? 98 * square_root(taken_squares) / calls : 100;
        (void)snprintf(
            stacks, sizeof(stacks),
            "; of %.3g %% of the calls the stack is that of an earlier call of the same "
            "place and kind, not its own: shares of lines are estimates, +-%.2g points at "
            "most (95 %%)",
            calls > 0 ? 100 * (double)all.stacks_taken / calls : 0, half < 100 ? half : 100);
    }
    if (shed_device) {
        (void)snprintf(device, sizeof(device),
                       "; records of devices were on for %.3g %% of the time, and what they cost "
                       "is learnt from %u cycles",
                       (all.device_known - 1) / 10.0, all.device_cycles);
    }
    (void)snprintf(
        detail, sizeof(detail),
        "to keep within --overhead %.3g%% (%.2g %% were used%s%s), less was done%s%s%s%s%s",
        (double)all.budget_ppm / 1e4, share, besides,
        all.device_known != 0 ? "" : ", CUPTI's own work not counted", stacks, device,
        shed_hashing ? "; fewer copies have fingerprints" : "",
        shed_counters ? "; fewer kernels were measured" : "",
        all.is_beyond ? "; the calls' records alone cost more than that at times" : "");
    gmt_spool_capability("overhead", GMT_CAP_PARTIAL, 0, detail, "gmtrace --overhead 0");
}

void gmt_overhead_publish(const struct gmt_overhead_period *period, const struct gmt_govern *govern,
                          bool is_last)
{
    add(&row, period, govern);
    add(&all, period, govern);
    add_device(&row, &row_on_ns, period->device);
    add_device(&all, &all_on_ns, period->device);
    row_variance += period->variance;
    all_variance += period->variance;
    taken_squares += (double)period->since->taken_squares;
    row.error_ns = (uint64_t)(1.96 * square_root(row_variance));
    all.error_ns = (uint64_t)(1.96 * square_root(all_variance));
    shed_stacks = shed_stacks || all.stacks_taken != 0;
    shed_hashing = shed_hashing || row.hashing_permille < 1000;
    shed_counters = shed_counters || row.counters_permille < 1000;
    shed_device = shed_device || (all.device_known != 0 && all.device_known <= 1000);
    write_control(govern);
    if (row.end_ns - row.begin_ns >= ROW_NS || is_last) {
        (void)gmt_spool_side(GMT_REC_OVERHEAD, &row, sizeof(row), NULL, 0);
        row = (struct gmt_overhead){0};
        row_variance = 0;
        row_on_ns = 0;
    }
    /* At the end, and before whenever the time has doubled: a process may be killed. */
    bool is_due = is_last || all.end_ns - all.begin_ns >= 2 * said_ns;
    if ((shed_stacks || shed_hashing || shed_counters || shed_device) && is_due) {
        said_ns = all.end_ns - all.begin_ns;
        say_shed(govern);
    }
}

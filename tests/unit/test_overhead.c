/* SPDX-License-Identifier: Apache-2.0 */
/* What calls cost is measured as they are made, and levels follow: with the real clock, and no spool. */
#include <criterion/criterion.h>

#include "libtrace/record/spool.h"
#include "preload/overhead/device_records.h"
#include "preload/overhead/govern.h"
#include "preload/overhead/overhead.h"

#define CALL_NS 3000
#define HOOK_NS 300
#define HASH_NS 6000

static void spin(uint64_t ns)
{
    uint64_t until = gmt_clock_monotonic_ns() + ns;
    while (gmt_clock_monotonic_ns() < until) {
    }
}

struct made {
    unsigned calls, hashes; /* after the first 2 s */
    uint64_t ns;            /* since then, whatever else the machine did */
};

/* For 5 s: calls that take 3 us in the driver, 0.3 us in the hook, and 6 us more where they may hash. */
static struct made make_calls(double share, unsigned apart)
{
    struct made made = {0};
    gmt_clock_init();
    gmt_overhead_start(share, apart);
    uint64_t began_ns = gmt_clock_monotonic_ns(), now_ns = began_ns;
    while (now_ns - began_ns < UINT64_C(5000000000)) {
        gmt_overhead_enter();
        spin(HOOK_NS);
        uint64_t begin = gmt_clock_ticks();
        spin(CALL_NS);
        uint64_t end = gmt_clock_ticks();
        bool hashes = gmt_overhead_may_hash();
        if (hashes) {
            spin(HASH_NS);
            gmt_overhead_hashed(gmt_clock_ticks() - end);
        }
        gmt_overhead_leave(begin, end);
        now_ns = gmt_clock_monotonic_ns();
        if (now_ns - began_ns >= UINT64_C(2000000000)) {
            made.calls++;
            made.hashes += hashes;
            made.ns = now_ns - began_ns - UINT64_C(2000000000);
        }
    }
    return made;
}

Test(overhead, keeps_hashing_within_what_there_is)
{
    struct made made = make_calls(0.3, 0);
    double hashing = (double)made.hashes * HASH_NS;
    double all = hashing + (double)made.calls * (HOOK_NS + CALL_NS);
    /* The limit is a share of the time that passes, in which other processes run, too. */
    cr_expect_leq(hashing / (double)made.ns, 0.3, "%u of %u calls: %g", made.hashes, made.calls,
                  hashing / (double)made.ns);
    cr_expect_geq(hashing / all, 0.1, "%u of %u calls: %g", made.hashes, made.calls, hashing / all);
    cr_expect_eq(atomic_load(&gmt_overhead_levels.stack_one_in), 1, "stacks cost nothing");
    cr_expect_eq(atomic_load(&gmt_overhead_levels.counters_ns), UINT64_MAX);
}

Test(overhead, leaves_all_where_there_is_no_limit)
{
    struct made made = make_calls(0, 0);
    cr_expect_eq(made.hashes, made.calls);
}

Test(overhead, leaves_hashing_alone_that_has_a_budget_of_its_own)
{
    struct made made = make_calls(0.3, 1u << GMT_OVERHEAD_HASHING);
    cr_expect_eq(made.hashes, made.calls);
}

/* For 3 s: calls, and half of the time is spent on counters. Returns what these may come to then. */
static uint64_t make_counted_calls(unsigned apart)
{
    gmt_clock_init();
    gmt_overhead_start(0.3, apart);
    uint64_t began_ns = gmt_clock_monotonic_ns(), now_ns = began_ns;
    while (now_ns - began_ns < UINT64_C(3000000000)) {
        gmt_overhead_enter();
        uint64_t begin = gmt_clock_ticks();
        spin(CALL_NS);
        gmt_overhead_leave(begin, gmt_clock_ticks());
        now_ns = gmt_clock_monotonic_ns();
        spin(UINT64_C(1000000));
        gmt_spool_own_time(GMT_OWN_REPEAT, now_ns, 0);
    }
    return atomic_load(&gmt_overhead_levels.counters_ns);
}

Test(overhead, limits_counters_unless_they_have_a_budget_of_their_own)
{
    cr_expect_neq(make_counted_calls(1u << GMT_OVERHEAD_HASHING), UINT64_MAX);
    cr_expect_eq(make_counted_calls(1u << GMT_OVERHEAD_COUNTERS), UINT64_MAX);
}

Test(overhead, draws_distances_around_their_mean)
{
    for (uint32_t mean = 0; mean <= 64; mean++) {
        double sum = 0;
        for (int i = 0; i < 100000; i++) {
            uint32_t distance = gmt_overhead_distance(mean);
            cr_assert(distance >= mean / 2 && distance <= mean + mean / 2 + 1);
            sum += distance;
        }
        cr_expect_float_eq(sum / 100000, mean, 0.01 * mean + 0.51, "%u: %g", mean, sum / 100000);
    }
}

/* Records of devices, as CUPTI's: while they are on, calls take longer. */
static bool records_on, records_stuck;
static unsigned switches;

static bool turn(bool on)
{
    if (records_stuck) {
        return false;
    }
    cr_assert_neq(on, records_on);
    records_on = on;
    switches++;
    return true;
}

struct recorded {
    double on, all, elapsed_ns; /* calls, from 4 s on */
    unsigned switches_at_first; /* within a second */
};

#define RECORD_NS 2000
#define OTHER 9
/* For 7 s: calls that take 3 us in the driver, and `extra_ns` more while records are on. */
static struct recorded make_recorded_calls(double share, uint64_t extra_ns)
{
    struct recorded made = {0};
    gmt_clock_init();
    records_on = true;
    switches = 0;
    gmt_device_records_start(share > 0, turn);
    gmt_overhead_start(share, 0);
    uint64_t began_ns = gmt_clock_monotonic_ns(), now_ns = began_ns;
    while (now_ns - began_ns < UINT64_C(7000000000)) {
        gmt_overhead_enter();
        uint64_t begin = gmt_clock_ticks();
        spin(CALL_NS + (records_on ? extra_ns : 0));
        uint64_t end = gmt_clock_ticks();
        gmt_overhead_device_work(OTHER);
        gmt_overhead_leave(begin, end);
        now_ns = gmt_clock_monotonic_ns();
        if (now_ns - began_ns < UINT64_C(900000000)) {
            made.switches_at_first = switches;
        }
        if (now_ns - began_ns >= UINT64_C(4000000000)) {
            made.on += records_on;
            made.all++;
            made.elapsed_ns = (double)(now_ns - began_ns) - 4e9;
        }
    }
    return made;
}

/* All of them would cost 40 % of the time if nothing else ran: whatever it is, no more is spent than there is. */
Test(overhead, keeps_device_records_within_what_there_is)
{
    struct recorded made = make_recorded_calls(0.05, RECORD_NS);
    double cost = made.on * RECORD_NS / made.elapsed_ns;
    cr_expect_eq(made.switches_at_first, 0, "the first second is recorded whole");
    cr_expect_leq(cost, 0.06, "%g of %g calls, %g", made.on / made.all, made.all, cost);
    cr_expect_gt(made.on, 0);
}

/* What costs nothing stays: it is learnt, and no more is switched after that. */
Test(overhead, keeps_all_device_records_that_cost_nothing)
{
    struct recorded made = make_recorded_calls(0.15, 0);
    cr_expect_gt(switches, 0, "it was never tried");
    cr_expect_geq(made.on / made.all, 0.9, "%g of the calls", made.on / made.all);
}

Test(overhead, leaves_device_records_alone_where_there_is_no_limit)
{
    struct recorded made = make_recorded_calls(0, RECORD_NS);
    cr_expect_eq(switches, 0);
    cr_expect_eq(made.on, made.all);
}

/* Where they cannot be switched, as beside a capture that goes on, they stay as they are, and nothing is taken for learnt. */
Test(overhead, bears_device_records_that_cannot_be_switched)
{
    records_stuck = true;
    struct recorded made = make_recorded_calls(0.15, RECORD_NS);
    records_stuck = false;
    cr_expect_eq(made.on, made.all);
    struct gmt_device_sums sums;
    cr_assert(gmt_device_records_sums(gmt_clock_monotonic_ns(), &sums));
    cr_expect_eq(sums.pairs, 0);
    cr_expect_eq(sums.recorded, sums.calls);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What calls cost is measured as they are made, and levels follow: with the real clock, and no spool. */
#include <criterion/criterion.h>

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
static struct made make_calls(double share)
{
    struct made made = {0};
    gmt_clock_init();
    gmt_overhead_start(share);
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
    struct made made = make_calls(0.3);
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
    struct made made = make_calls(0);
    cr_expect_eq(made.hashes, made.calls);
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

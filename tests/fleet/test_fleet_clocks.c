/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of generated fleets: how near the offsets are to those that were planted, and what is left out as ambiguous. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/detect.h"
#include "tests/fleet/sums.h"

#define BOUND_NS 50e3

static struct physics physics;
static struct gmt_fleet fleet;
static struct gmt_fleet_clocks clocks;
static struct gmt_arena arena;

static void make(uint64_t seed, enum fault fault)
{
    physics_plan(&physics, seed, fault);
    physics.ranks = 16;
    physics.odd %= physics.ranks;
    physics.ranks_per_host = 2;
    sums_make(&fleet, &physics);
}

static void compare(void)
{
    cr_assert_eq(gmt_fleet_clocks_fill(&clocks, &fleet, GMT_FLEET_CLOCK_ALARMS, &arena), 0);
}

static void drop(void)
{
    gmt_arena_free(&arena);
    sums_free(&fleet);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* By what the clock is wrong in the middle of the run, against the median of all. */
static void expect_planted(size_t ranks)
{
    double wrong[64], sorted[64];
    int64_t middle = (int64_t)(physics.steps * 20e6 / 2);

    for (size_t r = 0; r < ranks; r++) {
        wrong[r] = sorted[r] = (double)(physics_wall_clock(&physics, (int)r, middle) -
                                        INT64_C(1700000000000000000) - middle);
    }
    qsort(sorted, ranks, sizeof(*sorted), ascending);
    double median = (sorted[(ranks - 1) / 2] + sorted[ranks / 2]) / 2;
    for (size_t r = 0; r < ranks; r++) {
        cr_expect_eq(clocks.ranks[r].confidence, GMT_FLEET_GOOD, "rank %zu", r);
        cr_expect_float_eq(clocks.ranks[r].offset_ns, median - wrong[r], BOUND_NS,
                           "rank %zu: %g, planted %g", r, clocks.ranks[r].offset_ns,
                           median - wrong[r]);
        cr_expect_lt(clocks.ranks[r].error_ns, BOUND_NS);
    }
}

Test(fleet_clocks, offsets_are_those_that_were_planted, .fini = drop)
{
    make(11, FAULT_NONE);
    compare();
    expect_planted(fleet.count);
    cr_expect_eq(clocks.ambiguous, 0);
    for (size_t r = 0; r < fleet.count; r++) {
        cr_expect_not(clocks.ranks[r].odd);
    }
}

Test(fleet_clocks, a_host_that_is_off_is_corrected_and_reported, .fini = drop)
{
    make(12, FAULT_CLOCK);
    compare();
    expect_planted(fleet.count);
    for (size_t r = 0; r < fleet.count; r++) {
        cr_expect_eq(clocks.ranks[r].odd,
                     physics_host(&physics, (int)r) == physics_host(&physics, physics.odd));
    }
}

/* The offset is that in the middle of the run by the others' clocks, from which its own is seconds away: a drift of 40 ppm makes
 * 280 us of that. */
Test(fleet_clocks, a_clock_that_is_seconds_off_and_drifts_shows_the_common_time, .fini = drop)
{
    struct gmt_fleet_rank *off, *other;

    make(16, FAULT_NONE);
    off = &fleet.ranks[6];
    other = &fleet.ranks[2];
    for (size_t i = 0; i < off->collective_count; i++) {
        int64_t *end = &off->collectives[i].end_ns;

        *end += INT64_C(-7000000000) + (*end - INT64_C(1700000000000000000)) / 25000;
    }
    compare();
    cr_expect_float_eq(clocks.ranks[6].drift_ppm, -40, 5);
    for (size_t i = 0; i < off->collective_count; i++) {
        int64_t apart = gmt_fleet_common_time(&clocks.ranks[6], off->collectives[i].end_ns) -
                        gmt_fleet_common_time(&clocks.ranks[2], other->collectives[i].end_ns);

        cr_assert_lt(llabs(apart), (int64_t)BOUND_NS, "collective %zu: %ld ns", i, (long)apart);
    }
}

Test(fleet_clocks, a_rank_that_counts_otherwise_is_ambiguous, .fini = drop)
{
    make(13, FAULT_NONE);
    /* It missed its first two. */
    for (size_t i = 0; i < fleet.ranks[5].collective_count; i++) {
        fleet.ranks[5].collectives[i].position -= 2;
    }
    compare();
    cr_expect_eq(clocks.ranks[5].confidence, GMT_FLEET_NO_MATCH);
    cr_expect(isnan(clocks.ranks[5].offset_ns));
    cr_expect_not(clocks.ranks[5].odd);
    cr_expect_eq(clocks.ranks[5].ambiguous, fleet.ranks[5].collective_count);
    cr_expect_eq(clocks.ranks[4].confidence, GMT_FLEET_GOOD);
}

Test(fleet_clocks, what_few_ranks_have_is_left_out_and_counted, .fini = drop)
{
    make(14, FAULT_NONE);
    /* Every fourth of one rank is of a kind that nobody else has: the rest serves. */
    for (size_t i = 0; i < fleet.ranks[3].collective_count; i += 4) {
        fleet.ranks[3].collectives[i].key = 99;
    }
    compare();
    cr_expect_eq(clocks.ranks[3].confidence, GMT_FLEET_LOW);
    for (size_t r = 0; r < fleet.count; r++) {
        cr_expect_eq(clocks.ranks[r].ambiguous, r == 3 ? fleet.ranks[3].collective_count / 4 : 0,
                     "rank %zu: %zu, error %g, matched %zu", r, clocks.ranks[r].ambiguous,
                     clocks.ranks[r].error_ns, clocks.ranks[r].matched);
    }
}

Test(fleet_clocks, without_collectives_there_is_no_answer, .fini = drop)
{
    make(15, FAULT_CLOCK);
    for (size_t r = 0; r < fleet.count; r++) {
        fleet.ranks[r].collective_count = r == 2 ? 1 : 0;
    }
    compare();
    for (size_t r = 0; r < fleet.count; r++) {
        cr_expect_eq(clocks.ranks[r].confidence, GMT_FLEET_NO_MATCH);
        cr_expect_not(clocks.ranks[r].odd);
    }
}

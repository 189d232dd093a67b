/* SPDX-License-Identifier: Apache-2.0 */
/* 100 fleets with one fault each and 100 without: who is named, with which cause. GMT_FLEET_SEED: other fleets. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/detect.h"
#include "tests/fleet/sums.h"

enum { FLEETS = 100, FALSE_ALARMS_MOST = 2 };

/* Chosen when the detector was done. */
#define SEED 20261128u

static const struct {
    const char *name;
    enum gmt_fleet_cause cause;
} expected[FAULTS] = {
    [FAULT_SLOW_HOST] = {"slow host thread", GMT_FLEET_CAUSE_HOST},
    [FAULT_SLOW_KERNELS] = {"slow kernels", GMT_FLEET_CAUSE_KERNELS},
    [FAULT_EXTRA_COPIES] = {"extra copies", GMT_FLEET_CAUSE_WORK},
    [FAULT_SLOW_LINK] = {"slow link", GMT_FLEET_CAUSE_LINK},
    [FAULT_LEAK] = {"leak", GMT_FLEET_CAUSE_LEAK},
    [FAULT_DRIVER] = {"another driver", GMT_FLEET_CAUSE_VERSION},
    [FAULT_CLOCK] = {"clock", GMT_FLEET_CAUSE_CLOCK},
    [FAULT_MORE_ALLOCATIONS] = {"more allocations", GMT_FLEET_CAUSE_ALLOCATION},
    [FAULT_MORE_MEMORY] = {"more memory", GMT_FLEET_CAUSE_ALLOCATION},
};

static uint64_t seed_of(int fleet)
{
    const char *other = getenv("GMT_FLEET_SEED");

    uint64_t seed = other != NULL ? (uint64_t)strtoul(other, NULL, 10) : SEED;

    return seed * 1000 + (uint64_t)fleet;
}

static void describe(const struct physics *physics, const struct gmt_fleet_result *result)
{
    fprintf(stderr, "seed %llu: %s in rank %d, %.4g from step %d; found:",
            (unsigned long long)physics->seed,
            physics->fault == FAULT_NONE ? "nothing" : expected[physics->fault].name, physics->odd,
            physics->strength, physics->from_step);
    for (size_t i = 0; i < result->odd_count; i++) {
        const struct gmt_fleet_odd *odd = &result->odd[i];

        fprintf(stderr, " rank %zu %s", odd->rank, gmt_fleet_cause_rows[odd->cause].word);
        for (size_t d = 0; d < odd->difference_count; d++) {
            fprintf(stderr, " (%s %.4g by %.4g, %.3g > %.3g, steps %zu-%zu)",
                    gmt_fleet_measure_rows[odd->differences[d].measure].name,
                    odd->differences[d].middle, odd->differences[d].by, odd->differences[d].score,
                    odd->differences[d].limit, odd->differences[d].first_step,
                    odd->differences[d].last_step);
        }
    }
    fprintf(stderr, "\n");
}

/* The rank, or with a clock all ranks of its host, and nobody else. */
static bool is_right(const struct physics *physics, const struct gmt_fleet_result *result)
{
    size_t right = 0;
    size_t due = physics->fault == FAULT_CLOCK ? (size_t)physics->ranks_per_host : 1;

    for (size_t i = 0; i < result->odd_count; i++) {
        int rank = (int)result->odd[i].rank;
        bool is_odd = physics->fault == FAULT_CLOCK
                          ? physics_host(physics, rank) == physics_host(physics, physics->odd)
                          : rank == physics->odd;

        right += is_odd && result->odd[i].cause == expected[physics->fault].cause;
    }
    return right == due && result->odd_count == due;
}

/* Is the fleet answered as it was made? */
static bool ask(int number, enum fault fault)
{
    struct physics physics;
    struct gmt_fleet fleet;
    struct gmt_fleet_result result;
    struct gmt_fleet_clocks clocks;
    struct gmt_arena arena = {0};

    physics_plan(&physics, seed_of(number), fault);
    sums_make(&fleet, &physics);
    cr_assert_gt(sums_calls_per_rank(), 19000);
    cr_assert_lt(sums_calls_per_rank(), 25000);
    cr_assert_eq(gmt_fleet_clocks_fill(&clocks, &fleet, GMT_FLEET_CLOCK_ALARMS, &arena), 0);
    cr_assert_eq(gmt_fleet_detect(&result, &fleet, &clocks, &arena), 0);
    bool right = fault == FAULT_NONE ? result.odd_count == 0 : is_right(&physics, &result);
    if (!right || getenv("GMT_FLEET_SHOW") != NULL) {
        describe(&physics, &result);
    }
    gmt_arena_free(&arena);
    sums_free(&fleet);
    return right;
}

Test(fleet_faults, every_fault_is_named_with_its_rank_and_cause, .timeout = 1000)
{
    int named = 0;

    for (int i = 0; i < FLEETS; i++) {
        named += ask(i, (enum fault)(1 + i % (FAULTS - 1)));
    }
    cr_assert_eq(named, FLEETS, "%d of %d named", named, FLEETS);
}

Test(fleet_faults, fleets_without_a_fault_raise_no_alarm, .timeout = 1000)
{
    int alarms = 0;

    for (int i = 0; i < FLEETS; i++) {
        alarms += !ask(FLEETS + i, FAULT_NONE);
    }
    cr_assert_leq(alarms, FALSE_ALARMS_MOST, "%d of %d", alarms, FLEETS);
}

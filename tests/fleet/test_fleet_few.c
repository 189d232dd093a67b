/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets of two ranks, whose steps alone show what is chance: sums are written down here, or made by the generator. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/detect.h"
#include "analyzer/fleet/presence.h"
#include "analyzer/fleet/rank_sums.h"
#include "tests/fleet/sums.h"

enum { RANKS = 2, STEPS = 120, MS = 1000000 };
#define MIB 1048576.0

static struct gmt_fleet_rank ranks[RANKS];
static struct gmt_fleet fleet = {.ranks = ranks, .count = RANKS};
static struct gmt_rank_sums sums[RANKS];
static struct gmt_fleet_result result;
static struct gmt_arena arena;
static int64_t at_ns[RANKS][STEPS + 1]; /* begins of the steps */
static uint64_t chance;

static double noise(void)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(chance >> 11) / 9007199254740992.0 - 0.5;
}

/* What differs from the usual step, by rank and step. */
static double host_ms[RANKS][STEPS], live_bytes[RANKS][STEPS];
static double kernel_ms[RANKS][STEPS], collective_ms[RANKS][STEPS], wait_ms[RANKS][STEPS];

static void drop(void)
{
    gmt_arena_free(&arena);
    memset(host_ms, 0, sizeof(host_ms));
    memset(live_bytes, 0, sizeof(live_bytes));
    memset(kernel_ms, 0, sizeof(kernel_ms));
    memset(collective_ms, 0, sizeof(collective_ms));
    memset(wait_ms, 0, sizeof(wait_ms));
}

/* A step takes usual_ms, and what its host takes more; its device is idle for so much longer. */
static void make(double usual_ms)
{
    chance = 7;
    for (size_t r = 0; r < RANKS; r++) {
        int64_t at = 1000 * MS;

        ranks[r] = (struct gmt_fleet_rank){.trace = r == 0 ? "0.db" : "1.db", .host = "a"};
        sums[r] = (struct gmt_rank_sums){.rank = &ranks[r], .arena = &arena};
        for (int step = 0; step < STEPS; step++) {
            double host = usual_ms * 0.15 * (1 + 0.4 * noise()) + host_ms[r][step];
            int64_t length =
                (int64_t)((usual_ms * (0.85 + 0.05 * noise()) + host + wait_ms[r][step]) * MS);

            at_ns[r][step] = at;
            cr_assert_eq(gmt_rank_sums_step(&sums[r], step + 1, 1, false, at, at + length), 0);
            at += length;
        }
        at_ns[r][STEPS] = at;
        for (int step = 0; step < STEPS; step++) {
            double usual = usual_ms * MS, longer = host_ms[r][step] * MS;

            gmt_rank_sums_call(&sums[r], step + 1, "kernel", 62, 0, (int64_t)(0.1 * usual));
            gmt_rank_sums_work(
                &sums[r], step + 1, "kernel", 0,
                (int64_t)(usual * (0.65 + 0.02 * noise()) + kernel_ms[r][step] * MS));
            gmt_rank_sums_work(&sums[r], step + 1, "collective", 0,
                               (int64_t)(usual * 0.1 + collective_ms[r][step] * MS));
            gmt_rank_sums_time(&sums[r], step + 1, true,
                               (int64_t)(usual * 0.15 * (1 + 0.4 * noise()) + longer));
            gmt_rank_sums_memory(&sums[r], step + 1, (int64_t)(1500 * MIB + live_bytes[r][step]),
                                 (int64_t)(2000 * MIB));
        }
    }
}

static void ask(void)
{
    for (size_t r = 0; r < RANKS; r++) {
        cr_assert_eq(gmt_rank_sums_finish(&sums[r]), 0);
        cr_assert_null(ranks[r].trouble);
    }
    cr_assert_eq(gmt_fleet_detect(&result, &fleet, NULL, &arena), 0);
}

static void expect_odd(size_t rank, enum gmt_fleet_cause cause)
{
    cr_assert_eq(result.odd_count, 1, "%zu odd", result.odd_count);
    cr_expect_eq(result.odd[0].rank, rank);
    cr_expect_eq(result.odd[0].cause, cause, "%s", gmt_fleet_cause_rows[result.odd[0].cause].word);
}

/* As one of two ranks of PyTorch was for 0.15 s, with no fault: all that its host did took a third longer than the other's. */
Test(fleet_few, a_host_that_is_slow_for_a_moment_is_not_odd, .fini = drop)
{
    for (int step = 58; step < 92; step++) {
        host_ms[1][step] = 1.2;
    }
    make(3.2);
    ask();
    cr_expect_eq(result.odd_count, 0, "rank %zu: %s", result.odd[0].rank,
                 gmt_fleet_cause_rows[result.odd[0].cause].word);
}

/* The same share of steps, and of a step, for 3 s. */
Test(fleet_few, a_host_that_is_slow_for_seconds_is_named, .fini = drop)
{
    for (int step = 58; step < 92; step++) {
        host_ms[1][step] = 36;
    }
    make(96);
    ask();
    expect_odd(1, GMT_FLEET_CAUSE_HOST);
}

Test(fleet_few, a_host_thread_that_sleeps_in_each_step_of_a_second_is_named, .fini = drop)
{
    for (int step = 0; step < STEPS; step++) {
        host_ms[1][step] = 5;
    }
    make(3.5);
    ask();
    expect_odd(1, GMT_FLEET_CAUSE_HOST);
    /* What it has and what the other one has, each by itself. */
    const struct gmt_fleet_difference *host = &result.odd[0].differences[0];
    cr_expect_eq(host->measure, GMT_FLEET_HOST);
    cr_expect_float_eq(host->value, 5.525 * MS, 0.05 * MS, "%g", host->value);
    cr_expect_float_eq(host->middle, 0.525 * MS, 0.05 * MS, "%g", host->middle);
}

/*
 * Rank 1 sleeps. Rank 0's host runs ahead to where it waits, in each fourth step, in which most of its kernels are executed; they
 * take longer in sum, as the collectives that wait for rank 1 share the device with them. Four steps take as long as rank 1's.
 */
Test(fleet_few, kernels_of_a_host_that_runs_ahead_are_not_slow, .fini = drop)
{
    for (int step = 0; step < STEPS; step++) {
        bool waits = step % 4 == 3;

        host_ms[1][step] = 5;
        kernel_ms[0][step] = waits ? 7 : -1;
        collective_ms[0][step] = waits ? 12 : 1.5;
        wait_ms[0][step] = waits ? 20 : 0;
    }
    make(3.5);
    ask();
    expect_odd(1, GMT_FLEET_CAUSE_HOST);
    for (size_t i = 0; i < result.odd[0].difference_count; i++) {
        cr_expect_neq(result.odd[0].differences[i].measure, GMT_FLEET_KERNELS);
        cr_expect_neq(result.odd[0].differences[i].measure, GMT_FLEET_STEP);
    }
}

/* Slower in a quarter of the run, as gmtrace measured there: in every second step, for as long. */
static void make_measured(bool is_known)
{
    for (int step = 30; step < 90; step++) {
        host_ms[0][step] = step % 2 == 0 ? 20 : 8;
    }
    make(40);
    for (int step = 30; step < 90 && is_known; step += 2) {
        gmt_rank_sums_own(&sums[0], at_ns[0][step] + 5 * MS, at_ns[0][step] + 25 * MS);
    }
    ask();
}

Test(fleet_few, steps_in_which_gmtrace_worked_are_no_evidence, .fini = drop)
{
    make_measured(false);
    expect_odd(0, GMT_FLEET_CAUSE_HOST);
    gmt_arena_free(&arena);
    make_measured(true);
    cr_expect_eq(result.odd_count, 0);
    cr_expect_null(ranks[0].remark);
    /* Of these steps the times are left out, and of the ones behind them; the rest is as it was. */
    for (int step = 0; step < STEPS; step++) {
        const double *values = ranks[0].values + (size_t)step * GMT_FLEET_MEASURES;
        bool left_out = step >= 30 && step < 90;

        cr_assert_eq(isnan(values[GMT_FLEET_HOST]), left_out, "step %d", step);
        cr_assert_eq(isnan(values[GMT_FLEET_STEP]), left_out, "step %d", step);
        cr_assert_float_eq(values[GMT_FLEET_LAUNCHES], 62, 0);
        cr_assert_float_eq(values[GMT_FLEET_LEAK], 1500 * MIB, 0);
    }
}

Test(fleet_few, own_work_is_that_of_its_steps_alone, .fini = drop)
{
    make(40);
    /* Over the end of step 10; less than 1 % of step 20; before and behind the run. */
    gmt_rank_sums_own(&sums[1], at_ns[1][10] - 10 * MS, at_ns[1][10] + 3 * MS);
    gmt_rank_sums_own(&sums[1], at_ns[1][20] + 10 * MS, at_ns[1][20] + 10 * MS + MS / 5);
    gmt_rank_sums_own(&sums[1], 0, 5 * MS);
    gmt_rank_sums_own(&sums[1], at_ns[1][STEPS], at_ns[1][STEPS] + 90 * MS);
    ask();
    for (int step = 0; step < STEPS; step++) {
        cr_expect_eq(isnan(ranks[1].values[(size_t)step * GMT_FLEET_MEASURES + GMT_FLEET_KERNELS]),
                     step >= 9 && step <= 11, "step %d", step);
    }
}

Test(fleet_few, a_rank_that_was_measured_most_of_the_time_says_so, .fini = drop)
{
    make(40);
    gmt_rank_sums_own(&sums[1], at_ns[1][20], at_ns[1][90]);
    ask();
    cr_assert_not_null(ranks[1].remark);
    cr_expect_null(ranks[0].remark);
    cr_expect_eq(result.odd_count, 0);
}

/*
 * 4 MiB a step, which an allocator takes from what it has, later in segments of 16 MiB. Steps share rows, as short ones do: 4, 3 and
 * 3 of them.
 */
Test(fleet_few, a_leak_in_segments_is_named, .fini = drop)
{
    for (int step = 0; step < STEPS; step++) {
        static const int last_of_row[10] = {3, 3, 3, 3, 6, 6, 6, 9, 9, 9};
        int last = step / 10 * 10 + last_of_row[step % 10];

        live_bytes[1][step] = 18 * MIB + (last < 37 ? 0 : floor((last - 33) / 4.0) * 16 * MIB);
    }
    make(3.5);
    ask();
    expect_odd(1, GMT_FLEET_CAUSE_LEAK);
    cr_expect_float_eq(result.odd[0].differences[0].value, 3.6 * MIB, 0.5 * MIB);
}

/* A cache that fills in the first third of the run, a last segment late, and memory that the other rank gives back. */
Test(fleet_few, memory_that_does_not_go_on_growing_is_no_leak, .fini = drop)
{
    for (int step = 0; step < STEPS; step++) {
        live_bytes[1][step] = fmin(step, 40) * 4 * MIB + (step > 90 ? 20 * MIB : 0);
    }
    make(3.5);
    ask();
    for (size_t i = 0; i < result.odd_count; i++) {
        cr_expect_neq(result.odd[i].cause, GMT_FLEET_CAUSE_LEAK);
    }
    drop();
    for (int step = 0; step < STEPS; step++) {
        live_bytes[0][step] = (STEPS - step) * 4 * MIB;
    }
    make(3.5);
    ask();
    for (size_t i = 0; i < result.odd_count; i++) {
        cr_expect_neq(result.odd[i].cause, GMT_FLEET_CAUSE_LEAK);
    }
}

/* Too many collectives of each: ranks that have some more than others keep the same ones. */
Test(fleet_few, ranks_keep_the_same_of_too_many_collectives, .fini = drop)
{
    static const int64_t counts[RANKS] = {8190, 8300};

    make(40);
    for (size_t r = 0; r < RANKS; r++) {
        gmt_rank_sums_collectives(&sums[r], counts[r]);
        for (int64_t i = 1; i <= counts[r]; i++) {
            const struct gmt_collective_row row = {
                .name = "ncclAllReduce", .position = i, .begin_ns = i, .end_ns = i + 1};

            cr_assert_eq(gmt_rank_sums_collective(&sums[r], &row, 0), 0);
        }
        cr_expect_leq(ranks[r].collective_count, GMT_FLEET_COLLECTIVES_MOST);
    }
    cr_expect_eq(ranks[0].collective_count, 8190 / 2);
    cr_expect_eq(ranks[1].collective_count, 8300 / 4);
    /* What rank 1 has of the first 8190 rank 0 has, too. */
    for (size_t i = 0; i < ranks[1].collective_count; i++) {
        int64_t position = ranks[1].collectives[i].position;

        cr_assert(position > 8190 || ranks[0].collectives[position / 2 - 1].position == position);
    }
}

/* Fleets of the generator, of 2 to 7 ranks; one rank holds memory that comes and goes. */
Test(fleet_few, generated_fleets_without_a_fault_raise_no_alarm, .timeout = 1000)
{
    int alarms = 0;

    for (int i = 0; i < 60; i++) {
        struct physics physics;
        struct gmt_fleet generated;
        struct gmt_arena own = {0};

        physics_plan(&physics, 20261129000 + (uint64_t)i, FAULT_NONE);
        physics.ranks = 2 + i % 6;
        sums_make(&generated, &physics);
        cr_assert_eq(gmt_fleet_detect(&result, &generated, NULL, &own), 0);
        for (size_t k = 0; k < result.odd_count; k++) {
            fprintf(stderr, "fleet %d: rank %zu %s\n", i, result.odd[k].rank,
                    gmt_fleet_cause_rows[result.odd[k].cause].word);
        }
        alarms += result.odd_count > 0;
        gmt_arena_free(&own);
        sums_free(&generated);
    }
    cr_assert_leq(alarms, 1, "%d of 60", alarms);
}

/* 8 ranks, with a fault or without; returns another one of them, which is to have a part of the steps. */
static struct gmt_fleet_rank *make_short(struct gmt_fleet *generated, struct physics *physics,
                                         size_t number, enum fault fault)
{
    physics_plan(physics, 20261130000 + (uint64_t)number, fault);
    physics->ranks = 8;
    physics->odd %= physics->ranks;
    physics->from_step = 0;
    sums_make(generated, physics);
    return &generated->ranks[(physics->odd + 3) % physics->ranks];
}

static size_t ask_short(const struct gmt_fleet *generated, struct gmt_arena *own)
{
    struct gmt_fleet_clocks clocks;

    cr_assert_eq(gmt_fleet_clocks_fill(&clocks, generated, GMT_FLEET_CLOCK_ALARMS, own), 0);
    cr_assert_eq(gmt_fleet_detect(&result, generated, &clocks, own), 0);
    return result.odd_count;
}

/* Answers as if the short rank had no trace: a fault is in the whole of the run, and named. */
Test(fleet_few, a_rank_with_few_steps_does_not_blind_the_others, .timeout = 1000)
{
    static const enum fault faults[] = {FAULT_SLOW_HOST,    FAULT_SLOW_KERNELS,
                                        FAULT_EXTRA_COPIES, FAULT_SLOW_LINK,
                                        FAULT_LEAK,         FAULT_MORE_ALLOCATIONS};
    static const size_t parts[] = {12, 2}; /* a 12th of the steps, a half */

    for (size_t i = 0; i < 2 * sizeof(faults) / sizeof(*faults); i++) {
        struct physics physics;
        struct gmt_fleet generated;
        struct gmt_arena own = {0};

        struct gmt_fleet_rank *shorter = make_short(&generated, &physics, i, faults[i / 2]);
        shorter->step_count /= parts[i % 2];
        cr_expect_eq(ask_short(&generated, &own), 1, "fault %d: %zu", faults[i / 2],
                     result.odd_count);
        cr_expect_eq(result.odd[0].rank, (size_t)physics.odd, "fault %d", faults[i / 2]);
        cr_expect_eq(result.few_ranks, i % 2 == 0);
        cr_expect_eq(result.few_in_part, i % 2 != 0);
        gmt_fleet_remark_short(&generated, &result, &own);
        for (size_t r = 0; r < generated.count; r++) {
            cr_expect_eq(generated.ranks[r].remark != NULL, &generated.ranks[r] == shorter);
        }
        gmt_arena_free(&own);
        sums_free(&generated);
    }
}

Test(fleet_few, a_rank_with_few_steps_raises_no_alarm, .timeout = 1000)
{
    int alarms = 0;

    for (size_t i = 0; i < 60; i++) {
        struct physics physics;
        struct gmt_fleet generated;
        struct gmt_arena own = {0};

        make_short(&generated, &physics, 100 + i, FAULT_NONE)->step_count = 5 + i * 2;
        alarms += ask_short(&generated, &own) > 0;
        gmt_arena_free(&own);
        sums_free(&generated);
    }
    cr_assert_leq(alarms, 2, "%d of 60", alarms);
}

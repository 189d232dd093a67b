/* SPDX-License-Identifier: Apache-2.0 */
/* Nights of many programs, with one regression and without: who changed, and when; and how often nobody did. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trend/trend.h"
#include "tests/trend/nights.h"

enum { FIRST_SEED = 5000 }; /* the detector was corrected with these in view: docs/trend.md */

static void add_findings(struct gmt_trend_run *run, const struct night *night,
                         struct gmt_arena *arena)
{
    for (int i = 0; i < NIGHT_MISTAKES; i++) {
        if (!night->has[i]) {
            continue;
        }
        struct gmt_trend_finding *f = GMT_PUSH(arena, run->findings, run->finding_count);

        *f = (struct gmt_trend_finding){.fingerprint = gmt_arena_text(arena, "%016x", i),
                                        .rule = gmt_arena_text(arena, "GM%d", 101 + i),
                                        .headline = "a mistake",
                                        .place = "app.c:1",
                                        .gain_ns = night->gain_ns[i]};
    }
}

static void add_run(struct gmt_trend_run *run, size_t program, size_t night,
                    const struct night *numbers, struct gmt_arena *arena)
{
    *run = (struct gmt_trend_run){
        .trace = gmt_arena_text(arena, "%03zu/program%zu.db", night, program),
        .program = gmt_arena_text(arena, "program%zu", program),
        .exe = gmt_arena_text(arena, "/build/%zu/program%zu", night, program),
        .device = "a device",
        .driver = numbers->machine == 0 ? "1.0" : "2.0",
        .commit = gmt_arena_text(arena, "c%03zu", night),
        .start_ns = (int64_t)(numbers->start_s * 1e9)};
    double *values = run->values;
    values[GMT_TREND_TIME] = numbers->program_ns;
    values[GMT_TREND_BUSY] = numbers->busy_ns;
    values[GMT_TREND_KERNEL_TIME] = numbers->kernel_ns;
    values[GMT_TREND_COPY_TIME] = numbers->copy_ns;
    values[GMT_TREND_CALLS] = numbers->calls;
    values[GMT_TREND_LAUNCHES] = numbers->launches;
    values[GMT_TREND_COPIES] = numbers->copies;
    values[GMT_TREND_COPY_BYTES] = numbers->copy_bytes;
    values[GMT_TREND_PAGEABLE] = NAN;
    values[GMT_TREND_ALLOCATIONS] = numbers->allocations;
    values[GMT_TREND_PEAK] = numbers->peak_bytes;
    add_findings(run, numbers, arena);
}

/* Night by night, as their folders would be read. */
static void fill(struct gmt_trend *trend, const struct nights *nights, struct gmt_arena *arena)
{
    struct gmt_trend_run *runs = gmt_arena_alloc(arena,
                                                 nights->programs * nights->count * sizeof(*runs));
    size_t count = 0;

    for (size_t n = 0; n < nights->count; n++) {
        for (size_t p = 0; p < nights->programs; p++) {
            const struct night *night = &nights->all[p * nights->count + n];

            if (night->start_s > 0) {
                add_run(&runs[count++], p, n, night, arena);
            }
        }
    }
    cr_assert_eq(gmt_trend_fill(trend, runs, count, arena), 0);
}

static const char *commit_of(const struct gmt_trend *trend, const struct gmt_trend_change *change)
{
    return trend->programs[change->program].runs[change->run].commit;
}

/* The day of the change, as nights are counted. */
static long night_of(const struct gmt_trend *trend, const struct gmt_trend_change *change)
{
    return strtol(commit_of(trend, change) + 1, NULL, 10);
}

static void show(const struct gmt_trend *trend, const struct nights *nights, uint64_t seed)
{
    for (size_t i = 0; i < trend->change_count; i++) {
        const struct gmt_trend_change *c = &trend->changes[i];

        printf(
            "seed %lu (%zu programs, %zu nights; program%zu night %zu): %s %s %s: %g to %g, p %g\n",
            (unsigned long)seed, nights->programs, nights->count, nights->program, nights->night,
            trend->programs[c->program].name, commit_of(trend, c),
            c->of == GMT_TREND_OF_MEASURE ? gmt_trend_rows[c->measure].name
                                          : c->finding->fingerprint,
            c->before, c->after, c->p);
    }
}

Test(trend, programs_that_do_not_change_are_quiet, .timeout = 900)
{
    enum { HISTORIES = 300 };
    int alarms = 0;

    for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
        struct gmt_arena arena = {0};
        struct nights nights = make_nights(seed, REGRESSION_NONE, 1);
        struct gmt_trend trend;

        fill(&trend, &nights, &arena);
        if (trend.change_count > 0) {
            show(&trend, &nights, seed);
            alarms++;
        }
        gmt_arena_free(&arena);
        free(nights.all);
    }
    printf("%d of %d histories without a change show one\n", alarms, HISTORIES);
    cr_expect_leq(alarms, (int)(GMT_TREND_FALSE_ALARMS * HISTORIES));
}

Test(trend, a_regression_is_named_by_program_and_night, .timeout = 900)
{
    enum { HISTORIES = 100 };
    int named = 0, others = 0;

    for (uint64_t seed = FIRST_SEED + 1000; seed < FIRST_SEED + 1000 + HISTORIES; seed++) {
        uint64_t state = seed;
        enum regression fault = (enum regression)(1 + seed % (REGRESSIONS - 1));
        double strength = fault == REGRESSION_KERNELS ? draw_uniform(&state, 1.2, 2)
                          : fault == REGRESSION_HOST  ? draw_uniform(&state, 1.6, 3)
                                                      : draw_uniform(&state, 1.1, 3);
        struct gmt_arena arena = {0};
        struct nights nights = make_nights(seed, fault, strength);
        struct gmt_trend trend;
        bool found = false, other = false;

        fill(&trend, &nights, &arena);
        for (size_t i = 0; i < trend.change_count; i++) {
            const struct gmt_trend_change *change = &trend.changes[i];
            char name[32];

            snprintf(name, sizeof(name), "program%zu", nights.program);
            bool right = strcmp(trend.programs[change->program].name, name) == 0 &&
                         labs(night_of(&trend, change) - (long)nights.night) <= 1;
            found = found || (right && change->is_worse);
            other = other || !right;
        }
        if (!found || other) {
            printf("fault %d, strength %g, found %d\n", fault, strength, found);
            show(&trend, &nights, seed);
        }
        named += found;
        others += other;
        gmt_arena_free(&arena);
        free(nights.all);
    }
    printf("%d of %d named; %d name another program or night, too\n", named, HISTORIES, others);
    cr_expect_eq(named, HISTORIES);
    cr_expect_leq(others, 2);
}

/* A few nights of one program, whose number of copies is given. */
static struct gmt_trend_run *runs_of(const double *copies, size_t n, struct gmt_arena *arena)
{
    struct gmt_trend_run *runs = gmt_arena_alloc(arena, n * sizeof(*runs));

    for (size_t i = 0; i < n; i++) {
        struct night night = {.start_s = 1.7e9 + 86400.0 * (double)i, .copies = copies[i]};

        add_run(&runs[i], 0, i, &night, arena);
    }
    return runs;
}

static const double twice[] = {5, 5, 5, 5, 9, 9, 9, 9};

Test(trend, another_driver_is_another_series)
{
    struct gmt_arena arena = {0};
    struct gmt_trend_run *runs = runs_of(twice, 8, &arena);
    struct gmt_trend trend;

    cr_assert_eq(gmt_trend_fill(&trend, runs, 8, &arena), 0);
    cr_assert_eq(trend.change_count, 1);
    cr_expect_str_eq(commit_of(&trend, &trend.changes[0]), "c004");
    for (size_t i = 4; i < 8; i++) {
        runs[i].driver = "2.0";
    }
    cr_assert_eq(gmt_trend_fill(&trend, runs, 8, &arena), 0);
    cr_expect_eq(trend.change_count, 0);
    cr_expect_eq(trend.program_count, 2);
    cr_expect(trend.programs[0].has_machines);
    gmt_arena_free(&arena);
}

Test(trend, order_is_that_of_time_and_not_of_files)
{
    struct gmt_arena arena = {0};
    struct gmt_trend_run *runs = runs_of(twice, 8, &arena), *mixed = runs_of(twice, 8, &arena);
    struct gmt_trend trend;

    for (size_t i = 0; i < 8; i++) {
        mixed[i] = runs[i * 3 % 8];
    }
    cr_assert_eq(gmt_trend_fill(&trend, mixed, 8, &arena), 0);
    cr_assert_eq(trend.change_count, 1);
    cr_expect_str_eq(commit_of(&trend, &trend.changes[0]), "c004");
    gmt_arena_free(&arena);
}

/* Several processes of one job are one point, and do not make a level by themselves. */
Test(trend, processes_of_a_job_are_one_point)
{
    static const double copies[] = {5, 5, 5, 5, 5, 9, 9, 9};
    struct gmt_arena arena = {0};
    struct gmt_trend_run *runs = runs_of(copies, 8, &arena);
    struct gmt_trend trend;

    for (size_t i = 5; i < 8; i++) {
        runs[i].job = "one";
    }
    cr_assert_eq(gmt_trend_fill(&trend, runs, 8, &arena), 0);
    cr_expect_eq(trend.change_count, 0);
    cr_expect_eq(trend.programs[0].count, 6);
    gmt_arena_free(&arena);
}

Test(trend, programs_of_one_name_are_distinguished_by_folder)
{
    struct gmt_arena arena = {0};
    struct gmt_trend_run *runs = runs_of(twice, 8, &arena);
    struct gmt_trend trend;

    for (size_t i = 0; i < 8; i++) {
        runs[i].exe = i % 2 == 0 ? "/a/main" : "/b/main";
    }
    cr_assert_eq(gmt_trend_fill(&trend, runs, 8, &arena), 0);
    cr_expect_eq(trend.program_count, 2);
    cr_expect(trend.programs[0].has_paths);
    gmt_arena_free(&arena);
}

/* A rule that could not look has not seen that the finding is gone. */
Test(trend, a_finding_is_gone_only_where_its_rule_could_check)
{
    static const double copies[] = {5, 5, 5, 5, 5, 5, 5, 5};
    static const char *unchecked[] = {"GM101"};
    struct gmt_arena arena = {0};
    struct gmt_trend_run *runs = runs_of(copies, 8, &arena);
    struct night night = {.has = {true}};
    struct gmt_trend trend;

    for (size_t i = 0; i < 4; i++) {
        add_findings(&runs[i], &night, &arena);
    }
    cr_assert_eq(gmt_trend_fill(&trend, runs, 8, &arena), 0);
    cr_assert_eq(trend.change_count, 1);
    cr_expect_eq(trend.changes[0].of, GMT_TREND_OF_FINDING);
    cr_expect(trend.changes[0].is_better);
    for (size_t i = 4; i < 8; i++) {
        runs[i].unchecked = unchecked;
        runs[i].unchecked_count = 1;
    }
    cr_assert_eq(gmt_trend_fill(&trend, runs, 8, &arena), 0);
    cr_expect_eq(trend.change_count, 0);
    gmt_arena_free(&arena);
}

Test(trend, since_leaves_out_what_was_before)
{
    static const double copies[] = {5, 5, 5, 5, 9, 9, 9, 9, 2, 2, 2, 2};
    struct gmt_arena arena = {0};
    struct gmt_trend trend;
    char day[16];

    cr_assert_eq(gmt_trend_fill(&trend, runs_of(copies, 12, &arena), 12, &arena), 0);
    cr_assert_eq(trend.change_count, 2);
    cr_expect_eq(gmt_trend_since(&trend, "c005"), 0);
    cr_assert_eq(trend.change_count, 1);
    cr_expect_str_eq(commit_of(&trend, &trend.changes[0]), "c008");
    cr_expect_eq(gmt_trend_since(&trend, "none"), -ENOENT);
    gmt_trend_day(day, trend.programs[0].runs[8].start_ns);
    cr_expect_eq(gmt_trend_since(&trend, day), 0);
    cr_expect_eq(trend.change_count, 1);
    gmt_trend_day(day, trend.programs[0].runs[9].start_ns);
    cr_expect_eq(gmt_trend_since(&trend, day), 0);
    cr_expect_eq(trend.change_count, 0);
    gmt_arena_free(&arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* More blocks, more warps and more streams are promised only as far as a launch has work for them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

#define COUNTED \
    "INSERT OR IGNORE INTO metric VALUES (42, 'instructions', '-', 'hardware', 'count', '-'), " \
    "(37, 'sm_cycles_active', '-', 'hardware', 'cycles', '-'), " \
    "(43, 'sm_cycles_active_max', '-', 'hardware', 'cycles', '-'), " \
    "(55, 'barrier_stall_cycles', '-', 'hardware', 'cycles', '-'); "

/* 4 blocks of 256 threads; each loads 1000 words, stores one and executes 200,000 instructions. */
#define THOUSAND_SUMS \
    COUNTED "UPDATE kernel_class SET grid_x = 4, block_x = 256, max_blocks_per_sm = 8; " \
            "DELETE FROM kernel_counters; " \
            "INSERT INTO fixture_counter (metric_id, value) VALUES " \
            "(1, 4096000), (3, 128000), (5, 32000), (2, 4096), (4, 128), (6, 32), (11, 0), " \
            "(33, 4096000), (34, 4096), (35, 128000), (36, 128), " \
            "(42, 6400000), (37, 53030), (43, 1750000), (55, 0); "

static const struct gmt_finding *only(struct gmt_fixture *fixture, const char *rule,
                                      const char *name, const char *sql)
{
    gmt_fixture_load(fixture, name);
    gmt_fixture_sql(fixture, sql);
    return gmt_fixture_only(fixture, rule);
}

static bool says(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

Test(items, a_thread_of_one_result_is_not_split)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM504", "fixtures/GM504_positive", THOUSAND_SUMS);

    /* A wave would be 1056 blocks, and 99 % less time. */
    cr_expect_lt(f->saving.best_ns, 0.1 * f->cost_ns);
    cr_expect_gt(f->saving.best_ns, 0.03 * f->cost_ns);
    cr_expect(says(f->fix, "the same 1024 threads in 32 blocks of 32"), "%s", f->fix);
    cr_expect_not(says(f->fix, "1056"), "%s", f->fix);
    cr_expect(says(f->sketch, "kernel<<<32, 32>>>"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
}

/* They wait at barriers for each other's words: no block smaller than half of one. */
Test(items, blocks_that_share_tiles_are_halved_at_most)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture, "GM504", "fixtures/GM504_positive",
        THOUSAND_SUMS "UPDATE kernel_counters SET value = 64000 WHERE metric_id = 11; "
                      "UPDATE kernel_counters SET value = 1000000 WHERE metric_id = 55; "
                      "UPDATE kernel_counters SET value = 25600000 WHERE metric_id = 42");

    cr_expect_eq(f->saving.low_ns, 0);
    cr_expect(f->guess);
    cr_expect(says(f->fix, "in 8 blocks of 128"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

Test(items, nothing_to_split_and_nothing_to_spread_is_a_note)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM504_positive");
    gmt_fixture_sql(&fixture, THOUSAND_SUMS "UPDATE kernel_class SET grid_x = 32, block_x = 32");
    gmt_fixture_analyze(&fixture, "GM504");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_expect(says(fixture.report.notes[0].fix, "more than 1024 threads"), "%s",
              fixture.report.notes[0].fix);
    gmt_fixture_free(&fixture);
}

/* 500 stores per thread, of words of their own: results of at least 83 items. */
Test(items, a_loop_of_stores_is_split_as_far_as_it_goes)
{
    static const char stores[] = THOUSAND_SUMS
        "UPDATE kernel_counters SET value = value * 500 WHERE metric_id IN (2, 4, 6); "
        "UPDATE kernel_counters SET value = value / 10 WHERE metric_id = 42";
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM504", "fixtures/GM504_positive", stores);

    cr_expect_gt(f->saving.best_ns, 0.9 * f->cost_ns);
    cr_expect_eq(f->saving.low_ns, 0, "one word may need the one before");
    cr_expect_not(f->guess);
    cr_expect(says(f->method, "words that a thread stores now (500)"), "%s", f->method);
    cr_expect(says(f->fix, "Launch 333 blocks of 256 threads"), "%s", f->fix);
    gmt_fixture_free(&fixture);
    /* The same word again and again: all that was given to it is 4 KiB. */
    gmt_fixture_load(&fixture, "fixtures/GM504_positive");
    gmt_fixture_sql(&fixture, stores);
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
        "begin_ns, end_ns) VALUES (70, 'device', 1048576, 4096, 1, 1, 4, 1000, 2000); "
        "INSERT INTO launch_argument VALUES (1, 0, 0, 70, 0)");
    gmt_fixture_analyze(&fixture, "GM504");
    const struct gmt_report *r = &fixture.report;
    cr_assert_eq(r->finding_count + r->note_count, 1, "%s", gmt_fixture_found(r));
    f = r->finding_count > 0 ? r->findings : r->notes;
    cr_expect_lt(f->saving.best_ns, 0.1 * f->cost_ns);
    gmt_fixture_free(&fixture);
}

Test(items, without_counters_it_is_half_of_what_smaller_blocks_could_save)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture, "GM504", "fixtures/GM504_positive",
        "UPDATE kernel_class SET grid_x = 4, block_x = 256; DELETE FROM kernel_counters");

    /* Eight warps on one multiprocessor, or one. */
    cr_expect_float_eq(f->saving.best_ns, f->cost_ns * (1 - 1.0 / 8) / 2, 1);
    cr_expect_eq(f->saving.low_ns, 0);
    cr_expect(f->guess);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    gmt_fixture_free(&fixture);
}

/* 30 ms of one block, beside 10 ms of loads with a stride. */
#define LONG_BLOCK \
    "INSERT INTO kernel (id, name, mangled, registers, static_shared_bytes, local_bytes, " \
    "max_threads_per_block) VALUES (2, 'sum', 'sum', 32, 0, 0, 1024); " \
    "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, " \
    "dynamic_shared_bytes, max_blocks_per_sm, theoretical_occupancy) " \
    "VALUES (2, 2, 1, 1, 1, 256, 1, 1, 0, 8, 1.0); " \
    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, " \
    "stack_id, capturing, kind, seq, kernel_id, class_id, grid_x, grid_y, grid_z, block_x, " \
    "block_y, block_z, dynamic_shared_bytes, no_activity, arguments, argument_set_id, " \
    "device_start_ns, device_end_ns) VALUES (910001, 3, 1, 1, 1, 10000000, 10002500, 0, 1, 0, " \
    "'kernel', 101, 2, 2, 1, 1, 1, 256, 1, 1, 0, 0, 'complete', 1, 10010000, 40010000); "

/* Sums into a word of memory: each thread stores 1000 times, and what it reads is const. */
Test(items, what_is_read_only_has_no_room_for_results)
{
    static const char sums[] = THOUSAND_SUMS
        "UPDATE kernel_counters SET value = value * 1000 WHERE metric_id IN (2, 4, 6); "
        "UPDATE kernel_counters SET value = value / 10 WHERE metric_id = 42; "
        "DELETE FROM launch_argument; "
        "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
        "begin_ns, "
        "end_ns) VALUES (71, 'device', 1048576, 4096, 1, 1, 4, 1000, 2000), "
        "(72, 'device', 8388608, 4096000, 1, 1, 4, 3000, 4000); "
        "INSERT INTO launch_argument VALUES (1, 0, 0, 71, 0), (1, 1, 0, 72, 0); ";
    static const struct {
        const char *sql;
        bool split;
    } cases[] = {{"SELECT 1", false},
                 {"UPDATE kernel SET name = 'work(float*, float*, int)'", true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM504_positive");
        gmt_fixture_sql(&fixture, sums);
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, "GM504");
        const struct gmt_report *r = &fixture.report;
        cr_assert_eq(r->finding_count + r->note_count, 1, "%zu: %s", i, gmt_fixture_found(r));
        const struct gmt_finding *f = r->finding_count > 0 ? r->findings : r->notes;
        cr_expect_eq(says(f->fix, "give each thread less"), cases[i].split, "%s", f->fix);
        cr_expect(cases[i].split || f->saving.best_ns < 0.1 * f->cost_ns, "%g", f->saving.best_ns);
        gmt_fixture_free(&fixture);
    }
}

/* 500 words, each after 400 instructions: steps of a walk, for all that is known. */
Test(items, steps_that_may_need_each_other_are_a_guess)
{
    static const char walks[] = THOUSAND_SUMS
        "UPDATE kernel_counters SET value = value * 500 WHERE metric_id IN (2, 4, 6)";
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM504", "fixtures/GM504_positive", walks);

    cr_expect_lt(f->saving.best_ns, 0.6 * f->cost_ns);
    cr_expect_eq(f->saving.low_ns, 0);
    cr_expect(f->guess);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    gmt_fixture_free(&fixture);
}

/* 66 blocks of 33 threads: as many fewer warps leave the others where they are. */
Test(items, whole_warps_below_a_wave_save_what_the_multiprocessors_do_themselves)
{
    static const struct {
        const char *sql;
        double least, most; /* of the time */
    } cases[] = {{COUNTED "INSERT INTO fixture_counter (metric_id, value) VALUES (42, 132000), "
                          "(37, 1000000), (43, 2000000)",
                  0, 0.01},
                 {"SELECT 1", 0.2, 0.3}}; /* not counted: half of 31 lanes of 64 */

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM502_positive");
        gmt_fixture_sql(&fixture, "DELETE FROM kernel_counters; UPDATE kernel_class SET grid_x = "
                                  "66, block_x = 33, block_y = 1, block_z = 1");
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, "GM502");
        const struct gmt_report *r = &fixture.report;
        cr_assert_eq(r->finding_count + r->note_count, 1, "%s", gmt_fixture_found(r));
        const struct gmt_finding *f = r->finding_count > 0 ? r->findings : r->notes;
        double share = f->saving.best_ns / f->cost_ns;
        cr_expect(share >= cases[i].least && share <= cases[i].most, "%zu: %g", i, share);
        gmt_fixture_free(&fixture);
    }
}

/* Five loads of a thread may be a list; those of threads with one each are none. */
Test(items, loads_that_may_need_each_other_promise_nothing_for_certain)
{
    static const struct {
        const char *sql;
        bool certain;
    } cases[] = {
        {"SELECT 1", false},
        {"UPDATE kernel_class SET grid_x = 500000; UPDATE kernel SET registers = 200", true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        const struct gmt_finding *f = only(&fixture, "GM511", "fixtures/GM511_positive",
                                           cases[i].sql);

        cr_expect_gt(f->saving.best_ns, 0.3 * f->cost_ns);
        cr_expect_eq(f->saving.low_ns > 0, cases[i].certain, "%zu: %g", i, f->saving.low_ns);
        cr_expect_eq(says(f->method, "depends on the one before"), !cases[i].certain);
        gmt_fixture_free(&fixture);
    }
}

Test(items, a_guess_does_not_outrank_what_is_known)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, LONG_BLOCK);
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *r = &fixture.report;
    cr_assert_eq(r->finding_count, 2, "%s", gmt_fixture_found(r));
    cr_expect_str_eq(r->findings[0].rule, "GM301");
    cr_expect_str_eq(r->findings[1].rule, "GM510");
    cr_expect_gt(r->findings[1].saving.best_ns, r->findings[0].saving.best_ns);
    cr_expect_lt(r->findings[1].saving.best_ns, 0.51 * r->findings[1].cost_ns);
    /* 15 % of the run, for which what is known is of high severity. */
    cr_expect_eq(r->findings[1].severity, GMT_SEVERITY_MEDIUM);
    gmt_fixture_free(&fixture);
}

Test(items, the_results_of_one_block_show_how_many_threads_can_share_them)
{
    static const struct {
        double stores, least, most; /* each thread; of the time that is saved */
    } cases[] = {{1, 0.4, 0.5}, {64, 0.97, 0.985}, {4096, 0.99, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        char sql[1024];

        snprintf(sql, sizeof(sql),
                 COUNTED "INSERT INTO fixture_counter (metric_id, value) VALUES (2, %f), (6, %f), "
                         "(42, 800000)",
                 cases[i].stores * 1024, cases[i].stores * 8);
        const struct gmt_finding *f = only(&fixture, "GM510", "fixtures/GM510_positive", sql);
        double share = f->saving.best_ns / f->cost_ns;
        cr_expect(share >= cases[i].least && share <= cases[i].most, "%g stores: %g",
                  cases[i].stores, share);
        cr_expect_eq(f->guess, cases[i].stores == 1);
        cr_expect_eq(f->saving.low_ns, 0);
        gmt_fixture_free(&fixture);
    }
}

/* 140 blocks of 8 warps on 132 multiprocessors: registers for more would stay empty. */
Test(items, lifted_limits_bring_no_warps_that_the_launch_has_not)
{
    static const struct {
        const char *sql;
        size_t findings;
    } cases[] = {{"UPDATE kernel_counters SET value = 1120 WHERE metric_id = 6; "
                  "UPDATE kernel_counters SET value = 1120 * 512 WHERE metric_id = 2",
                  0},
                 {"SELECT 1", 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM501_positive");
        gmt_fixture_sql(&fixture, "UPDATE kernel_class SET grid_x = 140");
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, "GM501");
        cr_expect_eq(fixture.report.finding_count, cases[i].findings, "%zu: %s", i,
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

/* Sixteen kernels that keep the schedulers of half of the multiprocessors busy. */
Test(items, side_by_side_kernels_share_the_schedulers)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture, "GM506", "fixtures/GM506_positive",
        COUNTED "UPDATE kernel_class SET grid_x = 66, block_x = 1024, max_blocks_per_sm = 2 "
                "WHERE id = 2; "
                "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, "
                "samples) VALUES (101, 2, 42, 528 * 175000, 'hardware', 'hardware', 1), "
                "(101, 2, 37, 175000, 'hardware', 'hardware', 1)");

    /* Two at once at most, although four fit. */
    cr_expect_float_eq(f->saving.best_ns, f->cost_ns / 2, 0.01 * f->cost_ns);
    gmt_fixture_free(&fixture);
}

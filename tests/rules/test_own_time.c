/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gmtrace's own time in a run of 100 ms, of which ten launches of 1 ms (common.sql): the first, at 60 ms,
 * was counted and has no device time; the others ran from 62.01 to 79.01 ms with pauses of 1 ms.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/compare/compare.h"
#include "reports/model/own_time.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static void analyze(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, NULL);
}

static void expect_own_ms(const char *sql, double ms)
{
    analyze(sql);
    cr_expect_float_eq(fixture.report.own_ns, ms * 1e6, 10, "%s: %.3f ms, expected %.3f", sql,
                       fixture.report.own_ns / 1e6, ms);
    cr_expect_float_eq(fixture.report.recorded_ns, 100e6, 1);
    cr_expect_float_eq(fixture.report.wall_ns, 100e6 - ms * 1e6, 10);
    gmt_fixture_free(&fixture);
}

#define OWN "INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside, launch_seq) VALUES "
#define SYNC_AT(ns) \
    "; INSERT INTO sync (id, api_id, begin_ns, end_ns, result, capturing, kind) VALUES (" #ns \
    ", 3, " #ns ", " #ns " + 1000, 0, 0, 'stream')"

Test(own_time, of_an_idle_device_is_lost_whole)
{
    expect_own_ms(OWN "('setup', 1, 10000000, 30000000, 0, NULL)", 20);
    expect_own_ms(OWN "('setup', 1, 10000000, 30000000, 0, NULL), "
                      "('session', 1, 20000000, 40000000, 0, NULL)",
                  30);
    expect_own_ms(OWN "('setup', 1, -50000000, 30000000, 0, NULL)", 30);
}

Test(own_time, beside_the_program_costs_it_nothing)
{
    expect_own_ms(OWN "('session', 1, 10000000, 30000000, 1, NULL)", 0);
}

/* The host then waits for the kernel that ran meanwhile: it would have waited longer. */
Test(own_time, while_the_device_works_is_lost_only_where_the_host_then_has_slack)
{
    expect_own_ms(OWN "('session', 1, 62100000, 62600000, 0, NULL)" SYNC_AT(62900000), 0);
    /* The device was done at 63.01 ms, 0.29 ms before. */
    expect_own_ms(OWN "('session', 1, 62100000, 62600000, 0, NULL)" SYNC_AT(63300000), 0.29);
    /* Nothing was left to wait for. */
    expect_own_ms(OWN "('session', 1, 62100000, 62600000, 0, NULL)" SYNC_AT(63990000), 0.5);
}

/* 5 ms around the counted launch, of which its kernel takes 1 ms in any case. */
Test(own_time, of_a_counted_launch_is_without_the_time_of_its_kernel)
{
    expect_own_ms(OWN "('launch', 1, 55500000, 60500000, 0, 1)" SYNC_AT(60500000), 4);
    /* The host came 0.4 ms after the kernel had ended: so much of it would have run beside. */
    expect_own_ms(OWN "('launch', 1, 55500000, 60500000, 0, 1)" SYNC_AT(60900000), 4.4);
    expect_own_ms(OWN "('launch', 1, 55500000, 60500000, 0, 1)" SYNC_AT(61900000), 5);
}

/* Hardware counters do not change the kernel that they wait for; the time of a patched one means nothing. */
Test(own_time, knows_a_kernel_that_only_counted_launches_ran)
{
    static const char only[] = "; DELETE FROM launch WHERE seq > 1; UPDATE launch SET measured = ";
    char sql[512];

    snprintf(sql, sizeof(sql), "%s%s'hardware'",
             OWN "('launch', 1, 55500000, 60500000, 0, 1)" SYNC_AT(60500000), only);
    expect_own_ms(sql, 0);
    snprintf(sql, sizeof(sql), "%s%s'patched'",
             OWN "('launch', 1, 55500000, 60500000, 0, 1)" SYNC_AT(60500000), only);
    expect_own_ms(sql, 5);
}

Test(own_time, of_hashing_is_that_of_the_thread_with_most)
{
    expect_own_ms(
        "INSERT INTO transfer (id, api_id, thread_id, begin_ns, end_ns, result, capturing, "
        "direction, blocking, bytes, dst, src, dst_class, src_class) VALUES "
        "(1, 1, 1, 1000000, 1010000, 0, 0, 'h2d', 1, 64, 4096, 8192, 'device', 'pageable'), "
        "(2, 1, 1, 5000000, 5010000, 0, 0, 'h2d', 1, 64, 4096, 8192, 'device', 'pageable'), "
        "(3, 1, 2, 5000000, 5010000, 0, 0, 'h2d', 1, 64, 4096, 8192, 'device', 'pageable'); "
        "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole, hash_ns) VALUES "
        "(1, 'a', 64, 1, 2000000), (2, 'b', 64, 1, 1500000), (3, 'c', 64, 1, 3000000)",
        3.5);
}

Test(own_time, never_leaves_the_program_less_than_its_device_was_busy)
{
    expect_own_ms(
        "INSERT INTO transfer (id, api_id, thread_id, begin_ns, end_ns, result, capturing, "
        "direction, blocking, bytes, dst, src, dst_class, src_class) VALUES "
        "(1, 1, 1, 1000000, 1010000, 0, 0, 'h2d', 0, 64, 4096, 8192, 'device', 'pageable'); "
        "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole, hash_ns) VALUES "
        "(1, 'a', 64, 1, 95000000)",
        90);
}

/* Shares, and with them severities, are of what the program takes. */
Test(own_time, is_in_no_share)
{
    analyze("SELECT 1");
    double share = fixture.report.findings[0].saving.share;
    gmt_fixture_free(&fixture);
    analyze(OWN "('setup', 1, 0, 50000000, 0, NULL)");
    cr_expect_float_eq(fixture.report.findings[0].saving.share, 2 * share, 1e-6);
    cr_expect_float_eq(fixture.report.kernels[0].share, 0.2, 1e-3);
    gmt_fixture_free(&fixture);
}

Test(own_time, is_said_beside_what_was_recorded)
{
    char line[GMT_OWN_TIME_BYTES];

    analyze(OWN "('setup', 1, 0, 40000000, 0, NULL)");
    cr_expect_str_eq(gmt_own_time_line(line, &fixture.report),
                     "recorded 100 ms, gmtrace's own 40.0 ms, program about 60.0 ms");
    gmt_fixture_free(&fixture);
}

Test(own_time, is_unknown_in_earlier_traces)
{
    char line[GMT_OWN_TIME_BYTES];

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_make_earlier(&fixture, "DROP TABLE own_time");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect(isnan(fixture.report.own_ns));
    cr_expect_float_eq(fixture.report.wall_ns, 100e6, 1);
    cr_expect_null(gmt_own_time_line(line, &fixture.report));
    gmt_fixture_free(&fixture);
}

/* Of a trace that knows and one that does not, the recorded times are compared. */
Test(own_time, is_compared_only_with_its_like)
{
    struct gmt_arena arena = {0};
    struct gmt_summary knows, earlier;

    analyze(OWN "('setup', 1, 0, 40000000, 0, NULL)");
    gmt_summary_fill(&knows, &fixture.report, &arena);
    gmt_summaries_time_alike((struct gmt_summary *[]){&knows, &knows}, 2);
    cr_expect_float_eq(knows.values[GMT_FIGURE_wall_ns], 60e6, 1);
    earlier = knows;
    earlier.own_ns = NAN;
    earlier.recorded_ns = earlier.values[GMT_FIGURE_wall_ns] = 100e6;
    gmt_summaries_time_alike((struct gmt_summary *[]){&earlier, &knows}, 2);
    cr_expect_float_eq(knows.values[GMT_FIGURE_wall_ns], 100e6, 1);
    cr_expect_float_eq(earlier.values[GMT_FIGURE_wall_ns], 100e6, 1);
    gmt_fixture_free(&fixture);
    gmt_arena_free(&arena);
}

/* A finding names a call; where that call has another one's stack, its place says so. */
Test(own_time, of_a_limited_overhead_makes_places_estimates)
{
    static const char *const overhead =
        "; INSERT INTO overhead (begin_ns, end_ns, calls, timed_calls, hooks_ns, stacks_ns, "
        "hashing_ns, counters_ns, "
        "budget, stacks_read, stacks_walked, stacks_taken, stack_one_in, hashing, counters, "
        "is_beyond) VALUES "
        "(0, 100000000, 320, 10, 1, 1, 0, 0, 0.01, 40, 1, %d, 8, 1, 1, 0)";
    char sql[768], rows[512];
    for (int taken = 0; taken <= 280; taken += 280) {
        (void)snprintf(rows, sizeof(rows), overhead, taken);
        (void)snprintf(sql, sizeof(sql), "UPDATE launch SET stack_one_in = %s%s",
                       taken != 0 ? "8" : "NULL", rows);
        analyze(sql);
        cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
        const char *note = fixture.report.findings[0].where.note;
        cr_expect_eq(note != NULL && strstr(note, "one call in 8 of this place") != NULL,
                     taken != 0, "%s", note);
        gmt_fixture_free(&fixture);
    }
}

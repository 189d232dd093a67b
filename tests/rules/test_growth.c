/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of a caching allocator that are made all through the run, and what looks like it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

#define MIB 1048576.0

/* Of growing_segments.sql, in SQL: launch N, and what is made right before it. */
#define LAUNCH_AT(N) "(1000000 + (" N ") * 190000)"
#define MADE_AT(N) "(950000 + (" N ") * 190000)"

/* The first `n` segments alone, made evenly until that of 1000 parts of the launches. */
#define SPREAD(N, PARTS) \
    "DELETE FROM allocation WHERE id > " N ";" \
    "DELETE FROM launch_argument WHERE allocation_id > " N ";" \
    "UPDATE allocation SET end_ns = " MADE_AT( \
        "(id - 1) * 500 * " PARTS " / 1000 / (" N \
        " - 1)") ";" \
                 "UPDATE allocation SET begin_ns = end_ns - 20000"

static void load(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load(fixture, "growing_segments");
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, "GM204");
}

static const struct gmt_finding *only_finding(const struct gmt_fixture *fixture)
{
    cr_assert_eq(fixture->report.finding_count, 1, "%s", gmt_fixture_found(&fixture->report));
    return &fixture->report.findings[0];
}

static bool speaks(const char *sql)
{
    struct gmt_fixture fixture;

    load(&fixture, sql);
    size_t findings = fixture.report.finding_count;
    cr_expect_eq(findings + fixture.report.note_count, 1, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
    return findings == 1;
}

/* The last of 50 segments is made before launch 392, the first one before launch 0. */
Test(growth, names_the_line_that_left_the_tensors_behind)
{
    struct gmt_fixture fixture;

    load(&fixture, "");
    const struct gmt_finding *f = only_finding(&fixture);
    cr_expect_str_eq(f->where.label, "train.py:19");
    cr_expect_eq(f->where.line, 19);
    cr_expect_not_null(strstr(f->headline, "grows until the end: +980 MiB in 49 segments"), "%s",
                       f->headline);
    cr_expect_not_null(strstr(f->headline, "last used at train.py:19"), "%s", f->headline);
    cr_expect_not_null(strstr(f->fix, "a list or a cache"), "%s", f->fix);
    cr_expect_float_eq(f->saved_peak_bytes, 980 * MIB, 0.5);
    /* Segments of launches 0 to 96 are the first quarter's. */
    cr_expect_float_eq(gmt_fixture_evidence(f, "grown_after_warm_up"), 37 * 20 * MIB, 0.5);
    cr_expect_float_eq(gmt_fixture_evidence(f, "grown_in_all"), 980 * MIB, 0.5);
    cr_expect_float_eq(gmt_fixture_evidence(f, "peak"), 1000 * MIB, 0.5);
    cr_expect(isnan(f->saving.best_ns));
    gmt_fixture_free(&fixture);
}

/* No use shows that these are segments: two tensors in each leave one distance. So it is with any program that keeps what it makes. */
#define NO_SEGMENTS "UPDATE launch_argument SET allocation_offset = 0 WHERE allocation_id = 1;"

Test(growth, finds_allocations_that_are_no_segments)
{
    struct gmt_fixture fixture;

    load(&fixture, NO_SEGMENTS);
    const struct gmt_finding *f = only_finding(&fixture);
    cr_expect_str_eq(f->where.label, "train.py:19");
    cr_expect_not_null(strstr(f->headline, "grows until the end: +980 MiB in 49 allocations"), "%s",
                       f->headline);
    cr_expect_float_eq(f->saved_peak_bytes, 980 * MIB, 0.5);
    cr_expect_null(strstr(f->fix, "torch"), "%s", f->fix);
    gmt_fixture_free(&fixture);
    /* A note on another line, of one block that is lost, hides nothing. */
    load(&fixture, NO_SEGMENTS
         "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
         "stack_id, "
         "begin_ns, end_ns) VALUES (1001, 'device', 2199023255552, 4194304, 1, 1, 4, 4, 100, 200), "
         "(1002, 'device', 2199123255552, 4194304, 1, 1, 4, 4, 1100000, 1100200);"
         "INSERT INTO launch_argument SELECT argument_set_id, 5, 0, 1001, 0 FROM launch WHERE seq "
         "= 1;"
         "INSERT INTO launch_argument SELECT argument_set_id, 5, 0, 1002, 0 FROM launch WHERE seq "
         "= 2");
    cr_expect_eq(only_finding(&fixture)->where.line, 19);
    cr_expect_geq(fixture.report.note_count, 1);
    gmt_fixture_free(&fixture);
}

/* A pool that is destroyed at the end of main has grown all the same. */
Test(growth, finds_segments_that_are_given_back_in_the_end)
{
    struct gmt_fixture fixture;

    load(&fixture, "UPDATE allocation SET free_api_id = 5, free_thread_id = 1, "
                   "free_begin_ns = 99000000, free_end_ns = 99000100");
    cr_expect_str_eq(only_finding(&fixture)->where.label, "train.py:19");
    gmt_fixture_free(&fixture);
}

Test(growth, leaves_allocations_that_the_program_frees_in_the_end)
{
    struct gmt_fixture fixture;

    load(&fixture, NO_SEGMENTS "UPDATE allocation SET free_api_id = 5, free_thread_id = 1, "
                               "free_begin_ns = 99000000, free_end_ns = 99000100");
    cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
    cr_expect_not(speaks(NO_SEGMENTS SPREAD("50", "200")));
}

/* What was made once, while the program warmed up, is not promised back. */
Test(growth, promises_no_more_of_the_first_quarter_than_of_the_others)
{
    struct gmt_fixture fixture;

    load(&fixture, "UPDATE allocation SET bytes = 1048576000 WHERE id = 2");
    const struct gmt_finding *f = only_finding(&fixture);
    cr_expect_float_eq(gmt_fixture_evidence(f, "grown_in_all"), 1960 * MIB, 0.5);
    cr_expect_float_eq(gmt_fixture_evidence(f, "grown_after_warm_up"), 740 * MIB, 0.5);
    /* 11 of 12 segments of the quarter: a mean one after it has 12.3. */
    cr_expect_float_eq(f->saved_peak_bytes, (740 + 11 * 20) * MIB, 0.5);
    cr_expect_float_eq(gmt_fixture_evidence(f, "allocations"), 48, 0);
    gmt_fixture_free(&fixture);
}

Test(growth, names_the_line_that_asked_where_nothing_lies_idle)
{
    static const char *const cases[] = {
        "DELETE FROM launch_argument WHERE allocation_id > 1",
        /* all is used in each step again, as by torch.cat of the list */
        "INSERT INTO launch_argument SELECT argument_set_id, 1, 0, a.id, 8388608 FROM launch l "
        "JOIN allocation a ON a.end_ns < l.begin_ns WHERE l.seq % 4 = 2;"
        "INSERT INTO launch_argument SELECT argument_set_id, 1, 0, a.id, 0 FROM launch l "
        "JOIN allocation a ON a.end_ns < l.begin_ns WHERE l.seq % 4 = 2",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        load(&fixture, cases[i]);
        const struct gmt_finding *f = only_finding(&fixture);
        cr_expect_str_eq(f->where.label, "train.py:13", "%s", cases[i]);
        cr_expect_not_null(strstr(f->headline, "mostly made at train.py:13"), "%s", f->headline);
        gmt_fixture_free(&fixture);
    }
}

/* The program that runs out of memory is the one that needs it most. */
Test(growth, needs_no_normal_end)
{
    cr_expect(speaks("UPDATE process SET end_reason = 'killed'"));
    cr_expect(speaks("UPDATE launch SET arguments = 'unknown'"));
}

Test(growth, is_quiet_where_memory_reaches_a_level)
{
    /* the twin: three segments, in the first steps */
    cr_expect_not(speaks("DELETE FROM launch_argument WHERE allocation_id > 3; "
                         "DELETE FROM allocation WHERE id > 3"));
    /* a cache that fills in the first phase */
    cr_expect_not(speaks(SPREAD("50", "200")));
    /* shapes of which ever fewer are new: four fifths in the first quarter */
    cr_expect_not(speaks("UPDATE allocation SET end_ns = " MADE_AT(
        "50 * id / (55 - id)") "; UPDATE allocation SET begin_ns = end_ns - 20000"));
    /* a cache of keys and values: five requests, each gives back what it took */
    cr_expect_not(speaks(
        "UPDATE allocation SET free_api_id = 5, free_thread_id = 1, "
        "free_begin_ns = " LAUNCH_AT(
            "80 * ((id - 1) / 10 + 1) - 4") ", "
                                            "free_end_ns = " LAUNCH_AT(
                                                "80 * ((id - 1) / 10 + 1) - 4") " + 5000 "
                                                                                "WHERE id BETWEEN "
                                                                                "2 AND 40"));
    /* all is freed before the last launches */
    cr_expect_not(speaks(
        "UPDATE allocation SET free_api_id = 5, free_thread_id = 1, "
        "free_begin_ns = " LAUNCH_AT("495") ", free_end_ns = " LAUNCH_AT("496") " WHERE id > 1"));
}

/* What is given back in each step and taken again hides no growth. */
Test(growth, is_seen_beside_segments_that_come_and_go)
{
    cr_expect(speaks("UPDATE allocation SET free_api_id = 5, free_thread_id = 1, "
                     "free_begin_ns = end_ns + 1000000, free_end_ns = end_ns + 1005000 "
                     "WHERE id % 3 = 2"));
}

/* ---- boundaries ------------------------------------------------------------------------------------ */

Test(growth, ends_before_the_last_third_where_it_has_a_level)
{
    cr_expect(speaks(SPREAD("50", "700")));
    cr_expect_not(speaks(SPREAD("50", "600")));
}

/* One before the first launch, and then as many in each quarter. */
Test(growth, takes_three_segments_in_each_quarter)
{
    cr_expect(speaks(SPREAD("13", "900")));
    cr_expect_not(speaks(SPREAD("9", "900")));
}

/* Of 10 MiB in the last quarter: 0.6 of the mean of the three; of 6 MiB: 0.39. */
Test(growth, takes_half_of_an_even_growth_in_each_quarter)
{
    cr_expect(speaks(SPREAD("41", "900") "; UPDATE allocation SET bytes = 10485760 WHERE id > 31"));
    cr_expect_not(
        speaks(SPREAD("41", "900") "; UPDATE allocation SET bytes = 6291456 WHERE id > 31"));
}

/* ---- devices, and statements ----------------------------------------------------------------------- */

Test(growth, is_found_on_the_device_that_has_it)
{
    struct gmt_fixture fixture;

    load(&fixture, "INSERT INTO device (id, name, memory_bytes) VALUES (1, 'Other', 150000000000);"
                   "INSERT INTO context VALUES (2, 1, 2);"
                   "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, "
                   "api_id, stack_id, begin_ns, end_ns) VALUES (100, 'device', 1 << 30, "
                   "8589934592, 2, 1, 4, 2, 500, 1000)");
    const struct gmt_finding *f = only_finding(&fixture);
    cr_expect_float_eq(f->saved_peak_bytes, 980 * MIB, 0.5);
    cr_expect_float_eq(gmt_fixture_evidence(f, "peak"), 1000 * MIB, 0.5);
    gmt_fixture_free(&fixture);
}

Test(growth, has_a_statement_that_counts_the_same)
{
    struct gmt_fixture fixture;
    sqlite3_stmt *statement;

    load(&fixture, "");
    const struct gmt_finding *f = only_finding(&fixture);
    cr_assert_eq(sqlite3_prepare_v2(fixture.db, f->sql, -1, &statement, NULL), SQLITE_OK, "%s",
                 f->sql);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    cr_expect_float_eq(sqlite3_column_double(statement, 0), gmt_fixture_evidence(f, "allocations"),
                       0, "%s", f->sql);
    cr_expect_float_eq(sqlite3_column_double(statement, 1), gmt_fixture_evidence(f, "bytes"), 0);
    sqlite3_finalize(statement);
    gmt_fixture_free(&fixture);
}

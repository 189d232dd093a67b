/* SPDX-License-Identifier: Apache-2.0 */
/* Which range a call and a finding belong to, and what --range leaves of a trace. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/named_ranges.h"
#include "tests/rules/fixture.h"

static void load(struct gmt_fixture *fixture)
{
    char *sql = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/named_ranges.sql");

    gmt_fixture_load(fixture, "golden/trace");
    cr_assert_not_null(sql);
    gmt_fixture_sql(fixture, sql);
    free(sql);
}

static const char *range_of(const struct gmt_report *report, const char *rule)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        if (strcmp(report->findings[i].rule, rule) == 0) {
            return report->findings[i].range != NULL ? report->findings[i].range : "none";
        }
    }
    return "no finding";
}

static const struct gmt_range_row *row_of(const struct gmt_report *report, const char *label)
{
    for (size_t i = 0; i < report->range_count; i++) {
        if (strcmp(report->ranges[i].label, label) == 0) {
            return &report->ranges[i];
        }
    }
    cr_assert_fail("no range '%s'", label);
    return NULL;
}

Test(named_ranges, a_finding_is_in_the_innermost_range_of_its_calls)
{
    struct gmt_fixture fixture;

    load(&fixture);
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_str_eq(range_of(&fixture.report, "GM101"), "fetch@loader");
    /* Twenty names that differ in a number: one range of twenty times. */
    cr_expect_str_eq(range_of(&fixture.report, "GM102"), "step #");
    cr_expect_eq(row_of(&fixture.report, "step #")->count, 20);
    cr_expect_float_eq(row_of(&fixture.report, "step #")->host_ns, 20 * 801000.0, 1);
    cr_expect_eq(row_of(&fixture.report, "fetch@loader")->findings, 1);
    cr_expect_gt(row_of(&fixture.report, "fetch@loader")->best_ns, 0);
    cr_expect_eq(row_of(&fixture.report, "epoch")->findings, 0);
    /* Another thread's range has nothing to do with them. */
    cr_expect_eq(row_of(&fixture.report, "elsewhere")->findings, 0);
    /* Kernels run in none of the thread, so in that of the process. */
    cr_expect_eq(row_of(&fixture.report, "all")->count, 1);
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        if (fixture.report.findings[i].where.kernel != NULL) {
            cr_expect_str_eq(fixture.report.findings[i].range, "all");
        }
    }
    gmt_fixture_free(&fixture);
}

Test(named_ranges, work_of_the_device_belongs_to_the_call_that_made_it)
{
    struct gmt_fixture fixture;

    load(&fixture);
    /* Its kernels run long after it. */
    gmt_fixture_sql(&fixture,
                    "DELETE FROM range; INSERT INTO string VALUES (60, 'launching');"
                    "INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, "
                    "depth) SELECT id, 'push', 1, NULL, 60, begin_ns - 1, "
                    "begin_ns + 1, 0 FROM launch");
    gmt_fixture_analyze(&fixture, NULL);
    size_t kernels = 0;
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        if (fixture.report.findings[i].where.kernel == NULL) {
            continue;
        }
        kernels++;
        cr_expect_str_eq(fixture.report.findings[i].range, "launching");
    }
    cr_expect_gt(kernels, 0);
    gmt_fixture_free(&fixture);
}

Test(named_ranges, less_than_half_of_the_cost_names_no_range)
{
    struct gmt_fixture fixture;

    load(&fixture);
    gmt_fixture_sql(&fixture, "DELETE FROM range WHERE id <> 2;"
                              "UPDATE range SET end_ns = 3000000");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_str_eq(range_of(&fixture.report, "GM101"), "none");
    gmt_fixture_free(&fixture);
}

/* As of the modules of a network. */
Test(named_ranges, less_than_half_in_each_names_the_range_around_them)
{
    struct gmt_fixture fixture;

    load(&fixture);
    gmt_fixture_sql(&fixture,
                    "DELETE FROM range WHERE id BETWEEN 2 AND 4;"
                    "INSERT INTO string VALUES (60, 'layer'), (61, 'a'), (62, 'b'), (63, 'c');"
                    "INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, "
                    "depth) VALUES (10, 'push', 1, NULL, 60, 940000, 7100000, 1),"
                    /* One name within itself, and one of another domain that ended before. */
                    "(11, 'push', 1, NULL, 60, 940001, 7099999, 2),"
                    "(12, 'push', 1, 52, 51, 940002, 940003, 0),"
                    "(13, 'push', 1, NULL, 61, 950000, 3000000, 3),"
                    "(14, 'push', 1, NULL, 62, 3000001, 5000000, 3),"
                    "(15, 'push', 1, NULL, 63, 5000001, 7000000, 3)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_str_eq(range_of(&fixture.report, "GM101"), "layer");
    cr_expect_eq(row_of(&fixture.report, "layer")->findings, 1);
    cr_expect_eq(row_of(&fixture.report, "epoch")->findings, 0);
    gmt_fixture_free(&fixture);
}

Test(named_ranges, few_names_stay_apart)
{
    struct gmt_fixture fixture;

    load(&fixture);
    gmt_fixture_sql(&fixture, "DELETE FROM range WHERE id > 105");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_eq(row_of(&fixture.report, "step 5")->count, 1);
    gmt_fixture_free(&fixture);
}

Test(named_ranges, overlapping_domains_and_open_ranges)
{
    struct gmt_fixture fixture;
    struct gmt_named_ranges all;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture,
                    "INSERT INTO string VALUES (50, 'a'), (51, 'b'), (52, 'c'), (53, 'open');"
                    "INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, "
                    "depth) VALUES (1, 'push', 1, NULL, 50, 100, 500, 0),"
                    "(2, 'push', 1, 50, 51, 200, 700, 0), (3, 'push', 1, NULL, 52, 300, 400, 1),"
                    "(4, 'push', 3, NULL, 53, 1000, NULL, 0)");
    gmt_fixture_analyze(&fixture, "GM101");
    cr_assert_eq(gmt_named_ranges_load(&all, &fixture.timeline), 0);
    static const struct {
        int64_t thread, at_ns;
        const char *name;
    } cases[] = {{1, 99, NULL},  {1, 150, "a"},        {1, 250, "b"},  {1, 350, "c"},
                 {1, 450, "b"},  {1, 600, "b"},        {1, 800, NULL}, {2, 250, NULL},
                 {3, 999, NULL}, {3, 99999999, "open"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int32_t range = gmt_named_ranges_at(&all, cases[i].thread, cases[i].at_ns);
        const char *name = range >= 0 ? all.groups[all.ranges[range].group].name : NULL;

        cr_expect(cases[i].name == NULL ? name == NULL
                                        : name != NULL && strcmp(name, cases[i].name) == 0,
                  "at %lld: %s", (long long)cases[i].at_ns, name != NULL ? name : "none");
    }
    gmt_named_ranges_free(&all);
    gmt_fixture_free(&fixture);
}

static void expect_count(sqlite3 *db, const char *table, int count)
{
    sqlite3_stmt *statement = NULL;
    char sql[96];

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    cr_expect_eq(sqlite3_column_int(statement, 0), count, "%s: %d", table,
                 sqlite3_column_int(statement, 0));
    sqlite3_finalize(statement);
}

Test(named_ranges, a_limit_leaves_the_calls_inside)
{
    static const struct {
        const char *name;
        int copies, launches;
    } cases[] = {{"epoch", 500, 0}, {"fetch", 500, 0}, {"fetch@loader", 500, 0},
                 {"step 3", 1, 0},  {"all", 521, 11},  {"elsewhere", 0, 0}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        char message[256] = "";

        load(&fixture);
        cr_assert_eq(gmt_range_limit(fixture.db, cases[i].name, message, sizeof(message)), 0, "%s",
                     message);
        expect_count(fixture.db, "transfer", cases[i].copies);
        expect_count(fixture.db, "launch", cases[i].launches);
        expect_count(fixture.db, "allocation", 1);
        gmt_fixture_analyze(&fixture, NULL);
        cr_expect_eq(fixture.report.transfers, (uint64_t)cases[i].copies);
        gmt_fixture_free(&fixture);
    }
}

Test(named_ranges, an_unknown_name_says_which_there_are)
{
    struct gmt_fixture fixture;
    char message[256] = "";

    load(&fixture);
    cr_assert_eq(gmt_range_limit(fixture.db, "epoche", message, sizeof(message)), -ENOENT);
    cr_expect_not_null(strstr(message, "'epoche'; the most frequent are: all, elsewhere, epoch"),
                       "%s", message);
    gmt_fixture_sql(&fixture, "DROP VIEW v_range; DROP TABLE range");
    cr_assert_eq(gmt_range_limit(fixture.db, "epoch", message, sizeof(message)), -ENOENT);
    cr_expect_not_null(strstr(message, "the trace has none"), "%s", message);
    gmt_fixture_free(&fixture);
}

/* Traces of earlier versions. */
Test(named_ranges, a_trace_without_the_table_has_no_ranges)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture, "DROP VIEW v_range; DROP TABLE range");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_eq(fixture.report.range_count, 0);
    cr_expect_str_eq(range_of(&fixture.report, "GM101"), "none");
    gmt_fixture_free(&fixture);
}

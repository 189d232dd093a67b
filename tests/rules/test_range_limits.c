/* SPDX-License-Identifier: Apache-2.0 */
/* How many paths of ranges a report distinguishes and names. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/summary/range_paths.h"
#include "tests/rules/range_trace.h"

/* Each of more names than are distinguished lies in "step", and holds one range of "conv". */
Test(range_limits, the_number_of_paths_is_limited)
{
    struct gmt_fixture fixture;
    struct gmt_named_ranges all;
    struct gmt_range_paths paths = {0};
    size_t count = 0;

    load(&fixture, "(1, 'push', 1, NULL, 60, 1000000, 100000000, 0)");
    gmt_fixture_sql(
        &fixture,
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 39999) SELECT i FROM n;"
        "INSERT INTO string SELECT 1000 + i, char(97 + i % 26, 97 + i / 26 % 26, 97 + i / 676 % "
        "26, "
        "97 + i / 17576) FROM n;"
        "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) "
        "SELECT 2 * i + 2, 'push', 1, 1000 + i, 2000000 + i * 1000, 2000800 + i * 1000, 1 FROM n "
        "UNION ALL SELECT 2 * i + 3, 'push', 1, 62, 2000100 + i * 1000, 2000200 + i * 1000, 2 "
        "FROM n;"
        /* In the last one, which has no path of its own. */
        "UPDATE launch SET begin_ns = 41999150, end_ns = 41999160 WHERE id = 900002");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;

    cr_assert_eq(gmt_named_ranges_load(&all, &fixture.timeline), 0);
    cr_assert_eq(gmt_range_paths_make(&paths, &all, &fixture.timeline, false), 0);
    /* With others in "step", and in the last one that has a path. */
    cr_expect_eq(paths.count, 65538, "%zu", paths.count);
    gmt_range_paths_free(&paths);
    gmt_named_ranges_free(&all);
    cr_expect_leq(report->range_node_count, 2000);
    for (size_t i = 0; i < report->range_node_count; i++) {
        count += report->range_nodes[i].count;
    }
    cr_expect_eq(count, 80001, "%zu", count);
    const struct gmt_range_node *others = node_at(report, "step > (others)");

    cr_expect_eq(others->launches, 1);
    cr_expect_eq(node_at(report, "step")->launches, 10);
    expect_ms(node_at(report, "step")->host_self_ns, 99 - 40000 * 0.0008, "step itself");
    gmt_fixture_free(&fixture);
}

/* 2000 ranges of the process that overlap, the later the shorter: all are open when the launches are made. */
Test(range_limits, what_lies_in_several_of_the_others_counts_once)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 2, NULL, 60, 1000000, 1000001, 0)");
    gmt_fixture_sql(
        &fixture,
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 1999) SELECT i FROM n;"
        "INSERT INTO string SELECT 1000 + i, char(97 + i % 26, 97 + i / 26 % 26, 97 + i / 676) "
        "FROM n;"
        "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) "
        "SELECT 1000 + i, 'start', 1, 1000 + i, 2000000 + i * 1000, 90000000 + i * 500, 0 FROM n");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;
    const struct gmt_range_node *others = NULL;

    for (size_t i = 0; i < report->range_node_count; i++) {
        if (report->range_nodes[i].others && report->range_nodes[i].of_process) {
            others = &report->range_nodes[i];
        }
    }
    cr_assert_not_null(others);
    cr_expect_eq(others->count, 1000);
    cr_expect_eq(others->launches, 10);
    expect_ms(others->device_ns, 10, "each kernel once");
    cr_expect_leq(others->findings, report->finding_count);
    /* From the first of them to the end of the last, less nine kernels. */
    expect_ms(others->idle_ns, 90.9995 - 3 - 9, "idle in any");
    gmt_fixture_free(&fixture);
}

/* The copies lie in "layer" of three parts, which is shorter than a thousand others: it has no node. */
Test(range_limits, a_finding_names_its_range_where_the_tree_does_not)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO string VALUES (60, 'layer'), (61, 'one'), (62, 'two'), (63, 'three');"
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 1999) SELECT i FROM n;"
        "INSERT INTO string SELECT 1000 + i, char(97 + i % 26, 97 + i / 26 % 26, 97 + i / 676) "
        "FROM n;"
        "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) "
        "SELECT 1000 + i, 'push', 2 + i, 1000 + i, 0, 90000000, 0 FROM n;"
        "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) VALUES "
        "(1, 'push', 1, 60, 940000, 7100000, 0), (2, 'push', 1, 61, 950000, 3000000, 1),"
        "(3, 'push', 1, 62, 3000001, 5000000, 1), (4, 'push', 1, 63, 5000001, 7000000, 1)");
    gmt_fixture_analyze(&fixture, "GM101");
    const struct gmt_report *report = &fixture.report;

    cr_assert_eq(report->finding_count, 1);
    cr_expect_str_eq(report->findings[0].range, "layer");
    cr_expect_eq(node_at(report, "(others)")->findings, 1);
    gmt_fixture_free(&fixture);
}

/* More paths than a report names: what it keeps is the largest of each range, and each has what lies in it. */
Test(range_limits, of_more_paths_than_are_named_each_range_keeps_its_own)
{
    enum { OUTER = 30, INNER = 40 };
    struct gmt_fixture fixture;
    unsigned inner_of[OUTER] = {0}, outer = 0;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, 59910000, 0)");
    gmt_fixture_sql(&fixture,
                    "DELETE FROM range; CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 "
                    "UNION ALL SELECT i + "
                    "1 FROM n WHERE i < 1199) SELECT i, i / 40 AS o, i % 40 AS k FROM n; "
                    "INSERT INTO string SELECT 1000 + o, 'outer ' || char(97 + o / 26, 97 + o % "
                    "26) FROM n GROUP BY o; "
                    "INSERT INTO string SELECT 2000 + i, 'inner ' || char(97 + o / 26, 97 + o % "
                    "26, 97 + k / 26, 97 + "
                    "k % 26) FROM n; "
                    "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) "
                    "SELECT 1 + o, 'push', 1, 1000 + o, 1000000 * (10 + o), 1000000 * (10 + o) + "
                    "900000, 0 FROM n "
                    "GROUP BY o; "
                    "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) "
                    "SELECT 100 + i, 'push', 1, 2000 + i, 1000000 * (10 + o) + 20000 * k + 1000, "
                    "1000000 * (10 + o) + "
                    "20000 * k + 15000, 1 FROM n");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;

    cr_expect_geq(report->range_node_count, GMT_RANGE_NODES_MOST * 9 / 10);
    cr_expect_leq(report->range_node_count, GMT_RANGE_NODES_MOST + OUTER);
    for (size_t i = 0; i < report->range_node_count; i++) {
        const struct gmt_range_node *node = &report->range_nodes[i];

        if (node->parent < 0) {
            outer++;
        } else if (node->label != NULL) {
            size_t of = outer - 1;

            cr_assert_lt(of, OUTER);
            cr_expect(strncmp(node->label + 6, report->range_nodes[node->parent].label + 6, 2) == 0,
                      "%s lies in %s", node->label, report->range_nodes[node->parent].label);
            inner_of[of]++;
        }
    }
    cr_expect_eq(outer, OUTER);
    unsigned named = 0;
    for (size_t i = 0; i < OUTER; i++) {
        named += inner_of[i] > 0;
    }
    cr_expect_geq(named, OUTER * 2 / 3, "%u ranges have something named in them", named);
    gmt_fixture_free(&fixture);
}

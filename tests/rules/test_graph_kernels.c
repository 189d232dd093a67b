/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that launches of graphs ran. The class of common.sql (ten launches of 1 ms, the first measured) was
 * also captured, at stack 1, and a graph that was launched from there ran it five times for 2 ms.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/open.h"
#include "analyzer/query.h"
#include "tests/rules/page_reader.h"

static struct gmt_fixture fixture;

#define LAUNCH \
    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, " \
    "stack_id, capturing, kind, seq, kernel_id, class_id, no_activity, arguments) VALUES "
#define CAPTURED(id, class) \
    LAUNCH "(" #id ", 3, 1, 1, 1, 1000, 2000, 0, 1, 1, 'kernel', " #id \
           ", 1, " #class ", 0, 'complete'); "
#define GRAPH \
    LAUNCH \
    "(700, 3, 1, 1, 1, 80000000, 80005000, 0, 1, 0, 'graph', 700, NULL, NULL, 0, 'unknown'); "
#define NAME "INSERT INTO string VALUES (900, '_Z4workPfPKfi'), (901, '_Z5otherv'); "
/* Five operations of the graph's launch: each of so many ns, of the kernel of that name and grid. */
#define NODES(name, grid, ns) \
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4) " \
    "INSERT INTO device_op (kind, context_id, device_id, correlation, graph, start_ns, end_ns, " \
    "kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, call_id) " \
    "SELECT 'kernel', 1, 0, 700, 5, 80010000 + i * 3000000, 80010000 + i * 3000000 + " #ns \
    ", " #name ", " #grid ", 1, 1, 256, 1, 1, 700 FROM n; "
/* Another class of that kernel, of the same grid and block: they differ in shared memory. */
#define TWIN \
    "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, " \
    "dynamic_shared_bytes) VALUES (2, 1, 100000, 1, 1, 256, 1, 1, 4096); "
#define NOT_BY_THEMSELVES "DELETE FROM launch WHERE kind = 'kernel' AND capturing = 0; "

static void analyze(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, NULL);
}

static const struct gmt_kernel_row *row_of(int64_t class_id)
{
    for (size_t i = 0; i < fixture.report.kernel_count; i++) {
        if (fixture.report.kernels[i].class_id == class_id)
            return &fixture.report.kernels[i];
    }
    return NULL;
}

static const struct gmt_finding *finding_of(const char *rule)
{
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        if (strcmp(fixture.report.findings[i].rule, rule) == 0)
            return &fixture.report.findings[i];
    }
    return NULL;
}

static const struct gmt_gap *gap_about(const char *text)
{
    for (size_t i = 0; i < fixture.report.gap_count; i++) {
        if (strstr(fixture.report.gaps[i].why, text) != NULL)
            return &fixture.report.gaps[i];
    }
    return NULL;
}

Test(graph_kernels, add_to_the_launches_and_the_time_of_their_class)
{
    analyze(NAME CAPTURED(600, 1) GRAPH NODES(900, 100000, 2000000));
    const struct gmt_kernel_row *row = row_of(1);

    cr_assert_not_null(row);
    cr_expect_eq(row->launches, 15);
    cr_expect_eq(row->in_graphs, 5);
    cr_expect_eq(row->measured, 1);
    /* Nine of 1 ms and five of 2 ms: the median is 1 ms. */
    cr_expect_float_eq(row->device_ns, 15e6, 1);
    cr_expect_null(gap_about("graphs"));
    gmt_fixture_free(&fixture);
}

Test(graph_kernels, have_findings_at_the_captured_call)
{
    analyze(NAME CAPTURED(600, 1)
                GRAPH NODES(900, 100000, 2000000) "DELETE FROM launch WHERE kind = 'kernel' AND "
                                                  "capturing = 0 AND measured IS NULL; ");
    const struct gmt_finding *finding = finding_of("GM301");

    cr_assert_not_null(finding);
    cr_expect_str_eq(finding->where.label, "app.cu:42");
    cr_assert_not_null(finding->where.graph);
    cr_expect_not_null(strstr(finding->where.graph, "5 of 6 runs in graphs, launched at app.cu:42"),
                       "%s", finding->where.graph);
    cr_expect_not_null(strstr(finding->where.graph, "captured"));
    cr_expect_float_eq(gmt_fixture_evidence(finding, "launches_in_graphs"), 5, 0);
    /* Six launches of 2 ms; the part that strided loads cost is saved in all of them. */
    cr_expect_float_eq(finding->cost_ns, 12e6, 1);
    cr_expect(fixture.report.combined.best_ns > 0.9 * finding->saving.best_ns);
    gmt_fixture_free(&fixture);
}

Test(graph_kernels, that_were_never_measured_are_named_with_what_helps)
{
    analyze(NAME CAPTURED(600, 1) GRAPH NODES(900, 100000, 2000000) NOT_BY_THEMSELVES);
    const struct gmt_kernel_row *row = row_of(1);
    const struct gmt_gap *gap = gap_about(
        "1 kernel class (10.0 ms of device time) only ran in graphs");

    cr_assert_not_null(row);
    cr_expect_eq(row->launches, 5);
    cr_expect_float_eq(row->device_ns, 10e6, 1);
    cr_assert_not_null(gap);
    cr_assert_not_null(gap->remedy);
    cr_expect_not_null(strstr(gap->remedy, "before it is captured"));
    gmt_fixture_free(&fixture);
}

Test(graph_kernels, that_were_never_measured_are_named_where_nothing_was)
{
    static const char nothing[] = NAME CAPTURED(600, 1) GRAPH NODES(900, 100000, 2000000)
        NOT_BY_THEMSELVES "DELETE FROM kernel_counters; ";
    static const char on[] = "INSERT INTO capability VALUES ('counters', 'ok', 0, NULL, NULL)";

    analyze(nothing);
    cr_expect_null(gap_about("only ran in graphs"), "counters were not asked for");
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, nothing);
    gmt_fixture_sql(&fixture, on);
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_not_null(gap_about("only ran in graphs"));
    gmt_fixture_free(&fixture);
}

/* Shared memory is not in the record of an operation: what was captured tells which class it is. */
Test(graph_kernels, of_two_classes_are_of_the_one_that_was_captured)
{
    analyze(NAME TWIN CAPTURED(600, 2) GRAPH NODES(900, 100000, 2000000));
    cr_assert_not_null(row_of(2));
    cr_expect_eq(row_of(2)->in_graphs, 5);
    cr_expect_eq(row_of(1)->in_graphs, 0);
    gmt_fixture_free(&fixture);
}

Test(graph_kernels, that_are_of_no_certain_class_are_counted_as_such)
{
    static const char *const cases[] = {
        /* of either class: both were captured, or neither */
        NAME TWIN CAPTURED(600, 1) CAPTURED(601, 2) GRAPH NODES(900, 100000, 2000000),
        NAME TWIN GRAPH NODES(900, 100000, 2000000),
        /* another kernel, another grid */
        NAME CAPTURED(600, 1) GRAPH NODES(901, 100000, 2000000),
        NAME CAPTURED(600, 1) GRAPH NODES(900, 99999, 2000000),
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        analyze(cases[i]);
        cr_expect_eq(row_of(1)->in_graphs, 0, "case %zu", i);
        cr_expect_eq(row_of(1)->launches, 10, "case %zu", i);
        cr_expect_not_null(gap_about("5 kernels of graphs (10.0 ms of device time)"), "case %zu",
                           i);
        gmt_fixture_free(&fixture);
    }
}

/* Kernels of graphs lie on the device, where they ran; they are no calls of the host. */
Test(graph_kernels, are_on_the_timeline)
{
    struct gmt_page_read page;
    json_t *kinds, *kind;
    size_t i, node = 0, found = 0;

    analyze(NAME CAPTURED(600, 1) GRAPH NODES(900, 100000, 2000000));
    gmt_page_of_fixture(&fixture, &page);
    kinds = json_object_get(json_object_get(page.head, "names"), "kind");
    json_array_foreach(kinds, i, kind)
    {
        if (strcmp(json_string_value(kind), "node") == 0)
            node = i;
    }
    cr_assert_gt(node, 0);
    double *column[] = {
        gmt_page_column(&page, "call", "kind"),      gmt_page_column(&page, "call", "begin"),
        gmt_page_column(&page, "call", "host_ns"),   gmt_page_column(&page, "call", "device_start"),
        gmt_page_column(&page, "call", "device_ns"), gmt_page_column(&page, "call", "kernel")};
    for (i = 0; i < gmt_page_rows(&page, "call"); i++) {
        if (column[0][i] != (double)node)
            continue;
        cr_expect_float_eq(column[1][i], 80010000 + (double)found * 3000000, 1);
        cr_expect(isnan(column[2][i]));
        cr_expect_float_eq(column[3][i], 0, 0);
        cr_expect_float_eq(column[4][i], 2000000, 0);
        cr_expect_float_eq(column[5][i], 0, 0);
        found++;
    }
    cr_expect_eq(found, 5);
    for (i = 0; i < sizeof(column) / sizeof(column[0]); i++)
        free(column[i]);
    gmt_page_read_free(&page);
    gmt_fixture_free(&fixture);
}

/* tests/data/README.md: 20 launches of a captured graph with two kernels, on an H200. */
Test(graph_kernels, of_a_recording_have_all_of_their_time)
{
    char folder[] = "/tmp/gmtrace-graph.XXXXXX", path[128], command[512], message[256] = "";
    double recorded = NAN;
    struct gmt_query query;

    fixture = (struct gmt_fixture){0};
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/trace.db", folder);
    snprintf(command, sizeof(command), "gzip -dc '%s/tests/data/graph.db.gz' > %s", GMT_SOURCE_DIR,
             path);
    /* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a test's own fixed command. */
    cr_assert_eq(system(command), 0);
    int rc = gmt_open_trace(path, &fixture.db, message, sizeof(message));
    cr_assert_eq(rc, 0, "%s", message);
    gmt_fixture_analyze(&fixture, NULL);
    rc = gmt_query_open(&query, fixture.db,
                        "SELECT sum(end_ns - start_ns) FROM device_op WHERE kind = 'kernel'");
    if (rc == 0 && gmt_query_next(&query))
        recorded = gmt_query_real(&query, 0);
    cr_assert_eq(gmt_query_close(&query, rc), 0);
    cr_assert_eq(fixture.report.kernel_count, 2);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(fixture.report.kernels[i].launches, 20);
        cr_expect_eq(fixture.report.kernels[i].in_graphs, 20);
    }
    /* A class has its median for each launch. */
    cr_expect(fabs(fixture.report.kernel_ns / recorded - 1) < 0.05, "%.0f of %.0f ns",
              fixture.report.kernel_ns, recorded);
    cr_expect_null(gap_about("could not be told"));
    gmt_fixture_free(&fixture);
    (void)unlink(path);
    (void)rmdir(folder);
}

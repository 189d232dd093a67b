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

#include "analyzer/trace/named_ranges.h"
#include "analyzer/trace/open.h"
#include "analyzer/trace/query.h"
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
        if (fixture.report.kernels[i].class_id == class_id) {
            return &fixture.report.kernels[i];
        }
    }
    return NULL;
}

static const struct gmt_finding *finding_of(const char *rule)
{
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        if (strcmp(fixture.report.findings[i].rule, rule) == 0) {
            return &fixture.report.findings[i];
        }
    }
    return NULL;
}

static const struct gmt_gap *gap_about(const char *text)
{
    for (size_t i = 0; i < fixture.report.gap_count; i++) {
        if (strstr(fixture.report.gaps[i].why, text) != NULL) {
            return &fixture.report.gaps[i];
        }
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
    /* Nine of 1 ms and five of 2 ms; the one that was measured has no time and counts with the median, 1 ms. */
    cr_expect_float_eq(row->device_ns, 20e6, 1);
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
    const struct gmt_kernel_row *row = row_of(1);
    const struct gmt_gap *gap = gap_about(
        "1 kernel class (10.0 ms of device time) only ran in graphs, and was not measured there");

    cr_assert_not_null(row);
    cr_expect_eq(row->launches, 5);
    cr_expect_float_eq(row->device_ns, 10e6, 1);
    cr_assert_not_null(gap);
    cr_assert_not_null(gap->remedy);
    cr_expect_not_null(strstr(gap->remedy, "before it is captured"));
    gmt_fixture_free(&fixture);
}

/* Shared memory is not in the record of an operation: its class follows from what was captured. */
Test(graph_kernels, of_two_classes_are_of_the_one_that_was_captured)
{
    analyze(NAME TWIN CAPTURED(600, 2) GRAPH NODES(900, 100000, 2000000));
    cr_assert_not_null(row_of(2));
    cr_expect_eq(row_of(2)->in_graphs, 5);
    cr_expect_eq(row_of(1)->in_graphs, 0);
    gmt_fixture_free(&fixture);
}

/* A class that neither was captured nor launched was made for nodes of graphs, by earlier versions twice. */
Test(graph_kernels, of_two_classes_are_of_the_one_that_was_launched)
{
    analyze(NAME TWIN GRAPH NODES(900, 100000, 2000000));
    cr_expect_eq(row_of(1)->in_graphs, 5);
    cr_expect_null(row_of(2));
    gmt_fixture_free(&fixture);
}

/* Modules of XLA have kernels of the same names, whose grids are often equal: one that was tried, and one in a graph. */
Test(graph_kernels, of_two_kernels_of_one_name_are_of_the_one_that_is_a_node)
{
    analyze(NAME
            "INSERT INTO kernel SELECT 2, name, mangled, registers, static_shared_bytes, "
            "local_bytes, constant_bytes, max_threads_per_block, max_dynamic_shared_bytes, "
            "binary_version, ptx_version, parameter_count FROM kernel WHERE id = 1; "
            "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
            "block_z, dynamic_shared_bytes) SELECT 2, 2, grid_x, grid_y, grid_z, block_x, block_y, "
            "block_z, dynamic_shared_bytes FROM kernel_class WHERE id = 1; "
            "INSERT INTO graph (id, handle, nodes, begin_ns, made_id) VALUES (1, 5, 1, 0, 1); "
            "INSERT INTO graph_node (graph_id, position, since_ns, node, kind, kernel_id, grid_x, "
            "grid_y, grid_z, block_x, block_y, block_z) VALUES (1, 0, 0, 1, 'kernel', 2, 100000, "
            "1, 1, 256, 1, 1); " GRAPH NODES(900, 100000, 2000000));
    cr_assert_not_null(row_of(2));
    cr_expect_eq(row_of(2)->in_graphs, 5);
    cr_expect_eq(row_of(1)->in_graphs, 0);
    gmt_fixture_free(&fixture);
}

/* A kernel that is loaded twice has two classes, which a report cannot distinguish. */
Test(graph_kernels, of_one_kernel_that_is_loaded_twice_are_of_its_first_class)
{
    analyze(NAME TWIN "UPDATE kernel_class SET dynamic_shared_bytes = 0; " CAPTURED(600, 1)
                CAPTURED(601, 2) GRAPH NODES(900, 100000, 2000000));
    cr_expect_eq(row_of(1)->in_graphs, 5);
    cr_expect_null(gap_about("could not be distinguished"));
    gmt_fixture_free(&fixture);
}

/* What ran beside another kernel left the device no more idle than that: GM504 does not speak of it. */
Test(graph_kernels, that_run_side_by_side_count_as_such)
{
    analyze(NAME CAPTURED(600, 1) GRAPH NODES(900, 100000, 2000000));
    cr_expect_eq(fixture.timeline.classes[0].beside, 0);
    gmt_fixture_free(&fixture);
    analyze(NAME CAPTURED(600, 1) GRAPH NODES(900, 100000, 4000000));
    cr_expect_eq(fixture.timeline.classes[0].beside, 5);
    gmt_fixture_free(&fixture);
}

#define STEP \
    "INSERT INTO string VALUES (950, 'step'); INSERT INTO range (id, kind, thread_id, domain_id, " \
    "name_id, begin_ns, end_ns, depth) VALUES (1, 'push', 1, NULL, 950, " \
    "79000000, 81000000, 0); "

/* The graph is captured outside of the range, and launched inside. */
static void analyze_step(const char *sql)
{
    char message[256] = "";

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, sql);
    cr_assert_eq(gmt_range_limit(fixture.db, "step", message, sizeof(message)), 0, "%s", message);
    gmt_fixture_analyze(&fixture, NULL);
}

Test(graph_kernels, in_a_range_are_of_the_class_that_was_captured_outside)
{
    analyze_step(NAME STEP CAPTURED(600, 1) GRAPH NODES(
        900, 100000,
        2000000) "UPDATE launch SET begin_ns = begin_ns - 55000000, end_ns = end_ns - 55000000 "
                 "WHERE kind = 'kernel' AND capturing = 0; ");
    cr_assert_not_null(row_of(1));
    cr_expect_eq(row_of(1)->launches, 5);
    cr_expect_eq(row_of(1)->in_graphs, 5);
    cr_expect_null(gap_about("could not be distinguished"));
    cr_expect_null(gap_about("only ran in graphs"), "it was measured outside of the range");
    gmt_fixture_free(&fixture);
}

Test(graph_kernels, in_a_range_are_not_of_the_class_that_is_launched_there)
{
    analyze_step(NAME STEP TWIN CAPTURED(600, 2) GRAPH NODES(
        900, 100000,
        2000000) "UPDATE launch SET begin_ns = 79500000, end_ns = 79501000 WHERE seq = 5; ");
    cr_assert_not_null(row_of(2));
    cr_expect_eq(row_of(2)->in_graphs, 5);
    cr_assert_not_null(row_of(1));
    cr_expect_eq(row_of(1)->in_graphs, 0);
    gmt_fixture_free(&fixture);
}

/* A claim of a kernel of a graph is of the range that the graph was launched in. */
Test(graph_kernels, have_findings_in_the_range_of_their_graph)
{
    analyze(NAME STEP CAPTURED(600, 1)
                GRAPH NODES(900, 100000, 2000000) "DELETE FROM launch WHERE kind = 'kernel' AND "
                                                  "capturing = 0 AND measured IS NULL; ");
    const struct gmt_finding *finding = finding_of("GM301");

    cr_assert_not_null(finding);
    cr_assert_not_null(finding->range);
    cr_expect_str_eq(finding->range, "step");
    gmt_fixture_free(&fixture);
}

/* A finding about many classes counts their launches in graphs once, and has its other evidence as well. */
Test(graph_kernels, of_many_classes_leave_room_for_other_evidence)
{
    static const char many[] = NAME GRAPH
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 24) "
        "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
        "block_z) "
        "SELECT i, 1, i, 1, 1, 32, 1, 1 FROM n; "
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 24) "
        "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, "
        "stack_id, capturing, kind, seq, kernel_id, class_id, no_activity, arguments, "
        "argument_set_id) SELECT 600 + i, 3, 1, 1, 1, 1000 + i, 2000 + i, 0, 1, 1, 'kernel', 600 + "
        "i, "
        "1, i, 0, 'complete', 1 FROM n; "
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 24) "
        "INSERT INTO device_op (kind, context_id, device_id, correlation, graph, start_ns, end_ns, "
        "kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, call_id) "
        "SELECT 'kernel', 1, 0, 700, 5, 80010000 + i * 100000, 80060000 + i * 100000, 900, i, 1, "
        "1, "
        "32, 1, 1, 700 FROM n; ";
    const struct gmt_finding *finding = NULL;

    gmt_fixture_load_positive(&fixture, "GM202", many);
    gmt_fixture_analyze(&fixture, NULL);
    finding = finding_of("GM202");
    cr_assert_not_null(finding);
    cr_expect_float_eq(gmt_fixture_evidence(finding, "launches_in_graphs"), 23, 0);
    cr_expect_gt(gmt_fixture_evidence(finding, "excess_sectors"), 0);
    gmt_fixture_free(&fixture);
}

Test(graph_kernels, that_are_of_no_certain_class_are_counted_as_such)
{
    static const char *const cases[] = {
        /* of either class: both were captured, or launched */
        NAME TWIN CAPTURED(600, 1) CAPTURED(601, 2) GRAPH NODES(900, 100000, 2000000),
        NAME TWIN GRAPH NODES(900, 100000, 2000000) LAUNCH
        "(800, 3, 1, 1, 1, 95000000, 95001000, 0, 1, 0, 'kernel', 800, 1, 2, 0, 'complete'); ",
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
        if (strcmp(json_string_value(kind), "node") == 0) {
            node = i;
        }
    }
    cr_assert_gt(node, 0);
    double *column[] = {
        gmt_page_column(&page, "call", "kind"),      gmt_page_column(&page, "call", "begin"),
        gmt_page_column(&page, "call", "host_ns"),   gmt_page_column(&page, "call", "device_start"),
        gmt_page_column(&page, "call", "device_ns"), gmt_page_column(&page, "call", "kernel")};
    for (i = 0; i < gmt_page_rows(&page, "call"); i++) {
        if (column[0][i] != (double)node) {
            continue;
        }
        cr_expect_float_eq(column[1][i], 80010000 + (double)found * 3000000, 1);
        cr_expect(isnan(column[2][i]));
        cr_expect_float_eq(column[3][i], 0, 0);
        cr_expect_float_eq(column[4][i], 2000000, 0);
        cr_expect_float_eq(column[5][i], 0, 0);
        found++;
    }
    cr_expect_eq(found, 5);
    for (i = 0; i < sizeof(column) / sizeof(column[0]); i++) {
        free(column[i]);
    }
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
    if (rc == 0 && gmt_query_next(&query)) {
        recorded = gmt_query_real(&query, 0);
    }
    cr_assert_eq(gmt_query_close(&query, rc), 0);
    cr_assert_eq(fixture.report.kernel_count, 2);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(fixture.report.kernels[i].launches, 20);
        cr_expect_eq(fixture.report.kernels[i].in_graphs, 20);
    }
    /* A class has its median for each launch. */
    cr_expect(fabs(fixture.report.kernel_ns / recorded - 1) < 0.05, "%.0f of %.0f ns",
              fixture.report.kernel_ns, recorded);
    cr_expect_null(gap_about("could not be distinguished"));
    gmt_fixture_free(&fixture);
    (void)unlink(path);
    (void)rmdir(folder);
}

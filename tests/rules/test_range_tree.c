/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of ranges: which lie in which, in all threads, and what the calls in them add up to. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/summary/range_paths.h"
#include "tests/rules/range_trace.h"

/* Launches and their kernels, inclusive and by itself; of 1 ms each. */
static void expect_kernels(const struct gmt_range_node *node, double launches, double itself)
{
    cr_expect_eq(node->launches, launches, "%s: %g launches", node->label, node->launches);
    expect_ms(node->device_ns, launches, node->label);
    expect_ms(node->device_self_ns, itself, node->label);
}

Test(range_tree, paths_are_merged_over_occurrences_and_threads)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, 69500000, 0),"
                   "(2, 'push', 1, NULL, 61, 61900000, 66100000, 1),"
                   "(3, 'push', 1, NULL, 62, 63900000, 64100000, 2),"
                   "(4, 'push', 2, NULL, 60, 10000000, 11000000, 0),"
                   "(5, 'push', 2, NULL, 61, 10200000, 10400000, 1),"
                   "(6, 'push', 2, NULL, 63, 10500000, 10600000, 1),"
                   "(7, 'push', 2, NULL, 61, 12000000, 13000000, 0)");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;
    static const char *const order[] = {"step", "step > forward", "step > forward > conv",
                                        "step > backward", "forward"};

    cr_assert_eq(report->range_node_count, sizeof(order) / sizeof(order[0]));
    for (size_t i = 0; i < report->range_node_count; i++) {
        cr_expect(has_path(report, (int32_t)i, order[i]), "%zu is not %s", i, order[i]);
    }
    const struct gmt_range_node *step = node_at(report, "step");
    const struct gmt_range_node *forward = node_at(report, "step > forward");
    const struct gmt_range_node *conv = node_at(report, "step > forward > conv");

    cr_expect(step->count == 2 && step->threads == 2 && step->depth == 0);
    cr_expect(forward->count == 2 && forward->threads == 2 && forward->depth == 1);
    cr_expect(conv->count == 1 && conv->threads == 1 && conv->depth == 2);
    expect_kernels(step, 5, 2);
    expect_kernels(forward, 3, 2);
    expect_kernels(conv, 1, 1);
    expect_kernels(node_at(report, "forward"), 0, 0);
    expect_ms(step->host_ns, 10.6, "step");
    expect_ms(step->host_self_ns, 10.6 - 4.2 - 0.2 - 0.1, "step itself");
    expect_ms(forward->host_ns, 4.4, "forward");
    expect_ms(forward->host_self_ns, 4.2, "forward itself");
    /* Of thread 2 all of it. */
    expect_ms(step->idle_ns, 9.6 - 4 + 1, "idle in step");
    expect_ms(conv->idle_ns, 0.11, "idle in conv");
    gmt_fixture_free(&fixture);
}

Test(range_tree, ranges_that_overlap_without_nesting_each_have_their_calls)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'start', 1, NULL, 64, 59900000, 65000000, 0),"
                   "(2, 'start', 1, NULL, 65, 61900000, 69500000, 0),"
                   "(3, 'start', 2, NULL, 62, 63900000, 64100000, 0),"
                   /* Two of one name: a call in both counts once. */
                   "(4, 'start', 1, NULL, 60, 71900000, 75000000, 0),"
                   "(5, 'start', 1, NULL, 60, 73900000, 79000000, 0),"
                   /* Pushed, of two domains. */
                   "(6, 'push', 1, NULL, 61, 65900000, 69000000, 0),"
                   "(7, 'push', 1, 66, 63, 67900000, 72100000, 0)");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;
    const struct gmt_range_node *a = node_at(report, "a"), *b = node_at(report, "b");
    const struct gmt_range_node *request = node_at(report, "step");

    cr_expect(a->of_process && a->threads == 0);
    expect_kernels(a, 3, 1);
    expect_ms(a->host_self_ns, 5.1, "a itself: nothing lies in it");
    /* 64 ms is in what lies in it, 66 and 68 ms in ranges of the thread. */
    expect_kernels(b, 4, 1);
    expect_kernels(node_at(report, "b > conv"), 1, 1);
    cr_expect_eq(request->count, 2);
    expect_ms(request->host_ns, 3.1 + 5.1, "both");
    /* 72 ms is in a pushed one. */
    expect_kernels(request, 4, 3);
    expect_ms(request->idle_ns, 79 - 71.9 - 3.99, "idle in either");
    expect_kernels(node_at(report, "forward"), 2, 1);
    expect_kernels(node_at(report, "backward@domain"), 3, 3);
    gmt_fixture_free(&fixture);
}

Test(range_tree, a_call_counts_once_in_each_level_of_a_recursion)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, 69500000, 0),"
                   "(2, 'push', 1, NULL, 60, 61900000, 68100000, 1),"
                   "(3, 'push', 1, NULL, 60, 63900000, 64100000, 2),"
                   "(4, 'push', 1, NULL, 60, 65900000, 66100000, 2)");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;

    cr_assert_eq(report->range_node_count, 3);
    expect_kernels(node_at(report, "step"), 5, 1);
    expect_kernels(node_at(report, "step > step"), 4, 2);
    expect_kernels(node_at(report, "step > step > step"), 2, 2);
    cr_expect_eq(node_at(report, "step > step > step")->count, 2);
    expect_ms(node_at(report, "step > step")->host_self_ns, 5.8, "the second level itself");
    gmt_fixture_free(&fixture);
}

/* A process that is killed, and a range that is popped in another order than it was pushed. */
Test(range_tree, ranges_that_never_end_last_to_the_end)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, NULL, 0),"
                   "(2, 'push', 1, NULL, 61, 61900000, 66100000, 1),"
                   "(3, 'push', 1, NULL, 62, 63900000, NULL, 2)");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;

    cr_assert_eq(report->range_node_count, 3);
    expect_kernels(node_at(report, "step"), 10, 1);
    expect_ms(node_at(report, "step")->host_ns, 100 - 59.9, "to the end");
    /* It outlasts what it began in: so it lies in what ends with it. */
    expect_kernels(node_at(report, "step > conv"), 8, 8);
    expect_kernels(node_at(report, "step > forward"), 3, 1);
    /* Both together last from 61.9 ms on. */
    expect_ms(node_at(report, "step")->host_self_ns, 2, "step itself");
    gmt_fixture_free(&fixture);
}

Test(range_tree, what_lies_too_deep_is_others)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59000000, 71000000, 0)");
    gmt_fixture_sql(&fixture,
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 39) "
                    "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) "
                    "SELECT 100 + i, 'push', 1, 60, 59000000 + i * 1000, 71000000 - i * 1000, i "
                    "FROM n");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;

    cr_assert_eq(report->range_node_count, 33);
    const struct gmt_range_node *others = &report->range_nodes[32];

    cr_expect(others->others && others->label == NULL);
    cr_expect_eq(others->count, 8);
    cr_expect_eq(others->launches, 6);
    expect_ms(others->device_self_ns, 6, "all is their own");
    expect_ms(others->host_ns, 12 - 0.064, "the outermost of them");
    expect_ms(others->host_self_ns, 12 - 0.064, "the outermost of them");
    expect_ms(report->range_nodes[0].host_self_ns, 0.002, "one level itself");
    gmt_fixture_free(&fixture);
}

/* In "step" and with nothing around 2000 names each, every one longer than the one before. */
Test(range_tree, a_report_names_the_largest_and_adds_up_the_rest)
{
    struct gmt_fixture fixture;
    double host_ns = 0;
    size_t count = 0;

    load(&fixture, "(1, 'push', 1, NULL, 60, 1000000, 50000000, 0)");
    gmt_fixture_sql(
        &fixture,
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 1999) SELECT i FROM n;"
        "INSERT INTO string SELECT 1000 + i, char(97 + i % 26, 97 + i / 26 % 26, 97 + i / 676) "
        "FROM n;"
        "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) "
        "SELECT 1000 + i, 'push', 1, 1000 + i, 2000000 + i * 10000, 2001000 + i * 10001, 1 FROM n "
        "UNION ALL SELECT 5000 + i, 'push', 2, 1000 + i, 2000000 + i * 10000, 2001000 + i * 10001, "
        "1 "
        "FROM n;"
        "UPDATE launch SET begin_ns = 2000000, end_ns = 2000500 WHERE id = 900002");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;

    cr_expect_eq(report->range_node_count, 1002);
    for (size_t i = 0; i < report->range_node_count; i++) {
        const struct gmt_range_node *node = &report->range_nodes[i];

        count += node->count;
        host_ns += node->depth > 0 ? 0 : node->host_ns;
    }
    cr_expect_eq(count, 4001, "%zu", count);
    expect_ms(host_ns, 49 + 2000 * 0.001 + 1999 * 1000 * 1e-6, "all threads");
    /* The launch is in the smallest one. */
    const struct gmt_range_node *others = node_at(report, "step > (others)");
    cr_expect_eq(others->launches, 1);
    expect_ms(others->device_ns, 1, "its kernel");
    cr_expect_eq(others->threads, 1);
    cr_expect_gt(node_at(report, "(others)")->host_ns, others->host_ns * 0.9);
    cr_expect(report->range_nodes[report->range_node_count - 1].others, "others come last");
    gmt_fixture_free(&fixture);
}

Test(range_tree, copies_and_memory_are_added_up)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, 69500000, 0),"
                   "(2, 'push', 1, NULL, 61, 61900000, 66100000, 1)");
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, capturing, direction, blocking, bytes, dst, src, dst_class, src_class) VALUES "
        "(1, 1, 1, 1, 1, 60100000, 60200000, 0, 0, 'h2d', 1, 4096, 1, 2, 'device', 'pinned'),"
        "(2, 2, 1, 1, 1, 62100000, 62200000, 0, 0, 'd2h', 1, 1024, 2, 1, 'pinned', 'device'),"
        "(3, 2, 1, 1, 1, 80000000, 80200000, 0, 0, 'd2h', 1, 9999, 2, 1, 'pinned', 'device');"
        "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
        "begin_ns, "
        "end_ns, free_begin_ns, free_end_ns) VALUES "
        /* Freed in it, behind it but in the one around it, and never. */
        "(1, 'device', 1048576, 1, 1, 1, 4, 62000000, 62010000, 63000000, 63010000),"
        "(2, 'device', 2097152, 10, 1, 1, 4, 62100000, 62110000, 67000000, 67010000),"
        "(3, 'device', 4194304, 100, 1, 1, 4, 62200000, 62210000, NULL, NULL),"
        /* Another process's. */
        "(4, 'ipc', 8388608, 1000, 1, 1, 4, 62300000, 62310000, NULL, NULL)");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_range_node *step = node_at(&fixture.report, "step");
    const struct gmt_range_node *forward = node_at(&fixture.report, "step > forward");

    cr_expect(step->copies == 2 && step->h2d_bytes == 4096 && step->d2h_bytes == 1024);
    cr_expect(forward->copies == 1 && forward->h2d_bytes == 0 && forward->d2h_bytes == 1024);
    cr_expect_eq(step->allocated_bytes, 111);
    cr_expect_eq(step->held_bytes, 100);
    cr_expect_eq(forward->allocated_bytes, 111);
    cr_expect_eq(forward->held_bytes, 110);
    gmt_fixture_free(&fixture);
}

Test(range_tree, kernels_of_graphs_belong_to_the_launch_of_the_graph)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, 60100000, 0)");
    gmt_fixture_sql(
        &fixture,
        "UPDATE launch SET kind = 'graph', kernel_id = NULL, class_id = NULL, measured = NULL, "
        "device_start_ns = 60010000, device_end_ns = 69010000 WHERE id = 900001;"
        "INSERT INTO string VALUES (70, '_Z4workPfPKfi');"
        "INSERT INTO device_op (kind, context_id, device_id, correlation, graph, start_ns, end_ns, "
        "kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, call_id) VALUES "
        "('kernel', 1, 0, 700, 5, 81000000, 81500000, 70, 100000, 1, 1, 256, 1, 1, 900001),"
        "('kernel', 1, 0, 700, 5, 82000000, 82200000, 70, 100000, 1, 1, 256, 1, 1, 900001)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_eq(node_at(&fixture.report, "step")->launches, 1);
    expect_ms(node_at(&fixture.report, "step")->device_ns, 0.7, "two kernels");
    gmt_fixture_free(&fixture);
}

Test(range_tree, what_is_not_known_is_not_zero)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, 69500000, 0)");
    gmt_fixture_sql(&fixture, "UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL;"
                              "DELETE FROM device_op; DELETE FROM capability;"
                              "DELETE FROM kernel_counters");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_range_node *step = node_at(&fixture.report, "step");

    cr_expect_eq(step->launches, 5);
    cr_expect(isnan(step->device_ns) && isnan(step->device_self_ns), "%g", step->device_ns);
    cr_expect(isnan(step->idle_ns), "%g", step->idle_ns);
    expect_ms(step->host_ns, 9.6, "step");
    gmt_fixture_free(&fixture);
}

Test(range_tree, a_finding_lies_in_each_path_that_has_most_of_its_cost)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO string VALUES (50, 'epoch'), (60, 'layer'), (61, 'most'), (62, 'rest');"
        "INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, depth) "
        "VALUES "
        "(1, 'push', 1, NULL, 50, 900000, 18000000, 0),"
        "(2, 'push', 1, NULL, 60, 940000, 7100000, 1),"
        "(3, 'push', 1, NULL, 61, 950000, 5000000, 2),"
        "(4, 'push', 1, NULL, 62, 5000001, 7000000, 2)");
    gmt_fixture_analyze(&fixture, "GM101");
    const struct gmt_report *report = &fixture.report;
    const struct gmt_range_node *most = node_at(report, "epoch > layer > most");

    cr_assert_eq(report->finding_count, 1);
    cr_expect_eq(node_at(report, "epoch")->findings, 1);
    cr_expect_eq(node_at(report, "epoch > layer")->findings, 1);
    cr_expect_eq(most->findings, 1);
    cr_expect_float_eq(most->best_ns, report->findings[0].saving.best_ns, 1);
    cr_expect_eq(node_at(report, "epoch > layer > rest")->findings, 0);
    gmt_fixture_free(&fixture);
}

/* Each begins in the one before and outlasts it. */
Test(range_tree, a_chain_of_ranges_that_overlap)
{
    struct gmt_fixture fixture;

    load(&fixture, "(1, 'push', 1, NULL, 60, 59900000, 59910000, 0)");
    gmt_fixture_sql(
        &fixture,
        "DELETE FROM range; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i "
        "< "
        "999) INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) SELECT 1 + "
        "i, "
        "'start', 1, 60 + i % 2, 1000000 + 78000 * i, 1000000 + 78000 * i + 100000, 0 FROM n");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_range_node *step = node_at(&fixture.report, "step");
    const struct gmt_range_node *forward = node_at(&fixture.report, "forward");

    /* All ten launches lie in one of them at least, some in both. */
    cr_expect_geq(step->launches + forward->launches, 10);
    cr_expect_leq(step->launches + forward->launches, 20);
    gmt_fixture_free(&fixture);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What loading derives: waits, kernel times of measured launches, runs, verdict figures. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/fixture.h"

Test(timeline, gives_measured_launches_the_median_of_the_others)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_tl_class *class = &fixture.timeline.classes[0];
    cr_assert_eq(class->launches, 10);
    cr_assert_eq(class->timed, 9);
    cr_assert_float_eq(class->median_ns, 1e6, 1);
    cr_assert_float_eq(class->total_ns, 10e6, 1);
    /* The measured launch has no record of its time, and took it. */
    cr_assert_float_eq(fixture.report.gpu_busy_ns, 10e6, 1);
    gmt_fixture_free(&fixture);
}

/* One of ten launches takes 5 ms, eight 1 ms, and one was measured, which counts with the median: 14 ms, and a launch's gain 14 times. */
Test(timeline, sums_the_times_of_launches)
{
    static const char longer[] =
        "UPDATE launch SET device_end_ns = device_start_ns + 5000000 WHERE id = (SELECT max(id) "
        "FROM launch WHERE device_end_ns IS NOT NULL)";
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1);
    double saves_ns = fixture.report.findings[0].saving.best_ns;
    gmt_fixture_free(&fixture);

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, longer);
    gmt_fixture_analyze(&fixture, "GM301");
    const struct gmt_tl_class *class = &fixture.timeline.classes[0];
    cr_expect_float_eq(class->median_ns, 1e6, 1);
    cr_expect_float_eq(class->total_ns, 14e6, 1);
    cr_expect_float_eq(gmt_class_typical_launches(class), 14, 1e-6);
    cr_expect_float_eq(fixture.report.kernels[0].device_ns, 14e6, 1);
    cr_assert_eq(fixture.report.finding_count, 1);
    cr_expect_float_eq(fixture.report.findings[0].saving.best_ns, 1.4 * saves_ns, 1);
    gmt_fixture_free(&fixture);
}

/* A launch that waited 1 s for the host is no reason to promise a second. */
Test(timeline, does_not_price_a_launch_that_waited)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, "UPDATE launch SET device_end_ns = device_start_ns + 1000000000 "
                              "WHERE id = (SELECT max(id) FROM launch WHERE device_end_ns IS NOT "
                              "NULL)");
    gmt_fixture_analyze(&fixture, "GM301");
    const struct gmt_tl_class *class = &fixture.timeline.classes[0];
    cr_expect_float_eq(class->total_ns, 1009e6, 1);
    cr_expect_float_eq(gmt_class_typical_launches(class), 20, 1e-6);
    cr_assert_eq(fixture.report.finding_count, 1);
    cr_expect_leq(fixture.report.findings[0].saving.high_ns, 20e6);
    gmt_fixture_free(&fixture);
}

Test(timeline, does_not_charge_a_copy_for_the_kernel_it_waits_for)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    /* Called while the last kernel (78.01 to 79.01 ms) runs; 90 us of its own. */
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO transfer (id, api_id, begin_ns, end_ns, result, capturing, direction, "
        "blocking,"
        " bytes, dst, src, dst_class, src_class) VALUES (1, 2, 78020000, 79100000, 0, 0, 'd2h', 1,"
        " 64, 4096, 1048576, 'pageable', 'device')");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_float_eq(gmt_copy_cost_ns(&fixture.timeline, &fixture.timeline.copies[0]), 90e3, 1);
    gmt_fixture_free(&fixture);
}

/* As above, but nobody knows when that kernel ended; the second copy does not wait. */
Test(timeline, does_not_price_waits_of_times_without_device_times)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO device_gap (id, begin_ns, end_ns, client, request) VALUES "
        "(1, 70000000, 90000000, 'libother.so', 'cuptiFinalize');"
        "UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL WHERE begin_ns > 70000000;"
        "INSERT INTO transfer (id, api_id, begin_ns, end_ns, result, capturing, direction, "
        "blocking, bytes, dst, src, dst_class, src_class) VALUES "
        "(1, 2, 78020000, 79100000, 0, 0, 'd2h', 1, 64, 4096, 1048576, 'pageable', 'device'), "
        "(2, 2, 79200000, 79300000, 0, 0, 'd2h', 1, 64, 4096, 1048576, 'pageable', 'device')");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(gmt_copy_cost_ns(&fixture.timeline, &fixture.timeline.copies[0]), 0);
    cr_assert_float_eq(gmt_copy_cost_ns(&fixture.timeline, &fixture.timeline.copies[1]), 100e3, 1);
    bool is_named = false;
    for (size_t i = 0; i < fixture.report.gap_count; i++) {
        is_named |= strstr(fixture.report.gaps[i].why, "missing from 70") != NULL &&
                    strstr(fixture.report.gaps[i].why, "(libother.so, cuptiFinalize)") != NULL;
    }
    cr_assert(is_named);
    gmt_fixture_free(&fixture);
}

Test(timeline, ignores_failed_and_captured_calls)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET result = 2 WHERE id <= 500");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET capturing = 1 WHERE id > 900");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.timeline.copy_count, 400);
    gmt_fixture_free(&fixture);
}

Test(timeline, places_a_call_at_the_first_frame_of_the_user)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_where *where = &fixture.report.findings[0].where;
    cr_assert_str_eq(where->label, "app.cu:42");
    cr_assert_str_eq(where->function, "upload()");
    cr_assert_str_eq(where->api, "cudaMemcpy (cuMemcpyHtoD_v2)");
    cr_assert_eq(where->stack_depth, 3);
    gmt_fixture_free(&fixture);
}

Test(timeline, falls_back_on_the_module_of_the_caller)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET stack_id = NULL, caller = 8208");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_str_eq(fixture.report.findings[0].where.label, "app+0x2010");
    gmt_fixture_free(&fixture);
}

Test(timeline, keeps_fingerprints_when_lines_and_times_change)
{
    struct gmt_fixture one, other;

    gmt_fixture_load(&one, "fixtures/GM101_positive");
    gmt_fixture_analyze(&one, NULL);
    gmt_fixture_load(&other, "fixtures/GM101_positive");
    gmt_fixture_sql(&other, "UPDATE frame SET line = line + 5, address = address + 64");
    gmt_fixture_sql(&other, "UPDATE transfer SET end_ns = end_ns + 500");
    gmt_fixture_analyze(&other, NULL);
    cr_assert_str_eq(one.report.findings[0].fingerprint, other.report.findings[0].fingerprint);
    gmt_fixture_free(&one);
    gmt_fixture_free(&other);
}

Test(timeline, of_an_empty_trace_has_no_findings)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, "DELETE FROM launch; DELETE FROM kernel_counters;"
                              "DELETE FROM process; DELETE FROM device; DELETE FROM context");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert(isnan(fixture.report.gpu_busy_ns));
    gmt_fixture_free(&fixture);
}

/* The runtime of a stripped program: one frame without a name makes the calls of all places. */
Test(timeline, distinguishes_places_behind_a_nameless_caller_by_their_stacks)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture, "UPDATE frame SET function_id = NULL, runtime = 0");
    gmt_fixture_sql(&fixture, "INSERT INTO stack VALUES (77, 2)");
    gmt_fixture_sql(&fixture, "INSERT INTO stack_frame VALUES (77, 0, 1), (77, 1, 3)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_neq(gmt_timeline_site(&fixture.timeline, 1, 0),
                  gmt_timeline_site(&fixture.timeline, 77, 0));
    gmt_fixture_free(&fixture);

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture, "UPDATE frame SET runtime = 0");
    gmt_fixture_sql(&fixture, "INSERT INTO stack VALUES (77, 2)");
    gmt_fixture_sql(&fixture, "INSERT INTO stack_frame VALUES (77, 0, 1), (77, 1, 3)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(gmt_timeline_site(&fixture.timeline, 1, 0),
                 gmt_timeline_site(&fixture.timeline, 77, 0));
    gmt_fixture_free(&fixture);
}

/* All copies of a Python program come from one function of a library: the program's own functions distinguish them. */
Test(timeline, distinguishes_places_in_python_by_its_own_functions)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture,
                    "INSERT INTO frame(id, address, function_id, runtime) VALUES (50, 50, 1, 0),"
                    "(51, 51, 3, 0), (52, 52, 4, 2);"
                    "INSERT INTO stack VALUES (77, 3), (78, 3), (79, 3);"
                    "INSERT INTO stack_frame VALUES (77, 0, 2), (77, 1, 52), (77, 2, 50),"
                    "(78, 0, 2), (78, 1, 51), (78, 2, 50), (79, 0, 2), (79, 1, 50), (79, 2, 51)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_neq(gmt_timeline_site(&fixture.timeline, 77, 0),
                  gmt_timeline_site(&fixture.timeline, 78, 0));
    cr_assert_eq(gmt_timeline_site(&fixture.timeline, 77, 0),
                 gmt_timeline_site(&fixture.timeline, 79, 0));
    cr_assert_neq(gmt_timeline_site(&fixture.timeline, 77, 0),
                  gmt_timeline_site(&fixture.timeline, 1, 0));
    gmt_fixture_free(&fixture);
}

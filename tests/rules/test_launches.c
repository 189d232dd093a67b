/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about shapes and rows of launches: what they leave to each other, and what is not theirs. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/fixture.h"

static void expect(const char *name, const char *sql, const char *rule, size_t findings)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, name);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, NULL);
    size_t found = 0;
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        found += strcmp(fixture.report.findings[i].rule, rule) == 0;
    }
    cr_assert_eq(found, findings, "%s after %s: %zu of %s", name, sql, found, rule);
    gmt_fixture_free(&fixture);
}

Test(launches, kernels_that_share_a_pointer_are_no_row)
{
    static const char dependent[] = "UPDATE launch_argument SET allocation_offset = 0";

    expect("fixtures/GM506_positive", dependent, "GM506", 0);
    /* Then a larger grid is the repair. */
    expect("fixtures/GM506_positive", dependent, "GM504", 1);
}

Test(launches, kernels_of_unknown_arguments_are_no_row)
{
    expect("fixtures/GM506_positive", "UPDATE launch SET argument_set_id = NULL", "GM506", 0);
}

Test(launches, kernels_the_host_waited_for_are_no_row)
{
    expect("fixtures/GM506_positive",
           "UPDATE launch SET begin_ns = device_start_ns - 500, end_ns = device_start_ns - 100 "
           "WHERE class_id = 2",
           "GM506", 0);
}

Test(launches, kernels_beside_each_other_want_no_larger_grid)
{
    static const char streams[] =
        "INSERT INTO stream (id, context_id, handle) VALUES (2, 1, 99);"
        "UPDATE launch SET stream_id = 1 + (id & 1), device_start_ns = device_start_ns - 150000 "
        "WHERE class_id = 2";

    expect("fixtures/GM506_positive", streams, "GM506", 0);
    expect("fixtures/GM506_positive", streams, "GM504", 0);
}

Test(launches, a_copy_between_two_kernels_parts_them)
{
    static const char copies[] =
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, capturing, direction, blocking, bytes, dst_class, src_class) SELECT id + 5000000, "
        "2, 1, 1, 1, begin_ns - 500, begin_ns - 400, 0, 0, 'd2h', 0, 4, 'pinned', 'device' "
        "FROM launch WHERE class_id = 2";

    expect("fixtures/GM507_positive", copies, "GM507", 0);
    expect("fixtures/GM509_positive", copies, "GM509", 0);
}

Test(launches, a_host_that_does_other_things_is_not_launching)
{
    expect("fixtures/GM507_positive",
           "UPDATE launch SET begin_ns = begin_ns + (id - 910001) * 60000, end_ns = end_ns + "
           "(id - 910001) * 60000, device_start_ns = device_start_ns + (id - 910001) * 60000, "
           "device_end_ns = device_end_ns + (id - 910001) * 60000 WHERE class_id = 2",
           "GM507", 0);
}

Test(launches, without_a_calibrated_graph_half_of_the_gaps_is_a_guess_and_called_so)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM507_positive");
    fixture.model.launch_bound.n = 0;
    gmt_fixture_analyze(&fixture, "GM507");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    cr_assert_eq(f->saving.low_ns, 0);
    cr_assert_float_eq(f->saving.best_ns, 1999 * 3000 / 2.0, 1);
    cr_assert_float_eq(f->saving.high_ns, 1999 * 3000.0, 1);
    gmt_fixture_free(&fixture);
}

Test(launches, kernels_that_write_the_same_array_hand_nothing_over)
{
    expect(
        "fixtures/GM509_positive",
        "UPDATE launch_argument SET allocation_id = 9 - allocation_id, parameter = 1 - parameter "
        "WHERE set_id = 2; UPDATE launch_argument SET allocation_id = 2 WHERE set_id = 2 AND "
        "parameter = 0",
        "GM509", 0);
}

Test(launches, a_kernel_in_another_shape_is_no_second_step)
{
    expect("fixtures/GM509_positive", "UPDATE kernel SET name = 'work'", "GM509", 0);
}

Test(launches, a_stencil_is_not_an_elementwise_kernel)
{
    expect("fixtures/GM509_positive",
           "UPDATE kernel_counters SET value = value * 5 WHERE class_id = 2 AND metric_id IN "
           "(1, 3, 5)",
           "GM509", 0);
}

Test(launches, a_dependent_chain_with_wide_loads_is_not_unrolled)
{
    expect("fixtures/GM511_positive",
           "UPDATE kernel_counters SET value = value / 4 WHERE metric_id IN (5, 6)", "GM511", 0);
}

Test(launches, warps_that_do_not_wait_for_loads_are_not_unrolled)
{
    static const char stalls[] =
        "INSERT INTO metric VALUES (37, 'sm_cycles_active', '', 'hardware', 'cycles', ''),"
        "(57, 'stalled_long_scoreboard', '', 'hardware', 'warp cycles', '');"
        "INSERT INTO fixture_counter (metric_id, value) VALUES (37, 1750000), (57, 183000000)";

    /* 10 % of the time of 0.124 x 64 warps on 132 multiprocessors. */
    expect("fixtures/GM511_positive", stalls, "GM511", 0);
}

Test(launches, one_lane_per_block_is_shown_even_without_times)
{
    static const char lanes[] =
        "UPDATE kernel_class SET block_x = 1; UPDATE launch SET device_start_ns = NULL, "
        "device_end_ns = NULL";

    expect("fixtures/GM502_positive", lanes, "GM502", 1);
}

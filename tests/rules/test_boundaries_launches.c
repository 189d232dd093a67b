/* SPDX-License-Identifier: Apache-2.0 */
/* Where rules about launches begin to report: just below and just above each value. */
#include <criterion/criterion.h>

#include "tests/rules/boundary.h"

/* The grid is one block more than a wave, and its kernel has a pointer to memory of the host. */
#define MAPPED(bytes) \
    "INSERT INTO host_allocation (id, kind, address, bytes, thread_id, api_id, begin_ns, end_ns) " \
    "VALUES (501, 'pinned', 1099511627776, " bytes ", 1, 4, 1000, 2000);" \
    "INSERT INTO launch_argument (set_id, parameter, word_offset, allocation_id, " \
    "allocation_offset) VALUES (1, 0, 0, 501, 0)"

/* What a kernel reads over the bus decides its time, whatever its grid; a flag or a result does not. */
Test(boundaries_launches, grids_of_kernels_on_mapped_arrays_are_not_judged)
{
    gmt_boundary_expect_edge("GM504_positive", MAPPED("1100000"), MAPPED("1000000"));
}

/* 1056 such blocks fill the device: two kernels of at most 528 run side by side. */
Test(boundaries_launches, kernels_of_which_two_fit_can_run_side_by_side)
{
    gmt_boundary_expect_edge("GM506_positive", "UPDATE kernel_class SET grid_x = 560 WHERE id = 2",
                             "UPDATE kernel_class SET grid_x = 500 WHERE id = 2");
}

/* Kernels of 200 us, so many ns between the end of one and the start of the next. */
#define ROW_WITH_GAPS(gap) \
    "UPDATE launch SET device_start_ns = 30100000 + (id - 910001) * (200000 + " gap "), " \
    "device_end_ns = 30300000 + (id - 910001) * (200000 + " gap ") WHERE class_id = 2"

/* The device starts a kernel that was waiting within 5 us. */
Test(boundaries_launches, kernels_apart_wait_for_something_else_than_each_other)
{
    gmt_boundary_expect_edge("GM506_positive", ROW_WITH_GAPS("5500"), ROW_WITH_GAPS("4500"));
}

/* Two or three may happen to follow each other; four are a pattern. */
Test(boundaries_launches, four_small_kernels_are_a_row)
{
    gmt_boundary_expect_edge("GM506_positive",
                             "DELETE FROM launch WHERE id > 910003 AND class_id = 2",
                             "DELETE FROM launch WHERE id > 910004 AND class_id = 2");
}

/* The row of the fixture goes on until it has so many kernels, each on memory of its own. */
#define KERNELS_IN_A_ROW(kernels) \
    "CREATE TEMP TABLE more AS WITH RECURSIVE n(i) AS (SELECT 16 UNION ALL SELECT i + 1 FROM n " \
    "WHERE i < " kernels " - 1) SELECT i FROM n;" \
    "INSERT INTO launch_argument (set_id, parameter, word_offset, allocation_id, " \
    "allocation_offset) SELECT 10 + i, 0, 0, 5, i * 4096 FROM more;" \
    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, " \
    "stack_id, capturing, kind, seq, kernel_id, class_id, grid_x, grid_y, grid_z, block_x, " \
    "block_y, block_z, dynamic_shared_bytes, no_activity, arguments, argument_set_id, " \
    "device_start_ns, device_end_ns) SELECT 910001 + i, api_id, thread_id, context_id, " \
    "stream_id, 30000000 + i * 3000, 30002500 + i * 3000, result, stack_id, capturing, kind, " \
    "101 + i, kernel_id, class_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, " \
    "dynamic_shared_bytes, no_activity, arguments, 10 + i, 30100000 + i * 201000, 30300000 + " \
    "i * 201000 FROM launch, more WHERE launch.id = 910001;"

static double rows_of(const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM506", sql);
    double rows = gmt_fixture_evidence(gmt_fixture_only(&fixture, "GM506"), "rows");
    gmt_fixture_free(&fixture);
    return rows;
}

/* The hardware runs 128 kernels at once: what would have to wait for them is a row of its own. */
Test(boundaries_launches, a_row_has_as_many_kernels_as_run_at_once)
{
    cr_expect_eq(rows_of(KERNELS_IN_A_ROW("128")), 1);
    cr_expect_eq(rows_of(KERNELS_IN_A_ROW("132")), 2);
}

/* A few dozen launches are a loop; fewer are the steps of a program. */
Test(boundaries_launches, a_loop_has_tens_of_launches)
{
    gmt_boundary_expect_edge("GM507_positive",
                             "DELETE FROM launch WHERE class_id = 2 AND id > 910000 + 31",
                             "DELETE FROM launch WHERE class_id = 2 AND id > 910000 + 32");
}

/* A launch every 5 us: the device is idle for 14 % of the time, or for 16 %. */
Test(boundaries_launches, a_device_that_is_busy_for_most_of_the_loop_waits_for_nobody)
{
    gmt_boundary_expect_edge(
        "GM507_positive",
        "UPDATE launch SET device_end_ns = device_start_ns + 4300 WHERE class_id = 2",
        "UPDATE launch SET device_end_ns = device_start_ns + 4200 WHERE class_id = 2");
}

/* 100 launches, 5 us apart but for a pause behind each twentieth: each call takes 2.5 us, each kernel 2 us. */
#define PAUSES_OF(pause) \
    "DELETE FROM launch WHERE class_id = 2 AND id > 910000 + 100;" \
    "UPDATE launch SET begin_ns = 10000000 + (id - 910001) * 5000 + (id - 910001) / 20 * " pause \
    " WHERE class_id = 2; UPDATE launch SET end_ns = begin_ns + 2500, " \
    "device_start_ns = begin_ns + 4000, device_end_ns = begin_ns + 6000 WHERE class_id = 2"

/* Between calls that are 50 us and more apart the host does something else. */
Test(boundaries_launches, launches_far_apart_are_no_loop_of_launches)
{
    gmt_boundary_expect_edge("GM507_positive", PAUSES_OF("55000"), PAUSES_OF("45000"));
}

/* The first kernel writes 102.4 MB. Arrays have pads and ends; what differs by more is another array. */
Test(boundaries_launches, a_kernel_that_reads_as_much_as_was_written_reads_that)
{
    gmt_boundary_expect_edge("GM509_positive",
                             "UPDATE kernel_counters SET value = 1.12 * 102400000 "
                             "WHERE class_id = 2 AND metric_id = 1",
                             "UPDATE kernel_counters SET value = 1.08 * 102400000 "
                             "WHERE class_id = 2 AND metric_id = 1");
    gmt_boundary_expect_edge("GM509_positive",
                             "UPDATE kernel_counters SET value = 0.88 * 102400000 "
                             "WHERE class_id = 2 AND metric_id = 1",
                             "UPDATE kernel_counters SET value = 0.92 * 102400000 "
                             "WHERE class_id = 2 AND metric_id = 1");
}

/* 2.5 million loads of full warps: each thread has 0.6 in flight. */
#define LOADS_OF(bytes) \
    "UPDATE kernel_counters SET value = " bytes " * 32 * 2500000 WHERE metric_id = 1;" \
    "UPDATE kernel_counters SET value = " bytes " * 2500000 WHERE metric_id IN (3, 35);" \
    "UPDATE kernel_counters SET value = " bytes " * 32 * 2500000 WHERE metric_id = 33"

/* A load of 16 bytes brings what four of 4 bytes do: it is several loads already. */
Test(boundaries_launches, wide_loads_are_several_in_flight)
{
    gmt_boundary_expect_edge("GM511_positive", LOADS_OF("16"), LOADS_OF("8"));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times in which records of devices were off are neither idle nor busy. A loop of 1000 launches, one every 20 us from 10 ms on, of
 * kernels of 5 us that start 4 us after the call.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/boundary.h"

#define LOOP \
    "UPDATE launch SET begin_ns = 10000000 + (id - 910001) * 20000, " \
    "end_ns = 10003000 + (id - 910001) * 20000, device_start_ns = 10004000 + (id - 910001) * " \
    "20000, " \
    "device_end_ns = 10009000 + (id - 910001) * 20000 WHERE class_id = 2;"
#define OFF(id, begin_ns, end_ns) \
    "INSERT INTO device_gap VALUES (" #id ", " #begin_ns ", " #end_ns ", '', '', 'budget', 8000);" \
    "UPDATE launch SET no_activity = 1, device_start_ns = NULL, device_end_ns = NULL WHERE " \
    "class_id = 2 AND begin_ns >= " #begin_ns " AND end_ns <= " #end_ns ";"

static struct gmt_fixture fixture;

static const struct gmt_finding *find(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, LOOP);
    gmt_fixture_sql(&fixture, sql);
    return gmt_fixture_only(&fixture, "GM512");
}

static double part(enum gmt_time_part index)
{
    return fixture.report.time_parts[index].ns;
}

static bool says(const char *text)
{
    bool found = false;

    for (size_t i = 0; i < fixture.report.gap_count; i++) {
        found |= strstr(fixture.report.gaps[i].why, text) != NULL;
    }
    return found;
}

/* 250 launches of 1000; the next one that has a time starts 4 us after it was called. */
Test(device_off, is_neither_idle_nor_busy)
{
    (void)find("SELECT 1");
    double idle_ns = part(GMT_TIME_HOST) + part(GMT_TIME_LAUNCH_CALLS);
    cr_expect(!says("keep within --overhead"));
    cr_expect_float_eq(fixture.report.device_seen, 1, 1e-9);
    gmt_fixture_free(&fixture);

    (void)find(OFF(1, 15000000, 20000000));
    cr_expect_float_eq(part(GMT_TIME_UNSEEN), 5004e3, 1);
    cr_expect_float_eq(part(GMT_TIME_HOST) + part(GMT_TIME_LAUNCH_CALLS),
                       idle_ns - 250 * 15e3 - 4e3, 20e3);
    cr_expect(says("to keep within --overhead; 250 launches and 0 copies have none"));
    cr_expect_float_eq(fixture.report.device_seen, 1 - 5004e3 / fixture.report.recorded_ns, 1e-6);
    gmt_fixture_free(&fixture);
}

/* Half of the loop in pieces of 1 ms: a quarter of the loop is busy. */
Test(device_off, busy_time_is_an_estimate_with_an_interval)
{
    (void)find("SELECT 1");
    double busy_ns = fixture.report.gpu_busy_ns;
    cr_expect(isnan(fixture.report.gpu_busy_error_ns));
    gmt_fixture_free(&fixture);

    (void)find(OFF(1, 11000000, 12000000) OFF(2, 13000000, 14000000) OFF(3, 15000000, 16000000)
                   OFF(4, 17000000, 18000000) OFF(5, 19000000, 20000000) OFF(6, 21000000, 22000000)
                       OFF(7, 23000000, 24000000) OFF(8, 25000000, 26000000)
                           OFF(9, 27000000, 28000000) OFF(10, 50000000, 59000000));
    cr_expect_lt(fixture.report.recorded_busy_ns, busy_ns - 2e6);
    cr_expect_gt(fixture.report.gpu_busy_error_ns, 0);
    cr_expect_float_eq(fixture.report.gpu_busy_ns, busy_ns, fixture.report.gpu_busy_error_ns,
                       "%g +- %g, and it was %g", fixture.report.gpu_busy_ns,
                       fixture.report.gpu_busy_error_ns, busy_ns);
    cr_expect(says("GPU busy ("));
    gmt_fixture_free(&fixture);
}

/* A kernel that was launched in such a time runs for 2 ms more: nothing shows it but the start of the next one. */
Test(device_off, lasts_until_what_was_begun_in_it_has_ended)
{
    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, LOOP OFF(1, 15000000, 16000000));
    gmt_fixture_sql(&fixture, "UPDATE launch SET device_start_ns = device_start_ns + 2000000, "
                              "device_end_ns = device_end_ns + 2000000 WHERE "
                              "begin_ns >= 16000000 AND class_id = 2");
    gmt_fixture_analyze(&fixture, "GM512");
    cr_expect_float_eq(part(GMT_TIME_UNSEEN), 3004e3, 1);
    gmt_fixture_free(&fixture);
}

/* Or a call that waited for it: without one it is not known, for most of this run, what the device does. */
Test(device_off, ends_with_a_wait_for_it)
{
    static const char stop[] = "DELETE FROM launch WHERE class_id = 2 AND begin_ns >= 16000000;";

    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, LOOP OFF(1, 15000000, 16000000));
    gmt_fixture_sql(&fixture, stop);
    gmt_fixture_sql(&fixture,
                    "INSERT INTO sync (id, api_id, thread_id, context_id, begin_ns, end_ns, "
                    "result, capturing, kind) VALUES (999999, 1, 1, 1, 16100000, "
                    "17500000, 0, 0, 'context')");
    gmt_fixture_analyze(&fixture, "GM512");
    cr_expect_float_eq(part(GMT_TIME_UNSEEN), 2500e3, 1);
    gmt_fixture_free(&fixture);

    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, LOOP OFF(1, 15000000, 16000000));
    gmt_fixture_sql(&fixture, stop);
    gmt_fixture_analyze(&fixture, "GM512");
    cr_expect_float_eq(part(GMT_TIME_UNSEEN), 62010e3 - 15000e3, 1);
    gmt_fixture_free(&fixture);
}

/* Between two launches with times: the device may have worked for another thread. */
Test(device_off, is_no_wait_for_the_host)
{
    double all_ns = find("SELECT 1")->saving.high_ns;
    gmt_fixture_free(&fixture);
    double less_ns = find("INSERT INTO device_gap VALUES (1, 20010000, 20016000, '', '', 'budget', "
                          "8000)")
                         ->saving.high_ns;
    /* The device ran out of work at 20.009 ms, and got more at 20.024: it was idle from 20.016 on, as far as is known. */
    cr_expect_float_eq(all_ns - less_ns, 7e3, 1);
    gmt_fixture_free(&fixture);
}

/* What is left of a loop is judged by its gaps as before: nothing is added for the time that is not known. */
Test(device_off, leaves_the_gain_of_a_graph_as_measured)
{
    double all_ns = find("SELECT 1")->saving.high_ns;
    gmt_fixture_free(&fixture);
    double half_ns = find(OFF(1, 15000000, 25000000))->saving.high_ns;
    cr_expect_float_eq(half_ns, all_ns / 2, all_ns / 100);
    gmt_fixture_free(&fixture);
}

/* Kernels of the class take 5 or 15 us: the median of those that have a time stands for 500, and their sum has an interval. */
Test(device_off, launches_without_a_time_are_estimated_by_their_own_class)
{
    static const char spread[] =
        "UPDATE launch SET device_end_ns = device_end_ns + 10000 * (id % 2) "
        "WHERE class_id = 2;";
    struct gmt_fixture whole;

    gmt_fixture_load(&whole, "fixtures/GM512_positive");
    gmt_fixture_sql(&whole, LOOP);
    gmt_fixture_sql(&whole, spread);
    gmt_fixture_analyze(&whole, "GM512");
    const struct gmt_tl_class *all = &whole.timeline.classes[1];
    cr_expect_eq(all->estimated, 0);

    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, LOOP);
    gmt_fixture_sql(&fixture, spread);
    gmt_fixture_sql(&fixture, OFF(1, 15000000, 25000000));
    gmt_fixture_analyze(&fixture, "GM512");
    const struct gmt_tl_class *half = &fixture.timeline.classes[1];
    cr_expect_eq(half->estimated, 500);
    cr_expect_float_eq(half->total_ns, all->total_ns, 1);
    /* 1.96 x 500 x 5 us x the root of 1/500 + 1/500 */
    cr_expect_float_eq(half->estimated_error_ns, 1.96 * 500 * 5e3 * sqrt(2.0 / 500), 1e3);
    const struct gmt_kernel_row *row = NULL;
    for (size_t i = 0; i < fixture.report.kernel_count; i++) {
        row = fixture.report.kernels[i].class_id == 2 ? &fixture.report.kernels[i] : row;
    }
    cr_assert_not_null(row);
    cr_expect_eq(row->estimated, 500);
    gmt_fixture_free(&fixture);
    gmt_fixture_free(&whole);
}

/* A class of which no launch has a time has no estimate. */
Test(device_off, nothing_is_estimated_without_a_time)
{
    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, LOOP OFF(1, 5000000, 59000000));
    gmt_fixture_analyze(&fixture, "GM512");
    const struct gmt_tl_class *class = &fixture.timeline.classes[1];
    cr_expect_eq(class->estimated, 0);
    cr_expect(isnan(class->total_ns));
    cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* A copy back that was called 1.3 ms before it started on the device: what it waited for has no record. */
Test(device_off, a_copy_is_not_charged_for_kernels_without_a_record)
{
    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, LOOP OFF(1, 15000000, 16000000));
    gmt_fixture_sql(
        &fixture,
        "DELETE FROM launch WHERE class_id = 2 AND begin_ns >= 16000000;"
        "INSERT INTO transfer (id, api_id, stream_id, begin_ns, end_ns, result, capturing, "
        "direction, blocking, bytes, dst, src, dst_class, src_class, device_start_ns, "
        "device_end_ns) VALUES (1, 2, 1, 16100000, 17500000, 0, 0, 'd2h', 1, 64, 4096, 1048576, "
        "'pageable', 'device', 17400000, 17450000)");
    gmt_fixture_analyze(&fixture, "GM512");
    cr_expect_float_eq(gmt_copy_cost_ns(&fixture.timeline, &fixture.timeline.copies[0]), 100e3, 1);
    gmt_fixture_free(&fixture);
}

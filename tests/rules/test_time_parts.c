/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorded time goes to, in a run of 100 ms with ten launches of 1 ms (common.sql): the first, at 60 ms, was
 * counted and has no device time; the others run from 62.01 to 79.01 ms with pauses of 1 ms, their calls take 5 us.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "reports/model/answer.h"
#include "reports/model/words.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static void analyze(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, NULL);
}

static double part(enum gmt_time_part index)
{
    return fixture.report.time_parts[index].ns;
}

static void expect_sum(void)
{
    double sum_ns = 0;

    cr_assert(fixture.report.has_time_parts);
    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        double ns = fixture.report.time_parts[i].ns;

        cr_expect(isnan(ns) || ns >= 0, "%s: %f", gmt_time_part_name((enum gmt_time_part)i), ns);
        sum_ns += isnan(ns) ? 0 : ns;
    }
    cr_expect_float_eq(sum_ns, fixture.report.recorded_ns, 1, "%f of %f", sum_ns,
                       fixture.report.recorded_ns);
    /* The device's parts are those of the figure above them. */
    cr_expect_float_eq(part(GMT_TIME_KERNELS) + part(GMT_TIME_COPIES),
                       fixture.report.recorded_busy_ns, 1);
}

#define CALL(table, extra, values) \
    "INSERT INTO " table \
    " (id, api_id, thread_id, begin_ns, end_ns, result, stack_id, capturing" extra \
    ") VALUES " values
#define OWN "INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside, launch_seq) VALUES "

Test(time_parts, of_the_fixture_are_kernels_launches_start_up_and_host_code)
{
    analyze("SELECT 1");
    expect_sum();
    /* Nine that were timed, and the median for the one that was counted. */
    cr_expect_float_eq(part(GMT_TIME_KERNELS), 10e6, 1);
    cr_expect_float_eq(part(GMT_TIME_COPIES), 0, 1);
    /* The first operation with a time starts at 62.01 ms, 5 us after its call, as the others do. */
    cr_expect_float_eq(part(GMT_TIME_LAUNCH_CALLS), 5e3 + 9 * 10e3, 1);
    cr_expect_float_eq(fixture.report.time_parts[GMT_TIME_LAUNCH_CALLS].times, 10, 0.1);
    /* The kernel of 1 ms that has no time was before that. */
    cr_expect_float_eq(part(GMT_TIME_START_UP), 62e6 - 5e3, 1);
    cr_expect_float_eq(part(GMT_TIME_HOST) + part(GMT_TIME_SHUTDOWN),
                       100e6 - 62e6 + 5e3 - 10e6 - 95e3, 1);
    cr_expect_float_eq(part(GMT_TIME_OWN), 0, 1);
    gmt_fixture_free(&fixture);
}

Test(time_parts, name_what_the_host_did_while_the_device_was_idle)
{
    analyze("INSERT INTO api(id, name, family) VALUES (20, 'cuStreamSynchronize', 'sync'), "
            "(21, 'cuModuleLoadData', 'module'), (22, 'cuInit', 'other');" CALL(
                "sync", ", kind",
                "(1, 20, 1, 10000000, 13000000, 0, 1, 0, 'stream')") ";" CALL("api_call", "",
                                                                              "(2, 21, 1, "
                                                                              "20000000, "
                                                                              "24000000, 0, "
                                                                              "1, 0), "
                                                                              "(3, 22, 1, "
                                                                              "1000000, "
                                                                              "6000000, 0, "
                                                                              "1, 0)") ";"
                                                                                       "INSER"
                                                                                       "T "
                                                                                       "INTO "
                                                                                       "alloc"
                                                                                       "ation"
                                                                                       " (id,"
                                                                                       " kind"
                                                                                       ", "
                                                                                       "addre"
                                                                                       "ss, "
                                                                                       "bytes"
                                                                                       ", "
                                                                                       "api_"
                                                                                       "id, "
                                                                                       "stack"
                                                                                       "_id, "
                                                                                       "threa"
                                                                                       "d_id,"
                                                                                       " begi"
                                                                                       "n_ns,"
                                                                                       " "
                                                                                       "end_"
                                                                                       "ns, "
                                                                                       "free_"
                                                                                       "api_"
                                                                                       "id, "
                                                                                       "free_"
                                                                                       "stack"
                                                                                       "_id, "
                                                                                       "free_"
                                                                                       "threa"
                                                                                       "d_id,"
                                                                                       " free"
                                                                                       "_begi"
                                                                                       "n_ns,"
                                                                                       " free"
                                                                                       "_end_"
                                                                                       "ns) "
                                                                                       "VALUE"
                                                                                       "S "
                                                                                       "(77, "
                                                                                       "'devi"
                                                                                       "ce', "
                                                                                       "10485"
                                                                                       "76, "
                                                                                       "64, "
                                                                                       "4, "
                                                                                       "1, "
                                                                                       "1, "
                                                                                       "30000"
                                                                                       "000, "
                                                                                       "31000"
                                                                                       "000, "
                                                                                       "5, "
                                                                                       "1, "
                                                                                       "1, "
                                                                                       "90000"
                                                                                       "000, "
                                                                                       "91000"
                                                                                       "000"
                                                                                       ")");
    expect_sum();
    cr_expect_float_eq(part(GMT_TIME_SYNC), 3e6, 1);
    cr_expect_float_eq(part(GMT_TIME_LOADING), 4e6, 1);
    cr_expect_float_eq(part(GMT_TIME_OTHER_CALLS), 0, 1);
    cr_expect_float_eq(part(GMT_TIME_START_UP), 62e6 - 3e6 - 4e6 - 1e6 - 5e3, 1);
    cr_expect_float_eq(part(GMT_TIME_ALLOCATION), 2e6, 1);
    const struct gmt_time_row *row = &fixture.report.time_parts[GMT_TIME_LOADING];
    cr_assert_eq(row->place_count, 1);
    cr_expect_str_eq(row->places[0].where.label, "app.cu:42");
    cr_expect_float_eq(row->longest_ns, 4e6, 1);
    gmt_fixture_free(&fixture);
}

Test(time_parts, count_a_wait_only_while_the_device_is_idle)
{
    analyze("INSERT INTO api(id, name, family) VALUES (20, 'cuStreamSynchronize', 'sync');" CALL(
        "sync", ", kind", "(1, 20, 1, 62100000, 63310000, 0, 1, 0, 'stream')"));
    expect_sum();
    /* The kernel ended at 63.01 ms. */
    cr_expect_float_eq(part(GMT_TIME_SYNC), 300e3, 1);
    gmt_fixture_free(&fixture);
}

Test(time_parts, count_threads_that_are_in_calls_at_once_only_once)
{
    analyze("INSERT INTO api(id, name, family) VALUES (20, 'cuStreamSynchronize', 'sync');" CALL(
        "sync", ", kind",
        "(1, 20, 1, 10000000, 15000000, 0, 1, 0, 'stream'), "
        "(2, 20, 2, 12000000, 16000000, 0, 1, 0, 'stream')") ";" CALL("api_call", "",
                                                                      "(3, 4, 3, 11000000, "
                                                                      "12000000, 0, 1, 0)"));
    expect_sum();
    cr_expect_float_eq(part(GMT_TIME_ALLOCATION), 1e6, 1);
    /* The other thread's goes on for 1 ms, in which the first one, which launches next, does not wait. */
    cr_expect_float_eq(part(GMT_TIME_SYNC), 4e6, 1);
    gmt_fixture_free(&fixture);
}

Test(time_parts, name_the_calls_around_host_code)
{
    analyze("SELECT 1");
    const struct gmt_time_row *row = &fixture.report.time_parts[GMT_TIME_START_UP];
    cr_assert_gt(row->place_count, 0);
    cr_expect_str_eq(row->places[0].where.label, "the first call");
    cr_expect_str_eq(row->places[0].until, "app.cu:42");
    cr_expect_float_eq(row->places[0].time_ns, 60e6, 1e6);
    row = &fixture.report.time_parts[GMT_TIME_SHUTDOWN];
    cr_assert_eq(row->place_count, 1);
    cr_expect_str_eq(row->places[0].until, "the end of the run");
    /* The function that all launches come from. */
    row = &fixture.report.time_parts[GMT_TIME_HOST];
    cr_assert_eq(row->place_count, 1);
    cr_expect_str_eq(row->places[0].where.label, "app.cu:42");
    cr_expect_str_eq(row->places[0].where.function, "upload()");
    cr_expect_null(row->places[0].until);
    gmt_fixture_free(&fixture);
}

/* 20 ms of idle time were gmtrace's; of a session beside the device, what the host lost. */
Test(time_parts, show_the_time_of_gmtrace_that_the_wall_time_leaves_out)
{
    analyze(OWN "('setup', 1, 10000000, 30000000, 0, NULL), "
                "('session', 1, 62100000, 62600000, 0, NULL)");
    expect_sum();
    cr_expect_float_eq(part(GMT_TIME_OWN), fixture.report.own_ns, 1);
    cr_expect_float_eq(fixture.report.recorded_ns - part(GMT_TIME_OWN), fixture.report.wall_ns, 1);
    gmt_fixture_free(&fixture);
}

Test(time_parts, sum_up_where_a_counted_launch_lies_in_time_of_gmtrace)
{
    analyze(OWN "('launch', 1, 55500000, 60500000, 0, 1)");
    expect_sum();
    cr_expect_float_eq(part(GMT_TIME_OWN), 4e6, 1e6);
    gmt_fixture_free(&fixture);
}

Test(time_parts, sum_up_where_gmtrace_worked_all_the_time)
{
    analyze(OWN "('setup', 1, -1000000, 100000000, 0, NULL)");
    expect_sum();
    gmt_fixture_free(&fixture);
}

Test(time_parts, leave_out_what_another_user_of_cupti_had)
{
    analyze("INSERT INTO device_gap (begin_ns, end_ns, client, request) VALUES "
            "(10000000, 20000000, '', ''), (90000000, NULL, '', '')");
    expect_sum();
    cr_expect_float_eq(part(GMT_TIME_UNSEEN), 20e6, 1);
    gmt_fixture_free(&fixture);
}

Test(time_parts, are_not_known_without_device_times)
{
    analyze("UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL");
    cr_expect_not(fixture.report.has_time_parts);
    gmt_fixture_free(&fixture);
}

Test(time_parts, of_the_software_device_are_no_times_but_its_calls_are_counted)
{
    analyze("INSERT INTO capability VALUES ('software_device', 'ok', 0, NULL, NULL)");
    cr_expect_not(fixture.report.has_time_parts);
    cr_assert_gt(fixture.report.call_count, 0);
    cr_expect(isnan(fixture.report.calls[0].time_ns));
    gmt_fixture_free(&fixture);
}

Test(calls, are_summed_up_by_function_and_place)
{
    analyze("INSERT INTO stack VALUES (2, 1); INSERT INTO stack_frame VALUES (2, 0, 3);"
            "UPDATE launch SET stack_id = 2 WHERE seq > 7");
    const struct gmt_call_row *row = &fixture.report.calls[0];
    for (size_t i = 0; i < fixture.report.call_count && strcmp(row->name, "cuLaunchKernel") != 0;
         i++) {
        row = &fixture.report.calls[i];
    }
    cr_expect_str_eq(row->name, "cuLaunchKernel");
    cr_expect_str_eq(row->runtime_name, "cudaLaunchKernel");
    cr_expect_float_eq(row->calls, 10, 0.1);
    cr_expect_float_eq(row->time_ns, 50e3, 1);
    cr_expect_float_eq(row->longest_ns, 5e3, 1);
    cr_assert_eq(row->place_count, 2);
    cr_expect_float_eq(row->places[0].count, 7, 0.1);
    cr_expect_str_eq(row->places[0].where.label, "app.cu:42");
    cr_expect_float_eq(row->places[1].count, 3, 0.1);
    cr_expect_str_eq(row->places[1].where.label, "app.cu:77");
    gmt_fixture_free(&fixture);
}

/* A batch is one call, however many copies it makes. */
Test(calls, of_a_batch_are_one)
{
    analyze("INSERT INTO transfer (id, api_id, thread_id, begin_ns, end_ns, result, capturing, "
            "direction, "
            "blocking, bytes, dst, src, dst_class, src_class, batch) VALUES "
            "(1, 1, 1, 1000000, 1010000, 0, 0, 'h2d', 0, 64, 4096, 8192, 'device', 'pinned', 0), "
            "(2, 1, 1, 1000000, 1010000, 0, 0, 'h2d', 0, 64, 4096, 8192, 'device', 'pinned', 1)");
    for (size_t i = 0; i < fixture.report.call_count; i++) {
        if (strcmp(fixture.report.calls[i].name, "cuMemcpyHtoD_v2") == 0) {
            cr_expect_float_eq(fixture.report.calls[i].calls, 1, 0.1);
        }
    }
    gmt_fixture_free(&fixture);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time with planted causes of known length: each is found again, with its place. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/model/answer.h"
#include "reports/model/words.h"
#include "tests/rules/idle_trace.h"

static double planted[GMT_TIME_PARTS];

static void expect_planted(void)
{
    double idle_ns = 0, found_ns = 0;

    for (int i = GMT_TIME_ALLOCATION; i <= GMT_TIME_HOST; i++) {
        const char *name = gmt_time_part_name((enum gmt_time_part)i);
        double ns = part((enum gmt_time_part)i);

        cr_expect_leq(fabs(ns - planted[i]), 0.05 * planted[i] + 1, "%s: %.0f, planted %.0f", name,
                      ns, planted[i]);
        idle_ns += planted[i];
        found_ns += fmin(ns, planted[i]);
    }
    cr_expect_geq(found_ns, 0.95 * idle_ns, "%.0f of %.0f ns", found_ns, idle_ns);
}

/* Twenty rounds in which the device is idle for each of the causes, each in a length of its own. */
Test(idle_causes, are_found_in_their_planted_lengths)
{
    memset(planted, 0, sizeof(planted));
    begin();
    host(5000000);
    planted[GMT_TIME_START_UP] = 5000000;
    for (int i = 0; i < 20; i++) {
        allocate("allocation", "device", 4, 310000);
        planted[GMT_TIME_ALLOCATION] += 310000;
        allocate("host_allocation", "pinned", 22, 270000);
        planted[GMT_TIME_PAGE_LOCKING] += 270000;
        load(430000);
        planted[GMT_TIME_LOADING] += 430000;
        copy(90000, 150000, 40000);
        planted[GMT_TIME_COPY_CALLS] += 130000;
        host(520000);
        planted[GMT_TIME_HOST] += 520000;
        launch(5000, 4000, 100000);
        planted[GMT_TIME_LAUNCH_CALLS] += 9000;
        /* Until the kernel is done, and 170 us that it takes the host to notice. */
        wait_for(4000 + 100000 + 170000);
        planted[GMT_TIME_SYNC] += 170000;
        put("INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside) VALUES "
            "('session', 1, %" PRId64 ", %" PRId64 ", 0)",
            now_ns, now_ns + 60000);
        host(60000);
    }
    analyze();
    expect_planted();
    cr_expect_float_eq(part(GMT_TIME_OWN), 20 * 60e3, 20 * 3e3);
    gmt_fixture_free(&fixture);
}

/* The verdict, in one sentence. */
Test(idle_causes, are_summed_up_in_a_sentence)
{
    begin();
    launch(5000, 1000, 100000);
    wait_for(101000);
    host(888000);
    launch(4000, 1000, 1000);
    wait_for(1000);
    analyze();
    cr_expect_str_eq(gmt_answer_idle(&fixture.report),
                     "the GPU is idle for 89.9 % of the time, most of all for host code (88.8 %), "
                     "at app.cu:42");
    gmt_fixture_free(&fixture);
}

/* The twin of start-up: it is not what the program was slow for, so another cause is named. */
Test(idle_causes, after_the_last_work_are_shutdown)
{
    begin();
    launch(5000, 1000, 100000);
    wait_for(101000);
    host(700000);
    launch(5000, 1000, 100000);
    wait_for(101000);
    host(900000);
    load(200000);
    host(3000000);
    analyze();
    cr_expect_float_eq(part(GMT_TIME_SHUTDOWN), 900e3 + 3000e3, 1);
    cr_expect_float_eq(part(GMT_TIME_HOST), 700e3, 1);
    cr_expect_float_eq(part(GMT_TIME_LOADING), 200e3, 1);
    cr_expect_str_eq(place(GMT_TIME_SHUTDOWN)->where.label, "app.cu:42");
    cr_expect_str_eq(place(GMT_TIME_SHUTDOWN)->until, "the end of the run");
    cr_expect_str_eq(gmt_answer_idle(&fixture.report),
                     "the GPU is idle for 96.0 % of the time, most of all besides shutdown "
                     "(77.8 %) for host code (14.0 %), at app.cu:42");
    gmt_fixture_free(&fixture);
}

Test(idle_causes, name_the_function_that_ran_between_two_calls)
{
    begin();
    stack = 1;
    launch(5000, 1000, 10000);
    wait_for(11000);
    host(700000);
    stack = 2;
    launch(5000, 1000, 10000);
    analyze();
    cr_expect_float_eq(part(GMT_TIME_HOST), 700e3, 1);
    cr_expect_str_eq(place(GMT_TIME_HOST)->where.function, "main");
    cr_expect_str_eq(place(GMT_TIME_HOST)->where.label, "app.cu:77");
    cr_expect_str_eq(place(GMT_TIME_HOST)->until, "app.cu:80");
    cr_expect_eq(place(GMT_TIME_HOST)->where.stack_depth, 1);
    gmt_fixture_free(&fixture);
}

Test(idle_causes, name_the_function_of_python_between_two_operations_of_a_library)
{
    begin();
    for (int i = 0; i < 10; i++) {
        stack = 3;
        launch(5000, 1000, 10000);
        host(30000);
        stack = 4;
        launch(5000, 1000, 10000);
        host(i < 9 ? 40000 : 11000);
    }
    analyze();
    const struct gmt_time_row *row = &fixture.report.time_parts[GMT_TIME_HOST];
    cr_expect_eq(row->place_count, 1, "%zu places", row->place_count);
    cr_expect_str_eq(row->places[0].where.label, "train.py:train");
    cr_expect_str_eq(row->places[0].where.function, "train");
    cr_expect_null(row->places[0].until);
    /* Less the kernel of 10 us in each, which starts 1 us after its call. */
    cr_expect_float_eq(row->places[0].time_ns, 10 * 19e3 + 9 * 29e3, 1);
    gmt_fixture_free(&fixture);
}

/* As of a library that watches the device from a thread of its own. */
Test(idle_causes, are_not_the_waits_of_a_thread_that_nobody_waits_for)
{
    begin();
    launch(5000, 1000, 10000);
    thread = 2;
    wait_for(900000);
    thread = 1;
    launch(5000, 1000, 10000);
    analyze();
    cr_expect_float_eq(part(GMT_TIME_SYNC), 0, 1);
    cr_expect_float_eq(part(GMT_TIME_HOST), 889e3, 1);
    gmt_fixture_free(&fixture);
}

/* As of kernels of graphs that could not be joined to a call. */
Test(idle_causes, are_looked_up_by_the_thread_before_where_none_is_known)
{
    begin();
    launch(5000, 1000, 10000);
    host(300000);
    launch(5000, 1000, 10000);
    put("UPDATE launch SET thread_id = NULL WHERE id = 2");
    analyze();
    cr_expect_float_eq(part(GMT_TIME_HOST), 289e3, 1);
    cr_expect_str_eq(place(GMT_TIME_HOST)->where.label, "app.cu:42");
    gmt_fixture_free(&fixture);
}

/* Allocations hold locks of the driver that launches of other threads wait for. */
Test(idle_causes, are_allocations_of_any_thread)
{
    begin();
    launch(5000, 1000, 10000);
    thread = 2;
    allocate("allocation", "device", 4, 500000);
    thread = 1;
    launch(5000, 1000, 10000);
    analyze();
    /* Also in the microsecond before the first kernel starts. */
    cr_expect_float_eq(part(GMT_TIME_ALLOCATION), 490e3, 1);
    gmt_fixture_free(&fixture);
}

static void launch_after(int64_t latency_ns)
{
    begin();
    launch(5000, 1000, 10000);
    wait_for(11000);
    launch(5000, latency_ns, 10000);
    wait_for(latency_ns + 10000);
    analyze();
}

/* A launch that takes longer than any waits for something in its stream. */
Test(idle_causes, count_as_launch_latency_as_long_as_it_may_take)
{
    launch_after(18000);
    cr_expect_float_eq(part(GMT_TIME_LAUNCH_CALLS), 5000 + 1000 + 5000 + 18000, 1);
    cr_expect_float_eq(part(GMT_TIME_SYNC), 0, 1);
    gmt_fixture_free(&fixture);
    launch_after(25000);
    cr_expect_float_eq(part(GMT_TIME_LAUNCH_CALLS), 5000 + 1000 + 5000 + 20000, 1);
    cr_expect_float_eq(part(GMT_TIME_SYNC), 5000, 1);
    gmt_fixture_free(&fixture);
}

static void launch_twice(int64_t call_ns)
{
    begin();
    launch(call_ns, 1000, 10000);
    wait_for(11000);
    launch(call_ns, 1000, 10000);
    analyze();
}

/* Code of a kernel is loaded when it is launched first, and only then. */
Test(idle_causes, are_loading_in_the_first_launch_of_a_kernel)
{
    launch_twice(45000);
    cr_expect_float_eq(part(GMT_TIME_LOADING), 0, 1);
    cr_expect_float_eq(part(GMT_TIME_LAUNCH_CALLS), 2 * 46000, 1);
    gmt_fixture_free(&fixture);
    launch_twice(55000);
    cr_expect_float_eq(part(GMT_TIME_LOADING), 55000, 1);
    cr_expect_float_eq(part(GMT_TIME_LAUNCH_CALLS), 55000 + 2 * 1000, 1);
    gmt_fixture_free(&fixture);
}

/* Each of two devices works for half of the time, in turn: neither is idle for less because the other one works. */
Test(idle_causes, are_those_of_each_device)
{
    begin();
    put("INSERT INTO device (id, name) VALUES (1, 'Other GPU'); INSERT INTO context VALUES (2, 1, "
        "2)");
    for (int i = 0; i < 10; i++) {
        context = 1 + i % 2;
        launch(5000, 1000, 400000);
        wait_for(401000);
        host(94000);
    }
    analyze();
    cr_assert_eq(fixture.report.device_idle_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct gmt_device_idle *idle = &fixture.report.device_idle[i];
        double sum_ns = 0;

        cr_expect_eq(idle->device, (int)i);
        cr_expect_float_eq(idle->idle_ns, 10 * 500e3 - 5 * 400e3, 1);
        for (int k = GMT_TIME_ALLOCATION; k <= GMT_TIME_HOST; k++) {
            sum_ns += idle->ns[k];
        }
        cr_expect_float_eq(sum_ns, idle->idle_ns, 1, "%f of %f", sum_ns, idle->idle_ns);
        /* The first one's last work ends 500 us before that of the other one, which is no shutdown. */
        cr_expect_float_eq(idle->ns[GMT_TIME_SHUTDOWN], 94e3, 1);
    }
    cr_expect_str_eq(fixture.report.device_idle[1].name, "Other GPU");
    /* The host waits for the other device, so that it comes late. */
    cr_expect_gt(fixture.report.device_idle[0].ns[GMT_TIME_SYNC], 1.5e6);
    /* Of both together: idle is when neither works. */
    cr_expect_float_eq(part(GMT_TIME_HOST), 9 * 94e3, 1);
    cr_expect_float_eq(part(GMT_TIME_SHUTDOWN), 94e3, 1);
    cr_expect_not_null(strstr(gmt_answer_idle(&fixture.report), "the GPUs are all idle for"));
    gmt_fixture_free(&fixture);
}

/* The page draws them: in the order of time, and together all of the idle time. */
Test(idle_causes, are_kept_piece_by_piece)
{
    begin();
    for (int i = 0; i < 50; i++) {
        launch(5000, 1000, 10000);
        host(60000);
    }
    analyze();
    double sum_ns = 0, idle_ns = 0;
    for (size_t i = 0; i < fixture.report.idle_count; i++) {
        const struct gmt_idle_piece *piece = &fixture.report.idle[i];

        cr_assert_lt(piece->place, fixture.report.idle_place_count);
        cr_expect(i == 0 || piece->begin_ns >= fixture.report.idle[i - 1].end_ns);
        sum_ns += (double)(piece->end_ns - piece->begin_ns);
    }
    for (int i = GMT_TIME_ALLOCATION; i <= GMT_TIME_HOST; i++) {
        idle_ns += part((enum gmt_time_part)i);
    }
    cr_expect_float_eq(sum_ns, idle_ns, 1);
    gmt_fixture_free(&fixture);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time with planted causes of known length: each is found again, with its place. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/model/answer.h"
#include "reports/model/words.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;
static int64_t now_ns, device_ns; /* of the host; when the device is done */
static int64_t next_id;
static int thread = 1, context = 1, stack = 1;
static double planted[GMT_TIME_PARTS];

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    char sql[1024];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    cr_assert(n > 0 && (size_t)n < sizeof(sql));
    gmt_fixture_sql(&fixture, sql);
}

/* An empty trace: what common.sql has of launches goes. The first call comes at 5 ms. */
static void begin(void)
{
    gmt_fixture_load(&fixture, "common_only");
    put("DELETE FROM launch; INSERT INTO api(id, name, family, traits) VALUES "
        "(20, 'cuStreamSynchronize', 'sync', 128), (21, 'cuModuleLoadData', 'module', 0), "
        "(22, 'cuMemHostAlloc', 'alloc', 16)");
    put("INSERT INTO string VALUES (20, 'compute()'), (21, 'train'), (22, '/home/me/train.py'), "
        "(23, '_PyEval_EvalFrameDefault'), (24, 'at::add()'), (25, 'at::mul()'), (26, '<module>')");
    put("INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES "
        "(20, '/usr/lib/libpython3.12.so', 0, 5000000, 6000000), "
        "(21, '/venv/site-packages/torch/lib/libtorch_cuda.so', 0, 7000000, 8000000)");
    put("INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) "
        "VALUES "
        "(20, 12300, 1, 12300, 1, 2, 80, 0), (21, 16384, 1, 16384, 20, 2, 50, 0), "
        "(22, 9000000, NULL, NULL, 21, 22, NULL, 0), (23, 5000100, 20, 100, 23, NULL, NULL, 2), "
        "(24, 7000100, 21, 100, 24, NULL, NULL, 0), (25, 7000200, 21, 200, 25, NULL, NULL, 0), "
        "(26, 9000100, NULL, NULL, 26, 22, NULL, 0)");
    /* 1 (common.sql): upload() of line 77 of main(). 2: compute() of line 80. 3 and 4: two operations of train(). */
    put("INSERT INTO stack VALUES (2, 3), (3, 5), (4, 5); INSERT INTO stack_frame VALUES "
        "(2, 0, 1), (2, 1, 21), (2, 2, 20), (3, 0, 24), (3, 1, 23), (3, 2, 22), (3, 3, 23), "
        "(3, 4, 26), (4, 0, 25), (4, 1, 23), (4, 2, 22), (4, 3, 23), (4, 4, 26)");
    memset(planted, 0, sizeof(planted));
    now_ns = device_ns = 0;
    next_id = 1;
    thread = context = stack = 1;
}

static void host(int64_t ns)
{
    now_ns += ns;
}

static void call(const char *table, const char *extra, const char *values, int api, int64_t ns)
{
    put("INSERT INTO %s (id, api_id, thread_id, context_id, begin_ns, end_ns, result, stack_id, "
        "capturing%s) VALUES (%" PRId64 ", %d, %d, %d, %" PRId64 ", %" PRId64 ", 0, %d, 0%s)",
        table, extra, next_id++, api, thread, context, now_ns, now_ns + ns, stack, values);
    now_ns += ns;
}

static void wait_for(int64_t ns)
{
    call("sync", ", kind", ", 'stream'", 20, ns);
}

static void load(int64_t ns)
{
    call("api_call", "", "", 21, ns);
}

static void allocate(const char *table, const char *kind, int api, int64_t ns)
{
    put("INSERT INTO %s (id, kind, address, bytes, thread_id, api_id, stack_id, begin_ns, end_ns) "
        "VALUES "
        "(%" PRId64 ", '%s', %" PRId64 ", 4096, %d, %d, %d, %" PRId64 ", %" PRId64 ")",
        table, next_id, kind, next_id * 65536, thread, api, stack, now_ns, now_ns + ns);
    next_id++;
    now_ns += ns;
}

/* A kernel that starts so long after the end of its call. */
static void launch(int64_t call_ns, int64_t latency_ns, int64_t kernel_ns)
{
    char values[256];
    int64_t start_ns = now_ns + call_ns + latency_ns;

    (void)snprintf(values, sizeof(values),
                   ", 'kernel', %" PRId64 ", 1, 1, 0, 'complete', %" PRId64 ", %" PRId64, next_id,
                   start_ns, start_ns + kernel_ns);
    device_ns = start_ns + kernel_ns;
    call("launch",
         ", kind, seq, kernel_id, class_id, no_activity, arguments, device_start_ns, device_end_ns",
         values, 3, call_ns);
}

/* A blocking copy of which the device knows the middle. */
static void copy(int64_t before_ns, int64_t copy_ns, int64_t after_ns)
{
    char values[256];

    (void)snprintf(values, sizeof(values),
                   ", 'h2d', 1, 4096, 65536, 8192, 'device', 'pageable', %" PRId64 ", %" PRId64,
                   now_ns + before_ns, now_ns + before_ns + copy_ns);
    device_ns = now_ns + before_ns + copy_ns;
    call("transfer",
         ", direction, blocking, bytes, dst, src, dst_class, src_class, device_start_ns, "
         "device_end_ns",
         values, 1, before_ns + copy_ns + after_ns);
}

/* The run ends here. */
static void analyze(void)
{
    put("UPDATE process SET end_ns = %" PRId64, now_ns > device_ns ? now_ns : device_ns);
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert(fixture.report.has_time_parts);
}

static double part(enum gmt_time_part index)
{
    return fixture.report.time_parts[index].ns;
}

static const struct gmt_call_place *place(enum gmt_time_part index)
{
    cr_assert_gt(fixture.report.time_parts[index].place_count, 0);
    return &fixture.report.time_parts[index].places[0];
}

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
    }
    cr_expect_str_eq(fixture.report.device_idle[1].name, "Other GPU");
    /* The host waits for the other device, so that it comes late. */
    cr_expect_gt(fixture.report.device_idle[0].ns[GMT_TIME_SYNC], 1.5e6);
    /* Of both together: idle is when neither works. */
    cr_expect_float_eq(part(GMT_TIME_HOST), 10 * 94e3, 1);
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

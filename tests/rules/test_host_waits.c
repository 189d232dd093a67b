/* SPDX-License-Identifier: Apache-2.0 */
/* GM512 of work of the host's own: steps with a known gap before them, and what is no such gap. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/model/answer.h"
#include "tests/rules/fixture.h"
#include "tests/rules/host_steps.h"

static void copy(int stack, const char *direction)
{
    bool down = strcmp(direction, "h2d") != 0, within_host = strcmp(direction, "h2h") == 0;
    char values[256];
    int64_t start_ns = now_ns + 2000 > device_ns ? now_ns + 2000 : device_ns;

    (void)snprintf(values, sizeof(values),
                   ", '%s', 1, 65536, %d, %d, '%s', '%s', %" PRId64 ", %" PRId64, direction,
                   down ? 65536 : 8192, down ? 8192 : 65536, down ? "pageable" : "device",
                   within_host ? "pinned"
                   : down      ? "device"
                               : "pageable",
                   start_ns, start_ns + 5000);
    device_ns = start_ns + 5000;
    call("transfer",
         ", direction, blocking, bytes, dst, src, dst_class, src_class, device_start_ns, "
         "device_end_ns",
         values, 1, stack, device_ns + 1000 - now_ns);
}

/* Code of the host so long beside 120 us of kernels, the upload of what it made, and the kernels. */
static void step(int64_t code_ns)
{
    host(code_ns);
    copy(3, "h2d");
    for (int i = 0; i < 4; i++) {
        launch(2, 30000);
        host(5000);
    }
}

static void steps(int n, int64_t code_ns)
{
    begin();
    launch(2, 30000);
    for (int i = 0; i < n; i++) {
        step(code_ns);
    }
}

/* The one finding about the host's own work; NULL: none. Notes are none. */
static const struct gmt_finding *found(void)
{
    const struct gmt_finding *only = NULL;

    put("UPDATE process SET end_ns = %" PRId64, now_ns > device_ns ? now_ns : device_ns);
    gmt_fixture_analyze(&fixture, "GM512");
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        const struct gmt_finding *finding = &fixture.report.findings[i];

        if (strstr(finding->headline, "for code of the host before") != NULL) {
            cr_assert_null(only);
            only = finding;
        }
    }
    return only;
}

static void expect_silent(const char *why)
{
    const struct gmt_finding *finding = found();

    cr_expect_null(finding, "%s: %s", why, finding != NULL ? finding->headline : "");
    gmt_fixture_free(&fixture);
}

/* Of 500 us the kernels of the step before cover 120, less what the launches took. */
Test(host_waits, are_named_by_the_line_that_the_code_comes_before)
{
    steps(20, 500000);
    const struct gmt_finding *f = found();

    cr_assert_not_null(f);
    cr_expect_str_eq(f->where.label, "train.py:31");
    cr_expect_str_eq(f->where.function, "encode_all");
    cr_expect_not_null(strstr(f->headline, "waits 20 times"), "%s", f->headline);
    cr_expect_not_null(strstr(f->headline, "after train.py:26"), "%s", f->headline);
    cr_expect_not_null(strstr(f->fix, "num_workers"), "%s", f->fix);
    cr_expect_str_eq(f->framework, "pytorch");
    gmt_fixture_free(&fixture);
}

/* A program without a framework: its fix is not that of a loop of launches. */
Test(host_waits, of_any_program_have_a_fix_of_their_own)
{
    begin();
    for (int i = 0; i < 20; i++) {
        launch(1, 30000);
        host(1500000);
    }
    const struct gmt_finding *f = found();
    cr_assert_not_null(f);
    cr_expect_str_eq(f->where.label, "app.cu:42");
    cr_expect_null(strstr(f->headline, "after"), "%s", f->headline);
    cr_expect_null(f->framework);
    cr_expect_str_eq(f->action, "Take this code out of the step");
    cr_expect_not_null(strstr(f->sketch, "std::async"), "%s", f->sketch);
    cr_expect_not_null(strstr(gmt_answer_idle(&fixture.report),
                              " ms (1 place) waits for launches that come too slowly"),
                       "%s", gmt_answer_idle(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* The loss is read, the host looks at it, and a thread of the framework's launches the backward: that is GM109's. */
Test(host_waits, do_not_follow_results_that_another_thread_has_read)
{
    static const bool reads[] = {false, true};

    for (size_t i = 0; i < 2; i++) {
        begin();
        for (int n = 0; n < 20; n++) {
            launch(2, 30000);
            if (reads[i]) {
                copy(3, "d2h");
            }
            host(1500000);
            thread = 2;
            launch(4, 30000);
            thread = 1;
        }
        cr_expect_eq(found() != NULL, !reads[i], "case %zu", i);
        gmt_fixture_free(&fixture);
    }
}

Test(host_waits, are_priced_by_the_time_that_the_device_was_idle)
{
    steps(20, 500000);
    const struct gmt_finding *f = found();
    double idle_ns = 0;

    cr_assert_not_null(f);
    for (size_t i = 0; i < f->claim_count; i++) {
        idle_ns += (double)(f->claims[i].end_ns - f->claims[i].begin_ns);
    }
    /* After a step the host is ahead by 120 us of kernels, less 4 launches of 10 us and the latency of the first. */
    cr_expect_float_eq(f->cost_ns, 500e3 + 19 * (500e3 - 86e3) - 31e3, 20e3, "%.0f", f->cost_ns);
    cr_expect_float_eq(f->cost_ns, idle_ns, 1);
    cr_expect_float_eq(f->saving.high_ns, f->cost_ns, 1);
    cr_expect_lt(f->saving.best_ns, f->saving.high_ns);
    cr_expect_gt(f->saving.best_ns, 0.95 * f->saving.high_ns);
    /* One thread beside the step has 130 us of it for what is next. */
    cr_expect_lt(f->saving.low_ns, 20 * 140e3);
    cr_expect_gt(f->saving.low_ns, 19 * 100e3);
    gmt_fixture_free(&fixture);
}

/* Line 28 of score() after line 26: the function goes on from line to line. */
Test(host_waits, are_named_by_the_common_function_where_its_lines_differ)
{
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 30000);
        host(1500000);
        launch(4, 30000);
    }
    const struct gmt_finding *f = found();
    cr_assert_not_null(f);
    cr_expect_str_eq(f->where.label, "train.py:28");
    cr_expect_not_null(strstr(f->headline, "after train.py:26"), "%s", f->headline);
    gmt_fixture_free(&fixture);
}

/* Instructions of one line are frames of their own; so are those that it calls from. */
Test(host_waits, of_one_line_are_one_place)
{
    begin();
    put("INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) "
        "VALUES (30, 9000010, NULL, NULL, 20, 22, 26, 0), (31, 9000110, NULL, NULL, 21, 22, 31, "
        "0); "
        "INSERT INTO stack VALUES (5, 4), (6, 4); INSERT INTO stack_frame VALUES "
        "(5, 0, 25), (5, 1, 23), (5, 2, 31), (5, 3, 30), "
        "(6, 0, 24), (6, 1, 23), (6, 2, 21), (6, 3, 30)");
    for (int i = 0; i < 20; i++) {
        launch(i % 2 == 0 ? 2 : 6, 30000);
        host(500000);
        copy(i % 4 < 2 ? 3 : 5, "h2d");
    }
    const struct gmt_finding *f = found();
    cr_assert_not_null(f);
    cr_expect_str_eq(f->where.label, "train.py:31");
    cr_expect_not_null(strstr(f->headline, "waits 19 times"), "%s", f->headline);
    gmt_fixture_free(&fixture);
}

Test(host_waits, of_the_repaired_twin_are_none)
{
    steps(40, 20000);
    expect_silent("encoded once");
}

Test(host_waits, are_none_where_the_device_works_meanwhile)
{
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 600000);
        host(500000);
    }
    expect_silent("beside kernels");
}

Test(host_waits, recur)
{
    steps(15, 500000);
    expect_silent("fifteen times");
    steps(17, 500000);
    cr_expect_not_null(found());
    gmt_fixture_free(&fixture);
}

/* One step in which a file was read: 50 ms, of which two medians count. */
Test(host_waits, count_what_happened_once_like_the_others)
{
    steps(20, 500000);
    double all_ns = found()->saving.high_ns;
    gmt_fixture_free(&fixture);
    begin();
    launch(2, 30000);
    for (int i = 0; i < 20; i++) {
        step(i == 10 ? 50000000 : 500000);
    }
    const struct gmt_finding *f = found();
    cr_assert_not_null(f);
    cr_expect_float_eq(f->saving.high_ns, all_ns + 414e3, 10e3, "%.0f", f->saving.high_ns - all_ns);
    gmt_fixture_free(&fixture);
}

Test(host_waits, are_a_part_of_the_loop_that_matters)
{
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 3000000);
        host(3000000 + 300000);
    }
    expect_silent("9 % of the time");
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 3000000);
        host(3000000 + 900000);
    }
    cr_expect_not_null(found());
    gmt_fixture_free(&fixture);
}

/* A model that is read from files and copied to the device, and is used then. */
Test(host_waits, are_not_the_uploads_of_the_start)
{
    begin();
    launch(2, 30000);
    for (int i = 0; i < 40; i++) {
        host(500000);
        copy(3, "h2d");
    }
    launch(2, 30000);
    expect_silent("uploads");
}

/* What the host computes from what it has read cannot be done ahead. */
Test(host_waits, are_not_for_code_that_may_need_what_was_read)
{
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 30000);
        copy(2, "d2h");
        host(1500000);
    }
    expect_silent("after a read-back");
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 30000);
        copy(2, "h2h");
        host(1500000);
    }
    expect_silent("after a copy of what a kernel wrote to page-locked memory");
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 30000);
        call("sync", ", kind", ", 'stream'", 20, 2, device_ns - now_ns + 1000);
        host(1500000);
    }
    expect_silent("after a wait");
}

/* Code is loaded, and gmtrace works: neither is the host's. */
Test(host_waits, are_not_for_calls_nor_for_gmtrace)
{
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 30000);
        call("api_call", "", "", 21, 3, 1500000);
    }
    expect_silent("loading");
    begin();
    for (int i = 0; i < 20; i++) {
        launch(2, 30000);
        put("INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside) VALUES "
            "('session', 1, %" PRId64 ", %" PRId64 ", 0)",
            now_ns + 20000, now_ns + 1490000);
        host(1500000);
    }
    expect_silent("gmtrace");
}

/* A gap counts for the loop of launches that it is in, and not again. */
Test(host_waits, are_counted_once)
{
    begin();
    for (int i = 0; i < 200; i++) {
        launch(2, 10000);
        host(400000);
    }
    put("UPDATE process SET end_ns = %" PRId64, now_ns);
    gmt_fixture_analyze(&fixture, "GM512");
    size_t n = fixture.report.finding_count + fixture.report.note_count;
    cr_expect_eq(n, 1, "%zu", n);
    gmt_fixture_free(&fixture);
}

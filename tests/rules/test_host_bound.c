/* SPDX-License-Identifier: Apache-2.0 */
/* GM512: where it begins to report, what it promises, and what it leaves alone. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "reports/model/answer.h"
#include "tests/rules/boundary.h"

/* The thousand launches of the fixture, a call of 3 us every `period` ns, and kernels of `kernel` ns. */
#define EVERY(period, kernel) \
    "UPDATE launch SET begin_ns = 10000000 + (id - 910001) * " period ", " \
    "end_ns = 10003000 + (id - 910001) * " period ", " \
    "device_start_ns = 10004000 + (id - 910001) * " period ", " \
    "device_end_ns = 10004000 + " kernel " + (id - 910001) * " period " WHERE class_id = 2;"
#define ONLY(launches) "DELETE FROM launch WHERE class_id = 2 AND id > 910000 + " launches ";"

/* Nothing is said of the first launch of a kernel, so there is one less to judge. */
Test(host_bound, a_loop_has_tens_of_launches)
{
    gmt_boundary_expect_edge("GM512_positive", ONLY("32"), ONLY("33"));
}

/* Of ten launches so many are called while the device still works: it gets to them without a pause. */
#define QUEUED(of_ten) \
    "UPDATE launch SET device_end_ns = device_start_ns + 20000 WHERE class_id = 2 AND " \
    "(id - 910001) % 10 < " of_ten

Test(host_bound, most_launches_come_late)
{
    gmt_boundary_expect_edge("GM512_positive", QUEUED("6"), QUEUED("4"));
}

/* Idle for 12 or 18 % of the time. */
Test(host_bound, a_device_that_is_busy_for_most_of_the_loop_waits_for_nobody)
{
    gmt_boundary_expect_edge("GM512_positive", EVERY("40000", "35000"), EVERY("40000", "33000"));
}

/* A bare loop of launches takes 2.7 us a launch, recorded at most 2.5 us more. */
Test(host_bound, a_bare_loop_of_launches_is_another_rules)
{
    gmt_boundary_expect_edge("GM512_positive", EVERY("7500", "2000"), EVERY("8500", "2000"));
    cr_expect_eq(gmt_boundary_reports("fixtures/GM512_positive", "GM507", EVERY("7500", "2000")),
                 1);
    cr_expect_eq(gmt_boundary_reports("fixtures/GM512_positive", "GM507", EVERY("8500", "2000")),
                 0);
}

static bool says_loop(const char *sql)
{
    struct gmt_fixture fixture;
    bool says = false;

    gmt_fixture_load_positive(&fixture, "GM512", sql);
    gmt_fixture_analyze(&fixture, "GM512");
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        says |= strncmp(fixture.report.findings[i].headline, "a launch every", 14) == 0;
    }
    for (size_t i = 0; i < fixture.report.note_count; i++) {
        says |= strncmp(fixture.report.notes[i].headline, "a launch every", 14) == 0;
    }
    gmt_fixture_free(&fixture);
    return says;
}

/* What is further apart is no loop of launches, however it goes on: the host has work of its own (test_host_waits.c). */
Test(host_bound, launches_far_apart_are_steps_of_a_program)
{
    cr_expect(!says_loop(ONLY("40") EVERY("1100000", "2000")));
    cr_expect(says_loop(ONLY("40") EVERY("900000", "2000")));
}

static const struct gmt_finding *find(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load_positive(fixture, "GM512", sql);
    return gmt_fixture_only(fixture, "GM512");
}

static struct gmt_saving saving_of(const char *sql)
{
    struct gmt_fixture fixture;
    struct gmt_saving saving;

    gmt_fixture_load_positive(&fixture, "GM512", sql);
    gmt_fixture_analyze(&fixture, "GM512");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 1);
    saving =
        (fixture.report.finding_count > 0 ? fixture.report.findings : fixture.report.notes)->saving;
    gmt_fixture_free(&fixture);
    return saving;
}

/* 18 us between kernels, of which the recording took 2.5 us at most; a step of the graph is shorter than the kernel. */
Test(host_bound, a_graph_saves_the_gaps_that_were_measured)
{
    struct gmt_saving saving = saving_of("SELECT 1");

    cr_expect_float_eq(saving.best_ns, 999 * 15.5e3, 999);
    cr_expect_float_eq(saving.high_ns, 999 * 18e3, 999);
    cr_expect_leq(saving.low_ns, saving.best_ns);
    /* A bare loop of launches would still be faster by that. */
    cr_expect_float_eq(saving.low_ns, 999 * (2 * 2734.375 + 2500 - 2500), 999);
}

/* Of kernels that are shorter than a step of a graph something stays. */
Test(host_bound, a_graph_is_not_faster_than_its_steps)
{
    struct gmt_saving saving = saving_of(EVERY("20000", "500"));

    cr_expect_float_eq(saving.best_ns, 999 * (19.5e3 - 2500 - (1562.5 - 500)), 999);
}

/* Code of 110 us between two launches may be work of its own; of 90 us it is what the launch takes. */
Test(host_bound, long_code_is_not_promised_away)
{
    struct gmt_saving one = saving_of(ONLY("300") EVERY("93000", "2000"));
    struct gmt_saving other = saving_of(ONLY("300") EVERY("113000", "2000"));

    cr_expect_float_eq(one.best_ns, 299 * (91e3 - 2500), 299);
    cr_expect_float_eq(other.best_ns, other.low_ns, 1);
    cr_expect_float_eq(other.high_ns, 299 * 111e3, 299);
}

/* Without a model a step is what it was on an H200. */
static size_t reports_without_model(const char *sql, double *best_ns)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM512", sql);
    gmt_fixture_drop_model(&fixture);
    gmt_fixture_analyze(&fixture, "GM512");
    size_t n = fixture.report.finding_count + fixture.report.note_count;
    *best_ns = fixture.report.finding_count > 0 ? fixture.report.findings[0].saving.best_ns : NAN;
    gmt_fixture_free(&fixture);
    return n;
}

Test(host_bound, is_found_without_a_model)
{
    double best_ns;

    cr_expect_eq(reports_without_model(EVERY("9000", "500"), &best_ns), 0);
    cr_expect_eq(reports_without_model(EVERY("11000", "500"), &best_ns), 1);
    cr_expect_eq(reports_without_model(EVERY("20000", "500"), &best_ns), 1);
    cr_expect_float_eq(best_ns, 999 * (19.5e3 - 2500 - (1200 - 500)), 999 * 200);
}

/* A wait, a copy or an allocation in each iteration: no graph goes beyond it. */
Test(host_bound, what_must_wait_is_no_loop_of_launches)
{
    static const char *const between[] = {
        "INSERT INTO api(id, name, family, traits) VALUES (20, 'cuStreamSynchronize', 'sync', 128);"
        "INSERT INTO sync (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, "
        "stack_id, capturing, kind) SELECT id + 5000, 20, 1, 1, 1, end_ns + 1000, end_ns + 4000, "
        "0, 1, 0, "
        "'stream' FROM launch WHERE class_id = 2",
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, "
        "stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class) SELECT "
        "id + 5000, 2, 1, 1, 1, end_ns + 1000, end_ns + 4000, 0, 1, 0, 'd2h', 1, 4, 8192, 65536, "
        "'pageable', 'device' FROM launch WHERE class_id = 2",
        "INSERT INTO allocation (id, kind, address, bytes, thread_id, api_id, stack_id, begin_ns, "
        "end_ns) "
        "SELECT id + 5000, 'device', id * 65536, 4096, 1, 4, 1, end_ns + 1000, end_ns + 4000 FROM "
        "launch "
        "WHERE class_id = 2"};

    for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++) {
        cr_expect_eq(gmt_boundary_reports("fixtures/GM512_positive", "GM512", between[i]), 0, "%s",
                     between[i]);
    }
}

/* What another thread waits for is nothing to this one. */
Test(host_bound, waits_of_other_threads_do_not_count)
{
    cr_expect_eq(
        gmt_boundary_reports(
            "fixtures/GM512_positive", "GM512",
            "INSERT INTO api(id, name, family, traits) VALUES (20, 'cuEventSynchronize', 'sync', "
            "128); INSERT INTO sync (id, api_id, thread_id, context_id, stream_id, begin_ns, "
            "end_ns, "
            "result, stack_id, capturing, kind) SELECT id + 5000, 20, 2, 1, 1, end_ns + 1000, "
            "end_ns + 4000, 0, 1, 0, 'stream' FROM launch WHERE class_id = 2"),
        1);
}

/* As in PyTorch, where gradients are computed by a thread of their own: twenty launches by each in turn. */
Test(host_bound, launches_of_other_threads_are_no_code_of_the_host)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = find(
        &fixture,
        "UPDATE launch SET thread_id = 2 WHERE class_id = 2 AND (id - 910001) % 40 >= 20");

    /* 17 us between the calls of any two; of the 998 that follow one of their thread 50 begin a turn. */
    cr_expect_float_eq(gmt_fixture_evidence(f, "host_code_between_launches") / 998, 17e3, 100);
    gmt_fixture_free(&fixture);
}

/* The time of gmtrace's own work is nobody's gap. */
Test(host_bound, does_not_count_what_gmtrace_did)
{
    struct gmt_saving saving = saving_of(
        "INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside) SELECT 'session', 1, "
        "end_ns + 1000, end_ns + 9000, 0 FROM launch WHERE class_id = 2 AND id % 2 = 0");

    cr_expect_float_eq(saving.high_ns, 500 * 18e3, 18e3);
}

/* Each kernel is launched once: there is nothing that a graph could repeat. */
Test(host_bound, first_launches_are_start_up)
{
    cr_expect_eq(
        gmt_boundary_reports(
            "fixtures/GM512_positive", "GM512",
            "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
            "block_z, dynamic_shared_bytes, max_blocks_per_sm, theoretical_occupancy) SELECT id - "
            "900000, 2, "
            "id - 900000, 1, 1, 256, 1, 1, 0, 8, 1.0 FROM launch WHERE class_id = 2; "
            "UPDATE launch SET class_id = id - 900000 WHERE class_id = 2"),
        0);
}

/* A graph that is launched is what the fix makes of it. */
Test(host_bound, launches_of_graphs_are_repaired)
{
    cr_expect_eq(
        gmt_boundary_reports("fixtures/GM512_positive", "GM512",
                             "UPDATE launch SET kind = 'graph', class_id = NULL, kernel_id "
                             "= NULL WHERE class_id = 2"),
        0);
}

#define PYTHON(path) \
    "INSERT INTO string VALUES (90, 'step'), (91, '/home/me/train.py'), (92, 'op'); " \
    "INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES " \
    "(90, '" path "', 0, 7000000, 8000000), (91, '/usr/bin/python3', 0, 8000000, 9000000); " \
    "INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) " \
    "VALUES " \
    "(90, 7000100, 90, 100, 92, NULL, NULL, 0), (91, 9900000, NULL, NULL, 90, 91, NULL, 0), " \
    "(92, 8000100, 91, 100, NULL, NULL, NULL, 2); " \
    "INSERT INTO stack VALUES (90, 3); INSERT INTO stack_frame VALUES (90, 0, 90), (90, 1, 92), " \
    "(90, 2, 91); UPDATE launch SET stack_id = 90 WHERE class_id = 2"

/* The verdict says so in its sentence about idle time. */
Test(host_bound, is_said_in_the_verdict)
{
    struct gmt_fixture fixture;

    find(&fixture, "SELECT 1");
    cr_expect_not_null(
        strstr(gmt_answer_idle(&fixture.report),
               "; of this, 18.0 ms (1 place) waits for launches that come too slowly"),
        "%s", gmt_answer_idle(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* The fix is what the program is written in. */
Test(host_bound, says_what_fits_the_framework)
{
    static const struct {
        const char *sql, *word;
    } cases[] = {
        {"SELECT 1", "Capture the launches"},
        {PYTHON("/venv/site-packages/torch/lib/libtorch_cuda.so"),
         "torch.compile(mode=\"reduce-overhead\")"},
        {PYTHON("/venv/site-packages/jaxlib/xla_extension.so"), "jax.jit"},
        {PYTHON("/venv/site-packages/cupy_backends/driver.so"), "begin_capture"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        const struct gmt_finding *f = find(&fixture, cases[i].sql);

        cr_expect_not_null(strstr(f->fix, cases[i].word), "%s", f->fix);
        cr_expect_str_eq(f->where.label, i == 0 ? "app.cu:42" : "train.py:step");
        gmt_fixture_free(&fixture);
    }
}

/* Two kernels of one loop, called from two lines: one finding, at the function that has both. */
Test(host_bound, is_said_once_of_a_loop)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = find(
        &fixture, "INSERT INTO string VALUES (90, 'other()'); "
                  "INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, "
                  "runtime) VALUES "
                  "(90, 9000, 1, 9000, 90, 2, 50, 0), (91, 12300, 1, 12300, 1, 2, 80, 0); INSERT "
                  "INTO stack VALUES "
                  "(90, 2); INSERT INTO stack_frame VALUES (90, 0, 90), (90, 1, 91); "
                  "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, "
                  "block_y, block_z, "
                  "dynamic_shared_bytes, max_blocks_per_sm, theoretical_occupancy) VALUES (3, 2, "
                  "32, 1, 1, 256, 1, 1, "
                  "0, 8, 1.0); UPDATE launch SET stack_id = 90, class_id = 3 WHERE class_id = 2 "
                  "AND id % 2 = 0");

    cr_expect_str_eq(f->where.function, "main");
    cr_expect_float_eq(gmt_fixture_evidence(f, "launches"), 1000, 0.1);
    gmt_fixture_free(&fixture);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call was made and which API the user called, as far as the stack shows. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

/* The first finding's place after a change to the fixture. */
static struct gmt_where where_after(struct gmt_fixture *fixture, const char *name, const char *sql)
{
    gmt_fixture_load(fixture, name);
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, NULL);
    cr_assert_geq(fixture->report.finding_count, 1);
    return fixture->report.findings[0].where;
}

static void expect_api(const char *function, const char *api)
{
    struct gmt_fixture fixture;
    char sql[256];

    snprintf(sql, sizeof(sql), "UPDATE string SET text = '%s' WHERE id = 4", function);
    struct gmt_where where = where_after(&fixture, "fixtures/GM101_positive", sql);
    cr_assert_str_eq(where.api, api, "%s: %s", function, where.api);
    gmt_fixture_free(&fixture);
}

Test(where, names_the_api_that_is_on_the_stack)
{
    expect_api("cudaMemcpyToSymbol", "cudaMemcpyToSymbol (cuMemcpyHtoD_v2)");
    expect_api("cudaMemcpyAsync_ptsz", "cudaMemcpyAsync (cuMemcpyHtoD_v2)");
    expect_api("cudaError cudaMemcpyToSymbol<int>(int const&, void const*)",
               "cudaMemcpyToSymbol (cuMemcpyHtoD_v2)");
    /* No function of the runtime: what such a driver call mostly comes from. */
    expect_api("cudart::helper(int)", "cudaMemcpy (cuMemcpyHtoD_v2)");
    expect_api("libcudart_static_0123", "cudaMemcpy (cuMemcpyHtoD_v2)");
}

Test(where, takes_the_outermost_of_several)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM101_positive",
        "INSERT INTO string VALUES (5, 'cudaMemcpyToSymbol');"
        "INSERT INTO frame VALUES (4, 2098100, 2, 948, 5, NULL, NULL, 1, NULL);"
        "UPDATE stack_frame SET position = position + 10 WHERE stack_id = 1 AND position > 0;"
        "INSERT INTO stack_frame VALUES (1, 1, 4)");

    cr_assert_str_eq(where.api, "cudaMemcpyToSymbol (cuMemcpyHtoD_v2)");
    cr_assert_str_eq(where.label, "app.cu:42");
    gmt_fixture_free(&fixture);
}

Test(where, passes_over_what_is_made_of_a_kernel_that_is_a_template)
{
    static const struct {
        const char *kernel, *label;
    } cases[] = {{"ns::scale<float>", "app.cu:42"},
                 {"void scale<float>(float*)", "app.cu:42"},
                 {"upscale<float>", "app.cu:7"}}; /* another function: the user's */

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        char sql[800];

        snprintf(
            sql, sizeof(sql),
            "INSERT INTO string VALUES (5, '__wrapper__device_stub_scale<float>'), (6, '%s'), "
            "(7, '/tmp/tmpxft_1_app.cudafe1.stub.c');"
            "INSERT INTO frame VALUES (4, 8100, 1, 8100, 5, 7, 18, 0, NULL), "
            "(5, 8100, 1, 8100, 6, 2, 7, 0, NULL);"
            "UPDATE stack_frame SET position = position + 10 WHERE stack_id = 1 AND position > 0;"
            "INSERT INTO stack_frame VALUES (1, 1, 4), (1, 2, 5)",
            cases[i].kernel);
        struct gmt_where where = where_after(&fixture, "fixtures/GM101_positive", sql);
        cr_assert_str_eq(where.label, cases[i].label, "%s: %s", cases[i].kernel, where.label);
        gmt_fixture_free(&fixture);
    }
}

Test(where, passes_over_the_toolkits_wrappers)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM101_positive",
        "INSERT INTO string VALUES (5, '/usr/local/cuda/include/cuda_runtime.h');"
        "UPDATE frame SET file_id = 5, line = 1038 WHERE id = 2");

    cr_assert_str_eq(where.label, "app+0x2000");
    cr_assert_str_eq(where.function, "upload()");
    cr_assert_null(where.file);
    gmt_fixture_free(&fixture);
}

Test(where, of_a_kernel_is_just_the_kernel_when_only_glue_is_on_the_stack)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM301_positive",
        "UPDATE string SET text = '__device_stub__Z4workPfPKfi(float*)' WHERE id = 3;"
        "DELETE FROM stack_frame WHERE position > 1;"
        "UPDATE launch SET caller = 8208");

    cr_assert_str_eq(where.kernel, "work(float*, float const*, int)");
    cr_assert_str_eq(where.label, where.kernel);
    cr_assert_null(where.module);
    gmt_fixture_free(&fixture);
}

/* A stack of one frame of a library without lines, called from frame 2 and frame 3 (user code). */
static void expect_note(const char *symbols, const char *part)
{
    struct gmt_fixture fixture;
    char sql[300];

    snprintf(sql, sizeof(sql),
             "UPDATE frame SET file_id = NULL, line = NULL, function_id = NULL WHERE id = 2;"
             "UPDATE module SET symbols = %s%s%s WHERE id = 1",
             symbols != NULL ? "'" : "", symbols != NULL ? symbols : "NULL",
             symbols != NULL ? "'" : "");
    struct gmt_where where = where_after(&fixture, "fixtures/GM101_positive", sql);
    cr_assert_str_eq(where.label, "app+0x2000");
    if (part == NULL) {
        cr_expect_null(where.note, "%s", where.note);
    } else {
        cr_expect(where.note != NULL && strncmp(where.note, "app ", 4) == 0 &&
                      strstr(where.note, part) != NULL,
                  "%s: %s", symbols, where.note != NULL ? where.note : "(none)");
    }
    gmt_fixture_free(&fixture);
}

Test(where, says_why_a_line_is_not_named_and_what_helps)
{
    expect_note(NULL, NULL);
    expect_note("lines", NULL);
    expect_note("functions", "-g");
    expect_note("stripped", "--debug-dir");
    expect_note("changed", "record again");
    expect_note("missing", "gmanalyze symbolize");
    expect_note("late", "gmanalyze symbolize");
}

Test(where, says_nothing_where_the_line_is_named)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(&fixture, "fixtures/GM101_positive",
                                         "UPDATE module SET symbols = 'stripped'");

    cr_expect_null(where.note, "%s", where.note);
    gmt_fixture_free(&fixture);
}

/* The stack of a Python program: the runtime, a library's function, the interpreter, and, where
 * `made` is not empty, functions that the interpreter's trampolines name. */
static struct gmt_where where_of_python(struct gmt_fixture *fixture, const char *made)
{
    char sql[1500];

    snprintf(
        sql, sizeof(sql),
        "INSERT INTO module(id, path, load_bias, start_address, end_address, symbols) VALUES "
        "(3, '/v/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so', 0, 0, 0, 'functions'),"
        "(4, '/usr/lib/libpython3.12.so.1.0', 0, 0, 0, 'functions');"
        "INSERT INTO string VALUES (50, 'at::native::copy_'), (51, '_PyEval_EvalFrameDefault'),"
        "(52, 'to'), (53, '/v/lib/python3.12/site-packages/torch/tensor.py'),"
        "(54, 'Loader.batch'), (55, '/home/me/train.py');"
        "INSERT INTO frame(id, address, module_id, offset, function_id, file_id, runtime) VALUES "
        "(50, 50, 3, 80, 50, NULL, 0), (51, 51, 4, 81, 51, NULL, 2),"
        "(52, 52, NULL, NULL, 52, 53, 0), (53, 53, NULL, NULL, 54, 55, 0),"
        "(54, 54, NULL, NULL, NULL, NULL, 0);"
        "DELETE FROM stack_frame; INSERT INTO stack_frame VALUES (1, 0, 1), (1, 1, 50), "
        "(1, 2, 51)%s",
        made);
    return where_after(fixture, "fixtures/GM101_positive", sql);
}

Test(where, prefers_the_programs_own_function_in_python)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_of_python(&fixture, ", (1, 3, 52), (1, 4, 51), (1, 5, 53)");

    cr_expect_str_eq(where.label, "train.py:Loader.batch");
    cr_expect_str_eq(where.file, "/home/me/train.py");
    cr_expect_eq(where.line, 0);
    cr_expect_null(where.note, "%s", where.note);
    gmt_fixture_free(&fixture);

    where = where_of_python(&fixture, ", (1, 3, 52)");
    cr_expect_str_eq(where.label, "tensor.py:to");
    gmt_fixture_free(&fixture);
}

Test(where, says_how_python_gets_names)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_of_python(&fixture, "");

    cr_expect_str_eq(where.label, "libtorch_cuda.so+0x50");
    cr_expect(where.note != NULL && strstr(where.note, "PYTHONPERFSUPPORT=1") != NULL, "%s",
              where.note);
    cr_expect(where.stack[2].runtime && where.stack[2].interpreter);
    gmt_fixture_free(&fixture);
}

Test(where, says_how_made_code_gets_names)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM101_positive",
        "INSERT INTO frame(id, address, runtime) VALUES (54, 54, 0);"
        "UPDATE stack_frame SET frame_id = 54 WHERE stack_id = 1 AND position = 1");

    cr_expect_str_eq(where.label, "app.cu:77", "the innermost with a name: %s", where.label);
    cr_expect(where.note != NULL && strstr(where.note, "perf-PID.map") != NULL, "%s", where.note);
    gmt_fixture_free(&fixture);
}

/* The number in the first row and column. */
static double answer(const struct gmt_fixture *fixture, const char *sql)
{
    sqlite3_stmt *statement;

    cr_assert_eq(sqlite3_prepare_v2(fixture->db, sql, -1, &statement, NULL), SQLITE_OK, "%s: %s",
                 sql, sqlite3_errmsg(fixture->db));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    double value = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* The first finding of a rule, when its place is reached by `ways`: its SQL counts all calls there. */
static void expect_all_ways(const char *rule, const char *evidence, const char *table, int ways)
{
    struct gmt_fixture fixture;
    char name[64], sql[512];

    (void)snprintf(name, sizeof(name), "fixtures/%s_positive", rule);
    gmt_fixture_load(&fixture, name);
    for (int way = 1; way < ways; way++) {
        (void)snprintf(sql, sizeof(sql),
                       "INSERT INTO stack SELECT 1000 + %d, depth FROM stack WHERE id = 1;"
                       "INSERT INTO stack_frame SELECT 1000 + %d, position, frame_id "
                       "FROM stack_frame WHERE stack_id = 1;"
                       "UPDATE %s SET stack_id = 1000 + %d WHERE stack_id = 1 AND id %% %d = %d",
                       way, way, table, way, ways, way);
        gmt_fixture_sql(&fixture, sql);
    }
    gmt_fixture_analyze(&fixture, rule);
    cr_assert_eq(fixture.report.finding_count, 1, "%s by %d ways: %zu findings: %s", rule, ways,
                 fixture.report.finding_count, gmt_fixture_found(&fixture.report));
    const struct gmt_finding *finding = &fixture.report.findings[0];
    double wanted = NAN;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, evidence) == 0) {
            wanted = finding->evidence[i].value;
        }
    }
    cr_assert_eq(answer(&fixture, finding->sql), wanted, "%s by %d ways: %s: %g, not %g", rule,
                 ways, finding->sql, answer(&fixture, finding->sql), wanted);
    gmt_fixture_free(&fixture);
}

Test(where, findings_count_a_place_whichever_way_led_there)
{
    for (int ways = 1; ways <= 41; ways += 8) {
        expect_all_ways("GM101", "copies", "transfer", ways);
        expect_all_ways("GM102", "copies", "transfer", ways);
        expect_all_ways("GM201", "pairs", "allocation", ways);
    }
}

Test(where, functions_further_out_are_not_taken_for_the_runtime)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM101_positive",
        "INSERT INTO string VALUES (5, 'cudaBenchmark');"
        "INSERT INTO frame(id, address, module_id, offset, function_id, runtime) "
        "VALUES (4, 8300, 1, 108, 5, 1);"
        "INSERT INTO stack_frame VALUES (1, 7, 4)");

    cr_assert_str_eq(where.api, "cudaMemcpy (cuMemcpyHtoD_v2)");
    cr_assert_str_eq(where.label, "app.cu:42");
    gmt_fixture_free(&fixture);
}

/* A call of a library's own thread. */
static void expect_thread(const char *first, const char *of_call, const char *innermost,
                          const char *label)
{
    struct gmt_fixture fixture;
    char sql[1024];

    snprintf(sql, sizeof(sql),
             "UPDATE thread SET name = '%s'; INSERT INTO thread VALUES (2, 101, '%s'); "
             "UPDATE transfer SET thread_id = 2; "
             "INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES "
             "(800, '%s', 0, 80000, 90000), (801, '/lib/x86_64-linux-gnu/libc.so.6', 0, 90000, "
             "100000); INSERT INTO frame (id, address, module_id, offset, runtime) VALUES "
             "(800, 80100, 800, 100, 0), (801, 90100, 801, 100, 0); "
             "DELETE FROM stack_frame WHERE stack_id = 1 AND position > 0; "
             "INSERT INTO stack_frame VALUES (1, 1, 800), (1, 2, 801)",
             first, of_call, innermost);
    struct gmt_where where = where_after(&fixture, "fixtures/GM101_positive", sql);
    cr_assert_str_eq(where.label, label);
    gmt_fixture_free(&fixture);
}

#define TORCH_CPU "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so"

Test(where, names_the_backward_pass)
{
    expect_thread("python3", "pt_autograd_0", TORCH_CPU,
                  "libtorch_cpu.so+0x64 (PyTorch's backward pass)");
    /* Any of a pool; the program's own. */
    expect_thread("python3", "loader-3", TORCH_CPU, "libtorch_cpu.so+0x64");
    expect_thread("app", "pt_autograd_0", "/opt/app", "app+0x64");
}

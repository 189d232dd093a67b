/* SPDX-License-Identifier: Apache-2.0 */
/* What reports say of a recording that checked itself. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json/json_parts.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;
static char *text;

/* Analyse a trace with these rows, and write the report for a terminal. */
static void report(const char *sql)
{
    struct gmt_writer_options options = {.top = 10};
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    gmt_fixture_load(&fixture, "fixtures/GM301_negative");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(gmt_writer_find("text")->write(&fixture.report, &options, out), 0);
    fclose(out);
    /* Where lines were wrapped does not matter. */
    for (char *at = text; *at != '\0'; at++) {
        while (at[0] == '\n' && at[1] == ' ') {
            memmove(at, at + 1, strlen(at));
        }
        while (at[0] == ' ' && at[1] == ' ') {
            memmove(at, at + 1, strlen(at));
        }
    }
}

static void report_all(void)
{
    char *sql = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/coverage.sql");

    cr_assert_not_null(sql);
    report(sql);
    free(sql);
}

static void teardown(void)
{
    free(text);
    gmt_fixture_free(&fixture);
}

TestSuite(coverage_report, .fini = teardown, .timeout = 60);

static void says(const char *part)
{
    cr_expect_not_null(strstr(text, part), "'%s' is not in\n%s", part, text);
}

static const struct gmt_gap *gap(const char *what, const char *part)
{
    for (size_t i = 0; i < fixture.report.gap_count; i++) {
        const struct gmt_gap *found = &fixture.report.gaps[i];

        if (strcmp(found->what, what) == 0 && strstr(found->why, part) != NULL) {
            return found;
        }
    }
    return NULL;
}

Test(coverage_report, names_each_kind_that_differs_with_an_example)
{
    report_all();
    says("seen copies: 1,200 of 1,203 have a device record, 2 records are without a call; for "
         "example cuMemcpyHtoD_v2 of 64 bytes, stream 3");
    says("seen memsets in graphs: 19 of 20 have a device record; for example graph 1: 2 in it, 1 "
         "recorded");
    says("driver reached by dlsym, cuGetProcAddress_v2, linked; static CUDA runtime in 1 module, "
         "shared CUDA runtime in 1 module");
    cr_expect_null(strstr(text, "seen kernels:"), "kernels agree");
}

Test(coverage_report, lists_what_went_past_the_hooks_as_not_checked)
{
    report_all();
    cr_expect_not_null(gap("driver API", "7 calls of driver functions that are not recorded: "
                                         "cuMemBatchDecompressAsync"));
    cr_expect_not_null(
        gap("driver API", "whether the program called cuGraphicsMapResources (map)"));
    const struct gmt_gap *graphs = gap("graphs",
                                       "19 of 20 memsets in graphs that were launched have "
                                       "a record of the device");
    cr_assert_not_null(graphs);
    cr_expect_null(strstr(graphs->why, "of none of them"), "%s", graphs->why);
    /* One that was never called is no gap, nor one that only asks. */
    cr_expect_null(gap("driver API", "cuLaunchGrid"));
    cr_expect_null(gap("driver API", "cuMemGetInfo"));
    cr_expect(fixture.report.incomplete);
}

Test(coverage_report, is_one_line_where_all_agrees)
{
    report("INSERT INTO coverage(kind, what, expected, seen, extra) VALUES "
           "('records', 'copies', 1203, 1203, 0), ('records', 'kernels', 45, 45, 0);"
           "INSERT INTO coverage(kind, what, requests) VALUES ('lookup_path', 'dlsym', 3);");
    says("seen 1,203 copies, 45 kernels: hooks and CUPTI agree; driver reached by dlsym");
    cr_expect_eq(fixture.report.gap_count, 0);
    cr_expect(!fixture.report.incomplete);
}

Test(coverage_report, says_when_there_is_nothing_to_compare_with)
{
    report("INSERT INTO coverage(kind, what, requests) VALUES ('lookup_path', 'dlsym', 3)");
    says("seen no complete device records to compare with; driver reached by dlsym");
    cr_expect_eq(fixture.report.gap_count, 0);
}

Test(coverage_report, knows_the_word_of_earlier_formats)
{
    report("INSERT INTO coverage(kind, what, requests) VALUES ('door', 'dlsym', 3)");
    says("seen no complete device records to compare with; driver reached by dlsym");
    json_t *json = gmt_json_coverage(&fixture.report.coverage);
    cr_expect_eq(json_array_size(json_object_get(json, "lookup_paths")), 1);
    json_decref(json);
}

Test(coverage_report, is_absent_from_traces_of_earlier_versions)
{
    report("DROP TABLE coverage; DROP TABLE coverage_example");
    cr_expect_null(strstr(text, "\n seen "));
    cr_expect_eq(fixture.report.gap_count, 0);
    cr_expect_eq(fixture.report.coverage.line_count, 0);
}

Test(coverage_report, is_in_json_by_kind)
{
    report_all();
    json_t *json = gmt_json_coverage(&fixture.report.coverage);
    json_t *records = json_object_get(json, "records"), *copies = json_array_get(records, 0);
    json_t *entries = json_object_get(json, "entry_points");

    cr_assert(json_is_false(json_object_get(json, "agrees")));
    cr_assert_eq(json_array_size(json_object_get(json, "lookup_paths")), 3);
    cr_assert_eq(json_array_size(json_object_get(json, "runtimes")), 3);
    cr_assert_eq(json_integer_value(json_object_get(json, "modules_without_runtime")), 1);
    cr_assert_eq(json_array_size(entries), 3);
    cr_assert_eq(json_integer_value(json_object_get(json, "entry_points_that_ask")), 1);
    cr_assert(json_is_null(json_object_get(json_array_get(entries, 1), "calls")));
    cr_assert_eq(json_array_size(records), 4);
    cr_assert_eq(json_number_value(json_object_get(copies, "seen")), 1200);
    cr_assert_eq(json_array_size(json_object_get(copies, "examples")), 2);
    json_decref(json);
}

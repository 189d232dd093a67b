/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that no recorder of ours would write: the page and the JSON report stay valid. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/writers.h"
#include "tests/rules/page_reader.h"

enum { LONGEST = 4 * 16384 }; /* bytes of a text that is cut */

static const char *const columns[][2] = {
    {"call", "kind"},        {"call", "api"},
    {"call", "thread"},      {"call", "stream"},
    {"call", "begin"},       {"call", "host_ns"},
    {"call", "device_ns"},   {"call", "device_start"},
    {"call", "bytes"},       {"call", "stack"},
    {"call", "kernel"},      {"call", "allocation"},
    {"call", "id"},          {"allocation", "begin"},
    {"allocation", "freed"}, {"allocation", "address"},
    {"allocation", "bytes"}, {"frame", "function"},
    {"frame", "module"},     {"stack_frame", "frame"},
};

static size_t scripts_in(const char *html)
{
    size_t n = 0;

    for (const char *at = html; (at = strstr(at, "<script")) != NULL; at++) {
        n++;
    }
    return n;
}

/* Markup of the trace must be nowhere in the file but inside the payload. */
static void check_html(const char *html)
{
    char *clean = gmt_clean_lines(html);
    char *template = gmt_fixture_read(GMT_SOURCE_DIR "/reports/page/built/page.html");

    cr_assert_str_eq(clean, html, "control characters or broken UTF-8");
    cr_assert_not_null(template);
    cr_assert_eq(scripts_in(html), scripts_in(template), "a script that is not the page's");
    free(clean);
    free(template);
    cr_assert_null(strstr(html, "alert(1)</script>"));
    cr_assert_not_null(strstr(html, "default-src 'none'; script-src 'sha256-"));
}

static void check_json(struct gmt_fixture *fixture)
{
    const struct gmt_writer_options options = {.top = 0};
    char *text = NULL;
    size_t bytes = 0;
    json_error_t error;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(gmt_writer_find("json")->write(&fixture->report, &options, out), 0);
    fclose(out);
    json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(json, "line %d: %s", error.line, error.text);
    cr_assert_eq(json_array_size(json_object_get(json, "findings")), fixture->report.finding_count);
    json_t *kernels = json_object_get(json, "kernels"), *kernel;
    size_t i;
    cr_assert_eq(json_array_size(kernels), fixture->report.kernel_count);
    json_array_foreach(kernels, i, kernel)
        cr_assert_leq(json_string_length(json_object_get(kernel, "name")), LONGEST);
    json_decref(json);
    free(text);
}

static void check(const char *name)
{

    struct gmt_fixture fixture;
    struct gmt_page_read page;
    char path[512];

    gmt_fixture_load(&fixture, "golden/trace");
    snprintf(path, sizeof(path), GMT_SOURCE_DIR "/tests/rules/hostile/%s.sql", name);
    char *sql = gmt_fixture_read(path);
    cr_assert_not_null(sql, "%s is missing", path);
    gmt_fixture_sql(&fixture, sql);
    free(sql);
    gmt_fixture_analyze(&fixture, NULL);
    gmt_page_of_fixture(&fixture, &page);
    check_html(page.html);
    check_json(&fixture);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        free(gmt_page_column(&page, columns[i][0], columns[i][1]));
    }
    json_t *strings = json_object_get(page.head, "strings"), *string;
    size_t index;
    json_array_foreach(strings, index, string) cr_assert_leq(json_string_length(string), LONGEST);
    double *begin = gmt_page_column(&page, "call", "begin");
    for (size_t i = 1; i < gmt_page_rows(&page, "call"); i++) {
        cr_assert(begin[i] >= begin[i - 1] && fabs(begin[i]) < 2251799813685248.0);
    }
    free(begin);
    gmt_page_read_free(&page);
    gmt_fixture_free(&fixture);
}

Test(page_hostile, names)
{
    check("names");
}

Test(page_hostile, no_values)
{
    check("no_values");
}

Test(page_hostile, clocks)
{
    check("clocks");
}

Test(page_hostile, no_events)
{
    check("no_events");
}

Test(page_hostile, many_kernels)
{
    check("many_kernels");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that no recorder of ours would write: the page and the JSON report stay valid. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/format.h"
#include "reports/writers.h"
#include "tests/rules/page_reader.h"

enum { LONGEST = 4 * 16384 }; /* bytes of a text that is cut */

/* Names that end a script, hide in a comment, are no UTF-8, or are very long. */
static const char names[] =
    "UPDATE process SET exe = '/x/</title><script>alert(1)</script><!--', "
    "command = CAST(x'2e2f61ff00' AS TEXT), hostname = CAST(x'eda080' AS TEXT), "
    "options = 'a=<b>;=;;c;d=' || char(27) || ';e=f=g';"
    "UPDATE thread SET name = CAST(x'c328ff' AS TEXT) || '</script>';"
    "UPDATE kernel SET name = '</script><img src=x onerror=alert(1)>' || char(0x202e) || "
    "char(1) || CAST(x'f09f98' AS TEXT) WHERE id = 1;"
    "UPDATE kernel SET name = hex(zeroblob(524288)) WHERE id = 2;"
    "UPDATE process SET cwd = hex(zeroblob(524288));"
    "UPDATE string SET text = CAST(x'eda0bdedb880' AS TEXT) || id;"
    "UPDATE module SET path = '//' || char(10) || '<!--' || id;"
    "UPDATE capability SET detail = CAST(x'ff' AS TEXT), remedy = '<b>';"
    "UPDATE loss SET detail = '\"' || char(8232) || '&';"
    "UPDATE device SET name = CAST(x'80' AS TEXT), attributes = 'x';"
    "UPDATE api SET runtime_name = '\"><script>' || id;";

static const char no_values[] =
    "UPDATE process SET exe = NULL, command = NULL, end_ns = NULL, end_reason = NULL;"
    "UPDATE thread SET name = NULL; UPDATE stream SET context_id = NULL;"
    "UPDATE device SET uuid = NULL, compute_major = NULL, sm_count = NULL, memory_bytes = NULL;"
    "UPDATE transfer SET thread_id = NULL, context_id = NULL, stream_id = NULL, stack_id = NULL,"
    " dst = NULL, src = NULL, device_start_ns = NULL, device_end_ns = NULL, api_id = NULL;"
    "UPDATE launch SET thread_id = NULL, stream_id = NULL, class_id = NULL, kernel_id = NULL,"
    " device_start_ns = NULL, device_end_ns = NULL;"
    "UPDATE kernel SET registers = NULL, local_bytes = NULL;"
    "UPDATE allocation SET kind = NULL, bytes = NULL, begin_ns = NULL, end_ns = NULL,"
    " context_id = NULL, thread_id = NULL, stack_id = NULL;"
    "UPDATE frame SET module_id = NULL, offset = NULL, function_id = NULL, file_id = NULL;";

static const char clocks[] =
    "UPDATE process SET start_ns = 50000000, end_ns = 1000, realtime_ns = -1;"
    "UPDATE transfer SET end_ns = begin_ns - 1000 WHERE id < 100;"
    "UPDATE transfer SET begin_ns = -9223372036854775807 WHERE id = 100;"
    "UPDATE transfer SET begin_ns = 9223372036854775807, end_ns = -9223372036854775807 "
    "WHERE id = 101;"
    "UPDATE transfer SET device_start_ns = 90, device_end_ns = 10 WHERE id = 102;"
    "UPDATE launch SET begin_ns = -begin_ns, end_ns = -end_ns;"
    "UPDATE allocation SET free_begin_ns = -5, address = -1, bytes = 9223372036854775807;";

static const char no_events[] =
    "DELETE FROM transfer; DELETE FROM launch; DELETE FROM allocation; DELETE FROM api;"
    "DELETE FROM stack_frame; DELETE FROM frame; DELETE FROM thread; DELETE FROM stream;"
    "DELETE FROM context; DELETE FROM device; DELETE FROM kernel_class; DELETE FROM kernel;"
    "DELETE FROM process; DELETE FROM meta; DELETE FROM capability; DELETE FROM kernel_counters;";

static const char many_kernels[] =
    "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 10009) "
    "INSERT INTO kernel (id, name, mangled, registers) SELECT i, 'kernel<' || i || '>()', "
    "'_Z' || i, 32 FROM n;"
    "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
    "dynamic_shared_bytes) SELECT id, id, 1, 1, 1, 128, 1, 1, 0 FROM kernel WHERE id >= 10;"
    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, "
    "capturing, kind, seq, kernel_id, class_id, no_activity, arguments, device_start_ns, "
    "device_end_ns) SELECT 1000000 + id, 3, 1, 1, 1, id * 1000, id * 1000 + 500, 0, 0, 'kernel', "
    "id + 100, id, id, 0, 'unknown', id * 1000 + 600, id * 1000 + 900 FROM kernel WHERE id >= 10";

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

/* Markup of the trace must be nowhere in the file but inside the payload. */
static void check_html(const char *html)
{
    char *clean = gmt_clean_lines(html);
    size_t scripts = 0;

    cr_assert_str_eq(clean, html, "control characters or broken UTF-8");
    free(clean);
    for (const char *at = html; (at = strstr(at, "<script")) != NULL; at++)
        scripts++;
    cr_assert_eq(scripts, 2, "the payload and the page's own");
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

static void check(const char *sql)
{

    struct gmt_fixture fixture;
    struct gmt_page_read page;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, NULL);
    gmt_page_of_fixture(&fixture, &page);
    check_html(page.html);
    check_json(&fixture);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        free(gmt_page_column(&page, columns[i][0], columns[i][1]));
    json_t *strings = json_object_get(page.head, "strings"), *string;
    size_t index;
    json_array_foreach(strings, index, string) cr_assert_leq(json_string_length(string), LONGEST);
    double *begin = gmt_page_column(&page, "call", "begin");
    for (size_t i = 1; i < gmt_page_rows(&page, "call"); i++)
        cr_assert(begin[i] >= begin[i - 1] && fabs(begin[i]) < 2251799813685248.0);
    free(begin);
    gmt_page_read_free(&page);
    gmt_fixture_free(&fixture);
}

Test(page_hostile, names)
{
    check(names);
}

Test(page_hostile, no_values)
{
    check(no_values);
}

Test(page_hostile, clocks)
{
    check(clocks);
}

Test(page_hostile, no_events)
{
    check(no_events);
}

Test(page_hostile, many_kernels)
{
    check(many_kernels);
}

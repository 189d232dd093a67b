/* SPDX-License-Identifier: Apache-2.0 */
/* The page of gmanalyze, unpacked as a browser does: its report, its tables, its names. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/run/rule_pages.h"
#include "reports/json/json.h"
#include "reports/writers.h"
#include "tests/rules/page_reader.h"

static struct gmt_fixture fixture;
static struct gmt_page_read page;

static void open_page(const char *sql)
{
    gmt_fixture_load(&fixture, "golden/trace");
    if (sql != NULL) {
        gmt_fixture_sql(&fixture, sql);
    }
    gmt_fixture_analyze(&fixture, NULL);
    gmt_page_of_fixture(&fixture, &page);
}

static void close_page(void)
{
    gmt_page_read_free(&page);
    gmt_fixture_free(&fixture);
}

/* Index of a name among names.<list>. */
static double name_index(const char *list, const char *name)
{
    json_t *names = json_object_get(json_object_get(page.head, "names"), list), *entry;
    size_t i;

    json_array_foreach(names, i, entry)
    {
        if (strcmp(json_string_value(entry), name) == 0) {
            return (double)i;
        }
    }
    cr_assert_fail("names.%s has no %s", list, name);
    return NAN;
}

/* Rows of table call with that value in a column, and the sum of another one over them. */
static size_t sum_where(const char *column, double value, const char *summed, double *sum)
{
    double *keys = gmt_page_column(&page, "call", column);
    double *values = gmt_page_column(&page, "call", summed);
    size_t n = 0;

    *sum = 0;
    for (size_t i = 0; i < gmt_page_rows(&page, "call"); i++) {
        if (keys[i] != value) {
            continue;
        }
        n++;
        *sum += isnan(values[i]) ? 0 : values[i];
    }
    free(keys);
    free(values);
    return n;
}

Test(page, carries_the_json_report_whole)
{
    open_page(NULL);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct gmt_writer_options options = {0};
    cr_assert_eq(gmt_writer_json.write(&fixture.report, &options, out), 0);
    fclose(out);
    json_t *report = json_loads(text, 0, NULL);
    char *wanted = json_dumps(report, JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
    char *found = json_dumps(json_object_get(page.head, "report"),
                             JSON_SORT_KEYS | JSON_REAL_PRECISION(9));

    cr_assert_str_eq(found, wanted);
    free(wanted);
    free(found);
    free(text);
    json_decref(report);
    close_page();
}

Test(page, has_a_row_for_every_call_in_the_order_of_time)
{
    double sum;

    open_page(NULL);
    cr_assert_eq(gmt_page_rows(&page, "call"), 500 + 20 + 1 + 11 + 1);
    cr_assert_eq(sum_where("kind", name_index("kind", "transfer"), "bytes", &sum), 521);
    cr_assert_eq(sum, 500 * 64 + 20 * 16777216 + 4194304);
    cr_assert_eq(sum_where("kind", name_index("kind", "launch"), "device_ns", &sum), 11);
    cr_assert_eq(sum, 9 * 1000000 + 250000, "ten launches of 1 ms, one of them measured");
    cr_assert_eq(sum_where("direction", name_index("direction", "d2h"), "host_ns", &sum), 1);
    cr_assert_eq(sum, 40000);
    cr_assert_eq(sum_where("host_class", name_index("host_class", "pinned"), "device_ns", &sum), 1);
    cr_assert_eq(sum, 26000);
    double *begin = gmt_page_column(&page, "call", "begin");
    for (size_t i = 1; i < gmt_page_rows(&page, "call"); i++) {
        cr_assert_geq(begin[i], begin[i - 1]);
    }
    cr_assert_eq(begin[0], 500000, "the allocation comes first");
    free(begin);
    close_page();
}

Test(page, points_from_launches_to_kernels_and_from_calls_to_stacks)
{
    open_page(NULL);
    size_t rows = gmt_page_rows(&page, "call"), stacks = gmt_page_rows(&page, "stack_frame");
    json_t *kernels = json_object_get(json_object_get(page.head, "report"), "kernels");
    double *kernel = gmt_page_column(&page, "call", "kernel");
    double *stack = gmt_page_column(&page, "call", "stack");
    double *frame_stack = gmt_page_column(&page, "stack_frame", "stack");
    double *frame = gmt_page_column(&page, "stack_frame", "frame");
    double *function = gmt_page_column(&page, "frame", "function");
    double *line = gmt_page_column(&page, "frame", "line");
    double *offset = gmt_page_column(&page, "frame", "offset");
    json_t *row = json_array_get(kernels, (size_t)kernel[rows - 2]);

    /* The last but one: the single launch of the second class; the last: a copy without stack. */
    cr_assert_not_null(strstr(json_string_value(json_object_get(row, "name")), "thrust::detail"));
    cr_assert(isnan(kernel[rows - 1]));
    cr_assert_eq(stacks, 6);
    cr_assert_eq(stack[rows - 1], frame_stack[5], "the return address stands for its stack");
    cr_assert_eq(offset[(size_t)frame[5]], 16400);
    cr_assert_eq(frame_stack[2], 0);
    cr_assert_eq(frame_stack[3], 1);
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(page.head, "strings"),
                                                      (size_t)function[(size_t)frame[1]])),
                     "upload()");
    cr_assert_eq(line[(size_t)frame[1]], 42);
    cr_assert(isnan(line[(size_t)frame[0]]), "a frame of the runtime has no line");
    free(kernel);
    free(stack);
    free(frame_stack);
    free(frame);
    free(function);
    free(line);
    free(offset);
    close_page();
}

Test(page, says_when_an_allocation_was_first_and_last_used)
{
    open_page("UPDATE transfer SET dst_allocation_id = 1 WHERE id IN (1, 500);"
              "INSERT INTO launch_argument VALUES (1, 0, 0, 1, 0);"
              "INSERT INTO host_allocation (id, kind, address, bytes, begin_ns, end_ns, "
              "free_begin_ns, free_end_ns) VALUES (2, 'pinned', 4096, 100, 1, 5, 90, 95)");
    double *kind = gmt_page_column(&page, "allocation", "kind");
    double *begin = gmt_page_column(&page, "allocation", "begin");
    double *freed = gmt_page_column(&page, "allocation", "freed");
    double *first = gmt_page_column(&page, "allocation", "first_use");
    double *last = gmt_page_column(&page, "allocation", "last_use");

    cr_assert_eq(gmt_page_rows(&page, "allocation"), 2);
    cr_assert_eq(kind[0], name_index("allocation", "pinned"));
    cr_assert(begin[0] == 5 && freed[0] == 85 && isnan(first[0]) && isnan(last[0]));
    cr_assert_eq(kind[1], name_index("allocation", "device"));
    cr_assert_eq(begin[1], 560000);
    cr_assert(isnan(freed[1]), "never freed");
    cr_assert_eq(begin[1] + first[1], 1000000, "the first copy into it");
    cr_assert_eq(begin[1] + last[1], 79010000, "the last launch with a pointer to it");
    free(kind);
    free(begin);
    free(freed);
    free(first);
    free(last);
    close_page();
}

/* Where only ranges were recorded the first and last use are those that were seen: the page says so. */
Test(page, says_why_uses_of_memory_may_be_missing)
{
    static const char range[] = "INSERT INTO capability VALUES ('range', 'off', 0, 'only calls "
                                "inside of ranges named ''load'' are recorded', '')";

    open_page("");
    cr_expect(json_is_null(json_object_get(page.head, "uses_unseen")));
    close_page();
    open_page(range);
    cr_expect_str_eq(json_string_value(json_object_get(page.head, "uses_unseen")),
                     "only calls inside of ranges named 'load' are recorded: uses outside of them "
                     "are not in the trace");
    close_page();
}

Test(page, failed_and_captured_calls_move_nothing)
{
    double sum;

    open_page("UPDATE transfer SET result = 2 WHERE id = 1;"
              "UPDATE transfer SET capturing = 1 WHERE id = 2;"
              "UPDATE launch SET capturing = 1 WHERE id = 990000");
    cr_assert_eq(sum_where("kind", name_index("kind", "transfer"), "bytes", &sum), 519);
    cr_assert_eq(sum_where("kind", name_index("kind", "other"), "bytes", &sum), 3);
    cr_assert_eq(sum, 0);
    close_page();
}

Test(page, lists_the_longest_claims_of_a_finding_first)
{
    const char *fingerprint;
    json_t *intervals, *interval;
    size_t i, seen = 0;

    open_page(NULL);
    json_object_foreach(json_object_get(page.head, "claims"), fingerprint, intervals)
    {
        double longest = INFINITY;

        json_array_foreach(intervals, i, interval)
        {
            double length = json_number_value(json_array_get(interval, 1)) -
                            json_number_value(json_array_get(interval, 0));

            cr_assert(length > 0 && length <= longest);
            longest = length;
            seen++;
        }
        cr_assert_leq(json_array_size(intervals), 1000);
    }
    cr_assert_gt(seen, 20);
    close_page();
}

/* The page of each rule that found something, whole, and of no other. */
Test(page, carries_the_pages_of_the_rules_that_found_something)
{
    open_page(NULL);
    const json_t *pages = json_object_get(page.head, "rule_pages");
    const char *rule;
    json_t *text;
    size_t found = 0;

    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        const char *id = fixture.report.findings[i].rule;

        cr_assert_str_eq(json_string_value(json_object_get(pages, id)), gmt_rule_page(id));
    }
    json_object_foreach((json_t *)pages, rule, text)
    {
        for (size_t i = 0; i < fixture.report.finding_count; i++) {
            if (strcmp(fixture.report.findings[i].rule, rule) == 0) {
                found++;
                break;
            }
        }
    }
    cr_assert_eq(found, json_object_size(pages));
    cr_assert_gt(found, 1);
    close_page();
}

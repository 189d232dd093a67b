/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of one synthetic trace, byte for byte. GMT_UPDATE_GOLDEN=1 writes them anew. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/base/format.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

#define GMT_GOLDEN GMT_SOURCE_DIR "/tests/rules/golden"

/* One rule at least of each outcome. Not all: a report lists its rules, and no golden changes where one is added. */
static const char *const rules[] = {"GM101", "GM102", "GM202", "GM204", "GM205", "GM208", "GM301",
                                    "GM303", "GM307", "GM308", "GM401", "GM504", "GM505"};

static char *render(const char *format)
{
    struct gmt_fixture fixture;
    struct gmt_writer_options options = {.top = 10};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_analyze_by(&fixture, rules, sizeof(rules) / sizeof(rules[0]));
    fixture.report.tool_version = "VERSION";
    cr_assert_eq(gmt_writer_find(format)->write(&fixture.report, &options, out), 0);
    fclose(out);
    gmt_fixture_free(&fixture);
    return text;
}

static void compare(const char *format, const char *path)
{
    char *text = render(format);

    if (getenv("GMT_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "w");

        cr_assert_not_null(file);
        fputs(text, file);
        fclose(file);
    }
    cr_assert_eq(access(path, R_OK), 0, "%s is missing: GMT_UPDATE_GOLDEN=1 makes it", path);
    char *difference = gmt_fixture_difference(path, text);
    cr_assert_str_empty(difference, "%s differs; GMT_UPDATE_GOLDEN=1 writes it anew:\n%s", path,
                        difference);
    free(difference);
    free(text);
}

Test(golden, text)
{
    compare("text", GMT_GOLDEN "/report.txt");
}

Test(golden, json)
{
    compare("json", GMT_GOLDEN "/report.json");
}

static void check_page(char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *clean = gmt_clean_copy(line);

        cr_assert_leq(gmt_clean_length(line), 100, "%s", line);
        cr_assert_str_eq(clean, line, "control or broken characters: %s", clean);
        free(clean);
    }
    free(text);
}

Test(golden, text_fits_the_page_and_is_clean)
{
    check_page(render("text"));
}

/* Counts of a long run and a name of a thousand characters. */
Test(golden, text_fits_the_page_however_large_the_numbers)
{
    struct gmt_fixture fixture;
    struct gmt_writer_options options = {.top = 0};
    char *text = NULL, name[1001];
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture, "INSERT INTO loss SELECT 'entry point not covered', "
                              "'cuFunctionNumber' || id, 1000000 + id FROM transfer");
    gmt_fixture_analyze(&fixture, NULL);
    struct gmt_report *report = &fixture.report;
    report->transfers = 123456789;
    report->launches = 999999;
    report->allocation_count = 999999;
    report->measured_launches = 99999;
    report->kernel_classes = report->measured_classes = 99999;
    report->wall_ns = 9.99e11;
    for (size_t i = 0; i < report->finding_count; i++) {
        report->findings[i].where.function = name;
        if (report->findings[i].where.kernel != NULL) {
            report->findings[i].where.kernel = name;
        }
    }
    cr_assert_eq(gmt_writer_find("text")->write(report, &options, out), 0);
    fclose(out);
    gmt_fixture_free(&fixture);
    const char *const whole[] = {"123 M calls", "999,999 launches", "999,999 allocations",
                                 "99,999 launches", "99999/99999 classes"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        cr_assert_not_null(strstr(text, whole[i]), "%s is cut", whole[i]);
    }
    check_page(text);
}

Test(golden, long_text_is_cut_and_code_keeps_its_lines)
{
    static const struct {
        const char *text, *cut;
    } rows[] = {{"four", "four"},  {"fives", "fiv…"}, {"é😀éé", "é😀éé"},
                {"é😀ééé", "é😀é…"}, {"", ""},          {"a\nb\tc\xff", "a b…"}};
    char *lines = gmt_clean_lines("a\n\tb\x1b\xff");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *cut = gmt_clean_cut(rows[i].text, 4);

        cr_assert_str_eq(cut, rows[i].cut);
        free(cut);
    }
    cr_assert_str_eq(lines, "a\n\tb\xef\xbf\xbd\xef\xbf\xbd");
    free(lines);
}

Test(golden, cleaning_makes_any_bytes_valid)
{
    static const struct {
        const char *bytes, *clean;
    } rows[] = {{"plain", "plain"},
                {"a\nb\tc", "a b c"},
                {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
                {"\xc3", "\xef\xbf\xbd"},
                {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
                {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
                {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
                {"\x1b[31m", "\xef\xbf\xbd[31m"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *clean = gmt_clean_copy(rows[i].bytes);

        cr_assert_str_eq(clean, rows[i].clean);
        free(clean);
    }
}

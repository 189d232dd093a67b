/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a line was inlined at: in findings, in the listing, in words, and in traces without them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/source_lines.h"
#include "libtrace/base/format.h"
#include "reports/model/inlining.h"
#include "reports/model/words.h"
#include "tests/rules/page_reader.h"

/* load() at helper.h:2 is called by row() at helper.h:9 and by tile() at helper.h:14, these by the kernel
 * at work.cu:42; two instructions come by the one, one by the other, with more excess together. */
static const char counted[] =
    "INSERT INTO string VALUES (50, '/src/kernels/work.cu'), (51, 'LDG'), (60, '/src/helper.h'), "
    "(61, 'float load<float>(float const*, int)'), (62, 'row(float const*)'), (63, 'tile()');"
    "INSERT INTO inline_level(chain_id, level, function_id, file_id, line) VALUES "
    "(7, 0, 61, 60, 2), (7, 1, 62, 60, 9), (7, 2, NULL, 50, 42), "
    "(8, -1, 63, 60, 77), (8, 0, 61, 60, 2), (8, 1, 63, 60, 14), (8, 2, NULL, 50, 42);"
    "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, "
    "caller_file_id, "
    "caller_line, pc_offset, cubin_crc, kind, executed, lanes, requests, sectors, ideal_sectors, "
    "source, chain_id) VALUES "
    "(1, 1, 1, 51, 60, 2, 50, 42, 16, 7, 'global_load', 9, 9, 9, 600, 100, 'sass', 8),"
    "(1, 1, 2, 51, 60, 2, 50, 42, 32, 7, 'global_load', 9, 9, 9, 400, 100, 'sass', 7),"
    "(1, 1, 3, 51, 60, 2, 50, 42, 48, 7, 'global_load', 9, 9, 9, 400, 100, 'sass', 7),"
    "(1, 1, 4, 51, 50, 50, NULL, NULL, 64, 7, 'global_load', 9, 9, 9, 200, 100, 'sass', NULL)";

static struct gmt_fixture fixture;

static void load(const char *more)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, counted);
    gmt_fixture_sql(&fixture, more);
}

static const struct gmt_finding *find(const char *more)
{
    load(more);
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    return &fixture.report.findings[0];
}

static void teardown(void)
{
    gmt_fixture_free(&fixture);
}

TestSuite(inline_chains, .fini = teardown);

/* Of one line by two ways it stays one row, and the way with the most excess is reported. */
Test(inline_chains, name_every_call_between_a_line_and_the_kernel)
{
    const struct gmt_finding *f = find("");

    cr_assert_eq(f->line_count, 2);
    cr_expect_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]),
                     "helper.h:2, inlined at row (helper.h:9), at work.cu:42 (one of 2 ways)");
    cr_expect_float_eq(f->lines[0].excess_bytes, (500 + 300 + 300) * 32.0, 1e-9);
    cr_expect_str_eq(f->lines[0].chain.function, "float load<float>(float const*, int)");
    cr_expect_str_eq(gmt_line_label(&fixture.arena, &f->lines[1]), "work.cu:50");
    cr_expect_eq(f->lines[1].chain.call_count, 0u);
}

Test(inline_chains, say_nothing_of_ways_where_there_is_one)
{
    const struct gmt_finding *f = find("UPDATE instruction SET chain_id = 7 WHERE chain_id = 8");

    cr_expect_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]),
                     "helper.h:2, inlined at row (helper.h:9), at work.cu:42");
}

/* What a trace of an earlier version knows: the outermost call. */
Test(inline_chains, fall_back_to_the_outermost_call)
{
    struct gmt_kernel_lines *kernels;
    size_t count;

    load("");
    gmt_fixture_make_earlier(
        &fixture, "ALTER TABLE instruction DROP COLUMN chain_id; DROP TABLE inline_level");
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_expect_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]),
                     "helper.h:2, inlined at work.cu:42");
    cr_assert_eq(gmt_kernel_lines_load(fixture.db, &fixture.arena, &kernels, &count), 0);
    cr_assert_eq(kernels[0].lines[0].chain_count, 1u);
    cr_expect_str_eq(gmt_chain_words(&fixture.arena, &kernels[0].lines[0].chains[0], false),
                     "inlined at work.cu:42");
}

Test(inline_chains, are_listed_by_line_the_most_excess_first)
{
    struct gmt_kernel_lines *kernels;
    size_t count;

    load("");
    cr_assert_eq(gmt_kernel_lines_load(fixture.db, &fixture.arena, &kernels, &count), 0);
    cr_assert_eq(count, 1u);
    cr_assert_eq(kernels[0].line_count, 2u);
    const struct gmt_source_line *line = &kernels[0].lines[0];
    cr_assert_eq(line->line, 2);
    cr_assert_eq(line->chain_count, 2u);
    cr_expect_str_eq(gmt_chain_words(&fixture.arena, &line->chains[0], true),
                     "inlined at row (/src/helper.h:9), at /src/kernels/work.cu:42");
    cr_expect_str_eq(gmt_chain_words(&fixture.arena, &line->chains[1], false),
                     "inlined at tile (helper.h:14), at work.cu:42");
    cr_expect_eq(kernels[0].lines[1].all_chains, 0u);
}

/* An unrolled template comes to one line in hundreds of ways. */
static const char *page_text(const struct gmt_page_read *page, const char *column, size_t row)
{
    double *values = gmt_page_column(page, "source_line", column);
    double value = values[row];

    free(values);
    return isnan(value) ? "not known"
                        : json_string_value(json_array_get(json_object_get(page->head, "strings"),
                                                           (size_t)value));
}

Test(inline_chains, come_with_the_page_and_with_whose_they_are)
{
    struct gmt_page_read page;

    (void)find("INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
               "block_z) SELECT 9, kernel_id, 1, 1, 1, 1, 1, 1 FROM kernel_class WHERE id = 1");
    gmt_page_of_fixture(&fixture, &page);
    cr_assert_eq(gmt_page_rows(&page, "source_line"), 2u);
    cr_expect_str_eq(page_text(&page, "inlined", 0),
                     "inlined at row (helper.h:9), at work.cu:42; "
                     "inlined at tile (helper.h:14), at work.cu:42");
    cr_expect_str_eq(page_text(&page, "inlined", 1), "not known");
    cr_expect_str_eq(page_text(&page, "classes", 0), "1,9");
    gmt_page_read_free(&page);
}

Test(inline_chains, are_counted_where_they_are_too_many_to_show)
{
    struct gmt_kernel_lines *kernels;
    size_t count;

    load("WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 399) "
         "INSERT INTO inline_level SELECT i, 0, NULL, 60, 2 FROM n UNION ALL "
         "SELECT i, 1, NULL, 50, i FROM n;"
         "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, "
         "caller_file_id, caller_line, pc_offset, cubin_crc, kind, executed, lanes, requests, "
         "sectors, ideal_sectors, source, chain_id) SELECT 1, 1, chain_id, 51, 60, 2, 50, 42, "
         "16 * chain_id, 7, 'global_load', 1, 1, 1, 4, 4, 'sass', chain_id FROM inline_level "
         "WHERE chain_id >= 100 AND level = 0");
    cr_assert_eq(gmt_kernel_lines_load(fixture.db, &fixture.arena, &kernels, &count), 0);
    cr_expect_eq(kernels[0].lines[0].all_chains, 302u);
    cr_expect_eq(kernels[0].lines[0].chain_count, (size_t)GMT_LINE_CHAINS);
    cr_expect_str_eq(gmt_chain_words(&fixture.arena, &kernels[0].lines[0].chains[0], false),
                     "inlined at row (helper.h:9), at work.cu:42", "those with excess come first");
}

Test(inline_chains, state_how_many_calls_were_left_out)
{
    struct gmt_inline_call calls[] = {{.function = "f()", .file = "a.h", .line = 1, .level = 1},
                                      {.file = "a.cu", .line = 9, .level = 30}};
    struct gmt_inline_chain chain = {.calls = calls, .call_count = 2};

    load("");
    cr_expect_str_eq(gmt_chain_words(&fixture.arena, &chain, false),
                     "inlined at f (a.h:1), 28 more, at a.cu:9");
    calls[1] = (struct gmt_inline_call){.level = 2};
    cr_expect_str_eq(gmt_chain_words(&fixture.arena, &chain, false),
                     "inlined at f (a.h:1), at ?:0");
    chain.call_count = 0;
    cr_expect_str_eq(gmt_chain_words(&fixture.arena, &chain, false), "");
}

Test(inline_chains, have_names_that_fit_a_line)
{
    static const char *const names[][2] = {
        {"one(float const*, int)", "one"},
        {"float const* get<float, 3>(Array<float, 3> const&)", "get"},
        {"Matrix<float>::at(int, int) const", "Matrix::at"},
        {"(anonymous namespace)::work(int)", "(anonymous namespace)::work"},
        {"void (anonymous namespace)::copy<int>(int*)", "(anonymous namespace)::copy"},
        {"work(int*)::{lambda(int)#1}::operator()(int) const", "work::{lambda#1}::operator()"},
        {"Vector::operator[](int)", "Vector::operator[]"},
        {"bool operator< <int>(V<int>, V<int>)", "operator< "},
        {"operator<<(S&, int)", "operator<<"},
        {"P::operator->() const", "P::operator->"},
        {"P::operator bool() const", "P::operator bool"},
        {"plain", "plain"},
        {"", ""},
        {"<>", "<>"},
    };

    load("");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        cr_expect_str_eq(gmt_function_short(&fixture.arena, names[i][0]), names[i][1], "%s: '%s'",
                         names[i][0], gmt_function_short(&fixture.arena, names[i][0]));
    }
}

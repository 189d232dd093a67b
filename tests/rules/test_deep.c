/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about kernels whose instructions were counted on the GPU: which line, or which instruction. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/trace/source_lines.h"
#include "libtrace/base/format.h"
#include "reports/model/words.h"
#include "tests/rules/fixture.h"

static const char counted[] =
    "INSERT INTO string VALUES (50, '/src/kernels/work.cu'), (51, 'LDG'), (52, 'LDG.128');"
    "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, pc_offset, "
    "cubin_crc, kind, executed, lanes, requests, sectors, ideal_sectors, source) VALUES "
    "(1, 1, 26, 51, 50, 42, 416, 7, 'global_load', 9, 9, 9, 900, 100, 'sass'),"
    "(1, 1, 27, 52, NULL, NULL, 432, 7, 'global_load', 9, 9, 9, 200, 100, 'sass'),"
    "(1, 1, 28, 52, NULL, NULL, 448, 7, 'global_load', 9, 9, 9, 150, 100, 'sass')";

/* The same kernel by the software device, which saw another program (another architecture's PTX). */
static const char simulated[] =
    "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, ptx_line, "
    "kind, executed, lanes, requests, sectors, ideal_sectors, source) VALUES "
    "(1, 1, 4, 51, 50, 17, 10, 'global_load', 9, 9, 9, 5000, 100, 'simulated')";

static struct gmt_fixture fixture;

static const struct gmt_finding *find(const char *more)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, counted);
    gmt_fixture_sql(&fixture, more);
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    return &fixture.report.findings[0];
}

static void teardown(void)
{
    gmt_fixture_free(&fixture);
}

TestSuite(deep, .fini = teardown);

Test(deep, name_the_line_and_else_the_instruction)
{
    const struct gmt_finding *f = find("");

    cr_assert_eq(f->line_count, 3);
    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]), "work.cu:42");
    cr_assert_float_eq(f->lines[0].excess_bytes, 800 * 32, 1e-9);
    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[1]), "instruction LDG.128 +0x1b0");
    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[2]), "instruction LDG.128 +0x1c0");
    cr_assert_gt(f->saving.best_ns, 0, "the device's times are there, unlike with software");
}

/* The index is in the call: the helper that it was inlined from has none. */
Test(deep, quote_the_access_and_the_call_that_it_was_inlined_at)
{
    const struct gmt_finding *f = find(
        "INSERT INTO string VALUES (60, '/src/kernels/helper.h');"
        "UPDATE instruction SET file_id = 60, line = 2, caller_file_id = 50, caller_line = 3 "
        "WHERE pc_offset = 416;"
        "INSERT INTO source_file(file_id, state, text) VALUES "
        "(60, 'embedded', 'float load(const float *p) {' || char(10) || '    return *p;'),"
        "(50, 'embedded', char(10) || char(10) || '    y[i] = load(x + i * 33); // why')");

    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]),
                     "helper.h:2, inlined at work.cu:3");
    cr_assert_str_eq(f->lines[0].code, "return *p;");
    cr_assert_str_eq(f->lines[0].caller_code, "y[i] = load(x + i * 33);");
    cr_assert_null(f->lines[1].caller_code);
}

Test(deep, say_what_names_a_line)
{
    const struct gmt_finding *f = find(
        "UPDATE instruction SET opcode_id = NULL WHERE pc_offset = 448");

    cr_assert_eq(f->line_count, 3);
    cr_assert_null(gmt_line_remedy(&f->lines[0]));
    cr_assert_not_null(strstr(gmt_line_remedy(&f->lines[1]), "-lineinfo"));
    cr_assert_not_null(strstr(gmt_line_remedy(&f->lines[2]), "cubin is not in the trace"));
}

Test(deep, take_what_the_gpu_did)
{
    const struct gmt_finding *f = find(simulated);

    for (size_t i = 0; i < f->line_count; i++) {
        cr_assert_neq(f->lines[i].line, 17);
    }
    cr_assert_float_eq(f->lines[0].share, 800.0 / 950, 1e-9);
}

Test(deep, list_instructions_without_a_line_one_by_one)
{
    struct gmt_kernel_lines *kernels;
    size_t count, loose = 0;

    (void)find("");
    cr_assert_eq(gmt_kernel_lines_load(fixture.db, &fixture.arena, &kernels, &count), 0);
    cr_assert_eq(count, 1u);
    cr_assert_not(kernels[0].simulated);
    for (size_t i = 0; i < kernels[0].line_count; i++) {
        if (kernels[0].lines[i].file == NULL) {
            loose++;
            cr_assert_not_null(strstr(kernels[0].lines[i].opcodes, "LDG.128 +0x1"));
        }
    }
    cr_assert_eq(loose, 2u);
}

/* A trace of an earlier version knows no offsets. */
Test(deep, read_traces_that_know_no_offsets)
{
    struct gmt_kernel_lines *kernels;
    size_t count;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, "INSERT INTO string VALUES (50, '/src/work.cu'), (51, 'ld')");
    gmt_fixture_sql(&fixture, simulated);
    gmt_fixture_make_earlier(&fixture, "ALTER TABLE instruction DROP COLUMN pc_offset");
    cr_assert_eq(gmt_kernel_lines_load(fixture.db, &fixture.arena, &kernels, &count), 0);
    cr_assert_eq(count, 1u);
    cr_assert(kernels[0].simulated);
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
}

/* Where no part of the work is in excess by itself, lines have a share of what the finding is about. */
/* 500 MB, loaded and stored byte by byte in a launch of 1 ms, by whole warps of neighbouring lanes. */
#define BYTE_WISE \
    "UPDATE kernel_counters SET value = CASE WHEN metric_id IN (1, 2, 33, 34) THEN 2.5e8 ELSE " \
    "7812500 END WHERE metric_id IN (1, 2, 3, 4, 5, 6, 33, 34, 35, 36);" \
    "INSERT INTO metric VALUES (38, 'instructions', '-', 'hardware', 'instructions', '-'), " \
    "(61, 'thread_instructions', '-', 'hardware', 'instructions', '-');" \
    "INSERT INTO fixture_counter (metric_id, value) VALUES (38, 1e8), (61, 32e8);"

static const struct {
    const char *rule, *kind, *of, *sql;
} of_work[] = {
    {"GM305", "global_load", "the narrow accesses", BYTE_WISE},
    {"GM307", "constant_load", "the loads of constants", ""},
    {"GM308", "global_load", "what is loaded", ""},
    {"GM402", "shared_store", "the stores to shared memory", ""},
    {"GM403", "global_load", "what is loaded", ""},
    {"GM404", "shared_load", "the passes through shared memory", ""},
};

Test(deep, name_lines_where_nothing_is_in_excess_by_itself)
{
    for (size_t i = 0; i < sizeof(of_work) / sizeof(of_work[0]); i++) {
        char name[64], sql[768];

        snprintf(name, sizeof(name), "fixtures/%s_positive", of_work[i].rule);
        gmt_fixture_load(&fixture, name);
        snprintf(sql, sizeof(sql),
                 "INSERT INTO string VALUES (50, '/src/kernels/work.cu'), (51, 'LDG');"
                 "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, "
                 "kind, width, executed, lanes, requests, sectors, ideal_sectors, wavefronts, "
                 "ideal_wavefronts, source) VALUES "
                 "(1, 1, 1, 51, 50, 43, '%s', 1, 100, 100, 100, 100, 100, 100, 100, 'sass'),"
                 "(1, 1, 2, 51, 50, 42, '%s', 1, 300, 300, 300, 300, 300, 300, 300, 'sass')",
                 of_work[i].kind, of_work[i].kind);
        gmt_fixture_sql(&fixture, of_work[i].sql);
        gmt_fixture_sql(&fixture, sql);
        gmt_fixture_analyze(&fixture, of_work[i].rule);
        cr_assert_eq(fixture.report.finding_count, 1, "%s: %zu findings, %zu notes: %s",
                     of_work[i].rule, fixture.report.finding_count, fixture.report.note_count,
                     gmt_fixture_found(&fixture.report));
        const struct gmt_finding *f = &fixture.report.findings[0];
        cr_assert_eq(f->line_count, 2, "%s: %zu lines", of_work[i].rule, f->line_count);
        cr_expect_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]), "work.cu:42");
        cr_expect_float_eq(f->lines[0].share, 0.75, 1e-9);
        cr_expect(isnan(f->lines[0].excess_bytes));
        cr_expect_str_eq(gmt_lines_of(f), of_work[i].of);
        gmt_fixture_free(&fixture);
    }
    gmt_fixture_load(&fixture, "fixtures/GM305_positive"); /* for the end of the test */
}

/* All lanes read one word: few bytes are asked for, and no word is narrow. */
Test(deep, take_no_shared_word_for_a_narrow_one)
{
    gmt_fixture_load(&fixture, "fixtures/GM305_positive");
    gmt_fixture_sql(&fixture, BYTE_WISE);
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO instruction (launch_seq, class_id, site, kind, width, executed, lanes, "
        "requests, sectors, ideal_sectors, source) VALUES "
        "(1, 1, 1, 'global_load', 4, 9, 288, 9, 9, 9, 'sass'),"
        "(1, 1, 2, 'global_store', 4, 9, 288, 9, 9, 9, 'sass')");
    gmt_fixture_analyze(&fixture, "GM305");
    cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
}

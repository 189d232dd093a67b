/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about kernels whose instructions were counted on the GPU: which line, or which instruction. */
#include <criterion/criterion.h>
#include <string.h>

#include "analyzer/source_lines.h"
#include "reports/format.h"
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
    cr_assert_eq(fixture.report.finding_count, 1);
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

    for (size_t i = 0; i < f->line_count; i++)
        cr_assert_neq(f->lines[i].line, 17);
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

/* A trace of an earlier version knows no offsets; its views are its own. */
Test(deep, read_traces_that_know_no_offsets)
{
    struct gmt_kernel_lines *kernels;
    size_t count;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, "INSERT INTO string VALUES (50, '/src/work.cu'), (51, 'ld')");
    gmt_fixture_sql(&fixture, simulated);
    gmt_fixture_sql(&fixture,
                    "CREATE TABLE kept AS SELECT * FROM v_line; CREATE TABLE kept_too AS SELECT * "
                    "FROM v_instruction; ALTER TABLE kept DROP COLUMN pc_offset; "
                    "ALTER TABLE kept_too DROP COLUMN pc_offset; DROP VIEW v_line; "
                    "DROP VIEW v_instruction; CREATE VIEW v_line AS SELECT * FROM kept; "
                    "CREATE VIEW v_instruction AS SELECT * FROM kept_too");
    cr_assert_eq(gmt_kernel_lines_load(fixture.db, &fixture.arena, &kernels, &count), 0);
    cr_assert_eq(count, 1u);
    cr_assert(kernels[0].simulated);
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1);
}

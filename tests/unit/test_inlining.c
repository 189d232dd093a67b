/* SPDX-License-Identifier: Apache-2.0 */
/* Inline chains: which levels are kept, and how they come out of records and cubins into a trace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/finished/sass_merge.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

enum { CRC = 7, MAX_IMAGE = 1 << 16 };

static struct gmt_fixture fixture, other;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_make(&other);
    gmt_fixture_chunk(&fixture, 0, 1 << 18);
    gmt_fixture_chunk(&other, 0, 1 << 18);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
    gmt_fixture_remove(&other);
}

TestSuite(inlining, .init = setup, .fini = teardown, .timeout = 60);

static void ingest(struct gmt_fixture *from)
{
    int error = gmt_recording_recover(from->output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    cr_expect_str_eq(gmt_fixture_text(from, "PRAGMA foreign_key_check"), "");
}

static void expect_text(const struct gmt_fixture *in, const char *sql, const char *value)
{
    const char *found = gmt_fixture_text(in, sql);
    cr_expect_str_eq(found, value, "%s: '%s' instead of '%s'", sql, found, value);
}

/* "-1 put() c.cuh:7 < 0 - a.cu:3", from the level inlined into the line outwards. */
#define CHAIN(condition) \
    "SELECT group_concat(level || ' ' || coalesce(function, '-') || ' ' || " \
    "replace(file, '/src/', '') || ':' || line, ' < ') FROM v_inline_level " \
    "WHERE chain_id = (SELECT chain_id FROM v_instruction WHERE " condition ")"

static void write_kernel(struct gmt_fixture *to, const char *name)
{
    struct gmt_kernel kernel = {.id = 1};
    struct gmt_kernel_class class = {.id = 3, .kernel = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    gmt_fixture_side(to, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), name, NULL);
    gmt_fixture_side(to, 0, GMT_REC_KERNEL_CLASS, &class, sizeof(class), NULL);
}

static void write_launch(struct gmt_fixture *to)
{
    struct gmt_call call = {.begin_ticks = 1000, .end_ticks = 1009, .thread = 1};
    struct gmt_launch launch = {.kernel = 1,
                                .kernel_class = 3,
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .launch_seq = 1,
                                .kind = GMT_LAUNCH_KERNEL};
    gmt_fixture_call(to, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
}

/* ---- what is kept ------------------------------------------------------------------------------ */

static const char *picked(size_t count, size_t shown)
{
    static char text[256];
    size_t kept[GMT_INLINE_LEVELS], number = gmt_inline_pick(count, shown, kept), used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < number; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu", i > 0 ? " " : "",
                                 kept[i]);
    }
    return text;
}

Test(inlining, keeps_the_line_its_next_callers_and_the_outermost)
{
    cr_expect_str_eq(picked(0, 0), "");
    cr_expect_str_eq(picked(1, 0), "0");
    cr_expect_str_eq(picked(16, 3), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    /* Functions of headers go first, as many as have to. */
    cr_expect_str_eq(picked(18, 5), "2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
    cr_expect_str_eq(picked(20, 3), "3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 19");
    cr_expect_str_eq(picked(64, 0), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 63");
}

/* ---- the software device ----------------------------------------------------------------------- */

static void write_instruction(uint32_t seq, uint32_t site)
{
    struct gmt_instruction counts = {
        .launch_seq = seq, .kernel_class = 3, .site = site, .line = 2, .executed = 1};
    gmt_fixture_side(&fixture, 0, GMT_REC_INSTRUCTION, &counts, sizeof(counts), "_Z4workPf", "ld",
                     "/src/b.h", "", NULL);
}

static void write_levels(uint32_t site, uint32_t outer_line)
{
    struct gmt_inlining inlining = {.kernel_class = 3,
                                    .site = site,
                                    .count = 3,
                                    .level = {-1, 0, 1},
                                    .line = {7, 2, outer_line}};
    gmt_fixture_side(&fixture, 0, GMT_REC_INLINING, &inlining, sizeof(inlining), "_Z3ldgPKf",
                     "/usr/include/c.h", "_Z3getPKfi", "/src/b.h", "", "/src/a.cu", NULL);
}

Test(inlining, of_the_software_device_whatever_comes_first)
{
    write_kernel(&fixture, "_Z4workPf");
    write_levels(0, 3);
    for (uint32_t seq = 1; seq <= 2; seq++) {
        for (uint32_t site = 0; site < 4; site++) {
            write_instruction(seq, site);
        }
    }
    write_levels(1, 4);
    write_levels(2, 3);
    ingest(&fixture);
    expect_text(&fixture, CHAIN("site = 0"),
                "-1 ldg(float const*) /usr/include/c.h:7 < 0 get(float const*, int) b.h:2 < 1 - "
                "a.cu:3");
    expect_text(&fixture, CHAIN("site = 1"),
                "-1 ldg(float const*) /usr/include/c.h:7 < 0 get(float const*, int) b.h:2 < 1 - "
                "a.cu:4");
    /* One chain is one, wherever it stands. */
    expect_text(&fixture,
                "SELECT (SELECT chain_id FROM v_instruction WHERE site = 0) = "
                "(SELECT chain_id FROM v_instruction WHERE site = 2)",
                "1");
    expect_text(&fixture, "SELECT count(DISTINCT chain_id) || ' ' || count(*) FROM inline_level",
                "2 6");
    expect_text(&fixture, "SELECT count(*) FROM instruction WHERE site = 3 AND chain_id IS NULL",
                "2");
    expect_text(&fixture, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'ingest%'", "0");
}

Test(inlining, of_a_record_that_is_damaged)
{
    struct gmt_inlining inlining = {.kernel_class = 3, .count = UINT32_MAX, .line = {9}};
    write_kernel(&fixture, "_Z4workPf");
    write_instruction(1, 0);
    gmt_fixture_side(&fixture, 0, GMT_REC_INLINING, &inlining, sizeof(inlining), "_Zrubbish", NULL);
    ingest(&fixture);
    expect_text(&fixture, "SELECT count(*) FROM instruction", "1");
}

/* ---- cubins ------------------------------------------------------------------------------------ */

/* Every instruction of kernel b of tests/data/cubin/inlined.cu. */
static void write_kernel_b(struct gmt_fixture *to, const char *cubin)
{
    static unsigned char image[MAX_IMAGE];
    char path[512];
    (void)snprintf(path, sizeof(path), GMT_SOURCE_DIR "/tests/data/cubin/%s", cubin);
    FILE *in = fopen(path, "re");
    cr_assert_not_null(in, "%s", path);
    struct gmt_cubin_piece piece = {.crc = CRC, .total = fread(image, 1, sizeof(image), in)};
    (void)fclose(in);
    for (; piece.offset < piece.total; piece.offset += piece.bytes) {
        piece.bytes = piece.total - piece.offset < 8000 ? (uint32_t)(piece.total - piece.offset)
                                                        : 8000;
        gmt_fixture_side_data(to, 0, GMT_REC_CUBIN, &piece, sizeof(piece), image + piece.offset,
                              piece.bytes);
    }
    for (uint32_t pc = 0; pc < 0x400; pc += 16) {
        struct gmt_sass_instruction counts = {.launch_seq = 1,
                                              .kernel_class = 3,
                                              .cubin_crc = CRC,
                                              .pc_offset = pc,
                                              .measured = (1u << GMT_SASS_SLOTS) - 1,
                                              .values = {[GMT_SASS_EXECUTED] = 1,
                                                         [GMT_SASS_LANES] = 32,
                                                         [GMT_SASS_SECTORS] = 32,
                                                         [GMT_SASS_IDEAL_SECTORS] = 4}};
        gmt_fixture_side(to, 0, GMT_REC_SASS_INSTRUCTION, &counts, sizeof(counts), "_Z1bPKfPf",
                         NULL);
    }
}

/* one() is inlined into two() at its lines 9 and 11, and that into the kernel. */
static const char three_levels[] =
    "0 one(float const*, int) inlined.cu:5 < 1 two(float const*, int) inlined.cu:9 < 2 - "
    "inlined.cu:17";
#define LOAD_VIA(line) \
    CHAIN("kind = 'global_load' AND line = 5 AND chain_id IN (SELECT chain_id FROM inline_level " \
          "WHERE level = 1 AND line = " line ") LIMIT 1")

Test(inlining, of_three_functions_in_a_cubin)
{
    write_kernel(&fixture, "_Z1bPKfPf");
    write_kernel_b(&fixture, "lines.cubin");
    ingest(&fixture);
    expect_text(&fixture, LOAD_VIA("9"), three_levels);
    expect_text(&fixture, LOAD_VIA("11"),
                "0 one(float const*, int) inlined.cu:5 < 1 two(float const*, int) inlined.cu:11 < "
                "2 - inlined.cu:17");
    /* The innermost and the outermost are what they were. */
    expect_text(&fixture,
                "SELECT count(*) FROM v_instruction i JOIN v_inline_level l USING (chain_id) WHERE "
                "l.level = 0 AND (l.file <> i.file OR l.line <> i.line)",
                "0");
    expect_text(&fixture,
                "SELECT count(*) FROM v_instruction i WHERE chain_id IS NOT NULL AND caller_line "
                "IS NOT (SELECT line FROM inline_level l WHERE l.chain_id = i.chain_id AND level = "
                "(SELECT max(level) FROM inline_level m WHERE m.chain_id = l.chain_id))",
                "0");
    expect_text(&fixture,
                "SELECT (SELECT count(*) FROM instruction WHERE chain_id IS NULL AND caller_line "
                "IS NOT NULL) || ' ' || (SELECT count(*) > 0 FROM instruction WHERE chain_id IS "
                "NULL AND line = 17)",
                "0 1");
}

Test(inlining, comes_along_from_a_second_run)
{
    write_kernel(&fixture, "_Z1bPKfPf");
    write_launch(&fixture);
    ingest(&fixture);
    write_kernel(&other, "_Z1bPKfPf");
    write_launch(&other);
    write_kernel_b(&other, "lines_80.cubin"); /* of another architecture, and the same chain */
    ingest(&other);
    cr_assert_eq(gmt_sass_merge(fixture.output, other.output), 0);
    expect_text(&fixture, "PRAGMA foreign_key_check", "");
    expect_text(&fixture, LOAD_VIA("9"), three_levels);
    char chains[64];
    (void)snprintf(chains, sizeof(chains), "%s",
                   gmt_fixture_text(&other, "SELECT count(*) || ' ' || sum(chain_id % 1000) FROM "
                                            "inline_level"));
    expect_text(&fixture, "SELECT count(*) || ' ' || sum(chain_id % 1000) FROM inline_level",
                chains);
}

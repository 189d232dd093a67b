/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions counted on the GPU -> opcodes, kinds and lines, by the cubin that came with them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/sass/sass.h"
#include "tests/unit/spool_fixture.h"

enum { CRC = 7, MAX_IMAGE = 1 << 16 };

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 18);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(ingest_sass, .init = setup, .fini = teardown, .timeout = 60);

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    cr_expect_str_eq(gmt_fixture_text(&fixture, "PRAGMA integrity_check"), "ok");
}

static void write_kernel(const char *name)
{
    struct gmt_kernel kernel = {.id = 1};
    struct gmt_kernel_class class = {.id = 3, .kernel = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), name, NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL_CLASS, &class, sizeof(class), NULL);
}

/* The pieces of a cubin of tests/data, `skip` of them left out. */
static void write_cubin(const char *name, unsigned skip)
{
    static unsigned char image[MAX_IMAGE];
    char path[512];
    (void)snprintf(path, sizeof(path), GMT_SOURCE_DIR "/tests/data/cubin/%s", name);
    FILE *in = fopen(path, "re");
    cr_assert_not_null(in);
    struct gmt_cubin_piece piece = {.crc = CRC, .total = fread(image, 1, sizeof(image), in)};
    (void)fclose(in);
    while (piece.offset < piece.total) {
        piece.bytes = 1000;
        if (piece.bytes > piece.total - piece.offset) {
            piece.bytes = (uint32_t)(piece.total - piece.offset);
        }
        if (skip > 0) {
            skip--;
        } else {
            gmt_fixture_side_data(&fixture, 0, GMT_REC_CUBIN, &piece, sizeof(piece),
                                  image + piece.offset, piece.bytes);
        }
        piece.offset += piece.bytes;
    }
}

static void write_counts(const char *function, uint32_t pc, struct gmt_sass_instruction counts)
{
    counts.launch_seq = 1;
    counts.kernel_class = 3;
    counts.cubin_crc = CRC;
    counts.pc_offset = pc;
    counts.measured = counts.measured != 0 ? counts.measured : (1u << GMT_SASS_SLOTS) - 1;
    gmt_fixture_side(&fixture, 0, GMT_REC_SASS_INSTRUCTION, &counts, sizeof(counts), function,
                     NULL);
}

/* Every instruction of a kernel, as if each had touched global memory: those that cannot have are found
 * out by their opcode. */
static void write_all(const char *function, uint32_t bytes)
{
    for (uint32_t pc = 0; pc < bytes; pc += 16) {
        write_counts(function, pc,
                     (struct gmt_sass_instruction){.values = {[GMT_SASS_EXECUTED] = 10,
                                                              [GMT_SASS_LANES] = 320,
                                                              [GMT_SASS_LANES_ON] = 300,
                                                              [GMT_SASS_SECTORS] = 80,
                                                              [GMT_SASS_IDEAL_SECTORS] = 40,
                                                              [GMT_SASS_TAGS] = 20,
                                                              [GMT_SASS_WIDTH_32] = 10}});
    }
}

/* As the collector ends where every instruction was to be counted. */
static void all_were_counted(void)
{
    struct gmt_capability capability = {.state = GMT_CAP_OK};
    gmt_fixture_side(&fixture, 0, GMT_REC_CAPABILITY, &capability, sizeof(capability),
                     "instructions", "1 launches", "", NULL);
}

Test(ingest_sass, names_opcode_kind_and_line)
{
    all_were_counted();
    write_kernel("_Z1aPKfPf");
    write_cubin("lines.cubin", 0);
    write_all("_Z1aPKfPf", 0x100);
    ingest();
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM cubin WHERE crc = 7 AND length(image) = bytes", 1);
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM instruction WHERE source = 'sass' AND cubin_crc = 7", 16);
    gmt_fixture_expect_text(&fixture,
                            "SELECT group_concat(opcode || ' ' || kind, ', ') FROM v_instruction "
                            "WHERE kind LIKE 'global%'",
                            "LDG global_load, STG global_store");
    /* The load was inlined from the header, the store is the kernel's own. */
    gmt_fixture_expect_text(
        &fixture,
        "SELECT file || ':' || line || ' < ' || caller_file || ':' || caller_line "
        "FROM v_instruction WHERE kind = 'global_load'",
        "/src/inlined.h:4 < /src/inlined.cu:14");
    gmt_fixture_expect_text(
        &fixture,
        "SELECT file || ':' || line || coalesce(caller_file, '') FROM v_instruction "
        "WHERE kind = 'global_store'",
        "/src/inlined.cu:14");
    gmt_fixture_expect(&fixture, "SELECT bytes FROM v_instruction WHERE kind = 'global_load'",
                       1200);
    gmt_fixture_expect(&fixture, "SELECT requests FROM v_instruction WHERE kind = 'global_load'",
                       10);
    gmt_fixture_expect(&fixture, "SELECT lines FROM v_instruction WHERE kind = 'global_load'", 20);
    gmt_fixture_expect_text(
        &fixture, "SELECT source FROM v_line WHERE line = 4 AND kind = 'global_load'", "sass");
    gmt_fixture_expect(&fixture,
                       "SELECT excess_bytes FROM v_line WHERE line = 4 AND kind = 'global_load'",
                       40 * 32);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(ingest_sass, takes_no_excess_where_lanes_share_a_sector)
{
    write_kernel("k");
    write_counts("k", 0,
                 (struct gmt_sass_instruction){.values = {[GMT_SASS_EXECUTED] = 1,
                                                          [GMT_SASS_LANES] = 32,
                                                          [GMT_SASS_SECTORS] = 1,
                                                          [GMT_SASS_IDEAL_SECTORS] = 4}});
    ingest();
    gmt_fixture_expect(&fixture, "SELECT excess_sectors FROM v_instruction", 0);
}

Test(ingest_sass, leaves_null_what_was_not_counted)
{
    write_kernel("k");
    write_counts("k", 0,
                 (struct gmt_sass_instruction){
                     .measured = 1u << GMT_SASS_EXECUTED | 1u << GMT_SASS_SECTORS,
                     .values = {[GMT_SASS_EXECUTED] = 3, [GMT_SASS_SECTORS] = 12}});
    write_counts("k", 16,
                 (struct gmt_sass_instruction){.values = {[GMT_SASS_EXECUTED] = 3,
                                                          [GMT_SASS_LANES] = 96,
                                                          [GMT_SASS_LANES_ON] = 96,
                                                          [GMT_SASS_LOCAL_SECTORS] = 24,
                                                          [GMT_SASS_WIDTH_32] = 3}});
    ingest();
    gmt_fixture_expect(&fixture, "SELECT ideal_sectors FROM instruction WHERE pc_offset = 0",
                       INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT width FROM instruction WHERE pc_offset = 0", INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT sectors FROM instruction WHERE pc_offset = 16", 24);
    gmt_fixture_expect(&fixture, "SELECT ideal_sectors FROM instruction WHERE pc_offset = 16", 12);
    gmt_fixture_expect(&fixture, "SELECT wavefronts FROM instruction WHERE pc_offset = 16",
                       INT64_MIN);
}

Test(ingest_sass, notes_a_cubin_that_is_not_whole)
{
    write_kernel("_Z1aPKfPf");
    write_cubin("lines.cubin", 1);
    write_all("_Z1aPKfPf", 0x40);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin", 0);
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM instruction WHERE line IS NULL AND opcode_id IS NULL", 4);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM loss WHERE kind = 'cubin not kept' AND detail LIKE '%crc 7%'", 2);
}

Test(ingest_sass, knows_opcodes_without_line_information)
{
    write_kernel("_Z1aPKfPf");
    write_cubin("bare.cubin", 0);
    write_all("_Z1aPKfPf", 0x100);
    ingest();
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM instruction WHERE kind IN ('global_load', 'global_store')",
        2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM instruction WHERE line IS NOT NULL", 0);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
    /* Instructions without a line are identified by their offset. */
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM v_line WHERE line IS NULL", 16);
}

Test(ingest_sass, lives_with_a_cubin_of_rubbish)
{
    struct gmt_cubin_piece piece = {.crc = CRC, .bytes = 100, .total = 100};
    write_kernel("k");
    gmt_fixture_side_data(&fixture, 0, GMT_REC_CUBIN, &piece, sizeof(piece), (char[100]){1}, 100);
    write_all("k", 0x20);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM instruction WHERE line IS NULL", 2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss WHERE kind = 'cubin not readable'", 1);
}

/* Of accesses alone neither widths nor ideals are counted: the cubin holds the one, and with it the other
 * follows: 300 lanes x 4 bytes take 38 sectors at least, of the 80 that they took. */
Test(ingest_sass, looks_widths_up_and_computes_what_was_not_counted)
{
    uint32_t measured = 1u << GMT_SASS_EXECUTED | 1u << GMT_SASS_LANES_ON | 1u << GMT_SASS_SECTORS |
                        1u << GMT_SASS_WAVEFRONTS | 1u << GMT_SASS_LOCAL_SECTORS;
    write_kernel("_Z1aPKfPf");
    write_cubin("lines.cubin", 0);
    for (uint32_t pc = 0; pc < 0x100; pc += 16) {
        write_counts(
            "_Z1aPKfPf", pc,
            (struct gmt_sass_instruction){
                .measured = measured,
                .values = {
                    [GMT_SASS_EXECUTED] = 10, [GMT_SASS_LANES_ON] = 300, [GMT_SASS_SECTORS] = 80}});
    }
    ingest();
    gmt_fixture_expect(&fixture, "SELECT lanes FROM instruction WHERE kind = 'global_load'", 300);
    gmt_fixture_expect(&fixture, "SELECT width FROM instruction WHERE kind = 'global_load'", 4);
    gmt_fixture_expect(&fixture, "SELECT requests FROM instruction WHERE kind = 'global_load'", 10);
    gmt_fixture_expect(&fixture, "SELECT bytes FROM instruction WHERE kind = 'global_load'", 1200);
    gmt_fixture_expect(&fixture, "SELECT ideal_sectors FROM instruction WHERE kind = 'global_load'",
                       38);
    gmt_fixture_expect(&fixture,
                       "SELECT value FROM kernel_counters c JOIN metric m ON m.id = c.metric_id "
                       "WHERE m.name = 'global_load_bytes' AND c.grp = 'patched'",
                       1200);
    /* The code itself is larger than all else, and not asked for. */
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin", 0);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM instruction WHERE line IS NOT NULL", 16);
}

/* Where they are said to be: by the order of widths.ptx. Matrices have 4 bytes per lane each. */
Test(ingest_sass, knows_the_widths_of_copies_and_matrices)
{
    static const struct {
        const char *cubin, *copies, *matrices;
    } rows[] = {{"widths_80.cubin", "4,8,16,16", "16"},
                {"widths_90.cubin", "4,8,16,16", "4,8,16,16"},
                {"widths_100.cubin", "4,8,16,16", "4,8,16,16"}};
    uint32_t measured = 1u << GMT_SASS_EXECUTED | 1u << GMT_SASS_LANES_ON | 1u << GMT_SASS_SECTORS |
                        1u << GMT_SASS_WAVEFRONTS;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_kernel("k");
        write_cubin(rows[i].cubin, 0);
        for (uint32_t pc = 0; pc < 0x400; pc += 16) {
            write_counts("k", pc,
                         (struct gmt_sass_instruction){.measured = measured,
                                                       .values = {[GMT_SASS_EXECUTED] = 1,
                                                                  [GMT_SASS_LANES_ON] = 32,
                                                                  [GMT_SASS_SECTORS] = 4,
                                                                  [GMT_SASS_WAVEFRONTS] = 8}});
        }
        ingest();
        gmt_fixture_expect_text(
            &fixture,
            "SELECT group_concat(width) FROM (SELECT width FROM v_instruction WHERE kind = "
            "'async_copy' ORDER BY site)",
            rows[i].copies);
        gmt_fixture_expect_text(
            &fixture,
            "SELECT group_concat(width) FROM (SELECT width FROM v_instruction WHERE opcode "
            "LIKE 'LDSM%' AND width IS NOT NULL ORDER BY site)",
            rows[i].matrices);
        teardown();
        setup();
    }
}

/* A trace that is gone on with may be anybody's: its tables need not forbid what ours do. */
Test(ingest_sass, leaves_out_a_function_without_a_name)
{
    static const char strange[] =
        "DROP TABLE string; CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT UNIQUE);"
        "INSERT INTO string VALUES (1, NULL);"
        "INSERT INTO instruction (id, launch_seq, class_id, site, function_id, kind, source,"
        "  pc_offset, cubin_crc, executed, lanes) VALUES"
        "  (1, 1, 1, 1, 1, 'other', 'sass', 0, 7, 1, 1),"
        "  (2, 1, 1, 2, 1, 'other', 'sass', 16, 7, 1, 1)";
    sqlite3 *db;
    cr_assert_eq(gmt_own_schema(&db), 0);
    cr_assert_eq(gmt_database_exec(db, strange), 0, "%s", sqlite3_errmsg(db));
    cr_expect_eq(gmt_sass_settle(db, -1), 0);
    gmt_database_close(db);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the software device -> tables and views; spools and traces of the version before it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

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

TestSuite(ingest_simulated, .init = setup, .fini = teardown, .timeout = 60);

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    cr_expect_str_eq(gmt_fixture_text(&fixture, "PRAGMA integrity_check"), "ok");
}

static void write_kernel(void)
{
    struct gmt_kernel kernel = {.id = 1, .registers = -1};
    struct gmt_kernel_class class = {
        .id = 3, .kernel = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}, .max_blocks_per_sm = -1};
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), "_Z4workPf", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL_CLASS, &class, sizeof(class), NULL);
}

static void write_instruction(struct gmt_instruction counts, const char *opcode, const char *file)
{
    const char *caller = counts.caller_line != 0 ? "main.cu" : "";
    counts.kernel_class = 3;
    counts.executed = counts.executed != 0 ? counts.executed : 1;
    gmt_fixture_side(&fixture, 0, GMT_REC_INSTRUCTION, &counts, sizeof(counts), "_Z4workPf", opcode,
                     file, caller, NULL);
}

Test(ingest_simulated, stores_instructions_and_shows_their_share_of_the_excess)
{
    write_kernel();
    for (uint32_t seq = 1; seq <= 2; seq++) {
        write_instruction((struct gmt_instruction){.launch_seq = seq,
                                                   .site = 0,
                                                   .line = 7,
                                                   .sectors = 100 * seq,
                                                   .ideal_sectors = 40,
                                                   .kind = GMT_INST_GLOBAL_LOAD},
                          "ld.global.f32", "k.cu");
        write_instruction((struct gmt_instruction){.launch_seq = seq,
                                                   .site = 1,
                                                   .line = 8,
                                                   .caller_line = 31,
                                                   .wavefronts = 32,
                                                   .ideal_wavefronts = 1,
                                                   .max_degree = 32,
                                                   .kind = GMT_INST_SHARED_STORE},
                          "st.shared.f32", "k.cu");
        write_instruction((struct gmt_instruction){.launch_seq = seq,
                                                   .site = 2,
                                                   .line = 9,
                                                   .sectors = 60,
                                                   .ideal_sectors = 0,
                                                   .kind = GMT_INST_GLOBAL_STORE},
                          "st.global.f32", "k.cu");
        write_instruction(
            (struct gmt_instruction){.launch_seq = seq, .site = 3, .ptx_line = 40, .executed = 6},
            "add.f32", "");
    }
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM instruction WHERE source = 'simulated'", 8);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM v_instruction", 4);
    gmt_fixture_expect_text(
        &fixture,
        "SELECT kernel || ' ' || file || ':' || line || ' ' || opcode FROM v_instruction "
        "WHERE site = 0",
        "work(float*) k.cu:7 ld.global.f32");
    gmt_fixture_expect_text(
        &fixture, "SELECT caller_file || ':' || caller_line FROM v_instruction WHERE site = 1",
        "main.cu:31");
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM v_instruction WHERE caller_file IS NULL AND caller_line IS NULL", 3);
    gmt_fixture_expect(&fixture, "SELECT excess_sectors FROM v_instruction WHERE site = 0",
                       110); /* mean of 60, 160 */
    gmt_fixture_expect(&fixture,
                       "SELECT round(sector_share * 340) FROM v_instruction WHERE site = 0", 220);
    gmt_fixture_expect(&fixture, "SELECT wavefront_share FROM v_instruction WHERE site = 1", 1);
    /* What means nothing for a kind is NULL, and a count that is 0 is 0. */
    gmt_fixture_expect(&fixture, "SELECT sectors FROM instruction WHERE site = 1 LIMIT 1",
                       INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT wavefronts FROM instruction WHERE site = 0 LIMIT 1",
                       INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT ideal_sectors FROM instruction WHERE site = 2 LIMIT 1", 0);
    gmt_fixture_expect(&fixture, "SELECT bytes FROM instruction WHERE site = 3 LIMIT 1", INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT file_id FROM instruction WHERE site = 3 LIMIT 1",
                       INT64_MIN);
    gmt_fixture_expect_text(&fixture, "SELECT kind FROM instruction WHERE site = 3", "other");
}

Test(ingest_simulated, stores_footprints_and_races)
{
    struct gmt_footprint footprint = {.launch_seq = 1,
                                      .kernel_class = 3,
                                      .alloc = 5,
                                      .address = 0x1000,
                                      .bytes = 4096,
                                      .read_bytes = 1024,
                                      .read_traffic_bytes = 8192};
    struct gmt_race race = {
        .launch_seq = 1, .kernel_class = 3, .line = {7, 9}, .caller_line = {0, 40}, .count = 31};
    write_kernel();
    gmt_fixture_side(&fixture, 0, GMT_REC_FOOTPRINT, &footprint, sizeof(footprint), "", NULL);
    footprint.alloc = 0;
    gmt_fixture_side(&fixture, 0, GMT_REC_FOOTPRINT, &footprint, sizeof(footprint), "table", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_RACE, &race, sizeof(race), "st.shared.u32", "k.cu", "",
                     "ld.shared.u32", "k.h", "k.cu", NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT allocation_id FROM kernel_footprint WHERE name IS NULL",
                       5);
    gmt_fixture_expect(&fixture, "SELECT allocation_id FROM kernel_footprint WHERE name = 'table'",
                       INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT reread FROM v_footprint WHERE allocation_id = 5", 8);
    gmt_fixture_expect(&fixture, "SELECT rewritten FROM v_footprint WHERE allocation_id = 5",
                       INT64_MIN);
    gmt_fixture_expect_text(&fixture, "SELECT kind FROM v_footprint WHERE name = 'table'",
                            "variable");
    gmt_fixture_expect_text(
        &fixture,
        "SELECT kernel || ' ' || first_opcode || ' ' || first_file || first_line || ' ' || "
        "second_opcode || ' ' || second_file || second_line || ' ' || second_caller_file || "
        "second_caller_line || ' ' || count FROM v_race "
        "WHERE first_caller_file IS NULL AND first_caller_line IS NULL",
        "work(float*) st.shared.u32 k.cu7 ld.shared.u32 k.h9 k.cu40 31");
}

Test(ingest_simulated, marks_the_counters_and_the_launch)
{
    struct gmt_counters counters = {.launch_seq = 1,
                                    .kernel_class = 3,
                                    .group = GMT_GROUP_SIMULATED,
                                    .source = GMT_SOURCE_SIMULATED,
                                    .count = 2};
    struct gmt_counter_value values[] = {{.metric = 3, .value = 7}, {.metric = 80, .value = 5}};
    struct gmt_call call = {.begin_ticks = 2000, .end_ticks = 3000, .thread = 1};
    struct gmt_launch launch = {.kernel = 1,
                                .kernel_class = 3,
                                .launch_seq = 1,
                                .kind = GMT_LAUNCH_KERNEL,
                                .group = GMT_GROUP_SIMULATED};
    write_kernel();
    gmt_fixture_side_data(&fixture, 0, GMT_REC_COUNTERS, &counters, sizeof(counters), values,
                          sizeof(values));
    gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    ingest();
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM kernel_counters WHERE source = 'simulated' AND grp = 'simulated'", 2);
    gmt_fixture_expect_text(
        &fixture, "SELECT grp FROM metric WHERE name = 'global_load_ideal_sectors'", "simulated");
    gmt_fixture_expect_text(&fixture, "SELECT measured FROM launch", "simulated");
}

Test(ingest_simulated, reads_a_spool_of_the_version_before)
{
    struct gmt_chunk_header *header = (struct gmt_chunk_header *)fixture.chunk[0].map;
    header->version = 1;
    fixture.control->version = 1;
    gmt_fixture_process(&fixture, 0, 4000);
    /* It does not say where it was made. */
    char old[200];
    (void)snprintf(old, sizeof(old), "%s/old.db", fixture.root);
    cr_assert_eq(gmt_recording_recover(fixture.output), -EREMOTE);
    cr_assert_eq(gmt_recording_extract(fixture.spool, old), 0);
    cr_assert_eq(rename(old, fixture.output), 0);
    gmt_fixture_expect_text(&fixture, "SELECT exe FROM process", "/bin/app");
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(ingest_simulated, completes_a_trace_that_the_version_before_began)
{
    sqlite3 *db;
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/old.db", fixture.root);
    cr_assert_eq(gmt_database_create(path,
                                     "DROP TABLE instruction; DROP TABLE race;"
                                     "DROP TABLE kernel_footprint; DROP VIEW v_instruction;"
                                     "DROP VIEW v_footprint; DROP VIEW v_race;"
                                     "DROP TABLE fingerprint; DROP VIEW v_fingerprint;"
                                     "PRAGMA user_version = 1;",
                                     &db),
                 0);
    cr_assert_eq(gmt_database_upgrade(db), 0);
    cr_expect_eq(gmt_database_exec(db, gmt_indexes_sql), 0);
    cr_expect_eq(gmt_database_exec(db, "SELECT * FROM v_instruction, v_footprint, v_race, "
                                       "v_fingerprint"),
                 0);
    int64_t version;
    cr_expect_eq(gmt_database_integer(db, "PRAGMA user_version", 0, &version), 0);
    cr_expect_eq(version, GMT_TRACE_USER_VERSION);
    cr_expect_eq(gmt_database_upgrade(db), 0, "nothing left to do");
    gmt_database_close(db);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A finding's own statement gives the numbers of its evidence, whatever else was called at its place. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

/* A second way to the place of stack 1, by which every second copy is made. */
#define TWO_WAYS \
    "INSERT INTO stack SELECT 1001, depth FROM stack WHERE id = 1;" \
    "INSERT INTO stack_frame SELECT 1001, position, frame_id FROM stack_frame WHERE stack_id = 1;" \
    "UPDATE transfer SET stack_id = 1001 WHERE id % 4 < 2"

/* Copies of the first three calls that the rule does not count. */
#define MORE(table, change) \
    "CREATE TEMP TABLE more AS SELECT * FROM " table " ORDER BY id LIMIT 3;" \
    "UPDATE more SET id = id + 500000, " change ";" \
    "INSERT INTO " table " SELECT * FROM more"

/* One after each of the launches, which end a run of copies. */
#define BETWEEN_LAUNCHES \
    "begin_ns = 60006000 + rowid * 2000000, end_ns = 60013000 + rowid * 2000000"

/* Columns of the statement, in their order, as evidence; waiting is in none of them. */
static const struct {
    const char *rule, *what, *sql, *columns[4];
} cases[] = {
    {"GM101", "as it is", "", {"copies", "bytes", "time"}},
    {"GM101", "single copies", MORE("transfer", BETWEEN_LAUNCHES), {"copies", "bytes", "time"}},
    {"GM101", "copies that failed", MORE("transfer", "result = 700"), {"copies", "bytes", "time"}},
    {"GM101",
     "copies that became nodes",
     MORE("transfer", "capturing = 1"),
     {"copies", "bytes", "time"}},
    {"GM101",
     "every third id",
     "UPDATE transfer SET id = -id; UPDATE transfer SET id = -3 * id;"
     "CREATE TEMP TABLE more AS SELECT * FROM transfer;"
     "UPDATE more SET id = id + 1, result = 700; INSERT INTO transfer SELECT * FROM more",
     {"copies", "bytes", "time"}},
    {"GM102",
     "small ones that are another rule's",
     MORE("transfer", "bytes = 8, begin_ns = begin_ns + 90000000, end_ns = begin_ns + 90005000"),
     {"copies", "bytes", "time"}},
    {"GM104", "single rows", MORE("transfer", BETWEEN_LAUNCHES), {"copies", "bytes", "time"}},
    {"GM105", "two ways", TWO_WAYS, {"repeated_copies", "bytes", "time"}},
    {"GM105",
     "a change that the host makes",
     "UPDATE fingerprint SET hash = 'f00102030405060708090a0b0c0d0e0f' WHERE transfer_id >= 11",
     {"repeated_copies", "bytes", "time"}},
    {"GM105",
     "other bytes each time, to two buffers",
     "UPDATE transfer SET dst = 33554432, dst_allocation_id = 8 WHERE id % 2 = 0;"
     "UPDATE fingerprint SET hash = printf('%032x', (transfer_id + 1) / 2)",
     {"held_elsewhere", "bytes", "time"}},
    {"GM106", "two ways", TWO_WAYS, {"round_trips", "bytes", "upload_time"}},
    {"GM106",
     "a second upload from the same buffer",
     "CREATE TEMP TABLE more AS SELECT * FROM transfer WHERE direction = 'h2d';"
     "UPDATE more SET id = id + 500000, begin_ns = end_ns + 1000, end_ns = end_ns + 2000, "
     "dst = dst + 1073741824, dst_allocation_id = NULL;"
     "INSERT INTO transfer SELECT * FROM more; INSERT INTO fingerprint (transfer_id, hash, "
     "bytes_hashed, "
     "whole) SELECT m.id, f.hash, f.bytes_hashed, f.whole FROM more m JOIN fingerprint f ON "
     "f.transfer_id = m.id - 500000",
     {"round_trips", "bytes", "upload_time"}},
    {"GM117", "two ways", TWO_WAYS, {"redundant_copies", "bytes", "time"}},
    {"GM107", "as it is", "", {"copies", "bytes", "time"}},
    {"GM201", "as it is", "", {"pairs", "allocating", "freeing"}},
    {"GM201",
     "others that live at the same time",
     MORE("allocation", "address = address + rowid * 100000000"),
     {"pairs", "allocating", "freeing"}},
    {"GM201",
     "one that stays",
     "UPDATE allocation SET free_begin_ns = NULL, free_end_ns = NULL, free_api_id = NULL "
     "WHERE id = (SELECT max(id) FROM allocation)",
     {"pairs", "allocating", "freeing"}},
    {"GM202",
     "as it is",
     "",
     {"allocation_offset", "allocation_bytes", "offset_within_sector", "kernel_classes"}},
    {"GM204", "as it is", "", {"allocations", "bytes"}},
    {"GM205", "as it is", "", {"allocations", "bytes"}},
    {"GM206", "as it is", "", {"allocations", "bytes"}},
    {"GM207",
     "others that live at the same time",
     MORE("host_allocation", "address = address + rowid * 100000000"),
     {"pairs"}},
    {"GM208", "as it is", "", {"allocations", "bytes"}},
};

static void check_row(const struct gmt_fixture *fixture, const struct gmt_finding *finding,
                      size_t i)
{
    sqlite3_stmt *statement;

    cr_assert_eq(sqlite3_prepare_v2(fixture->db, finding->sql, -1, &statement, NULL), SQLITE_OK,
                 "%s: %s", finding->sql, sqlite3_errmsg(fixture->db));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    for (int k = 0; k < 4 && cases[i].columns[k] != NULL; k++) {
        cr_expect_eq(sqlite3_column_double(statement, k),
                     gmt_fixture_evidence(finding, cases[i].columns[k]), "%s, %s: %s: %s, not %g",
                     cases[i].rule, cases[i].what, cases[i].columns[k],
                     (const char *)sqlite3_column_text(statement, k),
                     gmt_fixture_evidence(finding, cases[i].columns[k]));
    }
    sqlite3_finalize(statement);
}

Test(statements, reproduce_the_evidence)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, cases[i].rule, cases[i].sql);
        check_row(&fixture, gmt_fixture_only(&fixture, cases[i].rule), i);
        gmt_fixture_free(&fixture);
    }
}

/* Ids in no order that could be said shortly: then the place has to do, and the statement stays short. */
Test(statements, fall_back_on_the_place)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(
        &fixture,
        "UPDATE transfer SET id = -(id * 1000 + id * id % 997); UPDATE transfer SET id = -id");
    const struct gmt_finding *finding = gmt_fixture_only(&fixture, "GM101");

    cr_expect_lt(strlen(finding->sql), 4096);
    cr_expect_not_null(strstr(finding->sql, "stack_id IN (1)"), "%s", finding->sql);
    gmt_fixture_free(&fixture);
}

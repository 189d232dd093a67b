/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that two threads load: the same rows, the same reasons, and one state of the file. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/trace/open.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/finished/reader.h"
#include "tests/rules/fixture.h"

static const char *path;

static void open_both(sqlite3 **db, sqlite3 **beside)
{
    char message[512] = "";

    cr_assert_eq(gmt_trace_open(path, 0, db, message, sizeof(message)), 0, "%s", message);
    *beside = gmt_trace_open_beside(*db);
}

static void close_both(sqlite3 *db, sqlite3 *beside)
{
    gmt_trace_close_beside(db, beside);
    sqlite3_close(db);
    (void)unlink(path);
}

Test(timeline_part, rows_are_those_of_one_thread)
{
    struct gmt_timeline one, two;
    sqlite3 *db, *beside;
    char message[512] = "";

    path = gmt_fixture_make_file("UPDATE transfer SET result = 2 WHERE id % 5 = 0");
    open_both(&db, &beside);
    cr_assert_not_null(beside);
    cr_assert_eq(gmt_timeline_load(&one, db, message, sizeof(message)), 0, "%s", message);
    cr_assert_eq(gmt_timeline_load_beside(&two, db, beside, message, sizeof(message)), 0, "%s",
                 message);
    cr_assert_gt(one.copy_count, 0);
    cr_assert_gt(one.allocation_count, 0);
    cr_expect_eq(one.copy_count, two.copy_count);
    cr_expect_eq(one.launch_count, two.launch_count);
    cr_expect_eq(one.allocation_count, two.allocation_count);
    cr_expect_not(two.all_copies);
    cr_expect_eq(memcmp(one.copies, two.copies, one.copy_count * sizeof(*one.copies)), 0);
    cr_expect_eq(memcmp(one.launches, two.launches, one.launch_count * sizeof(*one.launches)), 0);
    cr_expect_eq(
        memcmp(one.allocations, two.allocations, one.allocation_count * sizeof(*one.allocations)),
        0);
    cr_assert_gt(one.busy_count, 0);
    cr_expect_eq(one.op_count, two.op_count);
    cr_expect_eq(one.busy_count, two.busy_count);
    cr_expect_eq(one.kernel_busy_count, two.kernel_busy_count);
    cr_expect_eq(one.has_kernel_ops, two.has_kernel_ops);
    cr_expect_eq(one.has_unjoined_ops, two.has_unjoined_ops);
    cr_expect_eq(memcmp(one.busy, two.busy, one.busy_count * sizeof(*one.busy)), 0);
    cr_expect_eq(
        memcmp(one.kernel_busy, two.kernel_busy, one.kernel_busy_count * sizeof(*one.kernel_busy)),
        0);
    cr_expect_eq(two.db, db);
    gmt_timeline_free(&one);
    gmt_timeline_free(&two);
    close_both(db, beside);
}

/* What fails in either thread has a reason; values of a wrong type are named before all else. */
Test(timeline_part, damage_has_its_reason)
{
    static const struct {
        const char *sql, *reason;
    } cases[] = {
        {"UPDATE transfer SET bytes = x'00'", "is damaged: transfer.bytes is no integer"},
        {"UPDATE launch SET begin_ns = 'x'", "is damaged: launch.begin_ns is no integer"},
        {"UPDATE launch SET result = 'x'", "is damaged: launch.result is no number"},
        {"UPDATE launch SET result = 'x'; UPDATE process SET start_ns = 'x'",
         "is damaged: launch.result is no number"},
        {"UPDATE transfer SET bytes = x'00'; UPDATE launch SET begin_ns = 'x'",
         "is damaged: transfer.bytes is no integer"},
        {"UPDATE device_op SET start_ns = 'x'", "is damaged: device_op.start_ns is no integer"},
        {"UPDATE device_op SET start_ns = 'x'; UPDATE launch SET begin_ns = 'x'",
         "is damaged: launch.begin_ns is no integer"},
        {"UPDATE device_op SET start_ns = 'x'; UPDATE transfer SET bytes = x'00'",
         "is damaged: transfer.bytes is no integer"},
        {"UPDATE process SET start_ns = 'x'", "is damaged: process.start_ns is no integer"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_timeline tl;
        sqlite3 *db, *beside;
        char message[512] = "";

        path = gmt_fixture_make_file(cases[i].sql);
        open_both(&db, &beside);
        cr_assert_not_null(beside);
        cr_expect_neq(gmt_timeline_load_beside(&tl, db, beside, message, sizeof(message)), 0);
        cr_expect_str_eq(message, cases[i].reason, "%s", cases[i].sql);
        gmt_timeline_free(&tl);
        close_both(db, beside);
    }
}

Test(timeline_part, nobody_writes_between_the_connections)
{
    sqlite3 *db, *beside, *writer;

    path = gmt_fixture_make_file("");
    open_both(&db, &beside);
    cr_assert_not_null(beside);
    cr_assert_eq(sqlite3_open(path, &writer), SQLITE_OK);
    cr_expect_eq(sqlite3_exec(writer, "DELETE FROM transfer", NULL, NULL, NULL), SQLITE_BUSY);
    gmt_trace_close_beside(db, beside);
    cr_expect_eq(sqlite3_exec(writer, "DELETE FROM transfer", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(writer);
    sqlite3_close(db);
    (void)unlink(path);
}

Test(timeline_part, another_file_of_the_name_is_not_read)
{
    sqlite3 *db, *beside;
    char other[96];
    char message[512] = "";

    path = gmt_fixture_make_file("");
    snprintf(other, sizeof(other), "%s.other", path);
    cr_assert_eq(rename(path, other), 0);
    path = gmt_fixture_make_file("");
    cr_assert_eq(gmt_trace_open(path, 0, &db, message, sizeof(message)), 0, "%s", message);
    cr_assert_eq(rename(other, path), 0);
    beside = gmt_trace_open_beside(db);
    cr_expect_null(beside);
    /* Nothing is left open that would keep others from writing. */
    cr_expect_neq(sqlite3_get_autocommit(db), 0);
    sqlite3_close(db);
    (void)unlink(path);
}

/* Its locks are what keeps two connections apart where they meet: in what it counts of memory, for one. */
Test(timeline_part, needs_an_sqlite_that_locks)
{
    sqlite3 *db, *beside;
    char message[512] = "";

    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD), SQLITE_OK);
    path = gmt_fixture_make_file("");
    cr_assert_eq(gmt_trace_open(path, 0, &db, message, sizeof(message)), 0, "%s", message);
    beside = gmt_trace_open_beside(db);
    cr_expect_null(beside);
    cr_expect_neq(sqlite3_get_autocommit(db), 0);
    sqlite3_close(db);
    (void)unlink(path);
}

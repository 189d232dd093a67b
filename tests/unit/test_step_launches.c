/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation of NCCL a kernel belongs to: by ranges, groups and launches, derived of the rows of a trace. Links gmt_store. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/steps/step_rows.h"
#include "libtrace/store/steps/steps_derive.h"

enum { US = 1000 };

static sqlite3 *db;
static char path[64];
static int64_t now_ns;
static int calls, ranges;

static void run(char *sql)
{
    cr_assert_eq(gmt_database_exec(db, sql), 0, "%s", sql);
    sqlite3_free(sql);
}

static void setup(void)
{
    (void)snprintf(path, sizeof(path), "/tmp/gmt-launches-%d.db", (int)getpid());
    (void)unlink(path);
    cr_assert_eq(gmt_database_create(path, "INSERT INTO meta VALUES ('format', '1');", &db), 0);
    run(sqlite3_mprintf("INSERT INTO process (id, pid, start_ns) VALUES (1, 7, 1000)"));
    run(sqlite3_mprintf("INSERT INTO string VALUES (1, 'NCCL'), (2, 'ncclAllReduce'), (3, "
                        "'ncclGroupStart'), (4, 'ncclGroupEnd'), (5, 'ncclCommInitRank'), (6, "
                        "'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (7, 'ncclSend')"));
    run(sqlite3_mprintf("INSERT INTO kernel (id, name, mangled) VALUES (1, 'k', "
                        "'ncclDevKernel_AllReduce_Sum_f32_RING_LL')"));
    now_ns = 10000;
    calls = ranges = 0;
}

static void teardown(void)
{
    sqlite3_close(db);
    (void)unlink(path);
}

TestSuite(step_launches, .init = setup, .fini = teardown, .timeout = 60);

/* It begins now, and ends in `us`; time goes on by 1 us. payload: communicator, bytes, ranks, as SQL. */
static void range(int thread, int name, int us, const char *payload)
{
    now_ns += US;
    run(sqlite3_mprintf("INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, "
                        "end_ns, depth, communicator, bytes, ranks) VALUES (%d, 'push', %d, 1, %d, "
                        "%lld, %lld, 0, %s)",
                        ++ranges, thread, name, now_ns, now_ns + us * US, payload));
}

/* A launch now, of 2 us, and its kernel, which ends 200 us later. */
static void launch(int thread)
{
    now_ns += US;
    calls++;
    run(sqlite3_mprintf(
        "INSERT INTO launch (id, kind, kernel_id, grid_x, grid_y, grid_z, block_x, "
        "block_y, block_z, thread_id, begin_ns, end_ns, result, capturing, seq, "
        "no_activity, arguments) "
        "VALUES (%d, 'kernel', 1, 1, 1, 1, 32, 1, 1, %d, %lld, %lld, 0, 0, %d, 0, 'unknown')",
        calls, thread, now_ns, now_ns + 2 * US, calls));
    run(sqlite3_mprintf("INSERT INTO device_op (kind, device_id, cupti_stream, correlation, "
                        "start_ns, end_ns, kernel_name_id, call_id) VALUES ('kernel', 0, 7, %d, "
                        "%lld, %lld, 6, %d)",
                        calls, now_ns + 100 * US, now_ns + 200 * US, calls));
}

/* Of the kernels, in order: "communicator/number/ranks/bytes ", "- " where no operation is known. */
static void expect(const char *kernels)
{
    sqlite3_stmt *row;
    cr_assert_eq(gmt_steps_derive(db, ""), 0);
    cr_assert_eq(
        sqlite3_prepare_v2(db,
                           "SELECT group_concat(t, ' ') FROM (SELECT coalesce(communicator || '/' "
                           "|| coalesce(number, '-') || '/' || coalesce(ranks, '-') || '/' || "
                           "bytes, '-') AS t FROM step_collective WHERE source = 'device' ORDER BY "
                           "position)",
                           -1, &row, NULL),
        SQLITE_OK);
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    cr_expect_str_eq((const char *)sqlite3_column_text(row, 0), kernels);
    sqlite3_finalize(row);
}

Test(step_launches, a_kernel_belongs_to_the_range_of_its_launch)
{
    range(1, 5, 5, "77, NULL, 8");
    now_ns += 10 * US;
    range(1, 2, 10, "77, 4096, NULL");
    launch(1);
    now_ns += 20 * US;
    range(1, 2, 10, "78, 64, NULL");
    launch(2); /* another thread's */
    launch(1);
    now_ns += 20 * US;
    launch(1); /* outside */
    expect("77/1/8/4096 - 78/1/-/64 -");
}

Test(step_launches, a_group_of_one_operation_is_its_kernel)
{
    for (int i = 0; i < 2; i++) {
        range(1, 3, 1, "NULL, NULL, NULL");
        now_ns += 5 * US;
        range(1, 2, 2, "77, 4096, NULL");
        now_ns += 5 * US;
        range(1, 4, 10, "NULL, NULL, NULL");
        launch(1);
        now_ns += 20 * US;
    }
    expect("77/1/-/4096 77/2/-/4096");
}

Test(step_launches, a_group_of_several_is_of_none)
{
    range(1, 3, 1, "NULL, NULL, NULL");
    now_ns += 5 * US;
    range(1, 2, 2, "77, 4096, NULL");
    now_ns += 5 * US;
    range(1, 7, 2, "77, 4096, NULL");
    now_ns += 5 * US;
    range(1, 4, 10, "NULL, NULL, NULL");
    launch(1);
    now_ns += 20 * US;
    /* Two kernels of one operation. */
    range(1, 2, 20, "77, 4096, NULL");
    launch(1);
    now_ns += 5 * US;
    launch(1);
    now_ns += 20 * US;
    /* And all is well again. */
    range(1, 2, 10, "77, 4096, NULL");
    launch(1);
    expect("- - - 77/3/-/4096");
}

/* The call takes longer than the kernel, as one that loads code does. */
Test(step_launches, a_kernel_may_end_before_its_range)
{
    range(1, 2, 500, "77, 4096, NULL");
    launch(1);
    now_ns += 600 * US;
    range(1, 3, 1, "NULL, NULL, NULL");
    now_ns += 5 * US;
    range(1, 2, 2, "77, 4096, NULL");
    now_ns += 5 * US;
    range(1, 4, 500, "NULL, NULL, NULL");
    launch(1);
    now_ns += 600 * US;
    /* Two kernels of one operation, of which one ends before it. */
    range(1, 2, 250, "77, 4096, NULL");
    launch(1);
    now_ns += 100 * US;
    launch(1);
    expect("77/1/-/4096 77/2/-/4096 - -");
}

static void operations(int count)
{
    for (int i = 0; i < count; i++) {
        range(1, 2, 10, "77, 64, NULL");
        launch(1);
        now_ns += 300 * US;
    }
    now_ns += INT64_C(25000000000); /* another slice */
}

/* Of each row of one source: how many are kept, and the first, second and last of their numbers. */
static void expect_kept(const char *source, const char *kept)
{
    sqlite3_stmt *row;
    char *sql = sqlite3_mprintf(
        "SELECT group_concat(t, ' ') FROM (SELECT count(*) || ':' || min(number) || ',' || "
        "(SELECT min(o.number) FROM step_collective o WHERE o.step_id = c.step_id AND o.source = "
        "c.source AND o.number > min(c.number)) || '..' || max(number) AS t FROM step_collective c "
        "WHERE source = %Q GROUP BY step_id HAVING count(*) > 1 ORDER BY step_id)",
        source);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    cr_expect_str_eq((const char *)sqlite3_column_text(row, 0), kept);
    sqlite3_finalize(row);
    sqlite3_free(sql);
}

/* Ranks cut their rows elsewhere: what is kept of a row must not depend on where it begins. */
Test(step_launches, of_too_many_those_are_kept_that_other_rows_keep_too)
{
    operations(130);
    operations(800);
    operations(320);
    operations(1);
    cr_assert_eq(gmt_steps_derive(db, ""), 0);
    expect_kept("range", "130:1,2..130 200:132,136..928 160:932,934..1250");
    expect_kept("device", "130:1,2..130 200:132,136..928 160:932,934..1250");
    /* The first two become one row, as a recorder's: 58 are divided by 16, and 29 by 32. */
    cr_assert_eq(gmt_step_merge(db, "temp"), 0);
    expect_kept("range", "29:32,64..928 160:932,934..1250");
    expect_kept("device", "29:32,64..928 160:932,934..1250");
}

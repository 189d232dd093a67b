/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of calls and device records that agree, and of those that do not. Links gmt_store. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/coverage.h"

static sqlite3 *db;

static void run(const char *sql)
{
    cr_assert_eq(gmt_database_exec(db, sql), 0, "%s: %s", sql, sqlite3_errmsg(db));
}

static void setup(void)
{
    cr_assert_eq(gmt_database_create(":memory:", "INSERT INTO meta VALUES('complete', '0')", &db),
                 0);
    run(gmt_indexes_sql);
    run("INSERT INTO capability(name, state) VALUES('timestamps', 'ok');"
        "INSERT INTO api(id, name, runtime_name, family) VALUES (1, 'cuMemcpyHtoD_v2', "
        "'cudaMemcpy', 'transfer'),"
        "(2, 'cuGraphLaunch', 'cudaGraphLaunch', 'launch')");
}

static void teardown(void)
{
    gmt_database_close(db);
}

TestSuite(coverage, .init = setup, .fini = teardown, .timeout = 60);

/* A copy; `joined`: it has device times. */
static void copy(int id, int bytes, int result, int capturing, bool joined)
{
    char sql[320];
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO transfer(id,api_id,stream_id,begin_ns,end_ns,result,capturing,"
                   "direction,blocking,bytes,dst_class,src_class,device_start_ns,device_end_ns) "
                   "VALUES(%d,1,3,1,2,%d,%d,'h2d',1,%d,'device','pinned',%s)",
                   id, result, capturing, bytes, joined ? "1,2" : "NULL,NULL");
    run(sql);
}

/* A launch of the graph with this handle, or of a kernel (0). */
static void launch(int id, int graph, bool joined)
{
    char sql[320];
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO launch(id,api_id,begin_ns,end_ns,result,capturing,kind,seq,graph,"
                   "no_activity,arguments,device_start_ns,device_end_ns) "
                   "VALUES(%d,2,%d,%d,0,0,'%s',%d,nullif(%d,0),0,'unknown',%s)",
                   id, 10 * id, 10 * id + 1, graph != 0 ? "graph" : "kernel", id, graph,
                   joined ? "1,2" : "NULL,NULL");
    run(sql);
}

static void record(const char *kind, int call, int graph)
{
    char sql[256];
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO device_op(kind,correlation,graph,bytes,copy_count,call_id) "
                   "VALUES('%s',5,nullif(%d,0),64,1,nullif(%d,0))",
                   kind, graph, call);
    run(sql);
}

static void check(void)
{
    int error = gmt_coverage_records(db);
    cr_assert_eq(error, 0, "%s", sqlite3_errmsg(db));
}

/* "expected|seen|extra|detail" of a row, "" if there is none. */
static void expect(const char *what, const char *row)
{
    sqlite3_stmt *statement;
    cr_assert_eq(sqlite3_prepare_v2(db,
                                    "SELECT expected || '|' || seen || '|' || extra || '|' || "
                                    "coalesce(detail, '-') FROM coverage WHERE kind = 'records' "
                                    "AND what = ?",
                                    -1, &statement, NULL),
                 SQLITE_OK);
    sqlite3_bind_text(statement, 1, what, -1, SQLITE_STATIC);
    const char *found = sqlite3_step(statement) == SQLITE_ROW
                            ? (const char *)sqlite3_column_text(statement, 0)
                            : "";
    cr_expect_str_eq(found, row, "%s: %s instead of %s", what, found, row);
    sqlite3_finalize(statement);
}

static void expect_number(const char *sql, int64_t value)
{
    int64_t found;
    cr_assert_eq(gmt_database_integer(db, sql, -1, &found), 0, "%s", sqlite3_errmsg(db));
    cr_expect_eq(found, value, "%s: %lld", sql, (long long)found);
}

Test(coverage, leaves_out_calls_that_make_no_record)
{
    copy(1, 64, 0, 0, true);
    copy(2, 64, 700, 0, false); /* failed */
    copy(3, 0, 0, 0, false);    /* nothing to copy */
    copy(4, 64, 0, 1, false);   /* captured */
    record("copy", 1, 0);
    check();
    expect("copies", "1|1|0|1 records, 1 calls failed, 1 of zero bytes, 1 into graphs");
    expect("kernels", "");
    expect("graph launches", "");
    expect_number("SELECT count(*) FROM coverage_example", 0);
}

Test(coverage, counts_a_record_that_stands_for_a_batch_once)
{
    copy(1, 64, 0, 0, true);
    copy(2, 64, 0, 0, true);
    record("copy", 1, 0);
    run("UPDATE device_op SET copy_count = 2");
    check();
    expect("copies", "2|2|0|1 records, 1 of these for several calls of a batch");
}

Test(coverage, shows_examples_of_what_has_no_partner)
{
    for (int id = 1; id <= 9; id++) {
        copy(id, 64, 0, 0, id > 5);
        record("copy", id > 5 ? id : 0, 0);
    }
    launch(20, 0, true);
    record("kernel", 20, 0);
    check();
    expect("copies", "9|4|5|9 records");
    expect("kernels", "1|1|0|1 records");
    expect_number("SELECT count(*) FROM coverage_example WHERE what = 'copies' AND side = 'call'",
                  3);
    expect_number("SELECT count(*) FROM coverage_example e JOIN transfer t ON t.id = e.id "
                  "WHERE side = 'call' AND t.device_end_ns IS NULL AND "
                  "e.detail = 'cuMemcpyHtoD_v2 of 64 bytes, stream 3'",
                  3);
    expect_number("SELECT count(*) FROM coverage_example e JOIN device_op o ON o.id = e.id "
                  "WHERE side = 'record' AND o.call_id IS NULL AND e.detail LIKE 'copy of 64%'",
                  3);
}

/* A graph of a kernel, a copy, a copy within host memory, and an event. */
static void make_graph(int id, int handle)
{
    char sql[512];
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO graph(id, handle, nodes, begin_ns) VALUES(%1$d, %2$d, 4, 1);"
                   "INSERT INTO graph_node(graph_id, position, since_ns, node, kind, bytes, "
                   "direction) VALUES(%1$d, 0, 1, 7, 'kernel', NULL, NULL),"
                   "(%1$d, 1, 1, 8, 'copy', 64, 'h2d'), (%1$d, 2, 1, 9, 'copy', 64, 'h2h'),"
                   "(%1$d, 3, 1, 10, 'other', NULL, NULL), (%1$d, NULL, 2, 8, 'copy', 64, 'h2d')",
                   id, handle);
    run(sql);
}

Test(coverage, expands_launches_of_graphs)
{
    make_graph(1, 0x77);
    for (int id = 1; id <= 3; id++) {
        launch(id, 0x77, true);
        record("kernel", id, 4);
        record("copy", id, 4);
    }
    record("copy", 3, 4); /* the host's copy has a record, this time */
    check();
    expect("graph launches", "3|3|0|-");
    expect("kernels in graphs", "3|3|0|-");
    expect("copies in graphs", "4|4|0|-");
    expect("memsets in graphs", "");
    expect("kernels", "");
}

Test(coverage, expects_no_record_of_a_node_that_was_switched_off)
{
    make_graph(1, 0x77);
    run("UPDATE graph SET made_id = 1;"
        "INSERT INTO graph_switch(graph_id, since_ns, node, enabled) VALUES(1, 5, 7, 0)");
    launch(1, 0x77, true); /* before it, and after */
    record("kernel", 1, 4);
    record("copy", 1, 4);
    launch(2, 0x77, true);
    record("copy", 2, 4);
    check();
    expect("kernels in graphs", "1|1|0|-");
    expect("copies in graphs", "2|2|0|-");
}

Test(coverage, finds_the_launch_of_a_graph_that_lacks_a_node)
{
    make_graph(1, 0x77);
    make_graph(2, 0x78);
    run("INSERT INTO graph(id, handle, nodes, begin_ns) VALUES(3, 121, 1, 1);"
        "INSERT INTO graph_node(graph_id, position, since_ns, node, kind) VALUES(3,0,1,2,'empty')");
    launch(1, 0x77, true);
    record("kernel", 1, 4); /* and no copy */
    launch(2, 0x78, true);
    record("kernel", 2, 5);
    record("copy", 2, 5);
    record("memset", 2, 5);  /* of which the graph knows nothing */
    launch(3, 0x78, false);  /* ran, and left nothing */
    launch(4, 121, false);   /* has nothing to leave */
    launch(5, 0x999, false); /* a graph that was never seen */
    check();
    expect("graph launches", "4|2|0|-");
    expect("kernels in graphs", "2|2|0|-");
    expect("copies in graphs", "2|1|0|-");
    expect("memsets in graphs", "0|0|1|-");
    expect_number("SELECT group_concat(id) = '1' FROM coverage_example WHERE what = 'copies in "
                  "graphs' AND detail = 'graph 1: 1 in it, 0 recorded'",
                  1);
    expect_number("SELECT count(*) FROM coverage_example WHERE what = 'graph launches' AND id IN "
                  "(3, 5)",
                  2);
}

Test(coverage, says_nothing_where_there_were_no_device_times)
{
    copy(1, 64, 0, 0, false);
    run("UPDATE capability SET state = 'off'");
    check();
    expect("copies", "");
    run("UPDATE capability SET state = 'partial'");
    check();
    expect("copies", "");
    expect_number("SELECT count(*) FROM coverage", 0);
}

Test(coverage, knows_a_module_only_by_the_file_that_was_loaded)
{
    char sql[PATH_MAX + 512], self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    cr_assert_gt(length, 0);
    self[length] = '\0';
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO module(path,build_id,load_bias,start_address,end_address) VALUES"
                   "('%s',NULL,0,1,2), ('/bin/sh','0123456789',0,3,4), ('/no/such.so','',0,5,6),"
                   "('linux-vdso.so.1','',0,7,8), ('/x/libcuda.so.1','',0,9,10)",
                   self);
    run(sql);
    cr_assert_eq(gmt_coverage_modules(db), 0, "%s", sqlite3_errmsg(db));
    expect_number("SELECT count(*) FROM coverage WHERE kind = 'runtime'", 3);
    expect_number("SELECT count(*) FROM coverage WHERE class = 'none' AND what LIKE "
                  "'%test_coverage'",
                  1);
    expect_number("SELECT count(*) FROM coverage WHERE class = 'unknown' AND what = '/bin/sh' AND "
                  "detail LIKE '%changed%'",
                  1);
    expect_number("SELECT count(*) FROM coverage WHERE class = 'unknown' AND what = '/no/such.so'",
                  1);
    expect_number("SELECT count(*) FROM coverage WHERE kind = 'lookup_path'", 0);
}

/* Another such time follows at once, as when the program takes CUPTI while records are off. */
Test(coverage, leaves_out_calls_made_while_records_were_off)
{
    run("INSERT INTO device_gap VALUES (1, 0, 3, '', '', 'budget', 0), "
        "(2, 4, 10, 'app', 'cuptiActivityEnable', 'client', 0)");
    copy(1, 64, 0, 0, true);
    copy(2, 64, 0, 0, false);
    launch(3, 0, false); /* at 30 ns: it should have a record */
    record("copy", 1, 0);
    check();
    expect("copies", "1|1|0|1 records, 1 while records were off");
    expect("kernels", "1|0|0|-");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel classes of graphs whose nodes were made one by one, so that no launch has them. Links gmt_store. */
#include <criterion/criterion.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/ingest/ingest.h"

static sqlite3 *db;

static void run(const char *sql)
{
    cr_assert_eq(gmt_database_exec(db, sql), 0, "%s: %s", sql, sqlite3_errmsg(db));
}

static int64_t number(const char *sql)
{
    int64_t value = -1;

    cr_assert_eq(gmt_database_integer(db, sql, -1, &value), 0);
    return value;
}

static void setup(void)
{
    cr_assert_eq(gmt_database_create(":memory:", "INSERT INTO meta VALUES('complete', '0')", &db),
                 0);
    run("INSERT INTO kernel(id,name,mangled) VALUES(1,'a()','_Z1av'),(2,'b()','_Z1bv');"
        "INSERT INTO kernel_class(id,kernel_id,grid_x,grid_y,grid_z,block_x,block_y,block_z) "
        "VALUES(7,1,10,1,1,32,1,1);"
        "INSERT INTO graph(id,handle,nodes,begin_ns,made_id) VALUES(1,77,4,5,1)");
}

static void teardown(void)
{
    gmt_database_close(db);
}

TestSuite(graph_classes, .init = setup, .fini = teardown, .timeout = 60);

#define NODE(position, kernel, grid) \
    "INSERT INTO graph_node(graph_id,position,since_ns,node,kind,kernel_id,grid_x,grid_y,grid_z," \
    "block_x,block_y,block_z) VALUES(1," #position ",5,10" #position ",'kernel'," #kernel \
    "," #grid ",1,1,32,1,1);"

Test(graph_classes, are_made_for_kernels_that_no_launch_has)
{
    run(NODE(0, 1, 10) NODE(1, 1, 20) NODE(2, 2, 10) NODE(3, 2, 10));
    cr_assert_eq(gmt_ingest_settle(db), 0);
    cr_expect_eq(number("SELECT count(*) FROM kernel_class"), 3);
    cr_expect_eq(number("SELECT count(*) FROM kernel_class WHERE kernel_id = 1 AND grid_x = 10"),
                 1);
    cr_expect_eq(number("SELECT count(*) FROM kernel_class WHERE kernel_id = 1 AND grid_x = 20"),
                 1);
    cr_expect_eq(number("SELECT count(*) FROM kernel_class WHERE kernel_id = 2 AND block_x = 32"),
                 1);
}

/* A node's handle of a kernel is not that of a launch: kernels 1 and 3 are the same one. */
Test(graph_classes, are_those_of_launches_where_the_kernel_has_the_name)
{
    run("INSERT INTO kernel(id,name,mangled) VALUES(3,'a()','_Z1av')"
        ";" NODE(0, 3, 10) NODE(1, 3, 20) NODE(2, 1, 20));
    cr_assert_eq(gmt_ingest_settle(db), 0);
    cr_expect_eq(number("SELECT count(*) FROM kernel_class"), 2);
    cr_expect_eq(number("SELECT count(*) FROM kernel_class WHERE grid_x = 20 AND kernel_id = 1"),
                 1);
}

Test(graph_classes, are_not_made_for_what_is_not_known)
{
    run(NODE(0, 9, 10) NODE(
        1, NULL, 20) "INSERT INTO graph_node(graph_id,position,since_ns,node,kind,kernel_id) "
                     "VALUES(1,2,5,100,'kernel',2),(1,3,5,101,'memset',NULL);");
    cr_assert_eq(gmt_ingest_settle(db), 0);
    cr_expect_eq(number("SELECT count(*) FROM kernel_class"), 1);
}

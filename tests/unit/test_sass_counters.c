/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a kernel as sums over its instructions: of which classes, and how much. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/sass/sass.h"

/* Class 1: a load of 4 bytes by 10 warps and one at one address, twice launched, and a store. 2: counted
 * by the software-patched group. 3: an access to any memory. 4: by the software device. 5: copies to shared memory, of which one
 * reads and the others fill with zeros in part and wholly. 6: those of which no sectors are counted. */
static const char rows[] =
    "INSERT INTO string(id, text) VALUES (1, 'k');"
    "INSERT INTO metric VALUES (1, 'global_load_bytes', 'x', 'patched', 'bytes', 'as it was');"
    "INSERT INTO kernel_counters(launch_seq, class_id, metric_id, value, source, grp, samples) "
    "VALUES (5, 2, 1, 64, 'patched', 'patched', 1);"
    "INSERT INTO instruction(launch_seq, class_id, site, kind, executed, lanes, bytes, sectors, "
    "wavefronts, source) VALUES "
    "(1, 1, 0, 'global_load', 10, 320, 1280, 40, NULL, 'sass'),"
    "(1, 1, 1, 'global_load', 10, 320, 1280, 10, NULL, 'sass'),"
    "(1, 1, 2, 'global_store', 4, 128, 512, 128, NULL, 'sass'),"
    "(2, 1, 0, 'global_load', 20, 640, 2560, 80, NULL, 'sass'),"
    "(1, 1, 3, 'shared_load', 2, 64, 256, NULL, 8, 'sass'),"
    "(1, 1, 4, 'other', 90, 2880, NULL, NULL, NULL, 'sass'),"
    "(1, 1, 5, 'async_copy', 8, 256, 4096, 128, 40, 'sass'),"
    "(5, 2, 0, 'global_load', 1, 32, 128, 4, NULL, 'sass'),"
    "(6, 3, 0, 'global_load', 1, 32, 128, 4, NULL, 'sass'),"
    "(6, 3, 1, 'generic', 1, 32, 128, 4, NULL, 'sass'),"
    "(7, 4, 0, 'global_load', 1, 32, 128, 4, NULL, 'simulated'),"
    "(8, 5, 0, 'async_copy', 32, 1024, 4096, 128, 32, 'sass'),"
    "(8, 5, 1, 'async_copy', 32, 1024, 4096, 32, 32, 'sass'),"
    "(8, 5, 2, 'async_copy', 32, 1024, 4096, NULL, 32, 'sass'),"
    "(9, 6, 0, 'async_copy', 32, 1024, 4096, NULL, 32, 'sass')";

static sqlite3 *db;

static void setup(void)
{
    cr_assert_eq(gmt_database_create(":memory:", "", &db), 0);
    cr_assert_eq(gmt_database_exec(db, rows), 0, "%s", sqlite3_errmsg(db));
    cr_assert_eq(gmt_sass_counters(db), 0, "%s", sqlite3_errmsg(db));
}

static void teardown(void)
{
    sqlite3_close(db);
}

TestSuite(sass_counters, .init = setup, .fini = teardown, .timeout = 60);

static int64_t integer(const char *sql)
{
    int64_t value = 0;
    cr_assert_eq(gmt_database_integer(db, sql, -1, &value), 0, "%s", sql);
    return value;
}

static int64_t counter(int launch_seq, const char *metric)
{
    char sql[256];
    (void)snprintf(sql, sizeof(sql),
                   "SELECT value FROM kernel_counters c JOIN metric m ON m.id = c.metric_id WHERE "
                   "c.launch_seq = %d AND m.name = '%s' AND c.grp = 'patched' AND c.samples = 1",
                   launch_seq, metric);
    return integer(sql);
}

Test(sass_counters, are_sums_over_the_instructions_of_each_launch)
{
    cr_expect_eq(counter(1, "global_load_sectors"), 50);
    cr_expect_eq(counter(1, "global_load_requests"), 20);
    cr_expect_eq(counter(2, "global_load_sectors"), 80);
    cr_expect_eq(counter(1, "global_store_bytes"), 512);
    cr_expect_eq(counter(1, "shared_load_wavefronts"), 8);
    cr_expect_eq(counter(1, "shared_load_bytes"), 256);
    cr_expect_eq(counter(2, "shared_load_wavefronts"), 0, "it executed none");
    cr_expect_eq(counter(1, "local_store_sectors"), 0);
}

Test(sass_counters, have_the_copies_that_go_past_the_registers)
{
    cr_expect_eq(counter(1, "async_copy_instructions"), 8);
    cr_expect_eq(counter(1, "async_copy_bytes"), 4096);
    cr_expect_eq(counter(1, "async_copy_sectors"), 128);
    cr_expect_eq(counter(1, "async_copy_wavefronts"), 40);
    cr_expect_eq(counter(2, "async_copy_instructions"), 0);
}

Test(sass_counters, ask_for_no_more_than_an_access_touched)
{
    cr_expect_eq(counter(1, "global_load_bytes"), 1280 + 10 * 32);
}

/* Found with a GEMM of cuBLAS: 37 copies of 42 fill with zeros, and "efficiency" was 2567 %. */
Test(sass_counters, copies_that_fill_with_zeros_read_nothing)
{
    cr_expect_eq(counter(8, "async_copy_instructions"), 96);
    cr_expect_eq(counter(8, "async_copy_sectors"), 160);
    cr_expect_eq(counter(8, "async_copy_bytes"), 4096 + 32 * 32);
    cr_expect_eq(
        integer("SELECT count(*) FROM kernel_counters c JOIN metric m ON m.id = c.metric_id "
                "WHERE c.launch_seq = 9 AND m.name = 'async_copy_bytes' AND value IS NULL"),
        1, "without sectors: unknown");
}

Test(sass_counters, leave_what_was_counted_or_cannot_be_distinguished)
{
    cr_expect_eq(counter(5, "global_load_bytes"), 64);
    cr_expect_eq(integer("SELECT count(*) FROM kernel_counters WHERE class_id = 2"), 1);
    cr_expect_eq(integer("SELECT count(*) FROM kernel_counters WHERE class_id IN (3, 4)"), 0);
}

Test(sass_counters, name_their_metrics)
{
    cr_expect_eq(integer("SELECT count(*) FROM kernel_counters WHERE metric_id NOT IN "
                         "(SELECT id FROM metric)"),
                 0);
    cr_expect_eq(integer("SELECT count(*) FROM metric WHERE meaning = 'as it was'"), 1);
    cr_expect_eq(integer("SELECT count(*) FROM metric WHERE name LIKE '%sectors' AND grp = "
                         "'patched' AND unit = 'sectors'"),
                 6, "of loads, stores, local ones, and two of async copies");
}

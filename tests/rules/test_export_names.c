/* SPDX-License-Identifier: Apache-2.0 */
/* Names for an export: each kernel of a graph finds its own, in a time that grows with their number alone. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/export/export_names.h"
#include "libtrace/store/db/database.h"
#include "tests/rules/fixture.h"

enum { STEPS = 1000 };

static int count_steps(void *context)
{
    *(int64_t *)context += STEPS;
    return 0;
}

/* Instructions of SQLite for the names of so many kernels, each of which a graph launched. */
static int64_t steps_for(int kernels)
{
    struct gmt_fixture fixture;
    int64_t steps = 0, named = 0;
    char sql[1024];

    gmt_fixture_load(&fixture, "golden/trace");
    (void)snprintf(sql, sizeof(sql),
                   "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                   "FROM n WHERE i < %d) SELECT i + 1000 AS i FROM n;"
                   "INSERT INTO kernel (id, name, mangled) SELECT i, 'k' || i || '()', '_Zk' || i "
                   "FROM n;"
                   "INSERT INTO kernel (id, name, mangled) VALUES (900000, 'later', '_Zk1001');"
                   "INSERT INTO string SELECT 100000 + i, '_Zk' || i FROM n;"
                   "INSERT INTO device_op (kind, correlation, kernel_name_id) "
                   "SELECT 'kernel', i, 100000 + i FROM n",
                   kernels);
    gmt_fixture_sql(&fixture, sql);
    sqlite3_progress_handler(fixture.db, STEPS, count_steps, &steps);
    cr_assert_eq(gmt_export_names(fixture.db, false), 0, "%s", sqlite3_errmsg(fixture.db));
    sqlite3_progress_handler(fixture.db, 0, NULL, NULL);
    cr_assert_eq(gmt_database_integer(fixture.db,
                                      "SELECT count(*) FROM export_kernel_name e WHERE "
                                      "e.name = 'k' || (e.id - 100000) || '()'",
                                      0, &named),
                 0);
    cr_expect_eq(named, kernels);
    gmt_fixture_free(&fixture);
    return steps;
}

Test(export_names, take_no_more_for_each_of_many_kernels)
{
    int64_t few = steps_for(500), many = steps_for(4000);

    cr_expect_leq(many, 12 * few, "%lld instructions for 500 kernels, %lld for 4000",
                  (long long)few, (long long)many);
}

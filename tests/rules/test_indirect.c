/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that kernels reach without getting a pointer to it: by tables of pointers, and as textures. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

/*
 * Eight matrices of 16 MiB, allocated and filled one after the other from one line and never copied again;
 * then 128 MiB that the launches get, and 64 bytes for a table, which they get, too.
 */
#define MATRICES \
    "DELETE FROM transfer; DELETE FROM allocation; DELETE FROM launch_argument;" \
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7) " \
    "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, " \
    "begin_ns, end_ns) SELECT 10 + i, 'device', 1073741824 + i * 16777216, 16777216, 1, 1, 4, 1, " \
    "1000000 + i * 1000000, 1010000 + i * 1000000 FROM n;" \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "capturing, direction, blocking, bytes, dst, src, dst_class, src_class, dst_allocation_id) " \
    "SELECT id, 1, 1, 1, 1, begin_ns + 20000, begin_ns + 800000, 0, 0, 'h2d', 1, 16777216, " \
    "address, " \
    "4096, 'device', 'pageable', id FROM allocation;" \
    "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, begin_ns, " \
    "end_ns) " \
    "VALUES (2, 'device', 1048576, 64, 1, 1, 4, 20000000, 20001000), " \
    "(3, 'device', 4194304, 134217728, 1, 1, 4, 20010000, 20021000);" \
    "INSERT INTO launch_argument VALUES (1, 0, 0, 2, 0), (1, 1, 0, 3, 0);"

#define TABLE \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "capturing, direction, blocking, bytes, dst, src, dst_class, src_class, dst_allocation_id) " \
    "VALUES " \
    "(99, 1, 1, 1, 1, 21000000, 21010000, 0, 0, 'h2d', 1, 64, 1048576, 4096, 'device', " \
    "'pageable', 2);"

#define FREED \
    "UPDATE allocation SET free_begin_ns = 99000000 + id * 1000, free_end_ns = 99000900 + id * " \
    "1000, " \
    "free_api_id = 5;"

#define ARRAYS "UPDATE allocation SET kind = 'array' WHERE id >= 10;"

static const struct {
    const char *rule, *what, *sql;
    size_t findings;
    const char *why; /* of an outcome that is none */
} cases[] = {
    {"GM204", "no table", MATRICES, 1, NULL},
    {"GM204", "a table", MATRICES TABLE, 0, NULL},
    {"GM204", "a variable",
     MATRICES TABLE "UPDATE transfer SET dst_allocation_id = NULL WHERE id = 99", 0, NULL},
    {"GM204", "numbers", MATRICES TABLE "UPDATE transfer SET bytes = 60 WHERE id = 99", 1, NULL},
    {"GM204", "what no kernel gets",
     MATRICES TABLE "DELETE FROM launch_argument WHERE allocation_id = 2", 1, NULL},
    {"GM204", "arrays", MATRICES ARRAYS, 0, NULL},
    {"GM206", "no table", MATRICES FREED, 1, NULL},
    {"GM206", "a table", MATRICES TABLE FREED, 0, NULL},
    {"GM206", "a table of before",
     MATRICES TABLE FREED "UPDATE transfer SET begin_ns = 1000, end_ns = 2000 WHERE id = 99", 1,
     NULL},
    {"GM206", "arrays", MATRICES FREED ARRAYS, 0, NULL},
    {"GM205", "no table", MATRICES "DELETE FROM transfer", 1, NULL},
    {"GM205", "a table", MATRICES "DELETE FROM transfer;" TABLE, 0, "pointers in memory"},
    {"GM205", "arrays", MATRICES ARRAYS "DELETE FROM transfer", 0, "texture or surface"},
    {"GM107", "no table", MATRICES, 1, NULL},
    {"GM107", "a table", MATRICES TABLE, 0, NULL},
    {"GM107", "arrays", MATRICES ARRAYS, 0, NULL},
};

Test(indirect, memory_counts_as_used)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM107_positive");
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, cases[i].rule);
        cr_expect_eq(fixture.report.finding_count, cases[i].findings, "%s, %s: %zu findings: %s",
                     cases[i].rule, cases[i].what, fixture.report.finding_count,
                     gmt_fixture_found(&fixture.report));
        const char *why = fixture.report.rules[0].why;
        cr_expect(cases[i].why == NULL || (why != NULL && strstr(why, cases[i].why) != NULL),
                  "%s, %s: %s", cases[i].rule, cases[i].what, why != NULL ? why : "no reason");
        gmt_fixture_free(&fixture);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Values that no recorder writes: texts for numbers, numbers that index nothing, figures that would
 * overflow. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/guard.h"
#include "tests/rules/fixture.h"

/* The reason why the golden trace, changed so, is not loaded; "" where it is. */
static const char *reason_after(const char *sql)
{
    static char message[512];
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture, sql);
    message[0] = '\0';
    int rc = gmt_timeline_load(&fixture.timeline, fixture.db, message, sizeof(message));
    cr_expect_eq(rc == 0, message[0] == '\0');
    gmt_fixture_free(&fixture);
    return message;
}

Test(hostile_values, a_text_for_a_number_names_table_and_column)
{
    static const struct {
        const char *sql, *named;
    } cases[] = {
        {"UPDATE transfer SET thread_id = '-9999999x'", "transfer.thread_id"},
        {"UPDATE transfer SET bytes = x'00'", "transfer.bytes"},
        {"UPDATE transfer SET device_start_ns = 1e300", "transfer.device_start_ns"},
        {"UPDATE launch SET begin_ns = 'x'", "launch.begin_ns"},
        {"UPDATE launch SET class_id = 'x'", "launch.class_id"},
        {"UPDATE kernel_class SET block_x = 'x'", "kernel_class.block_x"},
        {"UPDATE device SET sm_count = 'x'", "device.sm_count"},
        /* Without the constraint that another schema need not have. */
        {"PRAGMA legacy_alter_table = 1; CREATE TABLE other AS SELECT * FROM launch; DROP TABLE "
         "launch; "
         "ALTER TABLE other RENAME TO launch; UPDATE launch SET begin_ns = NULL WHERE id % 2",
         "launch.begin_ns is missing"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *reason = reason_after(cases[i].sql);

        cr_expect_not_null(strstr(reason, "is damaged: "), "%s: '%s'", cases[i].sql, reason);
        cr_expect_not_null(strstr(reason, cases[i].named), "%s: '%s'", cases[i].sql, reason);
    }
}

Test(hostile_values, a_blob_for_a_text_names_table_and_column)
{
    const char *reason = reason_after("UPDATE kernel SET name = x'00' WHERE id = 1");

    cr_expect_not_null(strstr(reason, "is damaged: kernel.name is no text"), "'%s'", reason);
}

/* Whoever reads rows would take the value for one that is NULL. */
Test(hostile_values, no_row_is_read_that_holds_a_value_of_another_type)
{
    struct gmt_fixture fixture;
    struct gmt_query query;
    int64_t rows = 0;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture,
                    "CREATE TABLE odd (number INTEGER, share REAL, name TEXT);"
                    "INSERT INTO odd VALUES (1, 2, 3), (NULL, 0.5, NULL), (4, 'x', 6), (7, 8, 9)");
    int rc = gmt_query_open(&query, fixture.db, "SELECT name, share FROM odd ORDER BY rowid");
    while (rc == 0 && gmt_query_next(&query)) {
        rows++;
    }
    cr_expect_eq(rows, 2, "%lld rows", (long long)rows);
    cr_expect_eq(gmt_query_close(&query, rc), -EIO);
    cr_expect_str_eq(gmt_guard_reason(fixture.db), "is damaged: odd.share is no number");
    gmt_fixture_free(&fixture);
}

Test(hostile_values, a_number_beyond_all_ids_is_refused)
{
    const char *reason = reason_after("UPDATE transfer SET thread_id = 9223372036854775807");

    cr_expect_not_null(strstr(reason, "transfer.thread_id"), "'%s'", reason);
    reason = reason_after("UPDATE transfer SET stream_id = -1");
    cr_expect_not_null(strstr(reason, "transfer.stream_id"), "'%s'", reason);
}

/* Where NULL is no damage. */
Test(hostile_values, nor_is_a_number_below_all_ids_one_that_is_not_known)
{
    struct gmt_fixture fixture;
    struct gmt_query query;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture, "CREATE TABLE odd (number INTEGER);"
                              "INSERT INTO odd VALUES (NULL), (7), (-1), (9)");
    int rc = gmt_query_open(&query, fixture.db, "SELECT number FROM odd ORDER BY rowid");
    cr_assert(rc == 0 && gmt_query_next(&query));
    cr_expect_eq(gmt_query_known_id(&query, 0), -1);
    cr_expect(gmt_query_next(&query));
    cr_expect_eq(gmt_query_known_id(&query, 0), 7);
    cr_expect(gmt_query_next(&query));
    cr_expect_eq(gmt_query_known_id(&query, 0), -1);
    cr_expect_not(gmt_query_next(&query));
    cr_expect_eq(gmt_query_close(&query, rc), -EIO);
    cr_expect_str_eq(gmt_guard_reason(fixture.db),
                     "is damaged: odd.number is no number that a recorder gives out");
    gmt_fixture_free(&fixture);
}

/* Rules shift the number of a set of arguments: beyond 2^39 that would overflow. */
Test(hostile_values, a_set_of_arguments_beyond_all_numbers_is_refused)
{
    const char *reason = reason_after("UPDATE launch SET argument_set_id = 4611686018427387904");

    cr_expect_not_null(
        strstr(reason, "launch.argument_set_id is no number that a recorder gives out"), "'%s'",
        reason);
}

/* Times that every call of a recorder has: rules take their differences. */
Test(hostile_values, a_call_without_its_time_is_refused)
{
    static const char *const changes[] = {"begin_ns", "end_ns"};

    for (size_t i = 0; i < 2; i++) {
        char sql[512];

        snprintf(
            sql, sizeof(sql),
            "ALTER TABLE launch RENAME TO old; CREATE TABLE launch AS SELECT * FROM old; UPDATE "
            "launch SET %s = NULL WHERE id = (SELECT max(id) FROM launch)",
            changes[i]);
        const char *reason = reason_after(sql);
        cr_expect_not_null(strstr(reason, changes[i]), "%s: '%s'", changes[i], reason);
        cr_expect_not_null(strstr(reason, "is missing"), "%s: '%s'", changes[i], reason);
    }
}

/* Ids of functions of the driver in a view that says other ones each time it is asked. */
Test(hostile_values, no_api_beyond_the_array)
{
    (void)reason_after(
        "ALTER TABLE api RENAME TO other; CREATE TABLE seen (n); CREATE VIEW api AS "
        "SELECT id + (random() & 0xffff) AS id, name, runtime_name, family FROM other");
    (void)reason_after("ALTER TABLE api RENAME TO other; CREATE VIEW api AS SELECT 9 AS id, 'a' AS "
                       "name, 'b' AS runtime_name UNION ALL SELECT 'text', 'a', 'b'");
}

/* All rules, on numbers at the ends of their range: the sanitizers judge. */
Test(hostile_values, nothing_overflows)
{
    static const char *const changes[] = {
        "UPDATE transfer SET begin_ns = 9223372036854775807, end_ns = -9223372036854775807",
        "UPDATE transfer SET device_start_ns = NULL",
        "UPDATE launch SET device_start_ns = NULL",
        "UPDATE launch SET device_end_ns = NULL",
        "UPDATE launch SET device_start_ns = -9223372036854775807, device_end_ns = "
        "9223372036854775807",
        "UPDATE launch SET begin_ns = -9223372036854775807 WHERE id % 2",
        "UPDATE transfer SET bytes = 9223372036854775807",
        "UPDATE kernel_class SET block_x = 9223372036854775807, grid_x = 9223372036854775807",
        "UPDATE kernel_class SET block_x = 2147483647, block_y = 2147483647, block_z = 2147483647, "
        "grid_x = 2147483647, grid_y = 2147483647, grid_z = 2147483647",
        "UPDATE kernel_class SET dynamic_shared_bytes = 9223372036854775807, max_blocks_per_sm = "
        "9223372036854775807",
        "UPDATE kernel SET registers = 9223372036854775807, static_shared_bytes = "
        "9223372036854775807",
        "UPDATE kernel SET registers = 2147483647",
        "UPDATE device SET registers_per_sm = 9223372036854775807, max_threads_per_sm = "
        "9223372036854775807, shared_bytes_per_sm = 9223372036854775807, sm_count = "
        "9223372036854775807",
        "UPDATE launch SET argument_set_id = 2147483647",
        "UPDATE launch_argument SET allocation_offset = -9223372036854775807",
        "UPDATE launch_argument SET allocation_offset = 9223372036854775807",
        "INSERT INTO loss VALUES ('a', 'b', 9223372036854775807), ('a', 'c', 9223372036854775807)",
        "UPDATE process SET start_ns = -9223372036854775807, end_ns = 9223372036854775807",
        "UPDATE allocation SET bytes = 9223372036854775807, address = -1",
        "UPDATE allocation SET begin_ns = -9223372036854775807, free_begin_ns = "
        "9223372036854775807",
        "UPDATE allocation SET begin_ns = NULL",
        "UPDATE allocation SET free_begin_ns = NULL",
        "UPDATE allocation SET end_ns = NULL, free_end_ns = NULL",
        "UPDATE sync SET begin_ns = -9223372036854775807, end_ns = 9223372036854775807",
        "UPDATE device_op SET start_ns = -9223372036854775807, end_ns = 9223372036854775807",
    };

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "golden/trace");
        gmt_fixture_sql(&fixture, changes[i]);
        gmt_fixture_analyze(&fixture, NULL);
        gmt_fixture_free(&fixture);
    }
}

/* A blob is above every number for SQL, and -9999999 as an integer. */
Test(hostile_values, no_thread_before_the_array)
{
    static const char *const rules[] = {"GM109", "GM103"};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "golden/trace");
        gmt_fixture_sql(&fixture, "UPDATE sync SET thread_id = x'2d39393939393939'");
        gmt_fixture_analyze(&fixture, rules[i]);
        cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

/* What a query has read before it found the fault is not reckoned with. */
Test(hostile_values, a_range_that_begins_at_no_time_is_refused)
{
    struct gmt_rule_filter filter = {0};
    struct gmt_fixture fixture;
    char message[512];

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture,
                    "INSERT INTO string VALUES (900, 'r');"
                    "INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, "
                    "depth) VALUES (1, 'push', 1, NULL, 900, 'x', 5, 0)");
    cr_assert_eq(gmt_timeline_load(&fixture.timeline, fixture.db, message, sizeof(message)), 0);
    fixture.report = (struct gmt_report){.arena = &fixture.arena, .trace_path = "trace.db"};
    cr_assert_neq(gmt_analyze(&fixture.timeline, &fixture.model, &filter, &fixture.report), 0);
    gmt_fixture_free(&fixture);
}

/* Doubles beyond all integers: their conversion is undefined. */
Test(hostile_values, numbers_become_the_nearest_integer)
{
    cr_expect_eq(gmt_integer_clamped(1e300), INT64_MAX);
    cr_expect_eq(gmt_integer_clamped(-INFINITY), INT64_MIN);
    cr_expect_eq(gmt_integer_clamped(9223372036854775808.0), INT64_MAX);
    cr_expect_eq(gmt_integer_clamped(NAN), 0);
    cr_expect_eq(gmt_integer_clamped(-7.9), -7);
}

/* Which limit is in the way: a lower one that the process was started with, or ours. */
Test(hostile_values, short_memory_names_the_limit_that_was_reached)
{
    static const int kinds[] = {RLIMIT_DATA, RLIMIT_AS};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct rlimit before, low;

        cr_assert_eq(getrlimit(kinds[i], &before), 0);
        low = (struct rlimit){.rlim_cur = (rlim_t)gmt_guard_memory_bytes() - 1,
                              .rlim_max = before.rlim_max};
        cr_assert_eq(setrlimit(kinds[i], &low), 0);
        bool below = strstr(gmt_guard_memory_reason(), "limit of this process") != NULL;
        cr_assert_eq(setrlimit(kinds[i], &before), 0);
        cr_expect(below);
        cr_expect(strstr(gmt_guard_memory_reason(), "needs more than") != NULL);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GM106: results that wait on the host while their buffer is freed and allocated again. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

/* Each result is in a buffer of its own, which is freed after the download, and comes back to another one
 * that is made just before the upload. */
#define PARKED \
    "INSERT INTO allocation (id, kind, address, bytes, begin_ns, end_ns, free_begin_ns, " \
    "free_end_ns) SELECT 100 + id, 'device', 1048576, 16777216, begin_ns - 300000, begin_ns - " \
    "200000, CASE direction WHEN 'd2h' THEN end_ns + 1000 ELSE end_ns + 800000 END, end_ns + " \
    "801000 FROM transfer;" \
    "UPDATE transfer SET src_allocation_id = 100 + id WHERE direction = 'd2h';" \
    "UPDATE transfer SET dst_allocation_id = 100 + id, dst = 1048576 WHERE direction = 'h2d';" \
    "INSERT INTO launch_argument SELECT 1, 0, 8 * id, 100 + id, 0 FROM transfer WHERE direction " \
    "= " \
    "'d2h';"
#define FILL(AT, OF) \
    "INSERT INTO memset (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result," \
    "capturing, bytes, dst, dst_allocation_id, dst_class, value, element_bytes) VALUES (777, 1, " \
    "1, 1, 1, " AT ", " AT " + 100, 0, 0, 16, 1048576, " OF ", 'device', 0, 1);"

static void analyze(const char *sql)
{
    gmt_fixture_load_positive(&fixture, "GM106", PARKED);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM106");
}

static void expect_trips(const char *sql, double trips)
{
    analyze(sql);
    cr_assert_eq(fixture.report.finding_count, 1, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    double shown = gmt_fixture_evidence(&fixture.report.findings[0], "freed_meanwhile");
    cr_expect_float_eq(shown, trips, 0, "%s: %g", sql, shown);
    gmt_fixture_free(&fixture);
}

static void expect_quiet(const char *sql)
{
    analyze(sql);
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(parked_results, could_have_stayed_where_they_were)
{
    analyze("");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_expect_float_eq(gmt_fixture_evidence(f, "freed_meanwhile"), 10, 0);
    cr_expect_float_eq(f->saving.best_ns, 20 * 300e3, 1);
    cr_expect_float_eq(f->saving.low_ns, 10 * 300e3, 1);
    cr_expect_not_null(strstr(f->fix, "Keep the buffer"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

Test(parked_results, made_room_for_others)
{
#define OTHER(ID, BEGIN, END) \
    "INSERT INTO allocation (id, kind, address, bytes, begin_ns, end_ns, free_begin_ns, " \
    "free_end_ns) VALUES (" ID ", 'device', 68719476736, 16777216, " BEGIN ", " BEGIN ", " END \
    ", " END ");"
    expect_quiet(OTHER("998", "1400000", "1600000"));
    /* There is as much at another time, anyhow. */
    expect_trips(OTHER("998", "1400000", "1600000") OTHER("999", "2000000", "2100000"), 10);
    expect_quiet("INSERT INTO api_call (id, api_id, begin_ns, end_ns, result, capturing, bytes) "
                 "VALUES (600000, 4, 1450000, 1460000, 2, 0, 1048576)");
}

Test(parked_results, are_no_others_than_those_that_left)
{
    expect_trips(FILL("1300500", "101"), 9); /* changed after the download */
    expect_trips(FILL("1900000", "102"), 9); /* the new buffer was used before */
    expect_trips("UPDATE fingerprint SET hash = 'ff0102030405060708090a0b0c0d0e0f' WHERE "
                 "transfer_id = 2",
                 9);
    expect_trips("UPDATE allocation SET bytes = bytes + 256 WHERE id = 102", 9);
    expect_trips("UPDATE transfer SET dst = dst + 4096, bytes = bytes WHERE id = 2", 9);
    expect_trips("UPDATE allocation SET kind = 'async' WHERE id = 102", 9);
    expect_trips("UPDATE launch SET arguments = 'unknown', begin_ns = 1400000 WHERE seq = 1", 9);
    expect_quiet("DELETE FROM launch_argument WHERE allocation_id > 100");
    expect_quiet("INSERT INTO device (id, name) VALUES (1, 'Test GPU')");
    expect_quiet("INSERT INTO loss VALUES ('allocation not tracked', '', 1)");
    expect_quiet("INSERT INTO api(id, name, runtime_name, family) VALUES (90, 'cuIpcGetMemHandle', "
                 "NULL, 'alloc');"
                 "INSERT INTO api_call (id, api_id, begin_ns, end_ns, result, capturing) VALUES "
                 "(900, 90, 500, 600, 0, 0)");
}

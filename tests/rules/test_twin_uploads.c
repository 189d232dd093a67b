/* SPDX-License-Identifier: Apache-2.0 */
/* GM105: the same bytes uploaded to two buffers of a device, and when that is not certain. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

/* New bytes in each of ten steps, to one buffer and then to another; a kernel that takes the first one as
 * const runs between. */
#define TWICE \
    "UPDATE transfer SET dst = 33554432, dst_allocation_id = 8 WHERE id % 2 = 0;" \
    "UPDATE fingerprint SET hash = printf('%032x', (transfer_id + 1) / 2);"

static void analyze(const char *sql)
{
    gmt_fixture_load_positive(&fixture, "GM105", TWICE);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM105");
}

static void expect_quiet(const char *sql)
{
    analyze(sql);
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

static void expect_copies(const char *sql, double copies)
{
    analyze(sql);
    cr_assert_eq(fixture.report.finding_count, 1, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    double shown = gmt_fixture_evidence(&fixture.report.findings[0], "held_elsewhere");
    cr_expect_float_eq(shown, copies, 0, "%s: %g", sql, shown);
    gmt_fixture_free(&fixture);
}

Test(twin_uploads, cost_what_a_copy_on_the_device_does_not)
{
    analyze("");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_expect_float_eq(gmt_fixture_evidence(f, "held_elsewhere"), 10, 0);
    /* 0.3 ms each, in place of which the model's device copies 16 MiB in 20 us. */
    cr_expect_float_eq(f->saving.best_ns, 10 * (300e3 - 20e3), 1);
    cr_expect_float_eq(f->saving.low_ns, 10 * (300e3 - 1.05 * 20e3), 1);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_CALIBRATED);
    cr_expect_not_null(strstr(f->sketch, "cudaMemcpyDeviceToDevice"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
}

/* Without a rate for copies on the device there is no price, and no saving is made up. */
Test(twin_uploads, have_no_price_without_the_curve)
{
    gmt_fixture_load_positive(&fixture, "GM105", TWICE);
    fixture.model.on_device.n = 0;
    gmt_fixture_analyze(&fixture, "GM105");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_expect(isnan(fixture.report.findings[0].saving.best_ns));
    gmt_fixture_free(&fixture);
}

#define FILL(AT, STREAM) \
    "INSERT INTO memset (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result," \
    "capturing, bytes, dst, dst_allocation_id, dst_class, value, element_bytes) VALUES (777, 1, " \
    "1, 1, " STREAM ", " AT ", " AT " + 1000, 0, 0, 16, 1048576, 7, 'device', 0, 1);"

Test(twin_uploads, need_memory_that_nothing_can_have_changed)
{
    expect_quiet("UPDATE kernel SET name = 'work' WHERE id = 1");
    expect_quiet("UPDATE launch_argument SET word_offset = 8");
    expect_quiet("UPDATE launch SET arguments = 'unknown'");
    expect_quiet("UPDATE launch SET kind = 'graph', class_id = NULL, kernel_id = NULL, "
                 "argument_set_id = NULL, arguments = 'unknown'");
    expect_quiet("DELETE FROM launch_argument"); /* by pointers in memory */
    expect_quiet("UPDATE allocation SET kind = 'managed' WHERE id = 7");
    expect_quiet("UPDATE allocation SET kind = 'ipc' WHERE id = 7");
    expect_quiet("INSERT INTO api(id, name, runtime_name, family) VALUES (90, 'cuIpcGetMemHandle', "
                 "NULL, 'alloc');"
                 "INSERT INTO api_call (id, api_id, begin_ns, end_ns, result, capturing) VALUES "
                 "(900, 90, 500, 600, 0, 0)");
    expect_quiet("UPDATE allocation SET free_begin_ns = 1400000, free_end_ns = 1400100 WHERE id = "
                 "7");
    expect_copies(FILL("2900000", "1"), 9); /* in one of the steps */
    expect_quiet(FILL("900000", "2"));      /* or any: nobody waits for it */
    expect_copies("UPDATE launch SET arguments = 'unknown' WHERE seq = 3", 9);
    expect_copies("UPDATE fingerprint SET hash = 'ff0102030405060708090a0b0c0d0e0f' WHERE "
                  "transfer_id = 4",
                  9);
}

Test(twin_uploads, are_of_one_device)
{
    expect_quiet("INSERT INTO device (id, name) VALUES (1, 'Test GPU'); INSERT INTO context VALUES "
                 "(2, 1, 2); UPDATE allocation SET context_id = id - 6");
    expect_quiet("INSERT INTO device (id, name) VALUES (1, 'Test GPU');"
                 "UPDATE allocation SET context_id = NULL");
}

Test(twin_uploads, take_samples_of_one_buffer_of_the_host_only)
{
    analyze("UPDATE fingerprint SET whole = 0, bytes_hashed = 262144");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_expect_eq(fixture.report.findings[0].confidence, GMT_CONFIDENCE_HEURISTIC);
    cr_expect_float_eq(fixture.report.findings[0].saving.low_ns, 0, 0);
    gmt_fixture_free(&fixture);
    expect_quiet("UPDATE fingerprint SET whole = 0, bytes_hashed = 262144;"
                 "UPDATE transfer SET src = src + 16777216 * (id % 2)");
    expect_copies("UPDATE transfer SET src = src + 16777216 * (id % 2)", 10);
}

/* So little that the device takes as long to copy it: true, and too small to matter. */
Test(twin_uploads, are_noted_where_the_device_is_no_quicker)
{
    analyze("UPDATE transfer SET end_ns = begin_ns + 10000");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_expect_not_null(strstr(fixture.report.notes[0].note_why, "hardly be faster"), "%s",
                       fixture.report.notes[0].note_why);
    cr_expect(fixture.report.notes[0].small);
    gmt_fixture_free(&fixture);
}

/* One upload to each of two places: whether they are alike is not known, rather than of no concern. */
Test(twin_uploads, are_not_known_without_their_fingerprints)
{
    analyze("DELETE FROM transfer WHERE id > 2; UPDATE fingerprint SET hash = NULL, whole = NULL, "
            "bytes_hashed = NULL, skipped = 'over_budget'");
    cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_expect_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK);
    cr_assert_not_null(fixture.report.rules[0].why);
    cr_expect_not_null(strstr(fixture.report.rules[0].why, "2 of 2 uploads"), "%s",
                       fixture.report.rules[0].why);
    gmt_fixture_free(&fixture);
}

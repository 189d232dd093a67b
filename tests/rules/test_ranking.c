/* SPDX-License-Identifier: Apache-2.0 */
/* What has no price ranks by the most that it could save, and is of no severity by default. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rules/fixture.h"

/* Loads with a stride, in ten launches of 1 ms, which no model prices. */
static const struct gmt_report *unpriced(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load(fixture, "fixtures/GM301_positive");
    gmt_fixture_drop_model(fixture);
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, "GM301");
    return &fixture->report;
}

static void expect_severity(const char *sql, enum gmt_severity severity, const char *method)
{
    struct gmt_fixture fixture;
    const struct gmt_report *report = unpriced(&fixture, sql);

    cr_assert_eq(report->finding_count, 1, "%s: %s", sql, gmt_fixture_found(report));
    const struct gmt_finding *f = &report->findings[0];
    cr_expect(isnan(f->saving.best_ns));
    cr_expect_eq(f->severity, severity, "%s: %d", sql, (int)f->severity);
    cr_expect_not_null(strstr(f->method, method), "%s: %s", sql, f->method);
    gmt_fixture_free(&fixture);
}

Test(ranking, the_time_of_a_kernel_bounds_what_it_could_save)
{
    /* 10 % of the run; high is for what is known. */
    expect_severity("SELECT 1", GMT_SEVERITY_MEDIUM, "at most the 10.0 ms");
    expect_severity("UPDATE process SET end_ns = 1000000000", GMT_SEVERITY_LOW,
                    "at most the 10.0 ms");
}

Test(ranking, a_kernel_of_a_microsecond_is_a_note)
{
    struct gmt_fixture fixture;
    const struct gmt_report *report = unpriced(
        &fixture, "UPDATE launch SET device_end_ns = device_start_ns + 1000");

    cr_assert_eq(report->finding_count, 0, "%s", gmt_fixture_found(report));
    cr_assert_eq(report->note_count, 1);
    cr_expect_not_null(strstr(report->notes[0].note_why, "noise"), "%s", report->notes[0].note_why);
    cr_expect_float_eq(report->notes[0].at_most_ns, 10e3, 1);
    gmt_fixture_free(&fixture);
}

/* Another kernel that does far more of such work, and does it well. */
#define LARGE_COPIES \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, capturing, direction, blocking, bytes, dst_class, src_class) VALUES " \
    "(5000000, 1, 1, 1, 1, 100, 200, 0, 0, 'h2d', 0, 1000000000000000, 'device', 'pinned'); "

Test(ranking, without_any_time_the_share_of_the_bytes_decides)
{
    static const char no_times[] =
        "UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL; ";
    char sql[1024];

    expect_severity(no_times, GMT_SEVERITY_MEDIUM, "is not known either");
    snprintf(sql, sizeof(sql), "%s%s", no_times, LARGE_COPIES);
    expect_severity(sql, GMT_SEVERITY_LOW, "is not known either");
}

Test(ranking, what_is_not_bounded_at_all_is_low)
{
    struct gmt_fixture fixture;
    char *sql = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/simulated.sql");

    cr_assert_not_null(sql);
    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_drop_model(&fixture);
    gmt_fixture_analyze(&fixture, "GM101");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_expect(isnan(fixture.report.findings[0].at_most_ns));
    cr_expect_eq(fixture.report.findings[0].severity, GMT_SEVERITY_LOW);
    gmt_fixture_free(&fixture);
    free(sql);
}

/* A second kernel of a tenth of the bytes and three times the time. */
Test(ranking, the_longer_kernel_comes_first)
{
    static const char longer[] =
        "INSERT INTO kernel (id, name, mangled, registers, static_shared_bytes, local_bytes, "
        "max_threads_per_block) VALUES (2, 'longer', 'longer', 32, 0, 0, 1024); "
        "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
        "block_z, dynamic_shared_bytes, max_blocks_per_sm, theoretical_occupancy) "
        "VALUES (2, 2, 100000, 1, 1, 256, 1, 1, 0, 8, 1.0); "
        "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, stack_id, capturing, kind, seq, kernel_id, class_id, grid_x, grid_y, grid_z, "
        "block_x, block_y, block_z, dynamic_shared_bytes, no_activity, arguments, "
        "argument_set_id, device_start_ns, device_end_ns) VALUES (910001, 3, 1, 1, 1, 10000000, "
        "10002500, 0, 1, 0, 'kernel', 101, 2, 2, 100000, 1, 1, 256, 1, 1, 0, 0, 'complete', 1, "
        "10010000, 40010000); "
        "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, "
        "samples) SELECT 101, 2, metric_id, value, source, grp, samples FROM kernel_counters";
    struct gmt_fixture fixture;
    const struct gmt_report *report = unpriced(&fixture, longer);

    cr_assert_eq(report->finding_count, 2, "%s", gmt_fixture_found(report));
    cr_expect_str_eq(report->findings[0].where.kernel, "longer");
    cr_expect_lt(report->findings[0].excess_bytes, report->findings[1].excess_bytes);
    gmt_fixture_free(&fixture);
}

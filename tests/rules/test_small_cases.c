/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that are true and too small to matter: a note each, with its size and why, and no finding. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rules/fixture.h"

/* The positive fixture of the rule, changed by `sql` into a small case of it; `why` in its reason. */
static void expect_note(const char *rule, bool simulated, const char *sql, const char *why)
{
    struct gmt_fixture fixture;
    char *times = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/simulated.sql");

    cr_assert_not_null(times);
    gmt_fixture_load_positive(&fixture, rule, sql);
    if (simulated) {
        gmt_fixture_sql(&fixture, times);
        gmt_fixture_drop_model(&fixture); /* with one they have a price, which decides */
    }
    free(times);
    gmt_fixture_analyze(&fixture, rule);
    const struct gmt_report *report = &fixture.report;
    cr_assert_eq(report->finding_count, 0, "%s: %s", rule, gmt_fixture_found(report));
    cr_assert_eq(report->note_count, 1, "%s: %zu notes", rule, report->note_count);
    const struct gmt_finding *note = &report->notes[0];
    cr_expect_str_eq(note->rule, rule);
    cr_expect_not_null(strstr(note->note_why, why), "%s: %s", rule, note->note_why);
    /* To comparisons it is as if nothing was seen. */
    cr_expect(note->small || strcmp(rule, "GM102") == 0, "%s", rule);
    cr_expect_not_null(note->method);
    cr_expect(isfinite(note->cost_ns) || isfinite(note->excess_bytes) ||
                  isfinite(note->saving.best_ns) || note->evidence_count > 1,
              "%s has no size", rule);
    gmt_fixture_free(&fixture);
}

#define LARGE_COPY \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, capturing, direction, blocking, bytes, dst_class, src_class) VALUES " \
    "(5000000, 1, 1, 1, 1, 100, 200, 0, 0, 'h2d', 0, 1000000000000, 'device', 'pinned'); "

Test(small_cases, copies_that_mapped_memory_would_hardly_spare)
{
    /* Copied in a tenth of the time that going over mapped memory takes. */
    expect_note("GM111", false, "UPDATE transfer SET end_ns = begin_ns + 1000", "no faster");
    expect_note("GM111", true, LARGE_COPY, "less than 5.0 % of all such work");
}

Test(small_cases, mapped_memory_of_a_few_bytes_or_gone_over_hardly_twice)
{
    static const char counted[] =
        "INSERT INTO metric VALUES (45, 'host_read_sectors', '-', 'hardware', 'sectors', '-');"
        "INSERT INTO fixture_counter VALUES (45, 786432, 'hardware')"; /* 1.5 times */

    expect_note("GM112", false, "UPDATE host_allocation SET bytes = 4096", "a flag or a result");
    expect_note("GM112", false, counted, "less than two passes");
    expect_note("GM112", true, "UPDATE kernel_footprint SET read_traffic_bytes = 1.5 * read_bytes",
                "less than two passes");
}

Test(small_cases, once_over_mapped_memory_is_no_fault)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(
        &fixture, "GM112",
        "INSERT INTO metric VALUES (45, 'host_read_sectors', '-', 'hardware', 'sectors', '-');"
        "INSERT INTO fixture_counter VALUES (45, 524288, 'hardware')");
    gmt_fixture_analyze(&fixture, "GM112");
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(small_cases, few_local_accesses)
{
    static const char few[] =
        "UPDATE kernel_counters SET value = 20000 WHERE metric_id IN (13, 14)";

    expect_note("GM306", false, few, "less than 5.0 % of the memory instructions");
    expect_note("GM306", true, few, "less than 5.0 % of the memory instructions");
    expect_note("GM306", true,
                "UPDATE kernel_counters SET value = 500000 WHERE metric_id IN (13, 14)",
                "less than half");
}

Test(small_cases, hand_overs_that_are_little_of_what_is_moved)
{
    expect_note(
        "GM509", true,
        LARGE_COPY
        "UPDATE kernel_counters SET value = 1024000000 WHERE metric_id = 1 AND class_id = 1",
        "more than half of the bytes");
}

Test(small_cases, two_or_three_pairs_of_allocations)
{
    expect_note("GM201", false,
                "DELETE FROM transfer WHERE id > 850003; DELETE FROM memset WHERE id > 800003; "
                "DELETE FROM allocation WHERE id > 3",
                "fewer than 4 pairs");
}

Test(small_cases, two_or_three_pairs_of_page_locked_memory)
{
    expect_note("GM207", false,
                "DELETE FROM transfer WHERE id > 700003; DELETE FROM host_allocation WHERE id > 3",
                "fewer than 4 pairs");
}

Test(small_cases, few_idle_lanes)
{
    expect_note("GM502", false, "UPDATE kernel_class SET block_x = 255", "less than 5.0 %");
}

Test(small_cases, one_word_of_pageable_memory)
{
    expect_note("GM102", false,
                "DELETE FROM transfer WHERE id > 1; "
                "UPDATE transfer SET bytes = 64, end_ns = begin_ns + 9000",
                "copied once");
    expect_note("GM102", true, "DELETE FROM transfer WHERE id > 1; UPDATE transfer SET bytes = 64",
                "copied once");
}

Test(small_cases, little_memory_that_is_never_freed)
{
    expect_note("GM204", false,
                "DELETE FROM transfer WHERE dst_allocation_id > 1 OR src_allocation_id > 1; "
                "DELETE FROM memset WHERE dst_allocation_id > 1; "
                "DELETE FROM launch_argument WHERE allocation_id > 1; "
                "DELETE FROM allocation WHERE id > 1; UPDATE allocation SET bytes = 4096",
                "the end of the process frees");
}

Test(small_cases, little_memory_that_nothing_uses)
{
    expect_note("GM205", true, "UPDATE allocation SET bytes = 4096", "the peak of memory");
}

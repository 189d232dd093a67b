/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy in the reports, and the rules of shared memory where a trace needs a second look. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/model/occupancy.h"
#include "analyzer/trace/open.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

static int64_t tightest(const struct gmt_occupancy *o)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < GMT_OCCUPANCY_LIMITER_COUNT; i++) {
        least = o->limit[i] < least ? o->limit[i] : least;
    }
    return least;
}

/* The recordings hold what the driver of an H200 answered for each launch shape. */
static int64_t check_recording(const char *name)
{
    char directory[] = "/tmp/gmtrace-rules.XXXXXX", path[128], command[512], message[256] = "";
    struct gmt_timeline tl;
    sqlite3 *db = NULL;
    int64_t checked = 0;

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/trace.db", directory);
    snprintf(command, sizeof(command), "gzip -dc '%s/tests/data/%s.db.gz' > %s", GMT_SOURCE_DIR,
             name, path);
    /* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a test's own fixed command. */
    cr_assert_eq(system(command), 0);
    cr_assert_eq(gmt_open_trace(path, &db, message, sizeof(message)), 0, "%s", message);
    cr_assert_eq(gmt_timeline_load(&tl, db, message, sizeof(message)), 0, "%s", message);
    for (size_t i = 0; i < tl.class_count; i++) {
        const struct gmt_tl_class *class = &tl.classes[i];
        struct gmt_occupancy o = gmt_occupancy_of(&tl, class, NULL);

        cr_assert_null(o.unknown);
        cr_assert_eq(tightest(&o), class->max_blocks_per_sm, "%s", class->name);
        cr_assert_float_eq(o.occupancy, class->theoretical_occupancy, 1e-6, "%s", class->name);
        cr_assert_eq(o.carveout_percent, -1, "nothing had to be deduced");
        checked++;
    }
    gmt_timeline_free(&tl);
    sqlite3_close(db);
    unlink(path);
    rmdir(directory);
    return checked;
}

Test(shared, occupancy_is_what_the_driver_of_an_h200_answered)
{
    cr_assert_geq(check_recording("pipeline_slow") + check_recording("pipeline_fast"), 10);
}

static char *render(struct gmt_fixture *fixture, const char *format)
{
    struct gmt_writer_options options = {.top = 10};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(gmt_writer_find(format)->write(&fixture->report, &options, out), 0);
    fclose(out);
    return text;
}

Test(shared, reports_say_what_limits_a_kernel_and_what_would_lift_it)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM404_positive");
    gmt_fixture_analyze(&fixture, NULL);
    char *text = render(&fixture, "text"), *json = render(&fixture, "json");
    cr_assert_not_null(strstr(text, "12.5 % of the warps fit (4 blocks), limited by shared memory; "
                                    "6.12 KiB per block instead"));
    cr_assert_not_null(strstr(json, "\"limiter\": \"shared\""));
    cr_assert_not_null(strstr(json, "\"by_shared_bytes\": {"));
    free(text);
    free(json);
    gmt_fixture_free(&fixture);
}

Test(shared, unknown_limits_of_the_device_are_said_to_be)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM404_positive");
    gmt_fixture_sql(&fixture, "UPDATE device SET registers_per_sm = NULL");
    gmt_fixture_analyze(&fixture, NULL);
    char *text = render(&fixture, "text"), *json = render(&fixture, "json");
    cr_assert_null(strstr(text, "of the warps fit"));
    cr_assert_not_null(strstr(json, "\"unknown\": \"the trace does not hold the limits"));
    free(text);
    free(json);
    gmt_fixture_free(&fixture);
}

Test(shared, a_small_carve_out_is_named)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM404_positive");
    gmt_fixture_sql(&fixture, "UPDATE kernel_class SET block_x = 64, dynamic_shared_bytes = 12288, "
                              "max_blocks_per_sm = 4, theoretical_occupancy = 0.125");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_str_eq(f->rule, "GM404");
    cr_assert_not_null(strstr(f->headline, "a carve-out of about"), "%s", f->headline);
    cr_assert_not_null(strstr(f->sketch, "PreferredSharedMemoryCarveout"));
    cr_assert_eq(f->effort, GMT_EFFORT_SMALL);
    gmt_fixture_free(&fixture);
}

Test(shared, few_blocks_at_the_roof_are_a_note)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM404_negative");
    gmt_fixture_sql(&fixture, "UPDATE kernel_counters SET value = 2.1e9 WHERE metric_id = 33;"
                              "UPDATE kernel_counters SET value = 2.1e9 WHERE metric_id = 34");
    gmt_fixture_analyze(&fixture, "GM404");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_assert_str_eq(fixture.report.notes[0].note_why,
                     "device memory is at its roof already: more warps would not help");
    gmt_fixture_free(&fixture);
}

/* 16 bytes that all lanes share: two passes per load, and 16 bytes asked for. */
Test(shared, broadcasts_of_wide_words_are_no_conflicts)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM401_positive");
    gmt_fixture_sql(&fixture, "UPDATE kernel_counters SET value = 96000000 WHERE metric_id = 7;"
                              "UPDATE kernel_counters SET value = 12000000 WHERE metric_id = 9");
    gmt_fixture_analyze(&fixture, "GM401");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* 8-byte words 4 apart: 8 passes where 2 would do. */
Test(shared, conflicts_of_wide_words_are_counted_against_their_own_ideal)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM401_positive");
    gmt_fixture_sql(&fixture, "UPDATE kernel_counters SET value = 6000000 WHERE metric_id = 11;"
                              "UPDATE kernel_counters SET value = 1536000000 WHERE metric_id = 7;"
                              "UPDATE kernel_counters SET value = 48000000 WHERE metric_id = 9");
    gmt_fixture_analyze(&fixture, "GM401");
    const struct gmt_report *report = &fixture.report;
    cr_assert_eq(report->finding_count + report->note_count, 1, "%s", gmt_fixture_found(report));
    const struct gmt_finding *f = report->finding_count > 0 ? report->findings : report->notes;
    cr_assert_not_null(strstr(f->headline, "shared loads of 8-byte words conflict 4-way"), "%s",
                       f->headline);
    gmt_fixture_free(&fixture);
}

/* One warp of eight fills: its stores are full, and only the barrier shows it. */
Test(shared, one_warp_that_fills_is_seen_by_the_barrier)
{
    static const struct {
        const char *change;
        size_t findings;
    } rows[] = {
        {"UPDATE kernel_counters SET value = 8.4e9 WHERE metric_id = 55", 1}, /* 70 % */
        {"UPDATE kernel_counters SET value = 4.8e9 WHERE metric_id = 55", 0}, /* 40 % */
        {"DELETE FROM kernel_counters WHERE metric_id = 55", 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM402_negative");
        gmt_fixture_sql(&fixture, rows[i].change);
        gmt_fixture_analyze(&fixture, "GM402");
        cr_assert_eq(fixture.report.finding_count, rows[i].findings, "%s: %s", rows[i].change,
                     gmt_fixture_found(&fixture.report));
        if (rows[i].findings > 0) {
            const struct gmt_finding *f = &fixture.report.findings[0];

            cr_assert_not_null(strstr(f->headline, "few of the 8 warps of a block"), "%s",
                               f->headline);
            /* 70 % x 8 / 7 of 10 ms, of which an eighth is left; memory takes the rest. */
            cr_assert_float_eq(f->saving.best_ns, 7e6, 0.2e6, "%g", f->saving.best_ns);
        }
        gmt_fixture_free(&fixture);
    }
}

/* Lane 0 of each warp stores one sum, and one warp adds them up: no tile, and read once. */
Test(shared, reductions_are_neither_serial_fills_nor_unread_tiles)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM402_positive");
    gmt_fixture_sql(
        &fixture,
        "UPDATE kernel_counters SET value = 640000 WHERE metric_id = 8;"         /* bytes */
        "UPDATE kernel_counters SET value = 160000 WHERE metric_id IN (10, 12);" /* stores */
        "UPDATE kernel_counters SET value = 640000 WHERE metric_id = 7;"         /* read */
        "UPDATE kernel_counters SET value = 20000 WHERE metric_id = 11;"         /* loads */
        "UPDATE kernel_counters SET value = 20000 WHERE metric_id = 9;"
        "UPDATE kernel_counters SET value = 1310720000 WHERE metric_id = 1;"
        "UPDATE kernel_counters SET value = 40960000 WHERE metric_id = 3;"
        "UPDATE kernel_counters SET value = 10240000 WHERE metric_id = 5;");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* Its tile is the limit, too; smaller blocks have smaller tiles. */
Test(shared, a_block_that_idles_at_barriers_is_named_once)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM505_positive");
    gmt_fixture_sql(&fixture, "UPDATE kernel SET registers = 32;"
                              "UPDATE kernel_class SET dynamic_shared_bytes = 200000;"
                              "UPDATE kernel_counters SET value = 8e8 WHERE metric_id IN (33, 34);"
                              "UPDATE kernel_counters SET value = 24 WHERE metric_id = 32");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_str_eq(fixture.report.findings[0].rule, "GM505");
    cr_assert_not_null(strstr(fixture.report.findings[0].sketch, "256, 50000>>>"), "%s",
                       fixture.report.findings[0].sketch);
    gmt_fixture_free(&fixture);

    gmt_fixture_load(&fixture, "fixtures/GM505_positive");
    gmt_fixture_sql(&fixture, "UPDATE kernel SET registers = 32;"
                              "UPDATE kernel_class SET dynamic_shared_bytes = 200000;"
                              "UPDATE kernel_counters SET value = 8e8 WHERE metric_id IN (33, 34);"
                              "UPDATE kernel_counters SET value = 24 WHERE metric_id = 32;"
                              "UPDATE kernel_counters SET value = 1 WHERE metric_id = 55");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_str_eq(fixture.report.findings[0].rule, "GM404", "nobody waits at barriers");
    gmt_fixture_free(&fixture);
}

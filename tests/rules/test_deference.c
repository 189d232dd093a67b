/* SPDX-License-Identifier: Apache-2.0 */
/* What rules leave to others, or alone, for a reason that counters show. */
#include <criterion/criterion.h>

#include "tests/rules/fixture.h"

Test(deference, leaves_a_tile_that_is_filled_and_not_read_to_GM403)
{
    static const char arrays[] =
        "INSERT INTO metric VALUES (961, 'footprint_read_bytes', '-', 'patched', 'bytes', '-'); "
        "INSERT INTO fixture_counter (metric_id, value) VALUES (961, 655360000)";
    static const char *const cases[] = {
        "SELECT 1", "DELETE FROM kernel_counters WHERE metric_id IN (8, 10, 12)"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM403_positive");
        gmt_fixture_sql(&fixture, arrays);
        gmt_fixture_sql(&fixture, cases[i]);
        gmt_fixture_analyze(&fixture, "GM308");
        /* The second one is the same kernel without the tile. */
        cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, i, "%s",
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

Test(deference, takes_an_offset_for_hidden_where_warps_hardly_wait_for_loads)
{
    static const struct {
        const char *sql;
        size_t findings;
    } cases[] = {{"UPDATE kernel_counters SET value = 0.4 * 0.95 * 64 * 132 * 1e6 WHERE "
                  "metric_id = 960",
                  0},
                 {"UPDATE kernel_counters SET value = 0.9 * 0.95 * 64 * 132 * 1e6 WHERE "
                  "metric_id = 960",
                  1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM303_positive");
        gmt_fixture_sql(&fixture,
                        "INSERT OR IGNORE INTO metric VALUES (960, 'stalled_long_scoreboard', '-', "
                        "'hardware', 'cycles', '-'), (37, 'sm_cycles_active', '-', 'hardware', "
                        "'cycles', '-'); INSERT INTO fixture_counter (metric_id, value) VALUES "
                        "(960, 0), (37, 1000000)");
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, "GM303");
        cr_assert_eq(fixture.report.finding_count, cases[i].findings, "%s",
                     gmt_fixture_found(&fixture.report));
        cr_assert_eq(fixture.report.note_count, 1 - cases[i].findings);
        gmt_fixture_free(&fixture);
    }
}

/* A register too many in each of many short threads, or of few long ones. */
Test(deference, does_not_trade_warps_for_spills)
{
    static const char *const cases[] = {"UPDATE kernel_class SET grid_x = 20000000",
                                        "UPDATE kernel_class SET grid_x = 20000"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM503_positive");
        gmt_fixture_sql(&fixture, cases[i]);
        gmt_fixture_analyze(&fixture, "GM503");
        cr_assert_eq(fixture.report.finding_count, i, "%s", gmt_fixture_found(&fixture.report));
        cr_assert_eq(fixture.report.note_count, 1 - i);
        gmt_fixture_free(&fixture);
    }
}

/* In a run that the device hardly takes part in, its own time decides about what it does. */
Test(deference, judges_kernels_and_copies_by_the_time_of_the_device_too)
{
    static const struct {
        const char *fixture, *rule;
        size_t findings;
    } cases[] = {{"fixtures/GM301_positive", "GM301", 1},
                 {"fixtures/GM102_positive", "GM102", 1},
                 {"fixtures/GM201_positive", "GM201", 0}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, cases[i].fixture);
        gmt_fixture_sql(&fixture, "UPDATE process SET end_ns = 1000000000000");
        gmt_fixture_analyze(&fixture, cases[i].rule);
        cr_assert_eq(fixture.report.finding_count, cases[i].findings, "%s: %s", cases[i].rule,
                     gmt_fixture_found(&fixture.report));
        cr_assert_eq(fixture.report.note_count, 1 - cases[i].findings, "%s", cases[i].rule);
        if (cases[i].findings > 0) {
            cr_assert_eq(fixture.report.findings[0].severity, GMT_SEVERITY_LOW);
        }
        gmt_fixture_free(&fixture);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from global to shared memory (LDGSTS) are loads: efficiency, findings and lines count them as those. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/price/work.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static void free_fixture(void)
{
    gmt_fixture_free(&fixture);
}

TestSuite(async_copies, .fini = free_fixture);

/* What the metrics of loads say is of copies, and there are no loads. */
static const char as_copies[] =
    "INSERT INTO metric VALUES (15, 'async_copy_instructions', '-', 'patched', 'instructions', "
    "'-'), "
    "(96, 'async_copy_bytes', '-', 'patched', 'bytes', '-'), "
    "(97, 'async_copy_sectors', '-', 'patched', 'sectors', '-');"
    "INSERT INTO fixture_counter (metric_id, value) SELECT CASE metric_id WHEN 1 THEN 96 WHEN 3 "
    "THEN "
    "97 ELSE 15 END, value FROM kernel_counters WHERE metric_id IN (1, 3, 5);"
    "UPDATE kernel_counters SET value = 0 WHERE metric_id IN (1, 3, 5);"
    "UPDATE instruction SET kind = 'async_copy' WHERE kind = 'global_load'";

static double saving_of(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, sql);
    return gmt_fixture_only(&fixture, "GM301")->saving.best_ns;
}

Test(async_copies, strided_copies_cost_what_strided_loads_do)
{
    double loads = saving_of("");

    cr_assert_gt(loads, 0);
    free_fixture();
    double copies = saving_of(as_copies);
    cr_expect_float_eq(copies, loads, 1e-6 * loads);
}

static double load_efficiency_of(int64_t class_id)
{
    for (size_t i = 0; i < fixture.report.kernel_count; i++) {
        if (fixture.report.kernels[i].class_id == class_id) {
            return fixture.report.kernels[i].load_efficiency;
        }
    }
    return NAN;
}

/* Copies with a source size of 0 are counted with their width. All that the others read could lie in a fourth of the sectors. */
Test(async_copies, that_fill_with_zeros_read_no_more_than_their_sectors_hold)
{
    static const char zeros[] = "UPDATE kernel_counters SET value = 25 * 32 * (SELECT max(value) "
                                "FROM kernel_counters WHERE "
                                "metric_id = 97) WHERE metric_id = 96;";
    static const char ideal[] =
        "INSERT INTO metric VALUES (98, 'async_copy_ideal_sectors', '-', 'patched', 'sectors', "
        "'-');"
        "INSERT INTO fixture_counter (metric_id, value) SELECT 98, value / 4 FROM kernel_counters "
        "WHERE metric_id = 97";
    const double expected[] = {100, 25};

    for (int with_ideal = 0; with_ideal < 2; with_ideal++) {
        gmt_fixture_load(&fixture, "fixtures/GM301_positive");
        gmt_fixture_sql(&fixture, as_copies);
        gmt_fixture_sql(&fixture, zeros);
        gmt_fixture_sql(&fixture, with_ideal ? ideal : "");
        gmt_fixture_analyze(&fixture, NULL);
        const struct gmt_tl_class *class = &fixture.timeline.classes[0];
        double shown = load_efficiency_of(class->id);
        struct gmt_access loads = gmt_access_of_loads(class);
        cr_expect_float_eq(shown, expected[with_ideal], 1e-9, "%g", shown);
        cr_expect_float_eq(100 * loads.bytes / (32 * loads.sectors), expected[with_ideal], 1e-9);
        cr_expect_float_eq(class->counter[GMT_M_async_copy_bytes], loads.bytes, 1e-6);
        free_fixture();
    }
}

/* Half of the accesses are copies: what both move counts. */
Test(async_copies, loads_and_copies_add_up)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, as_copies);
    gmt_fixture_sql(&fixture,
                    "UPDATE kernel_counters SET value = 1000 WHERE metric_id IN (1, 3, 5)");
    gmt_fixture_analyze(&fixture, "GM301");
    const double *c = fixture.timeline.classes[0].counter;
    cr_expect_float_eq(c[GMT_M_global_load_bytes], c[GMT_M_async_copy_bytes] + 1000, 0);
    cr_expect_float_eq(c[GMT_M_global_load_sectors], c[GMT_M_async_copy_sectors] + 1000, 0);
    cr_expect_float_eq(c[GMT_M_global_load_requests], c[GMT_M_async_copy_instructions] + 1000, 0);
}

/* The range profiler counts the instructions, and not their bytes. */
Test(async_copies, copies_whose_bytes_are_not_counted_are_a_gap)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, as_copies);
    gmt_fixture_analyze(&fixture, NULL);
    size_t counted = fixture.report.gap_count;
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, as_copies);
    gmt_fixture_sql(&fixture, "DELETE FROM kernel_counters WHERE metric_id IN (96, 97)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_eq(fixture.report.gap_count, counted + 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GM405: descriptors that are encoded again, boxes of half sectors, and tiles without a swizzle. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static void teardown(void)
{
    gmt_fixture_free(&fixture);
}

TestSuite(bulk_copy, .fini = teardown);

static void load(const char *name, const char *sql)
{
    gmt_fixture_load(&fixture, name);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM405");
}

static const struct gmt_finding *note(const char *why)
{
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_assert_str_eq(fixture.report.notes[0].note_why, why);
    return &fixture.report.notes[0];
}

static void expect_outcome(enum gmt_outcome outcome, const char *why)
{
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.rules[0].outcome, outcome);
    cr_assert_str_eq(fixture.report.rules[0].why, why);
}

Test(bulk_copy, saves_the_host_time_of_all_calls_but_the_first)
{
    gmt_fixture_load(&fixture, "fixtures/GM405_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM405");

    cr_assert_float_eq(f->saving.best_ns, 2000 * 1000, 1);
    cr_assert_float_eq(f->saving.low_ns, 1000 * 1000, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "encoded_again"), 2000, 0);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    cr_assert_eq(f->where.line, 42);
    cr_assert_not_null(strstr(f->headline, "1 tensor map is encoded again 2,000 times"), "%s",
                       f->headline);
}

/* Behind kernels the host has time: it counts at the upper end only. */
Test(bulk_copy, saves_nothing_where_the_device_works)
{
    load("fixtures/GM405_positive",
         "UPDATE api_call SET begin_ns = 62010000 + (id - 800000) * 100, end_ns = 62010100 + (id - "
         "800000) * 100 "
         "WHERE id < 809000; UPDATE api_call SET end_ns = begin_ns + 1 WHERE id > 801999");
    const struct gmt_finding *f = note("the saving is smaller than the noise of a run");
    cr_expect_lt(f->saving.best_ns, 10);
    cr_expect_float_eq(f->saving.high_ns, 199900, 10);
}

Test(bulk_copy, three_of_the_same_may_be_set_up)
{
    load("fixtures/GM405_positive", "DELETE FROM tensor_map_encoding WHERE call_id > 800002");
    note("fewer than 4 of the same may be set-up, and no loop");
}

Test(bulk_copy, different_descriptors_are_not_again)
{
    load("fixtures/GM405_positive",
         "INSERT INTO tensor_map SELECT m.id + e.call_id, kind, data_type, element_bits, rank, "
         "address + 32 * e.call_id, "
         "allocation_id, dim_0, dim_1, dim_2, dim_3, dim_4, stride_1, stride_2, stride_3, "
         "stride_4, box_0, box_1, box_2, "
         "box_3, box_4, element_stride_0, element_stride_1, element_stride_2, element_stride_3, "
         "element_stride_4, lower_0, "
         "lower_1, lower_2, upper_0, upper_1, upper_2, interleave, swizzle, l2_promotion, "
         "oob_fill, wide_mode "
         "FROM tensor_map m, tensor_map_encoding e; UPDATE tensor_map_encoding SET tensor_map_id = "
         "call_id + 1");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_PASS);
}

Test(bulk_copy, half_sectors_are_low_and_unpriced)
{
    load("fixtures/GM405_negative", "UPDATE tensor_map SET box_0 = 8 WHERE id = 2");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_eq(f->severity, GMT_SEVERITY_LOW);
    cr_assert(isnan(f->saving.best_ns));
    cr_assert_float_eq(f->at_most_ns, 1e7, 1e3);
    cr_assert_not_null(f->where.kernel);
    cr_assert_float_eq(gmt_fixture_evidence(f, "moved_per_byte"), 2, 1e-9);
    cr_assert_not_null(strstr(f->headline, "rows of 16 B touch 2.00 times"), "%s", f->headline);
    gmt_fixture_sql(&fixture, f->sql);
}

Test(bulk_copy, less_than_twice_the_bytes_are_a_note)
{
    load("fixtures/GM405_negative", "UPDATE tensor_map SET address = address + 16 WHERE id = 1");
    const struct gmt_finding *f = note("less than twice the bytes that were asked for");
    cr_assert_float_eq(gmt_fixture_evidence(f, "moved_per_byte"), 1.25, 1e-9);
}

/* No launch is known to have got it: at the place that encodes it. */
Test(bulk_copy, maps_of_no_known_kernel_are_reported_where_they_are_made)
{
    load("fixtures/GM405_negative", "UPDATE tensor_map SET box_0 = 8 WHERE id = 2;"
                                    "DELETE FROM launch_tensor_map WHERE tensor_map_id = 2");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_null(f->where.kernel);
    cr_assert_eq(f->where.line, 42);
    cr_assert_eq(f->severity, GMT_SEVERITY_LOW);
    gmt_fixture_sql(&fixture, f->sql);
}

Test(bulk_copy, conflicts_of_a_tile_without_a_swizzle_are_reported)
{
    load("fixtures/GM405_negative",
         "UPDATE kernel_counters SET value = 6000000 WHERE metric_id = 9");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_eq(f->severity, GMT_SEVERITY_LOW);
    cr_assert_float_eq(gmt_fixture_evidence(f, "load_ways"), 4, 0.1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "unswizzled_row"), 64, 0);
    cr_assert_not_null(strstr(f->fix, "SWIZZLE_64B"), "%s", f->fix);
}

Test(bulk_copy, both_faults_of_a_kernel_are_one_finding)
{
    load("fixtures/GM405_negative",
         "UPDATE kernel_counters SET value = 6000000 WHERE metric_id = 9;"
         "UPDATE tensor_map SET box_0 = 8 WHERE id = 2");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_not_null(strstr(fixture.report.findings[0].headline, "in sectors; a tensor map of"));
}

Test(bulk_copy, rows_wider_than_any_swizzle_are_not_asked_for_one)
{
    load("fixtures/GM405_negative",
         "UPDATE kernel_counters SET value = 6000000 WHERE metric_id = 9;"
         "UPDATE tensor_map SET box_0 = 64 WHERE id = 3");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
}

Test(bulk_copy, could_not_be_checked_without_counters)
{
    load("fixtures/GM405_negative", "DELETE FROM kernel_counters");
    expect_outcome(GMT_OUTCOME_COULD_NOT_CHECK,
                   "1 kernel class with unswizzled tensor maps has no counters of shared memory");
}

Test(bulk_copy, could_not_be_checked_without_the_kernel)
{
    load("fixtures/GM405_negative", "DELETE FROM launch_tensor_map");
    expect_outcome(GMT_OUTCOME_COULD_NOT_CHECK,
                   "which kernels use 1 unswizzled tensor map is not known");
}

Test(bulk_copy, does_not_apply_without_tensor_maps)
{
    load("fixtures/GM401_positive", "");
    expect_outcome(GMT_OUTCOME_NOT_APPLICABLE, "the trace has no tensor map");
}

Test(bulk_copy, does_not_apply_before_hopper)
{
    load("fixtures/GM405_positive", "UPDATE device SET compute_major = 8");
    expect_outcome(GMT_OUTCOME_NOT_APPLICABLE, "the device has no bulk tensor copies");
}

static void load_earlier(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM401_positive");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_make_earlier(&fixture,
                             "DROP TABLE tensor_map; "
                             "DROP TABLE tensor_map_encoding; DROP TABLE launch_tensor_map");
    gmt_fixture_analyze(&fixture, "GM405");
}

Test(bulk_copy, could_not_be_checked_in_earlier_traces)
{
    load_earlier("");
    expect_outcome(GMT_OUTCOME_COULD_NOT_CHECK,
                   "the trace was made before tensor maps were recorded");
}

Test(bulk_copy, does_not_apply_to_earlier_traces_without_bulk_copies)
{
    load_earlier(
        "INSERT INTO metric VALUES (16, 'tma_instructions', '-', 'patched', 'instructions', '-');"
        "INSERT INTO fixture_counter (metric_id, value) VALUES (16, 0)");
    expect_outcome(GMT_OUTCOME_NOT_APPLICABLE, "no kernel makes bulk copies");
}

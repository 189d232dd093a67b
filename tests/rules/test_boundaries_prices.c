/* SPDX-License-Identifier: Apache-2.0 */
/* Where savings begin to matter, and how near two patterns are to count as one: either side of each boundary. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/price/price.h"
#include "tests/rules/boundary.h"

/* Forty pairs of calls in a run of half a second: 39 are not needed, at 0.95 us each from a pool. */
static void load_pairs(struct gmt_fixture *fixture, int ns)
{
    gmt_boundary_load(fixture, "GM201",
                      "UPDATE process SET end_ns = 500000000; UPDATE allocation SET end_ns = "
                      "begin_ns + 10000, free_end_ns = free_begin_ns + %d - 10000",
                      ns);
    gmt_fixture_analyze(fixture, "GM201");
    const struct gmt_finding *f = fixture->report.finding_count > 0 ? fixture->report.findings
                                                                    : fixture->report.notes;
    cr_expect_float_eq(f->saving.best_ns, 39.0 * (ns - 950), 1, "%g", f->saving.best_ns);
}

/* 1 ms is 0.2 % of this run: too small a share, and yet longer than what a run differs from the next. */
Test(boundaries_prices, a_saving_that_can_be_seen_is_a_finding_though_its_share_is_small)
{
    struct gmt_fixture fixture;

    load_pairs(&fixture, 27000);
    cr_expect_eq(fixture.report.finding_count, 1);
    gmt_fixture_free(&fixture);
    load_pairs(&fixture, 25000);
    cr_expect_eq(fixture.report.finding_count, 0);
    cr_expect_eq(fixture.report.note_count, 1);
    gmt_fixture_free(&fixture);
}

/* ---- kernels like a family -------------------------------------------------------------------- */

/* 2^26 words, copied in order in 100 us, and 4 apart in 300 us. */
static struct gmt_model_variant strides[] = {
    {.name = "stride_1",
     .sectors_per_request = 4,
     .median_ns = 100e3,
     .bytes_asked = 1 << 29,
     .load_requests = 1 << 21,
     .store_sectors = 1 << 23},
    {.name = "stride_4",
     .reference = "stride_1",
     .sectors_per_request = 16,
     .median_ns = 300e3,
     .bytes_asked = 1 << 29,
     .load_requests = 1 << 21,
     .store_sectors = 1 << 23},
};

/* Time after the repair of a kernel that copies words 4 apart in so many us. */
static double repaired_us(double us)
{
    struct gmt_model model = {.provenance = GMT_MODEL_CALIBRATED, .stride = {strides, 2}};
    const struct gmt_timeline h200 = {.device = {.sm_count = 132, .max_threads_per_sm = 2048}};
    struct gmt_tl_class class = {
        .grid = {1 << 18, 1, 1}, .block = {256, 1, 1}, .median_ns = us * 1e3};
    double requests = 1 << 21;

    for (size_t i = 0; i < sizeof(class.counter) / sizeof(class.counter[0]); i++) {
        class.counter[i] = NAN;
    }
    class.counter[GMT_M_global_load_requests] = class.counter[GMT_M_global_store_requests] =
        requests;
    class.counter[GMT_M_global_load_bytes] = class.counter[GMT_M_global_store_bytes] = requests *
                                                                                       128;
    class.counter[GMT_M_global_load_sectors] = class.counter[GMT_M_l2_read_sectors] = requests * 16;
    class.counter[GMT_M_global_store_sectors] = class.counter[GMT_M_l2_write_sectors] = requests *
                                                                                        4;
    class.counter[GMT_M_dram_read_bytes] = requests * 16 * 32;
    return us - gmt_price_access(&model, &h200, &class, true, false).best_ns / 1e3;
}

/*
 * A kernel that takes 14 % longer than the family has 14 % more of the same work: so does its repaired twin.
 * Of one that takes 20 % longer, 15 % are so; the rest is other work, which the repair leaves as it is.
 */
Test(boundaries_prices, a_kernel_is_like_its_family_up_to_a_little_slower)
{
    cr_expect_float_eq(repaired_us(300), 100, 0.1, "%g", repaired_us(300));
    cr_expect_float_eq(repaired_us(342), 114, 0.1, "%g", repaired_us(342));
    double other = pow(360, 3) - pow(345, 3);
    cr_expect_float_eq(repaired_us(360), cbrt(other + pow(115, 3)), 0.1, "%g", repaired_us(360));
}

/* ---- counters that say the same --------------------------------------------------------------- */

/* The loads bring 3.2 GB, by four words of which one is used: structs, if the array is as large. */
static void load_structs(struct gmt_fixture *fixture, double of_the_array)
{
    gmt_boundary_load(fixture, "GM304", "UPDATE allocation SET bytes = %.0f WHERE id = 301",
                      3.2e9 / of_the_array);
}

/* Arrays have padding, and an end that no kernel reads; one of another size is another thing. */
Test(boundaries_prices, an_array_is_what_was_read_up_to_its_padding)
{
    struct gmt_fixture fixture;

    load_structs(&fixture, 0.91);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM304"), 1);
    load_structs(&fixture, 0.89);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM304"), 0);
}

/* Rows of 1001 floats without a pitch take 153.125 sectors on average. */
static void load_rows(struct gmt_fixture *fixture, double times)
{
    gmt_boundary_load(fixture, "GM203",
                      "UPDATE kernel_counters SET value = round(65536 * 153.125 * %g) WHERE "
                      "metric_id IN (3, 4, 35, 36)",
                      times);
}

/* Counters are exact: 2 % are warps that are not full, and more comes from another pattern. */
Test(boundaries_prices, packed_rows_take_just_the_sectors_that_their_length_says)
{
    struct gmt_fixture fixture;

    load_rows(&fixture, 1.015);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM203"), 1);
    load_rows(&fixture, 1.025);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM203"), 0);
}

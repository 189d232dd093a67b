/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that the model has no family of: priced by rates, with what an H200 counted and took. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/price/price.h"
#include "analyzer/price/price_shared.h"

/* Bandwidth over occupancy, one 4-byte load in flight. */
static struct gmt_model_point points[] = {{0.5, 2.12e12, 0}, {0.75, 2.76e12, 0}, {1, 3.06e12, 0}};

static struct gmt_model model_of_rates(void)
{
    return (struct gmt_model){.provenance = GMT_MODEL_CALIBRATED,
                              .dram_bytes_per_s = 4.48e12,
                              .dram_copy_bytes_per_s = 4.29e12,
                              .dram_scattered_sectors_per_s = 40e9,
                              .l2_sectors_per_s = 276e9,
                              .l2_scattered_sectors_per_s = 150e9,
                              .l1_sectors_per_s = 434e9,
                              .l1_strided_sectors_per_s = 1025e9,
                              .partial_sectors_per_s = 63e9,
                              .partial_pairs_per_s = 50e9,
                              .partial_lines_per_s = 25e9,
                              .shared_wavefronts_per_s = 260e9,
                              .constant_words_per_s = 129e9,
                              .constant_word_ns = NAN,
                              .dram_load_ns = 371,
                              .occupancy = {points, 3, NAN}};
}

static const struct gmt_timeline h200 = {.device = {.sm_count = 132, .max_threads_per_sm = 2048}};

static struct gmt_tl_class class_of(double us)
{
    struct gmt_tl_class class = {.grid = {1 << 18, 1, 1},
                                 .block = {256, 1, 1},
                                 .median_ns = us * 1e3,
                                 .theoretical_occupancy = 1,
                                 .footprint_bytes = NAN};

    for (size_t i = 0; i < sizeof(class.counter) / sizeof(class.counter[0]); i++) {
        class.counter[i] = NAN;
    }
    class.counter[GMT_M_achieved_occupancy_percent] = 75;
    return class;
}

/* 2^26 words, each warp request of both kinds touching so many sectors. */
static struct gmt_tl_class copy_of(double us, double load_sectors, double store_sectors)
{
    struct gmt_tl_class class = class_of(us);
    double requests = 1 << 21, bytes = requests * 128;

    class.counter[GMT_M_global_load_requests] = class.counter[GMT_M_global_store_requests] =
        requests;
    class.counter[GMT_M_global_load_bytes] = class.counter[GMT_M_global_store_bytes] = bytes;
    class.counter[GMT_M_global_load_sectors] = class.counter[GMT_M_l2_read_sectors] = requests *
                                                                                      load_sectors;
    class.counter[GMT_M_global_store_sectors] = class.counter[GMT_M_l2_write_sectors] =
        requests * store_sectors;
    return class;
}

static void expect_share(struct gmt_gain gain, double us, double share)
{
    double predicted = gain.best_ns / us / 1e3;

    cr_expect(fabs(predicted - share) < 0.05, "%g, not %g", predicted, share);
    cr_expect_leq(gain.low_ns, share * us * 1e3);
    cr_expect_geq(gain.high_ns, share * us * 1e3);
}

Test(rates, partly_written_sectors_are_read_before_and_no_longer_after)
{
    static const struct {
        double us, sectors, read, written, wavefronts, good_us;
    } measured[] = {
        /* words 2, 8 and 32 apart */
        {309.9, 8, 7.98e8, 5.496e8, 9.062e6, 194.3},
        {1065.5, 32, 2.415e9, 2.145e9, 2.186e7, 194.3},
        {2726.2, 32, 2.418e9, 2.152e9, 7.263e7, 194.3},
    };
    struct gmt_model model = model_of_rates();

    for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++) {
        struct gmt_tl_class class = copy_of(measured[i].us, 4, measured[i].sectors);

        class.counter[GMT_M_dram_read_bytes] = measured[i].read;
        class.counter[GMT_M_dram_write_bytes] = measured[i].written;
        class.counter[GMT_M_lsu_wavefronts] = measured[i].wavefronts;
        cr_expect_float_eq(gmt_price_fill_bytes(&class), measured[i].read - 268e6, 5e6);
        expect_share(gmt_price_access(&model, &h200, &class, false, true), measured[i].us,
                     1 - measured[i].good_us / measured[i].us);
    }
}

Test(rates, a_word_to_a_line_is_slower_than_a_word_to_a_sector)
{
    struct gmt_model model = model_of_rates();
    struct gmt_tl_class class = copy_of(1e4, 4, 32);
    double requests = class.counter[GMT_M_global_store_requests];
    double sectors = requests * 32 * 1e9, previous_ns = 0;

    /* Counted by the software device: 8, 16 and 32 lines to a request. */
    for (int lines = 8; lines <= 32; lines *= 2) {
        class.counter[GMT_M_global_store_lines] = lines * requests;
        cr_expect_gt(gmt_price_partial_ns(&model, &class), previous_ns);
        previous_ns = gmt_price_partial_ns(&model, &class);
    }
    cr_expect_float_eq(previous_ns, sectors / 25e9, 1);
    class.counter[GMT_M_global_store_lines] = NAN;
    cr_expect_float_eq(gmt_price_partial_ns(&model, &class), sectors / 63e9, 1);
    model.partial_sectors_per_s = NAN;
    cr_expect(isnan(gmt_price_partial_ns(&model, &class)));
    class = copy_of(1e4, 4, 4);
    cr_expect(isnan(gmt_price_partial_ns(&model, &class)), "whole sectors");
}

/* 8-byte words 2 apart, 137 us when they are not: twice the bytes under way of 4-byte words. */
Test(rates, wide_words_have_more_bytes_under_way)
{
    struct gmt_model model = model_of_rates();
    struct gmt_tl_class class = copy_of(190.8, 8, 4);

    class.counter[GMT_M_global_load_requests] /= 2;
    class.counter[GMT_M_global_store_requests] /= 2;
    class.counter[GMT_M_dram_read_bytes] = 5.369e8;
    class.counter[GMT_M_dram_write_bytes] = 2.756e8;
    expect_share(gmt_price_access(&model, &h200, &class, true, false), 190.8, 1 - 137.1 / 190.8);
}

/* Eight words of a table of 256 MiB for each of 2^22 indices, anywhere in it. */
Test(rates, single_sectors_in_no_order_are_slower_than_the_bytes_that_they_bring)
{
    struct gmt_model model = model_of_rates();
    struct gmt_tl_class class = class_of(790.3);
    double dram_ns, l2_ns;

    class.grid[0] = 1 << 14;
    class.counter[GMT_M_global_load_requests] = 1.18e6;
    class.counter[GMT_M_global_load_bytes] = 1.18e6 * 128;
    class.counter[GMT_M_global_load_sectors] = class.counter[GMT_M_l2_read_sectors] = 34.06e6;
    class.counter[GMT_M_global_store_requests] = 1.31e5;
    class.counter[GMT_M_global_store_bytes] = 1.31e5 * 128;
    class.counter[GMT_M_global_store_sectors] = class.counter[GMT_M_l2_write_sectors] = 5.243e5;
    class.counter[GMT_M_dram_read_bytes] = 1.988e9;
    class.counter[GMT_M_dram_write_bytes] = 3.568e7;
    gmt_price_scattered_ns(&model, &class, &dram_ns, &l2_ns);
    cr_expect_float_eq(dram_ns, 1.988e9 / 64 / 40, 1, "%g", dram_ns);
    cr_expect_float_eq(l2_ns, 34.06e6 / 150, 1, "%g", l2_ns);
    expect_share(gmt_price_access(&model, &h200, &class, true, false), 790.3, 1 - 40.8 / 790.3);
    /* The same from caches: no sector brings another one along. */
    class.counter[GMT_M_dram_read_bytes] = 1.24e7;
    gmt_price_scattered_ns(&model, &class, &dram_ns, &l2_ns);
    cr_expect(isnan(dram_ns));
}

Test(rates, different_constants_have_a_price_without_their_family)
{
    struct gmt_model model = model_of_rates();
    struct gmt_tl_class class = class_of(136.5);

    class.counter[GMT_M_constant_load_instructions] = 2.163e6;
    class.counter[GMT_M_constant_requests] = 17.3e6;
    expect_share(gmt_price_constants(&model, &h200, &class), 136.5, 1 - 21.0 / 136.5);
    model.constant_words_per_s = NAN;
    cr_expect(isnan(gmt_price_constants(&model, &h200, &class).best_ns));
}

/* Blocks of 1024 threads that wait at barriers for a third of their time; 160.8 us in blocks of 256. */
Test(rates, waiting_at_barriers_is_not_on_top_of_memory)
{
    struct gmt_model model = model_of_rates();
    struct gmt_tl_class class = copy_of(188.7, 4, 4);

    class.block[0] = 1024;
    class.grid[0] = 132;
    class.counter[GMT_M_achieved_occupancy_percent] = 50;
    class.counter[GMT_M_dram_read_bytes] = class.counter[GMT_M_dram_write_bytes] = 2.7e8;
    class.counter[GMT_M_sm_cycles_active] = 3.579e5;
    class.counter[GMT_M_barrier_stall_cycles] = 4.813e8;
    expect_share(gmt_price_smaller_blocks(&model, &h200, &class, 4), 188.7, 1 - 160.8 / 189.6);
    /* As many warps as a damaged trace says: the answer comes all the same. */
    class.block[0] = class.block[1] = class.block[2] = INT32_MAX;
    cr_expect(isfinite(gmt_price_smaller_blocks(&model, &h200, &class, 4).best_ns));
}

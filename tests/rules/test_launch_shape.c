/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of launches, and what a short last wave costs. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/price/price_launch.h"

/* 132 multiprocessors with two blocks of 1024 threads each: four waves and one block more. */
Test(launch_shape, a_tail_costs_what_the_busiest_multiprocessor_does_alone)
{
    struct gmt_timeline tl = {.device = {.sm_count = 132,
                                         .max_threads_per_sm = 2048,
                                         .max_blocks_per_sm = 32,
                                         .compute_major = 9,
                                         .shared_bytes_per_sm = 233472,
                                         .reserved_shared_bytes_per_block = 1024,
                                         .registers_per_sm = 65536}};
    struct gmt_tl_class class = {.grid = {4 * 264 + 1, 1, 1},
                                 .block = {1024, 1, 1},
                                 .max_blocks_per_sm = 2,
                                 .registers = 32,
                                 .theoretical_occupancy = 1,
                                 .footprint_bytes = NAN,
                                 .median_ns = 100e3};
    struct gmt_model model = {.dram_bytes_per_s = 4e12,
                              .dram_copy_bytes_per_s = NAN,
                              .l2_sectors_per_s = 2e11,
                              .l1_sectors_per_s = 4e11,
                              .shared_wavefronts_per_s = 2e11};

    for (size_t i = 0; i < GMT_METRICS; i++) {
        class.counter[i] = NAN;
    }
    struct gmt_shape shape = gmt_shape_of(&tl, &class);
    cr_assert_float_eq(shape.waves, 4 + 1.0 / 264, 1e-12);
    /* Nothing is known of its work: the last block may take as long as a wave, and be one item. */
    struct gmt_tail tail = {0};
    struct gmt_gain gain = gmt_price_no_tail(&model, &tl, &class, &shape, &tail);
    cr_assert_float_eq(gain.best_ns, 100e3 * (1 - 1.0 / 264) / 5 / 2, 1);
    cr_assert_float_eq(gain.low_ns, 0, 1e-9);
    cr_assert(tail.guess);
    /* Its instructions fill the schedulers: alone, it is twice as fast. */
    class.counter[GMT_M_sm_cycles_active] = 1000;
    class.counter[GMT_M_instructions] = 4 * 132 * 1000;
    gain = gmt_price_no_tail(&model, &tl, &class, &shape, &tail);
    cr_assert_float_eq(gain.best_ns, 100e3 * (0.5 - 1.0 / 264) / 4.5, 1);
    cr_assert_not(tail.guess);
    /* Measured cycles go before the model. */
    class.counter[GMT_M_sm_cycles_active_max] = 1080;
    gain = gmt_price_no_tail(&model, &tl, &class, &shape, &tail);
    cr_assert_float_eq(gain.best_ns, 100e3 * (1 - 1000.0 / 1080), 1);
    cr_assert(gain.low_ns <= gain.best_ns && gain.best_ns <= gain.high_ns);
    /* Threads that share a tile stay together: blocks of half the size lose half as much. */
    class.counter[GMT_M_shared_load_requests] = class.counter[GMT_M_barrier_stall_cycles] = 1e6;
    gain = gmt_price_no_tail(&model, &tl, &class, &shape, &tail);
    cr_assert_float_eq(gain.best_ns, 100e3 * (1 - 1000.0 / 1080) / 2, 1);
    cr_assert_eq(gain.low_ns, 0);
}

/* Threads that wait for their own loads take as long in whole waves: only items can be moved. */
Test(launch_shape, the_tail_of_threads_of_one_item_stays)
{
    struct gmt_timeline tl = {.device = {.sm_count = 132,
                                         .max_threads_per_sm = 2048,
                                         .max_blocks_per_sm = 32,
                                         .compute_major = 9,
                                         .shared_bytes_per_sm = 233472,
                                         .reserved_shared_bytes_per_block = 1024,
                                         .registers_per_sm = 65536}};
    struct gmt_tl_class class = {.grid = {264 + 132, 1, 1},
                                 .block = {1024, 1, 1},
                                 .max_blocks_per_sm = 2,
                                 .registers = 32,
                                 .theoretical_occupancy = 1,
                                 .footprint_bytes = NAN,
                                 .median_ns = 100e3};
    struct gmt_model model = {.dram_bytes_per_s = 4e12, .dram_copy_bytes_per_s = NAN};
    double warps = 396 * 32;
    struct gmt_tail tail = {.guess = true};

    for (size_t i = 0; i < GMT_METRICS; i++) {
        class.counter[i] = NAN;
    }
    /* 100 instructions of a thread in 100 us keep no scheduler busy. */
    class.counter[GMT_M_sm_cycles_active] = 150e3;
    class.counter[GMT_M_sm_cycles_active_max] = 200e3;
    class.counter[GMT_M_instructions] = 100 * warps;
    class.counter[GMT_M_global_store_requests] = warps;
    class.counter[GMT_M_global_store_bytes] = 128 * warps;
    struct gmt_shape shape = gmt_shape_of(&tl, &class);
    struct gmt_gain gain = gmt_price_no_tail(&model, &tl, &class, &shape, &tail);
    cr_assert_not(tail.guess);
    cr_expect_lt(gain.best_ns, 3e3, "%g", gain.best_ns);
    cr_expect_eq(gain.low_ns, 0);
    /* Ten words each: of 20 items one after the other 15 are left. */
    class.counter[GMT_M_global_store_requests] *= 10;
    class.counter[GMT_M_global_store_bytes] *= 10;
    gain = gmt_price_no_tail(&model, &tl, &class, &shape, &tail);
    cr_expect_float_eq(gain.best_ns, 25e3, 1e3, "%g", gain.best_ns);
    cr_expect_lt(gain.low_ns, 3e3, "whether they can be split is not known");
}

Test(launch_shape, steps_of_registers)
{
    struct gmt_timeline tl = {.device = {.sm_count = 132,
                                         .max_threads_per_sm = 2048,
                                         .max_blocks_per_sm = 32,
                                         .compute_major = 9,
                                         .shared_bytes_per_sm = 233472,
                                         .reserved_shared_bytes_per_block = 1024,
                                         .registers_per_sm = 65536}};
    struct gmt_tl_class class = {.grid = {10000, 1, 1}, .block = {512, 1, 1}, .registers = 65};
    struct gmt_shape shape = gmt_shape_of(&tl, &class);

    cr_assert_eq(shape.resident, 1);
    cr_assert_eq(shape.next_registers, 64);
    cr_assert(gmt_shape_at_cliff(&class, &shape));
    class.registers = 64;
    shape = gmt_shape_of(&tl, &class);
    cr_assert_eq(shape.resident, 2);
    cr_assert_eq(shape.next_registers, 40);
    cr_assert_not(gmt_shape_at_cliff(&class, &shape), "24 registers are more than a few");
    class.registers = 128;
    shape = gmt_shape_of(&tl, &class);
    cr_assert_not(gmt_shape_at_cliff(&class, &shape));
}

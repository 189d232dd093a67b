/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels of occupancy and launch shapes. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_LAUNCH_H
#define GMT_KERNELS_VARIANTS_VARIANTS_LAUNCH_H

#define GMT_FAMILIES_OF_LAUNCH(X) \
    X(occupancy) \
    X(registers) \
    X(block_size) \
    X(compute) \
    X(partial_warp) \
    X(tail) \
    X(ilp) \
    X(serial) \
    X(small_kernels) \
    X(launch_bound) \
    X(split)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_LAUNCH(X) \
    X(occupancy_stream) \
    X(occupancy_vector) \
    X(occupancy_latency) \
    X(registers) \
    X(registers_compute) \
    X(block_stream) \
    X(block_compute) \
    X(compute) \
    X(partial_stream) \
    X(partial_compute) \
    X(tail_stream) \
    X(tail_compute) \
    X(ilp) \
    X(serial) \
    X(small) \
    X(step) \
    X(steps_fused) \
    X(split_scale) \
    X(split_fused)

/*
 * parameter = resident blocks of 4 warps per multiprocessor; steps a device cannot hold are left
 * out.
 */
#define GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, n, quality, rule, doc) \
    X(occupancy, body##_##n, body, n, width, quality, body##_16, sectors, 100, GMT_UNDEFINED, \
      rule, doc)
/* Up to the half of the warps more of them help at least by a tenth, but for loads as wide as four. */
#define GMT_VARIANTS_OCCUPANCY_STEPS(X, body, width, sectors, q8, rule8, q12, rule12, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 1, bad, "GM404", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 2, bad, "GM404", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 3, bad, "GM404", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 4, bad, "GM404", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 6, bad, "GM404", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 8, q8, rule8, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 12, q12, rule12, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 16, good, NULL, doc)
#define GMT_VARIANTS_OCCUPANCY(X) \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_stream, 4, 4, bad, "GM404", neutral, "GM404", \
                                 "float copy, one load in flight") \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_vector, 16, 16, neutral, NULL, neutral, NULL, \
                                 "float4 copy, one load in flight") \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_latency, 4, 4, bad, "GM404", bad, "GM404", \
                                 "chain of dependent loads")

/* parameter = registers per thread, of the same float copy or arithmetic in blocks of 512 threads. */
#define GMT_VARIANTS_REGISTERS(X) \
    X(registers, registers_32, registers, 32, 4, good, registers_32, 4, 100, GMT_UNDEFINED, NULL, \
      "float copy with 32 registers: four blocks of 512 threads are resident") \
    X(registers, registers_64, registers, 64, 4, neutral, registers_32, 4, 100, GMT_UNDEFINED, \
      "GM511", "float copy with 64 registers: two blocks, for which more loads would do") \
    X(registers, registers_65, registers, 65, 4, bad, registers_64, 4, 100, GMT_UNDEFINED, \
      "GM503", "float copy with just above 64 registers: one block") \
    X(registers, registers_128, registers, 128, 4, bad, registers_32, 4, 100, GMT_UNDEFINED, \
      "GM511", "float copy with 128 registers: one block") \
    X(registers, registers_compute_32, registers_compute, 32, 4, good, registers_compute_32, 4, \
      100, GMT_UNDEFINED, NULL, "arithmetic with 32 registers: four blocks are resident") \
    X(registers, registers_compute_64, registers_compute, 64, 4, neutral, registers_compute_32, 4, \
      100, GMT_UNDEFINED, NULL, "arithmetic with 64 registers: two blocks") \
    X(registers, registers_compute_128, registers_compute, 128, 4, neutral, registers_compute_32, \
      4, 100, GMT_UNDEFINED, NULL, "arithmetic with 128 registers: one block")

/* parameter = threads per block. */
#define GMT_VARIANTS_BLOCK_SIZE_BODY(X, body, n, quality, rule, doc) \
    X(block_size, body##_##n, body, n, 4, quality, body##_256, 4, 100, GMT_UNDEFINED, rule, doc)
#define GMT_VARIANTS_BLOCK_SIZE_STEPS(X, body, small, rule, doc) \
    GMT_VARIANTS_BLOCK_SIZE_BODY(X, body, 32, small, rule, doc) \
    GMT_VARIANTS_BLOCK_SIZE_BODY(X, body, 64, small, rule, doc) \
    GMT_VARIANTS_BLOCK_SIZE_BODY(X, body, 128, small, rule, doc) \
    GMT_VARIANTS_BLOCK_SIZE_BODY(X, body, 256, good, NULL, doc) \
    GMT_VARIANTS_BLOCK_SIZE_BODY(X, body, 512, neutral, NULL, doc) \
    GMT_VARIANTS_BLOCK_SIZE_BODY(X, body, 1024, neutral, NULL, doc)
#define GMT_VARIANTS_BLOCK_SIZE(X) \
    GMT_VARIANTS_BLOCK_SIZE_STEPS(X, block_stream, bad, "GM501", \
                                  "float copy, one word per thread") \
    GMT_VARIANTS_BLOCK_SIZE_STEPS(X, block_compute, neutral, NULL, "four chains of multiply-adds")

/* parameter = resident blocks of 4 warps per multiprocessor, where the device can hold as many. */
#define GMT_VARIANTS_COMPUTE_STEP(X, n, quality) \
    X(compute, compute_##n, compute, n, 4, quality, compute_16, 4, 100, GMT_UNDEFINED, NULL, \
      "eight chains of multiply-adds: no need of more warps")
#define GMT_VARIANTS_COMPUTE(X) \
    GMT_VARIANTS_COMPUTE_STEP(X, 1, neutral) \
    GMT_VARIANTS_COMPUTE_STEP(X, 2, neutral) \
    GMT_VARIANTS_COMPUTE_STEP(X, 4, neutral) \
    GMT_VARIANTS_COMPUTE_STEP(X, 8, neutral) \
    GMT_VARIANTS_COMPUTE_STEP(X, 16, good)

/*
 * parameter = threads per block. Blocks of 33 start at any word: of eight of them one is aligned, and
 * its second warp asks for one word; so 5.875 sectors in two requests. Blocks of 64 are whole, but
 * small for a copy.
 */
#define GMT_VARIANTS_PARTIAL_WARP_BODY(X, body, small, doc) \
    X(partial_warp, body##_33, body, 33, 4, bad, body##_64, 2.9375, 70.2127659574468, \
      GMT_UNDEFINED, "GM502", doc ", 33 threads per block") \
    X(partial_warp, body##_48, body, 48, 4, bad, body##_64, 3, 100, GMT_UNDEFINED, "GM502", \
      doc ", 48 threads per block") \
    X(partial_warp, body##_64, body, 64, 4, good, body##_64, 4, 100, GMT_UNDEFINED, small, \
      doc ", 64 threads per block")
#define GMT_VARIANTS_PARTIAL_WARP(X) \
    GMT_VARIANTS_PARTIAL_WARP_BODY(X, partial_stream, "GM501", "float copy") \
    GMT_VARIANTS_PARTIAL_WARP_BODY(X, partial_compute, NULL, "four chains of multiply-adds")

/* parameter = eighths of a wave, a wave being all the blocks that are resident at once; 33 = four
 * waves and one block. The job is the same, its share per block differs. */
#define GMT_VARIANTS_TAIL_BODY(X, body, half, half_rule, doc) \
    X(tail, body##_full, body, 32, 4, good, body##_full, 4, 100, GMT_UNDEFINED, NULL, \
      doc ", four full waves of blocks") \
    X(tail, body##_one_more, body, 33, 4, bad, body##_full, 4, 100, GMT_UNDEFINED, "GM504", \
      doc ", four waves and one block more") \
    X(tail, body##_half_short, body, 28, 4, half, body##_full, 4, 100, GMT_UNDEFINED, half_rule, \
      doc ", three waves and a half") \
    X(tail, body##_one_and_quarter, body, 10, 4, bad, body##_full, 4, 100, GMT_UNDEFINED, "GM504", \
      doc ", one wave and a quarter") \
    X(tail, body##_quarter, body, 2, 4, bad, body##_full, 4, 100, GMT_UNDEFINED, "GM504", \
      doc ", a quarter of a wave")
#define GMT_VARIANTS_TAIL(X) \
    GMT_VARIANTS_TAIL_BODY(X, tail_stream, bad, "GM504", "float copy") \
    GMT_VARIANTS_TAIL_BODY(X, tail_compute, neutral, NULL, "four chains of multiply-adds")

/*
 * parameter = loads in flight per thread; one block of 8 warps per multiprocessor. Few warps with few
 * loads need more of either: more warps is what GM501 asks for, where threads have several loads.
 */
#define GMT_VARIANTS_ILP(X) \
    X(ilp, ilp_1, ilp, 1, 4, bad, ilp_4, 4, 100, GMT_UNDEFINED, "GM511", \
      "float copy at low occupancy, one load in flight") \
    X(ilp, ilp_2, ilp, 2, 4, neutral, ilp_4, 4, 100, GMT_UNDEFINED, "GM501", \
      "float copy at low occupancy, two loads in flight") \
    X(ilp, ilp_4, ilp, 4, 4, neutral, ilp_4, 4, 100, GMT_UNDEFINED, "GM501", \
      "float copy at low occupancy, four independent loads") \
    X(ilp, ilp_8, ilp, 8, 4, good, ilp_4, 4, 100, GMT_UNDEFINED, "GM501", \
      "float copy at low occupancy, eight independent loads")

/* parameter = threads of the launch. The good twin is far below 20 us, in the nature of the thing. */
#define GMT_VARIANTS_SERIAL(X) \
    X(serial, serial_thread, serial, 1, 4, bad, serial_grid, 1, 12.5, GMT_UNDEFINED, "GM510", \
      "16384 words by one thread") \
    X(serial, serial_block, serial, 256, 4, bad, serial_grid, 4, 100, GMT_UNDEFINED, "GM510", \
      "16384 words by one block of 256 threads") \
    X(serial, serial_grid, serial, 16384, 4, good, serial_grid, 4, 100, GMT_UNDEFINED, NULL, \
      "16384 words by 64 blocks of 256 threads")

/* parameter = streams that the 16 independent kernels are spread over. */
#define GMT_VARIANTS_SMALL_KERNELS(X) \
    X(small_kernels, one_stream, small, 1, 4, bad, streams_16, 4, 100, GMT_UNDEFINED, "GM506", \
      "16 independent kernels of 4 blocks, one after the other") \
    X(small_kernels, streams_4, small, 4, 4, neutral, streams_16, 4, 100, GMT_UNDEFINED, NULL, \
      "the same kernels in four streams") \
    X(small_kernels, streams_16, small, 16, 4, good, streams_16, 4, 100, GMT_UNDEFINED, NULL, \
      "the same kernels in a stream each")

/* parameter = launch calls. */
#define GMT_VARIANTS_LAUNCH_BOUND(X) \
    X(launch_bound, launches, step, 256, 4, bad, graph, 4, 100, GMT_UNDEFINED, "GM507", \
      "256 steps on 16384 words, a launch each") \
    X(launch_bound, graph, step, 1, 4, good, graph, 4, 100, GMT_UNDEFINED, NULL, \
      "the same 256 launches as one graph") \
    X(launch_bound, fused, steps_fused, 1, 4, good, graph, 4, 100, GMT_UNDEFINED, NULL, \
      "the same 256 steps in one kernel")

/* parameter = kernels. */
#define GMT_VARIANTS_SPLIT(X) \
    X(split, split_2, split_scale, 2, 4, bad, split_fused, 4, 100, GMT_UNDEFINED, "GM509", \
      "scale, then add, through device memory") \
    X(split, split_fused, split_fused, 1, 4, good, split_fused, 4, 100, GMT_UNDEFINED, NULL, \
      "scale and add in one kernel")

#define GMT_VARIANTS_OF_LAUNCH(X) \
    GMT_VARIANTS_OCCUPANCY(X) \
    GMT_VARIANTS_REGISTERS(X) \
    GMT_VARIANTS_BLOCK_SIZE(X) \
    GMT_VARIANTS_COMPUTE(X) \
    GMT_VARIANTS_PARTIAL_WARP(X) \
    GMT_VARIANTS_TAIL(X) \
    GMT_VARIANTS_ILP(X) \
    GMT_VARIANTS_SERIAL(X) \
    GMT_VARIANTS_SMALL_KERNELS(X) \
    GMT_VARIANTS_LAUNCH_BOUND(X) \
    GMT_VARIANTS_SPLIT(X)

#endif

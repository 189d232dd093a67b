/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels that reach the roofs. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_RATE_H
#define GMT_KERNELS_VARIANTS_VARIANTS_RATE_H

#define GMT_FAMILIES_OF_RATE(X) X(rate)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_RATE(X) \
    X(rate_dram) \
    X(rate_l2) \
    X(rate_l1) \
    X(rate_scattered) \
    X(rate_scattered_l2) \
    X(rate_partial) \
    X(rate_shared) \
    X(rate_constant)

/* parameter = words from one store to the next */
#define GMT_VARIANTS_RATE_PARTIAL(X) \
    X(rate, partial_sectors, rate_partial, 8, 4, neutral, partial_sectors, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, "GM304", "one word into each sector of far more than L2") \
    X(rate, partial_pairs, rate_partial, 16, 4, neutral, partial_sectors, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, "GM304", "one word into each second sector") \
    X(rate, partial_lines, rate_partial, 32, 4, neutral, partial_sectors, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, "GM304", "one word into each line of four sectors")

#define GMT_VARIANTS_RATE(X) \
    X(rate, dram_read, rate_dram, 4, 16, neutral, dram_read, 16, 100, GMT_UNDEFINED, NULL, \
      "four float4 loads in flight over far more than L2") \
    X(rate, l2_read, rate_l2, 4, 16, neutral, l2_read, 16, 100, GMT_UNDEFINED, NULL, \
      "float4 loads past L1 from a quarter of L2") \
    X(rate, l1_read, rate_l1, 1, 4, neutral, l1_read, 4, 100, GMT_UNDEFINED, NULL, \
      "coalesced loads of 16 KiB that stay in L1") \
    X(rate, l1_strided, rate_l1, 8, 4, neutral, l1_read, 32, 12.5, GMT_UNDEFINED, "GM309", \
      "loads 8 words apart of 16 KiB that stay in L1") \
    X(rate, dram_scattered, rate_scattered, 0, 4, neutral, dram_read, 32, 12.5, GMT_UNDEFINED, \
      "GM304", "a word of each sector of far more than L2, in no order") \
    X(rate, l2_scattered, rate_scattered_l2, 0, 4, neutral, l2_read, 32, 12.5, GMT_UNDEFINED, \
      "GM301", "words of single sectors past L1 from a quarter of L2, in no order") \
    GMT_VARIANTS_RATE_PARTIAL(X) \
    X(rate, shared_read, rate_shared, 8, 4, neutral, shared_read, GMT_UNDEFINED, GMT_UNDEFINED, 8, \
      "GM401", "shared loads, 24 words apart, 8-way conflicts") \
    X(rate, constant_distinct, rate_constant, 32, 4, neutral, constant_distinct, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, "GM307", "constant reads of 32 different words")

#define GMT_VARIANTS_OF_RATE(X) GMT_VARIANTS_RATE(X)

#endif

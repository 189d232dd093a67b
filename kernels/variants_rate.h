/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels that reach the roofs. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_RATE_H
#define GMT_KERNELS_VARIANTS_RATE_H

#define GMT_FAMILIES_OF_RATE(X) X(rate)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_RATE(X) \
    X(rate_dram) \
    X(rate_l2) \
    X(rate_l1)

#define GMT_VARIANTS_RATE(X) \
    X(rate, dram_read, rate_dram, 4, 16, neutral, dram_read, 16, 100, GMT_UNKNOWN, NULL, \
      "four float4 loads in flight over far more than L2") \
    X(rate, l2_read, rate_l2, 4, 16, neutral, l2_read, 16, 100, GMT_UNKNOWN, NULL, \
      "float4 loads past L1 from a quarter of L2") \
    X(rate, l1_read, rate_l1, 1, 4, neutral, l1_read, 4, 100, GMT_UNKNOWN, NULL, \
      "coalesced loads of 16 KiB that stay in L1") \
    X(rate, l1_strided, rate_l1, 8, 4, neutral, l1_read, 32, 12.5, GMT_UNKNOWN, "GM309", \
      "loads 8 words apart of 16 KiB that stay in L1")

#define GMT_VARIANTS_OF_RATE(X) GMT_VARIANTS_RATE(X)

#endif

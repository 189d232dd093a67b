/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels of shared memory. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_SHARED_H
#define GMT_KERNELS_VARIANTS_SHARED_H

#define GMT_FAMILIES_OF_SHARED(X) X(bank)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_SHARED(X) \
    X(bank) \
    X(bank_vector)

#define GMT_VARIANTS_BANK_WORD(X) \
    X(bank, bank_1, bank, 1, 4, good, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 1, NULL, \
      "shared words, lanes 1 word apart") \
    X(bank, bank_2, bank, 2, 4, bad, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 2, "GM401", \
      "shared words, lanes 2 words apart") \
    X(bank, bank_4, bank, 4, 4, bad, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 4, "GM401", \
      "shared words, lanes 4 words apart") \
    X(bank, bank_8, bank, 8, 4, bad, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 8, "GM401", \
      "shared words, lanes 8 words apart") \
    X(bank, bank_16, bank, 16, 4, bad, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 16, "GM401", \
      "shared words, lanes 16 words apart") \
    X(bank, bank_32, bank, 32, 4, bad, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 32, "GM401", \
      "shared words, a column of a 32 x 32 tile") \
    X(bank, bank_33, bank, 33, 4, good, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 1, NULL, \
      "shared words, the same column with rows padded to 33")
#define GMT_VARIANTS_BANK(X) \
    GMT_VARIANTS_BANK_WORD(X) \
    X(bank, bank_1_float4, bank_vector, 1, 16, good, bank_1, GMT_UNKNOWN, GMT_UNKNOWN, 1, NULL, \
      "shared float4, unit stride: 4 wavefronts per request and no conflict")

#define GMT_VARIANTS_OF_SHARED(X) GMT_VARIANTS_BANK(X)

#endif

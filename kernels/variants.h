/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of reference kernels: every good and bad variant with the counters it must show. */
#ifndef GMT_KERNELS_VARIANTS_H
#define GMT_KERNELS_VARIANTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "Not defined for this variant": becomes null in files and "-" in tables. */
#define GMT_UNKNOWN (-1.0)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS(X) \
    X(offset) \
    X(stride) \
    X(stride_vector) \
    X(bank) \
    X(bank_vector) \
    X(occupancy_stream) \
    X(occupancy_vector) \
    X(occupancy_latency) \
    X(lanes) \
    X(broadcast) \
    X(reversed) \
    X(local_dynamic) \
    X(local_registers) \
    X(rate_dram) \
    X(rate_l2) \
    X(rate_l1)

/*
 * X(family, variant, kernel, parameter, width, quality, reference, sectors, efficiency, ways,
 *   rule, doc)
 *
 *   kernel      body that runs, one of GMT_KERNELS
 *   parameter   what varies within the family: elements, words, blocks per multiprocessor, lanes
 *   width       bytes per lane of the access that is studied
 *   quality     good, bad, or neutral (neither: it is there to check counters)
 *   reference   good variant whose time relative_time is measured against
 *   sectors     expected 32-byte sectors per global load request (a full warp, or what is active)
 *   efficiency  expected global load efficiency in %, bytes asked / (32 x sectors)
 *   ways        expected shared wavefronts / ideal wavefronts for that width; 1 is conflict-free
 *   rule        rule that should speak about the variant, or NULL
 */
#define GMT_VARIANTS_OFFSET(X) \
    X(offset, offset_0, offset, 0, 4, good, offset_0, 4, 100, GMT_UNKNOWN, NULL, \
      "float copy, source aligned") \
    X(offset, offset_1, offset, 1, 4, bad, offset_0, 5, 80, GMT_UNKNOWN, "GM303", \
      "float copy, source one element off") \
    X(offset, offset_4, offset, 4, 4, bad, offset_0, 5, 80, GMT_UNKNOWN, "GM303", \
      "float copy, source four elements off") \
    X(offset, offset_7, offset, 7, 4, bad, offset_0, 5, 80, GMT_UNKNOWN, "GM303", \
      "float copy, source seven elements off") \
    X(offset, offset_8, offset, 8, 4, good, offset_0, 4, 100, GMT_UNKNOWN, NULL, \
      "float copy, source one whole sector off")

#define GMT_VARIANTS_STRIDE_WORD(X) \
    X(stride, stride_1, stride, 1, 4, good, stride_1, 4, 100, GMT_UNKNOWN, NULL, \
      "float copy, consecutive lanes read consecutive words") \
    X(stride, stride_2, stride, 2, 4, bad, stride_1, 8, 50, GMT_UNKNOWN, "GM301", \
      "float gather, lanes 2 words apart") \
    X(stride, stride_4, stride, 4, 4, bad, stride_1, 16, 25, GMT_UNKNOWN, "GM301", \
      "float gather, lanes 4 words apart") \
    X(stride, stride_8, stride, 8, 4, bad, stride_1, 32, 12.5, GMT_UNKNOWN, "GM301", \
      "float gather, lanes 8 words (one sector) apart") \
    X(stride, stride_16, stride, 16, 4, bad, stride_1, 32, 12.5, GMT_UNKNOWN, "GM301", \
      "float gather, lanes 16 words apart") \
    X(stride, stride_32, stride, 32, 4, bad, stride_1, 32, 12.5, GMT_UNKNOWN, "GM301", \
      "float gather, lanes 32 words (one line) apart")
#define GMT_VARIANTS_STRIDE(X) \
    GMT_VARIANTS_STRIDE_WORD(X) \
    X(stride, stride_1_float4, stride_vector, 1, 16, good, stride_1, 16, 100, GMT_UNKNOWN, NULL, \
      "float4 copy: as many sectors per request as stride 4, and nothing wasted")

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

/*
 * parameter = resident blocks of 4 warps per multiprocessor; steps a device cannot hold are left
 * out.
 */
#define GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, n, quality, rule, doc) \
    X(occupancy, body##_##n, body, n, width, quality, body##_16, sectors, 100, GMT_UNKNOWN, rule, \
      doc)
#define GMT_VARIANTS_OCCUPANCY_STEPS(X, body, width, sectors, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 1, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 2, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 3, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 4, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 6, neutral, NULL, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 8, neutral, NULL, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 12, neutral, NULL, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 16, good, NULL, doc)
#define GMT_VARIANTS_OCCUPANCY(X) \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_stream, 4, 4, "float copy, one load in flight") \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_vector, 16, 16, "float4 copy, one load in flight") \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_latency, 4, 4, "chain of dependent loads")

#define GMT_VARIANTS_EXTRA(X) \
    X(extra, full_warp, lanes, 32, 4, good, full_warp, 4, 100, GMT_UNKNOWN, NULL, \
      "float copy, all 32 lanes") \
    X(extra, half_warp, lanes, 16, 4, neutral, full_warp, 2, 100, GMT_UNKNOWN, NULL, \
      "float copy, only 16 lanes active: fewer sectors, none wasted") \
    X(extra, broadcast, broadcast, 1, 4, neutral, full_warp, 1, GMT_UNKNOWN, GMT_UNKNOWN, NULL, \
      "all lanes read the same word") \
    X(extra, reversed, reversed, 31, 4, neutral, full_warp, 4, 100, GMT_UNKNOWN, NULL, \
      "lanes in reverse order inside one line") \
    X(extra, local_registers, local_registers, 64, 4, good, local_registers, 4, 100, GMT_UNKNOWN, \
      NULL, "32-word array indexed by constants: stays in registers") \
    X(extra, local_dynamic, local_dynamic, 64, 4, bad, local_registers, 4, 100, GMT_UNKNOWN, \
      "GM306", "32-word array indexed at run time: lives in local memory")

#define GMT_VARIANTS_RATE(X) \
    X(rate, dram_read, rate_dram, 4, 16, neutral, dram_read, 16, 100, GMT_UNKNOWN, NULL, \
      "four float4 loads in flight over far more than L2") \
    X(rate, l2_read, rate_l2, 4, 16, neutral, l2_read, 16, 100, GMT_UNKNOWN, NULL, \
      "float4 loads past L1 from a quarter of L2") \
    X(rate, l1_read, rate_l1, 1, 4, neutral, l1_read, 4, 100, GMT_UNKNOWN, NULL, \
      "coalesced loads of 16 KiB that stay in L1") \
    X(rate, l1_strided, rate_l1, 8, 4, neutral, l1_read, 32, 12.5, GMT_UNKNOWN, NULL, \
      "loads 8 words apart of 16 KiB that stay in L1")

#define GMT_VARIANTS(X) \
    GMT_VARIANTS_OFFSET(X) \
    GMT_VARIANTS_STRIDE(X) \
    GMT_VARIANTS_BANK(X) \
    GMT_VARIANTS_OCCUPANCY(X) \
    GMT_VARIANTS_EXTRA(X) \
    GMT_VARIANTS_RATE(X)

enum gmt_kernel {
#define GMT_ROW(name) GMT_KERNEL_##name,
    GMT_KERNELS(GMT_ROW)
#undef GMT_ROW
};

enum gmt_quality { GMT_QUALITY_good, GMT_QUALITY_bad, GMT_QUALITY_neutral };

struct gmt_variant {
    const char *family;
    const char *name;
    const char *kernel_name;
    const char *reference;
    const char *rule; /* NULL: no rule should speak */
    const char *doc;
    enum gmt_kernel kernel;
    enum gmt_quality quality;
    unsigned parameter;
    unsigned width_bytes;
    double sectors_per_request; /* these three may be GMT_UNKNOWN */
    double efficiency_percent;
    double ways;
};

extern const struct gmt_variant gmt_variants[];
extern const size_t gmt_variant_count;

const char *gmt_quality_name(enum gmt_quality quality);

/* NULL when the table has no such row. */
const struct gmt_variant *gmt_variant_find(const char *family, const char *name);

/* True when some row belongs to that family. */
int gmt_family_known(const char *family);

#ifdef __cplusplus
}
#endif

#endif

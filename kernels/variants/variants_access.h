/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels of global and local memory. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_ACCESS_H
#define GMT_KERNELS_VARIANTS_VARIANTS_ACCESS_H

#define GMT_FAMILIES_OF_ACCESS(X) \
    X(offset) \
    X(stride) \
    X(extra)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_ACCESS(X) \
    X(offset) \
    X(stride) \
    X(stride_vector) \
    X(lanes) \
    X(broadcast) \
    X(reversed) \
    X(local_dynamic) \
    X(local_registers)

#define GMT_VARIANTS_OFFSET(X) \
    X(offset, offset_0, offset, 0, 4, good, offset_0, 4, 100, GMT_UNDEFINED, NULL, \
      "float copy, source aligned") \
    X(offset, offset_1, offset, 1, 4, bad, offset_0, 5, 80, GMT_UNDEFINED, "GM303", \
      "float copy, source one element off") \
    X(offset, offset_4, offset, 4, 4, bad, offset_0, 5, 80, GMT_UNDEFINED, "GM303", \
      "float copy, source four elements off") \
    X(offset, offset_7, offset, 7, 4, bad, offset_0, 5, 80, GMT_UNDEFINED, "GM303", \
      "float copy, source seven elements off") \
    X(offset, offset_8, offset, 8, 4, good, offset_0, 4, 100, GMT_UNDEFINED, NULL, \
      "float copy, source one whole sector off")

#define GMT_VARIANTS_STRIDE_WORD(X) \
    X(stride, stride_1, stride, 1, 4, good, stride_1, 4, 100, GMT_UNDEFINED, NULL, \
      "float copy, consecutive lanes read consecutive words") \
    X(stride, stride_2, stride, 2, 4, bad, stride_1, 8, 50, GMT_UNDEFINED, "GM301", \
      "float gather, lanes 2 words apart") \
    X(stride, stride_4, stride, 4, 4, bad, stride_1, 16, 25, GMT_UNDEFINED, "GM301", \
      "float gather, lanes 4 words apart") \
    X(stride, stride_8, stride, 8, 4, bad, stride_1, 32, 12.5, GMT_UNDEFINED, "GM301", \
      "float gather, lanes 8 words (one sector) apart") \
    X(stride, stride_16, stride, 16, 4, bad, stride_1, 32, 12.5, GMT_UNDEFINED, "GM301", \
      "float gather, lanes 16 words apart") \
    X(stride, stride_32, stride, 32, 4, bad, stride_1, 32, 12.5, GMT_UNDEFINED, "GM301", \
      "float gather, lanes 32 words (one line) apart")
#define GMT_VARIANTS_STRIDE(X) \
    GMT_VARIANTS_STRIDE_WORD(X) \
    X(stride, stride_1_float4, stride_vector, 1, 16, good, stride_1, 16, 100, GMT_UNDEFINED, NULL, \
      "float4 copy: as many sectors per request as stride 4, and nothing wasted")

#define GMT_VARIANTS_EXTRA(X) \
    X(extra, full_warp, lanes, 32, 4, good, full_warp, 4, 100, GMT_UNDEFINED, NULL, \
      "float copy, all 32 lanes") \
    X(extra, half_warp, lanes, 16, 4, neutral, full_warp, 2, 100, GMT_UNDEFINED, NULL, \
      "float copy, only 16 lanes active: fewer sectors, none wasted") \
    X(extra, broadcast, broadcast, 1, 4, neutral, full_warp, 1, GMT_UNDEFINED, GMT_UNDEFINED, \
      NULL, "all lanes read the same word") \
    X(extra, reversed, reversed, 31, 4, neutral, full_warp, 4, 100, GMT_UNDEFINED, NULL, \
      "lanes in reverse order inside one line") \
    X(extra, local_registers, local_registers, 64, 4, good, local_registers, 4, 100, \
      GMT_UNDEFINED, NULL, "32-word array indexed by constants: stays in registers") \
    X(extra, local_dynamic, local_dynamic, 64, 4, bad, local_registers, 4, 100, GMT_UNDEFINED, \
      "GM306", "32-word array indexed at run time: lives in local memory")

#define GMT_VARIANTS_OF_ACCESS(X) \
    GMT_VARIANTS_OFFSET(X) \
    GMT_VARIANTS_STRIDE(X) \
    GMT_VARIANTS_EXTRA(X)

#endif

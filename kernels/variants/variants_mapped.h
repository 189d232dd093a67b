/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels on mapped host memory, and the same after a copy. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_MAPPED_H
#define GMT_KERNELS_VARIANTS_VARIANTS_MAPPED_H

#define GMT_FAMILIES_OF_MAPPED(X) X(mapped)

/* mapped_*: on host memory through its mapping; copied_*: on the device, with the copy timed. */
#define GMT_KERNELS_OF_MAPPED(X) \
    X(mapped_read) \
    X(copied_read) \
    X(mapped_again) \
    X(copied_again) \
    X(mapped_gather) \
    X(copied_gather) \
    X(mapped_write) \
    X(copied_write) \
    X(mapped_scatter) \
    X(copied_scatter)

/* parameter = times that all is read, or the stride in words. */
#define GMT_VARIANTS_OF_MAPPED(X) \
    X(mapped, mapped_once, mapped_read, 1, 16, good, mapped_once, 16, 100, GMT_UNDEFINED, NULL, \
      "mapped host memory, read once and coalesced") \
    X(mapped, copied_once, copied_read, 1, 16, bad, mapped_once, 16, 100, GMT_UNDEFINED, "GM111", \
      "pinned memory copied to the device, then read once") \
    X(mapped, mapped_again, mapped_again, 4, 16, bad, copied_again, 16, 100, GMT_UNDEFINED, \
      "GM112", "mapped host memory, read four times") \
    X(mapped, copied_again, copied_again, 4, 16, good, copied_again, 16, 100, GMT_UNDEFINED, NULL, \
      "pinned memory copied to the device, then read four times") \
    X(mapped, mapped_stride_8, mapped_gather, 8, 4, bad, copied_stride_8, 32, 12.5, GMT_UNDEFINED, \
      "GM112", "mapped host memory, lanes 8 words (one sector) apart") \
    X(mapped, copied_stride_8, copied_gather, 8, 4, good, copied_stride_8, 32, 12.5, \
      GMT_UNDEFINED, "GM301", "pinned memory copied to the device, lanes 8 words apart there") \
    X(mapped, mapped_written, mapped_write, 1, 16, good, mapped_written, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, NULL, "mapped host memory, written once and coalesced") \
    X(mapped, copied_written, copied_write, 1, 16, bad, mapped_written, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, "GM111", \
      "written once on the device, then copied to pinned memory") \
    X(mapped, mapped_scattered_8, mapped_scatter, 8, 4, bad, copied_scattered_8, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, "GM112", "mapped host memory, written 8 words apart") \
    X(mapped, copied_scattered_8, copied_scatter, 8, 4, good, copied_scattered_8, GMT_UNDEFINED, \
      GMT_UNDEFINED, GMT_UNDEFINED, "GM310", \
      "written 8 words apart on the device, then copied back")

#endif

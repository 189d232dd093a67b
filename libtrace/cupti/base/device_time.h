/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the kernels of each class took, from the records of the device, while the program runs: what is measured next
 * follows it. Records come some 0.1 s after their kernels, and not of launches that are measured.
 *
 * A record names its kernel and says its grid and block. Classes that differ in nothing else (another module's kernel of the same
 * name, other dynamic shared memory) share one time.
 *
 * From any thread, without a lock.
 */
#ifndef GMT_CUPTI_BASE_DEVICE_TIME_H
#define GMT_CUPTI_BASE_DEVICE_TIME_H

#include <stdint.h>

struct gmt_device_time;

/* Of the kernels of this mangled name and shape; it lives as long as the process. NULL: no memory, or there are too many. */
struct gmt_device_time *gmt_device_time_of(const char *name, const uint32_t grid[3],
                                           const uint32_t block[3]);

/* One of them took `ns` on the device. Nothing is kept of kernels that nobody has asked for. */
void gmt_device_time_note(const char *name, const uint32_t grid[3], const uint32_t block[3],
                          uint64_t ns);

/* Their mean so far, ns, at least 1; 0: there are no records of them, or `of` is NULL. */
uint64_t gmt_device_time_mean_ns(const struct gmt_device_time *of);

/* For tests: as if there were no records. */
void gmt_device_time_forget(void);

#endif

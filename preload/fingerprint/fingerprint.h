/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fingerprints of the host memory that transfers read or write.
 *
 * Memory is read only after the driver has accepted the copy, and so has read or written it itself:
 * what a copy leaves untouched because it fails is never looked at. Nor is memory that the driver
 * knows as a device's, write-combined memory, and registered device memory; registered memory is read
 * through the kernel, since a device reaches its pages when the program cannot any more. The bytes of an
 * asynchronous copy to page-locked memory have not arrived when the call returns, and need not be
 * there any more when they have; those of a batch are read and written whenever it likes: such copies
 * get no fingerprint. errno is kept, and there is no point of cancellation.
 */
#ifndef GMT_PRELOAD_FINGERPRINT_FINGERPRINT_H
#define GMT_PRELOAD_FINGERPRINT_FINGERPRINT_H

#include "preload/state/hook_call.h"

extern bool gmt_fingerprints_on;

/* Read gmt_options; when recording starts. */
void gmt_fingerprint_start(void);

/* Fill `print` and transfer->fingerprint. `transfer` is complete otherwise, the call has returned. True:
 * `print` holds a hash. */
bool gmt_fingerprint_take(const struct gmt_hook_call *call, struct gmt_transfer *transfer,
                          uint64_t bytes, struct gmt_fingerprint *print);

#endif

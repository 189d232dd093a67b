/* SPDX-License-Identifier: Apache-2.0 */
/* What all copy hooks have in common. */
#ifndef GMT_PRELOAD_HOOKS_TRANSFER_H
#define GMT_PRELOAD_HOOKS_TRANSFER_H

#include "preload/hooks/hook.h"

/* Complete `transfer`: memory classes from the known allocations (where the caller has not set
 * GMT_MEM_ARRAY), the direction from the classes where it is GMT_DIR_UNKNOWN, or names the device for page-locked memory. */
void gmt_transfer_classify(struct gmt_transfer *transfer);

/* Complete and record it. */
void gmt_transfer_record(struct gmt_hook_call *call, struct gmt_transfer *transfer, uint64_t bytes);

/* The copy that `copy` describes, not yet complete. */
struct gmt_transfer gmt_transfer_of_box(const CUDA_MEMCPY3D *copy);

#endif

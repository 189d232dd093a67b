/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch of gather.h: bytes of uploads that were copied at the call, and where they go. All is for the holder (gmt_gather_hold).
 */
#ifndef GMT_PRELOAD_APPLY_GATHER_BATCH_H
#define GMT_PRELOAD_APPLY_GATHER_BATCH_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/apply/copy.h"
#include "preload/apply/note.h"

/* At the start: how much there is room for, and when it is issued at the latest. */
void gmt_batch_start(size_t bytes, uint64_t longest_ns);

/*
 * Adds a copy into the allocation `in` of `context`, from page-locked memory if `is_locked`. GMT_REFUSAL_COUNT: its bytes are there, or *result is an error of what had to be
 * issued before, and the copy is not made. Of one context until it is issued.
 */
enum gmt_refusal gmt_batch_add(const struct gmt_copy *copy, bool is_locked,
                               const struct gmt_copy_range *in, CUcontext context,
                               size_t most_bytes, CUresult *result);

/* Issues all, before another call. An error, also of what the timer has issued, is that call's to return. */
CUresult gmt_batch_settle(void);

/* From now on others see memory of the process. */
void gmt_batch_share(void);
bool gmt_batch_is_shared(void);

/* Nothing can be added any more: the process ends, or memory was wanting. */
bool gmt_batch_has_ended(void);

#endif

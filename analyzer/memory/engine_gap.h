/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time of a stream between a copy and a kernel. */
#ifndef GMT_ANALYZER_MEMORY_ENGINE_GAP_H
#define GMT_ANALYZER_MEMORY_ENGINE_GAP_H

#include "analyzer/trace/timeline.h"

/*
 * For each copy of the timeline, in ns: how long its stream was idle between it and the kernel
 * before it, and between it and the kernel after it. Copies and kernels run on different engines, and
 * one hands over to the other (3 to 9 us on an H200, where kernel follows kernel after 1 us). Counted
 * only where the host had submitted the later one before the earlier one ended, and up to
 * GMT_ENGINE_GAP_MOST_NS: else the device waited for something else. of_copy has copy_count elements. 0
 * or -ENOMEM.
 */
int gmt_engine_gaps(const struct gmt_timeline *timeline, double *of_copy);

#endif

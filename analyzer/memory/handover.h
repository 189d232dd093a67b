/* SPDX-License-Identifier: Apache-2.0 */
/* Time that a stream stands still between a copy and a kernel. */
#ifndef GMT_ANALYZER_MEMORY_HANDOVER_H
#define GMT_ANALYZER_MEMORY_HANDOVER_H

#include "analyzer/trace/timeline.h"

/*
 * For each copy of the timeline, in ns: how long its stream stood still between it and the kernel
 * before it, and between it and the kernel after it. Copies and kernels run on different engines, and
 * one hands over to the other (3 to 9 us on an H200, where kernel follows kernel after 1 us). Counted
 * only where the host had submitted the later one before the earlier one ended, and up to
 * GMT_HANDOVER_MOST_NS: else the device waited for something else. of_copy has copy_count elements. 0
 * or -ENOMEM.
 */
int gmt_handovers(const struct gmt_timeline *timeline, double *of_copy);

#endif

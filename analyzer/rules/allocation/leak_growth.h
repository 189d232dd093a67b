/* SPDX-License-Identifier: Apache-2.0 */
/* GM204, of memory that the program, or an allocator of its own, keeps: it grows until the end. */
#ifndef GMT_ANALYZER_RULES_ALLOCATION_LEAK_GROWTH_H
#define GMT_ANALYZER_RULES_ALLOCATION_LEAK_GROWTH_H

#include "analyzer/findings/rule.h"

/*
 * Emits a finding for each device whose memory grows until the end. `segments`: the segments of an allocator; else the other
 * allocations, of which only those that are never freed count. Returns how many findings; -ENOMEM or -EIO.
 */
int gmt_leak_growth(struct gmt_analysis *analysis, bool segments);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* GM204, of memory that the program, or an allocator of its own, keeps: it grows until the end. */
#ifndef GMT_ANALYZER_RULES_ALLOCATION_LEAK_GROWTH_H
#define GMT_ANALYZER_RULES_ALLOCATION_LEAK_GROWTH_H

#include "analyzer/findings/rule.h"

/*
 * Emits a finding for each device on which segments of an allocator, or allocations that are none and never freed, grow until the
 * end. How many; -ENOMEM or -EIO.
 */
int gmt_leak_growth(struct gmt_analysis *analysis, bool segments);

#endif

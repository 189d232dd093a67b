/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that others than this program may read and write: other processes, graphics, other APIs and devices.
 * Nothing is known of what they do, so no rule may say that such memory is unused, lost, or unchanged.
 */
#ifndef GMT_ANALYZER_TRACE_SHARING_H
#define GMT_ANALYZER_TRACE_SHARING_H

#include "analyzer/trace/timeline.h"

/* When the program first made memory reachable for others, or got some of theirs (calls of
 * GMT_TRAIT_SHARES_MEMORY); GMT_NO_TIME: it never did. What a range leaves out counts, too. 0 or
 * -EIO. */
int gmt_sharing_begin(const struct gmt_timeline *timeline, int64_t *begin_ns);

/* Was the allocation of that kind (gmt_tl_allocation.kind) made by somebody else? */
static inline bool gmt_sharing_is_foreign(unsigned kind)
{
    return kind == GMT_ALLOC_IPC || kind == GMT_ALLOC_EXTERNAL;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* When a memory snapshot was taken, and which allocations of the trace its segments are. */
#ifndef GMT_ANALYZER_HOLDERS_SNAPSHOT_MATCH_H
#define GMT_ANALYZER_HOLDERS_SNAPSHOT_MATCH_H

#include "analyzer/memory/memory.h"
#include "analyzer/snapshot/snapshot.h"

struct gmt_snapshot_match {
    int64_t at_ns;     /* of the trace's clock; GMT_NO_TIME: no segment is in the trace */
    int64_t offset_ns; /* from the snapshot's clock to the trace's; INT64_MIN: not known */
};

/*
 * A segment is an allocation of the trace, or several that were mapped one by one, which lie inside of it. The moment is one at
 * which as many bytes of segments as possible were there: the last such moment, or, where segments that the history
 * allocates show how both clocks differ, the time of the snapshot as far as it is one. 0 or -ENOMEM.
 */
int gmt_snapshot_match_find(const struct gmt_memory *memory,
                            const struct gmt_torch_snapshot *snapshot,
                            struct gmt_snapshot_match *match);

/* The segment that the row's memory is, or is a part of; NULL: none. */
const struct gmt_snapshot_segment *gmt_snapshot_match_row(const struct gmt_torch_snapshot *snapshot,
                                                          const struct gmt_memory_row *row);

/* The time of an event on the trace's clock; GMT_NO_TIME: not known. */
int64_t gmt_snapshot_match_time(const struct gmt_snapshot_match *match, int64_t time_us);

#endif

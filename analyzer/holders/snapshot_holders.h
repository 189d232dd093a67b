/* SPDX-License-Identifier: Apache-2.0 */
/* Whose bytes: lists of places and libraries of a memory snapshot's report. */
#ifndef GMT_ANALYZER_HOLDERS_SNAPSHOT_HOLDERS_H
#define GMT_ANALYZER_HOLDERS_SNAPSHOT_HOLDERS_H

#include "analyzer/findings/rule_context.h"
#include "analyzer/snapshot/snapshot.h"
#include "reports/model/snapshot.h"

/* From sums by place, the last for those of no place: places + 1. 0 or -ENOMEM. */
int gmt_snapshot_hold_places(struct gmt_arena *arena, const struct gmt_torch_snapshot *snapshot,
                             const double *bytes, const double *counts,
                             struct gmt_snapshot_holders *holders);

/*
 * Allocations of the trace that were there at that time on a device and are no segments, by the library that made them or by
 * the place of the program. *total: their bytes. 0 or -ENOMEM.
 */
int gmt_snapshot_hold_others(struct gmt_analysis *analysis, int64_t at_ns, int64_t device,
                             struct gmt_snapshot_holders *holders, double *total);

/* Of the place or library that an allocation was made by: without its bytes. */
struct gmt_snapshot_holder gmt_snapshot_holder_of(struct gmt_analysis *analysis,
                                                  const struct gmt_memory_row *row);
/* Adds up those of one label, in `all`, which may be freed then. 0 or -ENOMEM. */
int gmt_snapshot_hold_all(struct gmt_arena *arena, struct gmt_snapshot_holder *all, size_t n,
                          struct gmt_snapshot_holders *holders);

#endif

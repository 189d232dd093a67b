/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank copied from and to memory of other processes, and by which handles these open its own (table memory_handle). */
#ifndef GMT_ANALYZER_FLEET_HANDED_FLOWS_H
#define GMT_ANALYZER_FLEET_HANDED_FLOWS_H

#include "analyzer/fleet/fleet.h"
#include "analyzer/trace/timeline.h"
#include "libtrace/base/arena.h"

/*
 * Fills rank->exported, flows and sharing from the timeline of its trace; a trace of an earlier format has none. Copies that
 * graphs make are not among them. Everything is the arena's. 0, -ENOMEM or -EIO.
 */
int gmt_fleet_flows_read(struct gmt_fleet_rank *rank, const struct gmt_timeline *timeline,
                         struct gmt_arena *arena);

#endif

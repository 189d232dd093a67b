/* SPDX-License-Identifier: Apache-2.0 */
/* What the traces say about the job itself: how its ranks ended. */
#ifndef GMT_ANALYZER_FLEET_JOB_H
#define GMT_ANALYZER_FLEET_JOB_H

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* What its program returned, or -1: it was killed, or that is not known. */
int gmt_fleet_exit_code(const struct gmt_fleet_rank *rank);
/* By which signal it was killed; 0: by none, or that is not known. */
int gmt_fleet_exit_signal(const struct gmt_fleet_rank *rank);

/* Remarks on ranks that were killed, or whose program returned something else than 0. Text is the arena's. */
void gmt_fleet_remark_ends(struct gmt_fleet *fleet, struct gmt_arena *arena);

#endif

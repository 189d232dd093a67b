/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over steps of one trace, as a rank of a fleet. */
#ifndef GMT_ANALYZER_FLEET_READ_H
#define GMT_ANALYZER_FLEET_READ_H

#include <sqlite3.h>

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/*
 * Reads the trace's tables of steps (rank_sums.h). What cannot be compared becomes rank->trouble. Everything is the arena's. 0 or
 * negative errno: -EIO where rows cannot be read, the reason is in gmt_guard_reason.
 */
int gmt_fleet_read(struct gmt_fleet_rank *rank, sqlite3 *db, struct gmt_arena *arena);

#endif

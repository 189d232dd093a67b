/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over steps of one trace, as a rank of a fleet. */
#ifndef GMT_ANALYZER_FLEET_READ_H
#define GMT_ANALYZER_FLEET_READ_H

#include <sqlite3.h>

#include "analyzer/fleet/collectives.h"
#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/*
 * Reads the trace's tables of steps (rank_sums.h). What cannot be compared becomes rank->trouble. Everything is the arena's. 0 or
 * negative errno: -EIO where rows cannot be read, the reason is in gmt_guard_reason.
 */
int gmt_fleet_read(struct gmt_fleet_rank *rank, sqlite3 *db, struct gmt_arena *arena);

/* What takes times of the trace to the wall clock of its host; *has: whether the trace knows. 0 or -EIO, as above. */
int gmt_fleet_wall_clock(sqlite3 *db, bool *has, int64_t *to_wall_clock_ns);

/*
 * Which rows of step_collective have times that mean something for all ranks: kernels of NCCL on the device; on the software
 * device, where calls return when their work has ended, NCCL's ranges that are in no group. 0 or -EIO, as above.
 */
struct gmt_fleet_rows {
    const char *which; /* of SQL; a constant */
    int64_t count;
};
int gmt_fleet_collectives_choose(sqlite3 *db, struct gmt_fleet_rows *rows);
/* Gives each of them to `take`, by ascending position, until that does not return 0. 0, what `take` returned, or -EIO, as above. */
int gmt_fleet_collectives_each(sqlite3 *db, const struct gmt_fleet_rows *rows,
                               int (*take)(void *context, const struct gmt_collective_row *row),
                               void *context);

#endif

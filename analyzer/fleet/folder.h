/* SPDX-License-Identifier: Apache-2.0 */
/* All traces of a folder, as a fleet. */
#ifndef GMT_ANALYZER_FLEET_FOLDER_H
#define GMT_ANALYZER_FLEET_FOLDER_H

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/*
 * Runs the rules on rank->trace and fills rank->findings; what keeps it from that becomes rank->remark. Called in the process that
 * reads this trace, whose output to stderr nobody sees.
 */
typedef void gmt_fleet_analyse(struct gmt_fleet_rank *rank, struct gmt_arena *arena);

/*
 * Reads every NAME.db in the folder and in those inside of it, but hidden ones; links to files are followed, a file counts once. Each in a process of its own, several at a time: a damaged
 * trace costs only itself, and becomes a rank with trouble. Ranks come in the order of their numbers. What is no trace
 * at all is a rank, too, and so is a folder that cannot be read. A folder with the table `trace` is one of Parquet files (folder_parquet.h), and nothing else is read in it. Everything is the
 * arena's. analyse: called for each trace that has its calls; NULL: nothing is. 0 or negative errno; -ENODATA: there is no NAME.db; -ECANCELED: said on stderr.
 */
int gmt_fleet_read_folder(struct gmt_fleet *fleet, const char *folder, gmt_fleet_analyse *analyse,
                          struct gmt_arena *arena);

/*
 * Makes ranks comparable: where some have times of the device, what others have of the host in their place becomes
 * unknown, and they are remarked on.
 */
void gmt_fleet_settle(struct gmt_fleet *fleet);

#endif

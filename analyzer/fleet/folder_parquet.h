/* SPDX-License-Identifier: Apache-2.0 */
/* A folder that gmanalyze export --to parquet has made, as a fleet. */
#ifndef GMT_ANALYZER_FLEET_FOLDER_PARQUET_H
#define GMT_ANALYZER_FLEET_FOLDER_PARQUET_H

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* Whether the folder has the table `trace` with a run in it, which says what was exported. */
bool gmt_fleet_is_parquet(const char *folder);

/*
 * Starts gmtrace-parquet, which asks DuckDB's C library for the sums over steps of all traces, and adds what it sends. All is the
 * arena's. 0 or negative errno; -ECANCELED: it could not, and has said why on stderr.
 */
int gmt_fleet_read_parquet(struct gmt_fleet *fleet, const char *folder, struct gmt_arena *arena);

#endif

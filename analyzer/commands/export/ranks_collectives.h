/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of several ranks among trace events: a track for each rank, and arrows between those that are one. */
#ifndef GMT_ANALYZER_COMMANDS_RANKS_COLLECTIVES_H
#define GMT_ANALYZER_COMMANDS_RANKS_COLLECTIVES_H

#include <sqlite3.h>
#include <stdbool.h>

#include "analyzer/export/trace_events.h"

/* What is kept of the ranks until all have been read: a file of SQLite's own, which is gone when it is closed. */
struct gmt_ranks_collectives {
    sqlite3 *kept;
    sqlite3_stmt *insert;
};

/* 0 or negative errno; close it in either case. What fails from here on has its reason in sqlite3_errmsg(kept). */
int gmt_ranks_collectives_open(struct gmt_ranks_collectives *all);
void gmt_ranks_collectives_close(struct gmt_ranks_collectives *all);

/*
 * Takes those of a whole trace, which is rank number `rank` of the file, at times of `clock`. Makes its tables of steps
 * (gmt_steps_derive). clock_known: else its collectives may be counted otherwise than those of the others, and no arrow meets them.
 * 0 or negative errno; *of_trace: its reason is in gmt_guard_reason(trace).
 */
int gmt_ranks_collectives_take(struct gmt_ranks_collectives *all, sqlite3 *trace, int rank,
                               const struct gmt_events_clock *clock, bool clock_known,
                               bool *of_trace);

/*
 * Writes all: the process `pid`, a track called name(context, rank) for each rank. Of each collective that several ranks have an arrow
 * goes from the rank that came first to the one that came last. 0 or negative errno.
 */
int gmt_ranks_collectives_write(struct gmt_ranks_collectives *all, struct gmt_events *events,
                                int pid, const char *(*name)(const void *context, int rank),
                                const void *context, int64_t *count);

#endif

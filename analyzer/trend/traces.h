/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a trend: their files, and one of them on its way from the process that has read it. */
#ifndef GMT_ANALYZER_TREND_TRACES_H
#define GMT_ANALYZER_TREND_TRACES_H

#include <stdio.h>

#include "analyzer/trend/trend.h"

/*
 * Adds a run for a file, or for every NAME.db in a folder and in those inside of it, by name; hidden ones are left out. A folder that
 * cannot be read is a run with trouble; of the others only `trace` is known then. 0 or negative errno; -ENOENT: also a folder without one.
 */
int gmt_trend_list(struct gmt_trend_run **runs, size_t *count, const char *path,
                   struct gmt_arena *arena);

/* 0 or -EIO, -ENOMEM. */
int gmt_trend_run_send(const struct gmt_trend_run *run, FILE *out);
/* All but run->trace, as it was sent by this program; of the arena. 0, -EIO: it is not whole, or -ENOMEM. */
int gmt_trend_run_receive(struct gmt_trend_run *run, FILE *in, struct gmt_arena *arena);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of copies that a program makes one after another from one place: what could be one copy. */
#ifndef GMT_ANALYZER_TRACE_RUNS_H
#define GMT_ANALYZER_TRACE_RUNS_H

#include "analyzer/trace/timeline.h"

/*
 * A run is a maximal sequence of copies of one thread, call site, stream, direction and host class,
 * in which the thread did nothing that could depend on a part of them: no launch between them.
 * Copies from other places may lie between.
 */
struct gmt_run {
    size_t first; /* index of its first copy                     */
    size_t count;
    double bytes;         /* sum                                         */
    double cost_ns;       /* sum of gmt_copy_cost_ns                     */
    double largest_bytes; /* of one copy                                 */
    bool equal_sizes;
    bool one_place; /* all to, or from, the same bytes of the device: no copy can do for all */
    /* Distance from one copy's address to the next, when constant; 0: not constant or unknown. */
    int64_t dst_stride, src_stride;
};

struct gmt_runs {
    struct gmt_run *runs;
    size_t count;
};

/* True when the copies lie at constant distances, at least one of them more than the row. */
bool gmt_run_is_rows(const struct gmt_run *run);

/*
 * Finds all runs of at least GMT_RUN_MIN_COPIES and writes into each copy's `run` which one it
 * belongs to. 0 or -ENOMEM. gmt_runs_free in either case.
 */
int gmt_runs_find(struct gmt_timeline *timeline, struct gmt_runs *runs);
void gmt_runs_free(struct gmt_runs *runs);

#endif

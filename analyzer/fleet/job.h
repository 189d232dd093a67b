/* SPDX-License-Identifier: Apache-2.0 */
/* What the traces say about the job itself: how its ranks ended, and which ranks have none or several. */
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

/* Numbers of ranks, the last one included. */
struct gmt_fleet_span {
    size_t first, last;
};

/* A rank that has traces one behind the other, as those of several runs are. */
struct gmt_fleet_rerun {
    const char *rank;
    size_t traces;
};

struct gmt_fleet_job {
    bool is_numbered; /* else its ranks have no numbers, and nothing is known to be missing */
    struct gmt_fleet_span *
        missing; /* ranks below the highest number, or of a communicator, without a trace; ascending */
    size_t missing_count;
    struct gmt_fleet_rerun *reruns; /* in the order of the ranks */
    size_t rerun_count;
};

/* The fleet's ranks come by their numbers. Everything is the arena's. 0 or -ENOMEM. */
int gmt_fleet_job_fill(struct gmt_fleet_job *job, const struct gmt_fleet *fleet,
                       struct gmt_arena *arena);

#endif

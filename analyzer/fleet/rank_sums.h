/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the tables of steps, of whatever store, added up to the values of a rank. */
#ifndef GMT_ANALYZER_FLEET_RANK_SUMS_H
#define GMT_ANALYZER_FLEET_RANK_SUMS_H

#include "analyzer/fleet/collectives.h"
#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* More collectives of a rank show no more of its clock: those of every n-th step are taken. */
#define GMT_FLEET_COLLECTIVES_MOST 4096

/* 0 and the caller's two pointers at first. All memory is the arena's. */
struct gmt_rank_sums {
    struct gmt_fleet_rank *rank;
    struct gmt_arena *arena;
    struct gmt_rank_step *steps; /* by id */
    size_t step_count, used, next;
    int64_t collective_every;
};

/*
 * A row of `step`, by ascending id. Steps are numbered from 0 without those that are left out: a slice comes of a pause, which
 * other ranks need not have. What cannot be becomes rank->trouble. 0 or -ENOMEM.
 */
int gmt_rank_sums_step(struct gmt_rank_sums *sums, int32_t id, int64_t steps, bool left_out,
                       int64_t begin_ns, int64_t end_ns);

/* Rows of the other tables, best by ascending step; a step that there is not is none. */
void gmt_rank_sums_call(struct gmt_rank_sums *sums, int32_t step, const char *kind, int64_t calls,
                        int64_t bytes, int64_t host_ns);
void gmt_rank_sums_work(struct gmt_rank_sums *sums, int32_t step, const char *kind, int64_t bytes,
                        int64_t device_ns);
void gmt_rank_sums_time(struct gmt_rank_sums *sums, int32_t step, bool is_host_code, int64_t ns);
void gmt_rank_sums_memory(struct gmt_rank_sums *sums, int32_t step, int64_t live_bytes,
                          int64_t peak_bytes);

/*
 * A thread of the program waited for gmtrace from begin_ns to end_ns; call it when all steps are there. Of steps in which that is
 * noticeable, and of the one behind each, the rank's times become NAN: not those of the program. Others waited for it in these
 * steps, all alike, and nobody is left to compare the second of two ranks with.
 */
void gmt_rank_sums_own(struct gmt_rank_sums *sums, int64_t begin_ns, int64_t end_ns);

/* How many collectives there are, before the first of them. */
void gmt_rank_sums_collectives(struct gmt_rank_sums *sums, int64_t count);
/* One of them, by ascending position, and what takes its times to the wall clock. 0 or -ENOMEM. */
int gmt_rank_sums_collective(struct gmt_rank_sums *sums, const struct gmt_collective_row *row,
                             int64_t to_wall_clock_ns);

/* Behind all rows: the rank's values. 0 or -ENOMEM. */
int gmt_rank_sums_finish(struct gmt_rank_sums *sums);

#endif

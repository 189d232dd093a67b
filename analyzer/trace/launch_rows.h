/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in the order of their streams, and what their pointer arguments have in common. */
#ifndef GMT_ANALYZER_TRACE_LAUNCH_ROWS_H
#define GMT_ANALYZER_TRACE_LAUNCH_ROWS_H

#include "analyzer/trace/timeline.h"

struct gmt_argument {
    int64_t set, allocation, offset, parameter;
};

struct gmt_launch_rows {
    const struct gmt_timeline *timeline;
    size_t *order;    /* indices of launches, stream by stream, each in the order of its calls */
    bool *overlapped; /* by index of launch: something else ran at the same time               */
    bool *follows;    /* by place in that order: gmt_launch_rows_follows                       */
    size_t *first;    /* by index of launch: its first argument                                */
    size_t n;
    struct gmt_argument *arguments; /* sorted */
    size_t argument_count;
    bool arguments_known; /* of some launch at least */
};

/* 0, -ENOMEM or -EIO; gmt_launch_rows_free in every case. */
int gmt_launch_rows_load(struct gmt_launch_rows *rows, const struct gmt_timeline *timeline);
void gmt_launch_rows_free(struct gmt_launch_rows *rows);

static inline const struct gmt_tl_launch *gmt_launch_rows_at(const struct gmt_launch_rows *rows,
                                                             size_t i)
{
    return &rows->timeline->launches[rows->order[i]];
}

/* Nothing but a kernel of a known class, with device times: of `launch` alone, in 0 or more ns. */
double gmt_launch_time(const struct gmt_tl_launch *launch); /* NAN */

/*
 * Whether launch i follows launch i - 1 in the same stream, both of known classes, and no copy was
 * called between the two, nor anything that the trace or the analysis leaves out. With both times
 * known, one after the other; not so in traces of the software device, which have none.
 */
bool gmt_launch_rows_follows(const struct gmt_launch_rows *rows, size_t i);

/* Same, and it was waiting when the one before ended, which the device noticed at once. */
bool gmt_launch_rows_back_to_back(const struct gmt_launch_rows *rows, size_t i);

/*
 * Whether two launches were given the same pointer; true, too, where their arguments are unknown:
 * then nothing can be said for their independence.
 */
bool gmt_launch_rows_may_depend(const struct gmt_launch_rows *rows, const struct gmt_tl_launch *a,
                                const struct gmt_tl_launch *b);
/*
 * Whether b was given a pointer of a, as another of its parameters: as its input what was a's output.
 * Kernels that write the same array one after the other have it at the same place.
 */
bool gmt_launch_rows_hand_over(const struct gmt_launch_rows *rows, const struct gmt_tl_launch *a,
                               const struct gmt_tl_launch *b);

#endif

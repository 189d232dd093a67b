/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of copies and kernels, and what of them runs at the same time: for GM108. */
#ifndef GMT_ANALYZER_RULES_COMMON_UNOVERLAPPED_LOOPS_H
#define GMT_ANALYZER_RULES_COMMON_UNOVERLAPPED_LOOPS_H

#include "analyzer/trace/cover.h"
#include "analyzer/trace/launch_rows.h"

struct gmt_loop_covers {
    struct gmt_cover uploads, readbacks, kernels, any; /* of page-locked memory */
};

/* ns; longest: sum over the steps of the longest engine. */
struct gmt_loop_sums {
    double uploads, readbacks, kernels, any, longest;
};

struct gmt_loop {
    size_t *members; /* copies of one place, one per step */
    size_t n;
    struct gmt_interval span; /* from the first step to the end of the last */
    struct gmt_loop_sums sums;
    double own_ns; /* of the members */
    size_t launch; /* the first in it */
    size_t launches;
    bool known;  /* all launches in it have complete arguments */
    bool shared; /* one of them got the allocation that the members copy */
};

/* 0 or -ENOMEM; gmt_loop_covers_free in every case. */
int gmt_loop_covers_make(struct gmt_loop_covers *covers, const struct gmt_timeline *timeline);
void gmt_loop_covers_free(struct gmt_loop_covers *covers);

/*
 * Fills span, sums and own_ns. The last step is taken to be as long as the others on average; a single
 * one ends with the first read-back after the first kernel after it, or with that kernel.
 */
void gmt_loop_measure(struct gmt_loop *loop, const struct gmt_timeline *timeline,
                      const struct gmt_loop_covers *covers);
/* Fills launch, launches, known and shared: a pass over all launches. */
void gmt_loop_look_at_launches(struct gmt_loop *loop, const struct gmt_timeline *timeline,
                               const struct gmt_launch_rows *rows);

/* Marks uploads, by index of copy, that take what a read-back brought, and those read-backs. */
int gmt_loop_relays(const struct gmt_timeline *timeline, bool *relayed);

#endif

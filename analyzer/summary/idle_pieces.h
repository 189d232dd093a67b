/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of time in which a device was idle, with their causes and places: summed up, named, and kept for the page. */
#ifndef GMT_ANALYZER_SUMMARY_IDLE_PIECES_H
#define GMT_ANALYZER_SUMMARY_IDLE_PIECES_H

#include "analyzer/summary/idle_places.h"
#include "analyzer/summary/user_calls.h"

/* Zeros, with places.calls, places.frames and user_calls, are none so far. */
struct gmt_idle_pieces {
    struct gmt_idle_places places;
    const struct gmt_user_calls *user_calls;
    struct gmt_idle_piece *rows; /* place: index into places */
    size_t count, room;
    int32_t device;  /* of what is taken next */
    double *part_ns; /* to which that is added, GMT_TIME_PARTS of them */
};

/* For gmt_idle_causes_find: `user` is a struct gmt_idle_pieces. */
int gmt_idle_pieces_take(void *user, const struct gmt_idle_cause *cause);

/* Adds places of the copies beside which no kernel ran; their time is in no part_ns. 0 or -ENOMEM. */
int gmt_idle_pieces_take_copies(struct gmt_idle_pieces *pieces, const struct gmt_idle_ops *ops,
                                const struct gmt_interval *kernels, size_t n);

/* Names in the report the places that took most time, of each cause. 0 or -ENOMEM. */
int gmt_idle_pieces_name(struct gmt_analysis *analysis, const struct gmt_idle_pieces *pieces);

/* Puts the pieces into the report, the longest where there are very many. 0 or -ENOMEM. */
int gmt_idle_pieces_keep(struct gmt_analysis *analysis, const struct gmt_idle_pieces *pieces);

void gmt_idle_pieces_free(struct gmt_idle_pieces *pieces);

#endif

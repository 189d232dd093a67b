/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a measure of each rank and step when the median over the ranks is taken away. */
#ifndef GMT_ANALYZER_FLEET_RESIDUALS_H
#define GMT_ANALYZER_FLEET_RESIDUALS_H

#include "analyzer/fleet/fleet.h"

/* Pieces of a window, in which a difference must be there again, or through which something must grow. */
enum { GMT_FLEET_PIECES = 8, GMT_FLEET_TREND_PIECES = 16 };

struct gmt_fleet_residuals {
    size_t ranks, steps;
    size_t first_step;
    enum gmt_fleet_middle middle; /* over steps */
    bool apart;                   /* from the median of the other ranks, without the rank itself */
    double *values; /* [rank][step]; NAN: not measured, or by fewer than half of the ranks */
    double *room;   /* for one rank's or one step's values */
};

/* Of steps first to first + steps - 1. 0 or -ENOMEM; free it in either case. */
int gmt_fleet_residuals_make(struct gmt_fleet_residuals *residuals, size_t ranks, size_t first,
                             size_t steps, bool apart);
void gmt_fleet_residuals_fill(struct gmt_fleet_residuals *residuals, const struct gmt_fleet *fleet,
                              enum gmt_fleet_measure measure);
void gmt_fleet_residuals_free(struct gmt_fleet_residuals *residuals);

/* Middle of a rank over steps begin to end - 1 of the residuals; NAN where it has fewer than half of them. */
double gmt_fleet_level(struct gmt_fleet_residuals *residuals, size_t rank, size_t begin,
                       size_t end);
/* By how much it grows per step in that window; NAN as above. */
double gmt_fleet_growth(struct gmt_fleet_residuals *residuals, size_t rank, size_t begin,
                        size_t end);
/* The middles of the window's pieces, at most `most`; returns how many there are. */
size_t gmt_fleet_pieces(struct gmt_fleet_residuals *residuals, size_t rank, size_t begin,
                        size_t end, size_t most, double *pieces);

/* NAN: not measured, or a step that it has not. */
double gmt_fleet_value_at(const struct gmt_fleet_rank *rank, enum gmt_fleet_measure measure,
                          size_t step);
/* A rank's median of a measure (or mean, where measures.def says so) over its steps first to first + steps - 1; NAN: none. room: of
 * that many values. */
double gmt_fleet_median_of_steps(const struct gmt_fleet_rank *rank, enum gmt_fleet_measure measure,
                                 size_t first, size_t steps, double *room);
/* Sorts the values, of which none is a NAN. NAN: n is 0. */
double gmt_fleet_median(double *values, size_t n);

#endif

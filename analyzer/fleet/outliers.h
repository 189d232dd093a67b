/* SPDX-License-Identifier: Apache-2.0 */
/* Which of some values do not belong to the others, at a stated rate of false alarms. */
#ifndef GMT_ANALYZER_FLEET_OUTLIERS_H
#define GMT_ANALYZER_FLEET_OUTLIERS_H

#include <stddef.h>

#include "analyzer/fleet/fleet.h"

/* With fewer values nothing is known about how far they usually lie apart. */
#define GMT_OUTLIERS_LEAST 8

struct gmt_outliers {
    double middle, spread; /* mean and standard deviation of those that are not odd */
    double limit;          /* so many standard deviations make a value odd */
    size_t count;          /* of odd ones */
};

/* From so many on, the tails of the values can be seen, and are asked as well. */
#define GMT_OUTLIERS_TAILS 32

/*
 * Two tests, of which both must agree. The generalized extreme Studentized deviate test (B. Rosner, Technometrics 25,
 * 1983): of up to a quarter of the values it is asked, from the outside inwards, whether the others explain them, if
 * all are of one normal distribution. And whether a gap lies between these and the rest that the gaps behind it do not
 * explain: those of exponential tails, each times its rank from the outside, are of one exponential distribution (A. Renyi,
 * Acta Math. Hung. 4, 1953). So the probability that any of n values is called odd is at most `alpha` where they are normal, and
 * also, from GMT_OUTLIERS_TAILS on, where their tails are as heavy as exponential ones. odd[i]: the distance from the
 * others in their standard deviations, with sign; 0: not odd; INFINITY where the others are equal. NANs are left out.
 * With fewer than GMT_OUTLIERS_LEAST values nothing is odd. 0 or -ENOMEM.
 */
int gmt_outliers_find(struct gmt_outliers *outliers, const double *values, size_t n,
                      enum gmt_fleet_side side, double alpha, double *odd);

/* P(T > t) of that distribution; t >= 0. */
double gmt_student_tail(double t, double freedom);
/* x with P(T > x) = p, of Student's distribution with `freedom` >= 1 degrees; 0 < p < 0.5. */
double gmt_student_upper(double p, double freedom);

#endif

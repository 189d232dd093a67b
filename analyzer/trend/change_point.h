/* SPDX-License-Identifier: Apache-2.0 */
/* Where the level of a series changes, by a stated test. */
#ifndef GMT_ANALYZER_TREND_CHANGE_POINT_H
#define GMT_ANALYZER_TREND_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>

/* A level is known from so many values; so many at each side of a change. */
enum { GMT_TREND_LEVEL_LEAST = 3 };
/* A value that lies farther off says that others may, too. */
#define GMT_TREND_STRAY 5

struct gmt_trend_shift {
    size_t at;            /* index of the first value of the new level */
    double before, after; /* medians of the values from the shift before it, and to the next one */
    double
        p; /* of the test: as large a difference at this place without a change; 0: both levels are exact */
};

/* What is not worth a line: the larger of both, between medians. */
struct gmt_trend_least {
    double share; /* of the level before */
    double size;  /* in the series' own unit */
};

/*
 * The two-sample trimmed t of K. K. Yuen and W. J. Dixon, Biometrika 60, 1973: a fifth of the values is trimmed at
 * both ends of each sample, and the sums of squares are those of the winsorized samples, taken together. Its freedom is
 * that of the values that are left, less 2. spread: the standard deviation of a value is taken to be at least that.
 * INFINITY: the samples differ, and neither varies. Both sorted, n >= GMT_TREND_LEVEL_LEAST each.
 */
double gmt_trend_t(const double *a, size_t a_count, const double *b, size_t b_count, double spread,
                   double *freedom);

/*
 * What lies beside running medians of five (J. W. Tukey, Exploratory Data Analysis, 1977), which follow levels and leave out single
 * values. Returns the standard deviation of the values, as the median of those distances has it. is_stray: of each value,
 * more than GMT_TREND_STRAY such deviations beside.
 */
double gmt_trend_spread(const double *values, size_t n, double *room, bool *is_stray);

/* How many tests a series of n values is: intervals times places in them. */
size_t gmt_trend_tests(size_t n);

/*
 * Asks gmt_trend_t of each place of each interval: the seeded intervals of S. Kovacs and others, Biometrika 110, 2023, of
 * GMT_TREND_LEVEL_LEAST values at each side or more. The narrowest interval with a result comes first (R. Baranowski and others,
 * J. R. Stat. Soc. B 81, 2019), then what lies between two shifts is asked as a whole; the place is that of the least
 * sum of distances from both medians. The probability that a series of n independent normal values of one distribution
 * shows a shift is at most `alpha`: each test has its share. At both sides at least two thirds of the values, of three all,
 * must be nearer to the median of their own side; and where a share of the series is stray, n times the probability that
 * stray values make up so many of the shorter side must be at most alpha, too. is_ratio: values are
 * positive, and are compared by their logarithms. shifts: the caller's (free); by place. No value is a NAN. 0 or -ENOMEM.
 */
int gmt_trend_shifts(const double *values, size_t n, bool is_ratio, double alpha,
                     struct gmt_trend_least least, struct gmt_trend_shift **shifts, size_t *count);

#endif

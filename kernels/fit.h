/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From timings to numbers: order statistics and the transfer-time fit; plain C, no CUDA, no JSON.
 */
#ifndef GMT_KERNELS_FIT_H
#define GMT_KERNELS_FIT_H

#include <stddef.h>

/* A measured quantity. The spread is the distance from the 10th to the 90th percentile. */
struct gmt_stat {
    double median;
    double spread;
    size_t n;
};

/*
 * Median and spread of n samples. Percentiles interpolate linearly between order statistics (rank
 * p (n - 1)). Sorts the samples in place.
 * 0, or -EINVAL when n is 0 or a sample is not finite or negative.
 */
int gmt_stat_of(double *samples, size_t n, struct gmt_stat *stat);

/*
 * Median and spread of work / time for n times in ns, in units of work per second. Sorts the
 * samples in place. 0, or -EINVAL as above, and where a time or the work is not positive.
 */
int gmt_stat_rate(double *samples_ns, size_t n, double work, struct gmt_stat *rate);

struct gmt_curve_point {
    double bytes;
    double time_ns;
};

struct gmt_curve {
    double latency_ns;
    double bandwidth_bytes_per_s;
    double half_bandwidth_bytes;
    double max_relative_error; /* of the fit, over the points it was made from */
};

/*
 * Hockney's model of a transfer, time(n) = t0 + n / r_inf: t0 is the start-up time and r_inf the
 * asymptotic bandwidth; at n_1/2 = t0 x r_inf bytes half of r_inf is reached (R. W. Hockney,
 * "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20,
 * 1994). Fitted by least squares on relative errors, since sizes and times span eight decades;
 * a start-up time that would come out negative is held at 0.
 *
 * 0; -EINVAL for fewer than two points, or a time that is not positive; -ERANGE where time does
 * not grow with size (no bandwidth can be told). Nothing is written on error.
 */
int gmt_fit_hockney(const struct gmt_curve_point *points, size_t n, struct gmt_curve *curve);

#endif

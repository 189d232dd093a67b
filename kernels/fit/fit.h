/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From timings to numbers: order statistics and the transfer-time fit; plain C, no CUDA, no JSON.
 */
#ifndef GMT_KERNELS_FIT_FIT_H
#define GMT_KERNELS_FIT_FIT_H

#include <stddef.h>

/*
 * A measured quantity. The spread is the distance from the 10th to the 90th percentile; of samples
 * taken in passes see gmt_stat_passes.
 */
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
 * The same of samples that were taken in passes, pass_of[i] naming that of samples[i], in however
 * many processes: median is the mean of the quickest third of the passes' medians (rounded up). What
 * slows a host (a neighbour on the same core, a lower clock) comes and goes within a second, and only
 * adds time: in some calibrations to less than half of the passes, in others to more. So a third is
 * what is left of the device in each; and its mean moves less from one calibration to the next than
 * its least member does. The spread covers what the passes differ by: from the 10th percentile of
 * all samples, or the median where that is less, to the 90th, or that of the passes' medians where
 * that is more. Neither array is changed. Errors as above; -ENOMEM.
 */
int gmt_stat_passes(const double *samples, const double *pass_of, size_t n, struct gmt_stat *stat);

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
 * not grow with size (no bandwidth can be derived). Nothing is written on error.
 */
int gmt_fit_hockney(const struct gmt_curve_point *points, size_t n, struct gmt_curve *curve);

#define GMT_PIECES_MOST 4

/* A stretch of a curve between two sizes that were measured, both included. */
struct gmt_piece {
    double from_bytes;
    double to_bytes;
    double latency_ns;
    double ns_per_byte; /* 0: time does not grow there */
    double max_relative_error;
};

struct gmt_pieces {
    struct gmt_piece pieces[GMT_PIECES_MOST];
    size_t n;
    /* Of the whole: t0 of the first piece, r of the last, and the worst of the errors. */
    struct gmt_curve curve;
};

/*
 * Hockney's model by pieces, time(n) = t0_k + n / r_k: drivers change their way of copying at some
 * sizes (inline data, staging buffers, threads), and the curve has a knee or a jump there. For each
 * number of pieces, the cuts that make the sum of squared relative errors least (R. Bellman, "On the
 * approximation of curves by line segments using dynamic programming", Communications of the ACM 4,
 * 1961), three points to a piece at least. A further piece is taken while the worst error is above
 * 5 % and the piece halves the sum, so noise makes none. half_bandwidth_bytes is the least size at
 * which half of the last piece's bandwidth is reached.
 *
 * Points ascend in size. Errors as above; -ENOMEM.
 */
int gmt_fit_pieces(const struct gmt_curve_point *points, size_t n, struct gmt_pieces *pieces);

#endif

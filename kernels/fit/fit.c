/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics and the least-squares fit of Hockney's transfer model. */
#include "kernels/fit/fit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double percentile(const double *sorted, size_t n, double fraction)
{
    double rank = fraction * (double)(n - 1);
    size_t below = (size_t)rank;

    if (below + 1 >= n) {
        return sorted[n - 1];
    }
    return sorted[below] + (rank - (double)below) * (sorted[below + 1] - sorted[below]);
}

int gmt_stat_of(double *samples, size_t n, struct gmt_stat *stat)
{
    if (n == 0) {
        return -EINVAL;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(samples[i]) || samples[i] < 0) {
            return -EINVAL;
        }
    }
    qsort(samples, n, sizeof(samples[0]), compare_doubles);
    stat->median = percentile(samples, n, 0.5);
    stat->spread = percentile(samples, n, 0.9) - percentile(samples, n, 0.1);
    stat->n = n;
    return 0;
}

/* The samples of one pass, into a buffer with room for all of them; how many. */
static size_t of_pass(const double *samples, const double *pass_of, size_t n, double pass,
                      double *buffer)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        if (pass_of[i] <= pass && pass_of[i] >= pass) {
            buffer[count++] = samples[i];
        }
    }
    return count;
}

static bool is_first_of(const double *pass_of, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (pass_of[j] <= pass_of[i] && pass_of[j] >= pass_of[i]) {
            return false;
        }
    }
    return true;
}

/* The medians of the passes, ascending, into `medians`; buffer has room for n. 0 or -EINVAL. */
static int medians_of(const double *samples, const double *pass_of, size_t n, double *buffer,
                      double *medians, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        struct gmt_stat one;

        if (!is_first_of(pass_of, i)) {
            continue;
        }
        int rc = gmt_stat_of(buffer, of_pass(samples, pass_of, n, pass_of[i], buffer), &one);
        if (rc != 0) {
            return rc;
        }
        medians[(*count)++] = one.median;
    }
    qsort(medians, *count, sizeof(*medians), compare_doubles);
    return *count > 0 ? 0 : -EINVAL;
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum / (double)n;
}

int gmt_stat_passes(const double *samples, const double *pass_of, size_t n, struct gmt_stat *stat)
{
    double *buffer = calloc(n + 1, sizeof(*buffer)), *medians = calloc(n + 1, sizeof(*medians));
    struct gmt_stat all;
    size_t count;
    int rc = -ENOMEM;

    if (buffer == NULL || medians == NULL) {
        goto out;
    }
    rc = medians_of(samples, pass_of, n, buffer, medians, &count);
    if (rc != 0) {
        goto out;
    }
    memcpy(buffer, samples, n * sizeof(*buffer));
    rc = gmt_stat_of(buffer, n, &all);
    if (rc != 0) {
        goto out;
    }
    stat->median = mean_of(medians, (count + 2) / 3);
    stat->spread = fmax(percentile(medians, count, 0.9), percentile(buffer, n, 0.9)) -
                   fmin(stat->median, percentile(buffer, n, 0.1));
    stat->n = n;
out:
    free(medians);
    free(buffer);
    return rc;
}

int gmt_stat_rate(double *samples_ns, size_t n, double work, struct gmt_stat *rate)
{
    struct gmt_stat time;
    int rc = gmt_stat_of(samples_ns, n, &time);

    if (rc != 0) {
        return rc;
    }
    if (!(samples_ns[0] > 0) || !(work > 0)) {
        return -EINVAL;
    }
    /* The reciprocal turns the order round, so percentiles of the rate are those of the time. */
    rate->median = work * 1e9 / time.median;
    rate->spread = work * 1e9 / percentile(samples_ns, n, 0.1) -
                   work * 1e9 / percentile(samples_ns, n, 0.9);
    rate->n = n;
    return 0;
}

int gmt_fit_hockney(const struct gmt_curve_point *points, size_t n, struct gmt_curve *curve)
{
    double sw = 0, swx = 0, swxx = 0, swt = 0, swxt = 0;
    double smallest = INFINITY, largest = -INFINITY;

    if (n < 2) {
        return -EINVAL;
    }
    for (size_t i = 0; i < n; i++) {
        double x = points[i].bytes;
        double t = points[i].time_ns;

        if (!isfinite(t) || !isfinite(x) || t <= 0 || x < 0) {
            return -EINVAL;
        }
        smallest = fmin(smallest, x);
        largest = fmax(largest, x);
        sw += 1 / (t * t);
        swx += x / (t * t);
        swxx += x * x / (t * t);
        swt += 1 / t;
        swxt += x / t;
    }
    if (!(largest > smallest)) {
        return -ERANGE;
    }

    double determinant = sw * swxx - swx * swx;
    if (!(determinant > 0)) {
        return -ERANGE;
    }
    double latency = (swt * swxx - swxt * swx) / determinant;
    double per_byte = (sw * swxt - swx * swt) / determinant;
    if (latency < 0) {
        latency = 0;
        per_byte = swxt / swxx;
    }
    /* Rounding alone can leave a tiny slope of either sign where times are all the same. */
    if (!(per_byte * (largest - smallest) > 1e-3 * latency) || !isfinite(1 / per_byte)) {
        return -ERANGE;
    }

    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double fitted = latency + per_byte * points[i].bytes;

        worst = fmax(worst, fabs(fitted / points[i].time_ns - 1));
    }
    curve->latency_ns = latency;
    curve->bandwidth_bytes_per_s = 1e9 / per_byte;
    curve->half_bandwidth_bytes = latency / per_byte;
    curve->max_relative_error = worst;
    return 0;
}

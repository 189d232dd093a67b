/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics and the least-squares fit of Hockney's transfer model. */
#include "fit.h"

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

    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (rank - (double)below) * (sorted[below + 1] - sorted[below]);
}

int gmt_stat_of(double *samples, size_t n, struct gmt_stat *stat)
{
    if (n == 0)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(samples[i]) || samples[i] < 0)
            return -EINVAL;
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
        if (pass_of[i] <= pass && pass_of[i] >= pass)
            buffer[count++] = samples[i];
    }
    return count;
}

int gmt_stat_passes(const double *samples, const double *pass_of, size_t n, struct gmt_stat *stat)
{
    double *buffer = calloc(n + 1, sizeof(*buffer));
    struct gmt_stat all, one;
    double lowest = INFINITY, highest = 0;
    int rc = -ENOMEM;

    if (buffer == NULL)
        return rc;
    for (size_t i = 0; i < n; i++) {
        size_t count = of_pass(samples, pass_of, n, pass_of[i], buffer);

        rc = gmt_stat_of(buffer, count, &one);
        if (rc != 0)
            goto out;
        lowest = fmin(lowest, one.median);
        highest = fmax(highest, one.median);
    }
    memcpy(buffer, samples, n * sizeof(*buffer));
    rc = gmt_stat_of(buffer, n, &all);
    if (rc != 0)
        goto out;
    stat->median = lowest;
    stat->spread = fmax(highest, percentile(buffer, n, 0.9)) -
                   fmin(lowest, percentile(buffer, n, 0.1));
    stat->n = n;
out:
    free(buffer);
    return rc;
}

static bool is_first_of(const double *process_of, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (process_of[j] <= process_of[i] && process_of[j] >= process_of[i])
            return false;
    }
    return true;
}

/* The value of the process that process_of[first] names; buffer has room for 2 n. */
static int value_of_process(const double *samples, const double *pass_of, const double *process_of,
                            size_t n, size_t first, double *buffer, double *value)
{
    struct gmt_stat stat;
    size_t count = of_pass(samples, process_of, n, process_of[first], buffer);
    int rc;

    of_pass(pass_of, process_of, n, process_of[first], buffer + count);
    rc = gmt_stat_passes(buffer, buffer + count, count, &stat);
    if (rc == 0)
        *value = stat.median;
    return rc;
}

/* Of values in ascending order. */
static double chosen_by(enum gmt_process_rule rule, const double *values, size_t n)
{
    switch (rule) {
    case GMT_PROCESS_LOWEST: break;
    case GMT_PROCESS_SECOND: return values[n > 1];
    case GMT_PROCESS_MEDIAN: return percentile(values, n, 0.5);
    }
    return values[0];
}

int gmt_stat_processes(const double *samples, const double *pass_of, const double *process_of,
                       size_t n, enum gmt_process_rule rule, struct gmt_stat *stat)
{
    double *buffer = calloc(2 * n + 1, sizeof(*buffer)), *values = calloc(n + 1, sizeof(*values));
    struct gmt_stat all;
    size_t count = 0;
    int rc = buffer == NULL || values == NULL ? -ENOMEM : n > 0 ? 0 : -EINVAL;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (is_first_of(process_of, i))
            rc = value_of_process(samples, pass_of, process_of, n, i, buffer, &values[count++]);
    }
    if (rc != 0)
        goto out;
    memcpy(buffer, samples, n * sizeof(*buffer));
    rc = gmt_stat_of(buffer, n, &all);
    if (rc != 0)
        goto out;
    qsort(values, count, sizeof(*values), compare_doubles);
    stat->median = chosen_by(rule, values, count);
    stat->spread = fmax(values[count - 1], percentile(buffer, n, 0.9)) -
                   fmin(stat->median, percentile(buffer, n, 0.1));
    stat->n = n;
out:
    free(values);
    free(buffer);
    return rc;
}

int gmt_stat_rate(double *samples_ns, size_t n, double work, struct gmt_stat *rate)
{
    struct gmt_stat time;
    int rc = gmt_stat_of(samples_ns, n, &time);

    if (rc != 0)
        return rc;
    if (!(samples_ns[0] > 0) || !(work > 0))
        return -EINVAL;
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

    if (n < 2)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        double x = points[i].bytes;
        double t = points[i].time_ns;

        if (!isfinite(t) || !isfinite(x) || t <= 0 || x < 0)
            return -EINVAL;
        smallest = fmin(smallest, x);
        largest = fmax(largest, x);
        sw += 1 / (t * t);
        swx += x / (t * t);
        swxx += x * x / (t * t);
        swt += 1 / t;
        swxt += x / t;
    }
    if (!(largest > smallest))
        return -ERANGE;

    double determinant = sw * swxx - swx * swx;
    if (!(determinant > 0))
        return -ERANGE;
    double latency = (swt * swxx - swxt * swx) / determinant;
    double per_byte = (sw * swxt - swx * swt) / determinant;
    if (latency < 0) {
        latency = 0;
        per_byte = swxt / swxx;
    }
    /* Rounding alone can leave a tiny slope of either sign where times are all the same. */
    if (!(per_byte * (largest - smallest) > 1e-3 * latency) || !isfinite(1 / per_byte))
        return -ERANGE;

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

/* SPDX-License-Identifier: Apache-2.0 */
/* The generalized extreme Studentized deviate test. */
#include "analyzer/fleet/outliers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What values may differ by and still be one: the rounding of sums. */
#define ROUNDING 1e-9

struct peel {
    double t; /* distance from the rest in its standard deviations */
    size_t index;
    double middle, spread, limit; /* of the rest */
};

static double distance(double value, double middle, enum gmt_fleet_side side)
{
    return side == GMT_FLEET_HIGHER  ? value - middle
           : side == GMT_FLEET_LOWER ? middle - value
                                     : fabs(value - middle);
}

static void mean_of(const double *values, const size_t *kept, size_t n, double *mean, double *sd)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        sum += values[kept[i]];
    }
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double by = values[kept[i]] - *mean;

        squares += by * by;
    }
    *sd = sqrt(squares / (double)(n - 1));
    if (*sd <= ROUNDING * fabs(*mean)) {
        *sd = 0;
    }
}

/* Takes the most extreme of n values off, and judges it by the others. */
static struct peel take_one(const double *values, size_t *kept, size_t n, enum gmt_fleet_side side,
                            double alpha)
{
    struct peel peel = {0};
    double mean, sd;
    size_t far = 0;

    mean_of(values, kept, n, &mean, &sd);
    for (size_t i = 1; i < n; i++) {
        if (distance(values[kept[i]], mean, side) > distance(values[kept[far]], mean, side)) {
            far = i;
        }
    }
    peel.index = kept[far];
    kept[far] = kept[n - 1];
    mean_of(values, kept, n - 1, &peel.middle, &peel.spread);
    /* The mean of the others is not known exactly either. */
    double unit = peel.spread * sqrt(1 + 1 / (double)(n - 1));
    double by = distance(values[peel.index], peel.middle, side);
    double sides = side == GMT_FLEET_EITHER ? 2 : 1;

    if (by <= ROUNDING * fabs(peel.middle)) {
        by = 0;
    }
    peel.t = by <= 0 ? 0 : unit > 0 ? by / unit : INFINITY;
    peel.limit = gmt_student_upper(alpha / (sides * (double)n), (double)(n - 2));
    return peel;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The i-th gap from the outside: between the value that is i-th and the next, times i. */
static double gap(const double *sorted, size_t n, size_t i, bool upper)
{
    double size = upper ? sorted[n - i] - sorted[n - i - 1] : sorted[i] - sorted[i - 1];

    return (double)i * size;
}

/* Of the first `most` values from the outside, how many a gap separates from the rest. */
static size_t separated(const double *sorted, size_t n, size_t most, bool upper, double alpha)
{
    const size_t compared = n / 4;

    for (size_t i = most; i > 0; i--) {
        /* The chances of all i are alpha. */
        double chance = ldexp(alpha, -(int)i), k = (double)compared, sum = 0;
        double own = gap(sorted, n, i, upper);

        for (size_t behind = i + 1; behind <= i + compared; behind++) {
            sum += gap(sorted, n, behind, upper);
        }
        /* Ratio of an exponential value to the mean of k others: P(> x) = (1 + x / k) ^ -k. */
        if (own > 0 && own * k > sum * k * (pow(chance, -1 / k) - 1)) {
            return i;
        }
    }
    return 0;
}

/* Takes back what the tails explain. known: values that are no NAN, at least GMT_OUTLIERS_TAILS. */
static int ask_tails(struct gmt_outliers *outliers, const double *values, size_t n, size_t known,
                     double alpha, double *odd)
{
    double *sorted = malloc(known * sizeof(*sorted));
    size_t high = 0, low = 0, at = 0;

    if (sorted == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        high += odd[i] > 0;
        low += odd[i] < 0;
        if (!isnan(values[i])) {
            sorted[at++] = values[i];
        }
    }
    qsort(sorted, known, sizeof(*sorted), ascending);
    high = separated(sorted, known, high, true, alpha);
    low = separated(sorted, known, low, false, alpha);
    outliers->count = 0;
    for (size_t i = 0; i < n; i++) {
        bool stays = odd[i] > 0   ? high > 0 && values[i] >= sorted[known - high]
                     : odd[i] < 0 ? low > 0 && values[i] <= sorted[low - 1]
                                  : false;

        odd[i] = stays ? odd[i] : 0;
        outliers->count += stays;
    }
    free(sorted);
    return 0;
}

int gmt_outliers_find(struct gmt_outliers *outliers, const double *values, size_t n,
                      enum gmt_fleet_side side, double alpha, double *odd)
{
    size_t *kept = malloc((n + 1) * sizeof(*kept)), known = 0, most;
    struct peel *peels = NULL;
    int rc = -ENOMEM;

    *outliers = (struct gmt_outliers){.middle = NAN, .spread = NAN, .limit = NAN};
    memset(odd, 0, n * sizeof(*odd));
    if (kept == NULL) {
        return rc;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isnan(values[i])) {
            kept[known++] = i;
        }
    }
    most = known < GMT_OUTLIERS_LEAST ? 0 : known / 4;
    peels = calloc(most + 1, sizeof(*peels));
    if (peels == NULL) {
        goto out;
    }
    rc = 0;
    for (size_t i = 0; i < most; i++) {
        /* Half of it for the outermost alone: that test is exact, the others are only nearly so where values are few. */
        double share = most == 1 ? 1 : i == 0 ? 0.5 : 0.5 / (double)(most - 1);

        peels[i] = take_one(values, kept, known - i, side, alpha * share);
        if (peels[i].t > peels[i].limit) {
            outliers->count = i + 1;
        }
    }
    if (most == 0) {
        goto out;
    }
    const struct peel *last = &peels[outliers->count > 0 ? outliers->count - 1 : 0];
    *outliers = (struct gmt_outliers){.middle = last->middle,
                                      .spread = last->spread,
                                      .limit = last->limit,
                                      .count = outliers->count};
    for (size_t i = 0; i < outliers->count; i++) {
        double by = values[peels[i].index] - last->middle;

        odd[peels[i].index] = last->spread > 0 ? by / last->spread : copysign(INFINITY, by);
    }
    if (known >= GMT_OUTLIERS_TAILS && outliers->count > 0) {
        rc = ask_tails(outliers, values, n, known, side == GMT_FLEET_EITHER ? alpha / 2 : alpha,
                       odd);
    }
out:
    free(peels);
    free(kept);
    return rc;
}

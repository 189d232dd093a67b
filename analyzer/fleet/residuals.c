/* SPDX-License-Identifier: Apache-2.0 */
/* Differences to the median over the ranks, and their medians over steps. */
#include "analyzer/fleet/residuals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double gmt_fleet_median(double *values, size_t n)
{
    if (n == 0) {
        return NAN;
    }
    qsort(values, n, sizeof(*values), ascending);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Sorts the values. The mean of those that are left when so many were taken away on either side. */
static double mean_within(double *values, size_t n, size_t outermost)
{
    double sum = 0;

    if (n == 0) {
        return NAN;
    }
    qsort(values, n, sizeof(*values), ascending);
    for (size_t i = outermost; i < n - outermost; i++) {
        sum += values[i];
    }
    return sum / (double)(n - 2 * outermost);
}

static double middle_of(double *values, size_t n, enum gmt_fleet_middle middle)
{
    return middle == GMT_FLEET_MEDIAN
               ? gmt_fleet_median(values, n)
               : mean_within(values, n, middle == GMT_FLEET_MEAN ? 0 : n / 10);
}

double gmt_fleet_value_at(const struct gmt_fleet_rank *rank, enum gmt_fleet_measure measure,
                          size_t step)
{
    if (rank->trouble != NULL || step < rank->first_step ||
        step - rank->first_step >= rank->step_count) {
        return NAN;
    }
    return rank->values[(step - rank->first_step) * GMT_FLEET_MEASURES + measure];
}

double gmt_fleet_median_of_steps(const struct gmt_fleet_rank *rank, enum gmt_fleet_measure measure,
                                 size_t first, size_t steps, double *room)
{
    size_t n = 0;

    for (size_t i = 0; i < steps; i++) {
        double value = gmt_fleet_value_at(rank, measure, first + i);

        if (!isnan(value)) {
            room[n++] = value;
        }
    }
    return gmt_fleet_measure_rows[measure].middle == GMT_FLEET_MEAN ? mean_within(room, n, 0)
                                                                    : gmt_fleet_median(room, n);
}

int gmt_fleet_residuals_make(struct gmt_fleet_residuals *residuals, size_t ranks, size_t first,
                             size_t steps, bool apart)
{
    *residuals = (struct gmt_fleet_residuals){
        .ranks = ranks, .steps = steps, .first_step = first, .apart = apart};
    residuals->values = calloc(ranks * steps + 1, sizeof(double));
    residuals->room = calloc(ranks + steps + 1, sizeof(double));
    return residuals->values != NULL && residuals->room != NULL ? 0 : -ENOMEM;
}

void gmt_fleet_residuals_free(struct gmt_fleet_residuals *residuals)
{
    free(residuals->values);
    free(residuals->room);
}

/* The median of n sorted values without one that equals `left_out`. */
static double median_without(const double *sorted, size_t n, double left_out)
{
    size_t rest = n - 1, low = (rest - 1) / 2, high = rest / 2, at = 0;

    while (at + 1 < n && sorted[at] < left_out) {
        at++;
    }
    return (sorted[low + (low >= at)] + sorted[high + (high >= at)]) / 2;
}

static void fill_step(struct gmt_fleet_residuals *residuals, const struct gmt_fleet *fleet,
                      enum gmt_fleet_measure measure, size_t step, size_t compared)
{
    size_t known = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        double value = gmt_fleet_value_at(&fleet->ranks[r], measure, residuals->first_step + step);

        residuals->values[r * residuals->steps + step] = value;
        if (!isnan(value)) {
            residuals->room[known++] = value;
        }
    }
    bool enough = known >= 2 && known * 2 >= compared;
    double middle = gmt_fleet_median(residuals->room, known);
    for (size_t r = 0; r < fleet->count; r++) {
        double *value = &residuals->values[r * residuals->steps + step];

        if (!enough) {
            *value = NAN;
        } else if (!isnan(*value)) {
            *value -= residuals->apart ? median_without(residuals->room, known, *value) : middle;
        }
    }
}

void gmt_fleet_residuals_fill(struct gmt_fleet_residuals *residuals, const struct gmt_fleet *fleet,
                              enum gmt_fleet_measure measure)
{
    size_t compared = 0;

    residuals->middle = gmt_fleet_measure_rows[measure].middle;
    for (size_t r = 0; r < fleet->count; r++) {
        compared += fleet->ranks[r].trouble == NULL;
    }
    for (size_t step = 0; step < residuals->steps; step++) {
        fill_step(residuals, fleet, measure, step, compared);
    }
}

double gmt_fleet_level(struct gmt_fleet_residuals *residuals, size_t rank, size_t begin, size_t end)
{
    const double *values = residuals->values + rank * residuals->steps;
    size_t n = 0;

    for (size_t i = begin; i < end; i++) {
        if (!isnan(values[i])) {
            residuals->room[n++] = values[i];
        }
    }
    if (n * 2 < end - begin) {
        return NAN;
    }
    return middle_of(residuals->room, n, residuals->middle);
}

double gmt_fleet_growth(struct gmt_fleet_residuals *residuals, size_t rank, size_t begin,
                        size_t end)
{
    size_t steps = end - begin, quarter = steps >= 4 ? steps / 4 : 1;

    /* Between the middles of the first and the last quarter. */
    return (gmt_fleet_level(residuals, rank, end - quarter, end) -
            gmt_fleet_level(residuals, rank, begin, begin + quarter)) /
           (double)(steps > quarter ? steps - quarter : 1);
}

size_t gmt_fleet_pieces(struct gmt_fleet_residuals *residuals, size_t rank, size_t begin,
                        size_t end, size_t most, double *pieces)
{
    size_t steps = end - begin, count = steps < most ? steps : most, n = 0;

    for (size_t i = 0; i < count; i++) {
        double level = gmt_fleet_level(residuals, rank, begin + steps * i / count,
                                       begin + steps * (i + 1) / count);

        if (!isnan(level)) {
            pieces[n++] = level;
        }
    }
    return n;
}

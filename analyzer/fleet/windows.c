/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a measure in the whole of a run and in its quarters. */
#include "analyzer/fleet/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/fleet/outliers.h"

/* Among few ranks what is reported must be larger: their usual spread is not known. */
#define FEW_RANKS_FLOOR 5
/* With fewer steps there are no quarters. */
#define QUARTERED_STEPS 32

int gmt_fleet_windows_make(struct gmt_fleet_windows *windows, const struct gmt_fleet *fleet,
                           const struct gmt_fleet_result *result)
{
    *windows = (struct gmt_fleet_windows){
        .fleet = fleet, .step_ns = result->spread[GMT_FLEET_STEP].median, .alpha = result->alpha};
    windows->levels = calloc(fleet->count + 1, sizeof(double));
    windows->scores = calloc(fleet->count + 1, sizeof(double));
    int rc = gmt_fleet_residuals_make(&windows->residuals, fleet->count, result->first_step,
                                      result->step_count, result->few_ranks);
    return windows->levels != NULL && windows->scores != NULL ? rc : -ENOMEM;
}

void gmt_fleet_windows_free(struct gmt_fleet_windows *windows)
{
    gmt_fleet_residuals_free(&windows->residuals);
    free(windows->levels);
    free(windows->scores);
}

static double floor_of(const struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure)
{
    const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[measure];
    double of = row->floor_of == GMT_FLEET_OF_STEP ? windows->step_ns : windows->self;

    return isnan(of) ? 0 : row->floor * of * (windows->residuals.apart ? FEW_RANKS_FLOOR : 1);
}

/* Is it there in three quarters of the pieces, with its sign and half of its size? */
static bool persists(struct gmt_fleet_windows *windows, size_t rank, size_t begin, size_t end,
                     bool grows)
{
    double pieces[GMT_FLEET_PIECES], level = windows->levels[rank];
    size_t most = grows ? GMT_FLEET_PIECES / 2 : GMT_FLEET_PIECES, same = 0;
    size_t n = gmt_fleet_pieces(&windows->residuals, rank, begin, end, most, pieces), asked = n;

    if (grows) {
        /* From each piece to the next. */
        for (size_t i = 1; i < n; i++) {
            same += (pieces[i] - pieces[i - 1]) * level > 0;
        }
        asked = n > 0 ? n - 1 : 0;
    } else {
        for (size_t i = 0; i < n; i++) {
            same += pieces[i] * level > 0 && fabs(pieces[i]) >= fabs(level) / 2;
        }
    }
    return asked >= GMT_FLEET_LEAST_STEPS - 1 && same * 4 >= asked * 3;
}

/* Among few ranks: how far the pieces of the window lie from 0, in their own standard error. */
static void score_by_steps(struct gmt_fleet_windows *windows, size_t begin, size_t end,
                           enum gmt_fleet_side side, bool grows, double alpha, double *limit)
{
    const double each = alpha / (double)windows->fleet->count;

    *limit = NAN;
    for (size_t r = 0; r < windows->fleet->count; r++) {
        double pieces[GMT_FLEET_PIECES], mean = 0, squares = 0;
        size_t n = gmt_fleet_pieces(&windows->residuals, r, begin, end, GMT_FLEET_PIECES, pieces);

        if (grows && n > 0) {
            for (size_t i = 0; i + 1 < n; i++) {
                pieces[i] = pieces[i + 1] - pieces[i];
            }
            n--;
        }
        for (size_t i = 0; i < n; i++) {
            mean += pieces[i] / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
            squares += (pieces[i] - mean) * (pieces[i] - mean);
        }
        windows->scores[r] = 0;
        if (n < GMT_FLEET_LEAST_STEPS - 1) {
            continue;
        }
        double error = sqrt(squares / (double)(n - 1) / (double)n);
        double score = error > 0 ? mean / error : mean != 0 ? copysign(INFINITY, mean) : 0;
        /* Which of two is the odd one cannot be known, so what is more is taken to be. */
        double towards = side == GMT_FLEET_LOWER ? -score : score;

        *limit = gmt_student_upper(each, (double)(n - 1));
        windows->scores[r] = towards > *limit ? score : 0;
    }
}

/* Leaves in scores what is odd in steps begin to end - 1. limit: in standard deviations. */
static int test(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure, size_t begin,
                size_t end, double *limit)
{
    const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[measure];
    const bool grows = row->cause == GMT_FLEET_CAUSE_LEAK;
    double floor = floor_of(windows, measure);
    /* Half for the whole, half for its quarters. */
    double alpha = windows->alpha / (end - begin == windows->residuals.steps ? 2 : 8);
    struct gmt_outliers outliers = {.limit = NAN};
    int rc = 0;

    for (size_t r = 0; r < windows->fleet->count; r++) {
        windows->levels[r] = grows ? gmt_fleet_growth(&windows->residuals, r, begin, end)
                                   : gmt_fleet_level(&windows->residuals, r, begin, end);
    }
    if (windows->residuals.apart) {
        score_by_steps(windows, begin, end, row->side, grows, alpha, &outliers.limit);
    } else {
        rc = gmt_outliers_find(&outliers, windows->levels, windows->fleet->count, row->side, alpha,
                               windows->scores);
    }
    *limit = outliers.limit;
    for (size_t r = 0; r < windows->fleet->count && rc == 0; r++) {
        double by = fabs(windows->levels[r]) * (grows ? (double)(end - begin) : 1);

        if (windows->scores[r] != 0 &&
            (isnan(by) || by < floor || !persists(windows, r, begin, end, grows))) {
            windows->scores[r] = 0;
        }
    }
    return rc;
}

static void keep(struct gmt_fleet_windows *windows, struct gmt_fleet_difference *differences,
                 double limit, size_t begin, size_t end)
{
    for (size_t r = 0; r < windows->fleet->count; r++) {
        struct gmt_fleet_difference *kept = &differences[r];
        size_t first = windows->residuals.first_step + begin;

        if (windows->scores[r] == 0) {
            continue;
        }
        if (kept->score == 0) {
            kept->first_step = first;
        }
        kept->last_step = windows->residuals.first_step + end - 1;
        if (fabs(windows->scores[r]) > fabs(kept->score)) {
            kept->score = windows->scores[r];
            kept->by = windows->levels[r];
            kept->limit = limit;
        }
    }
}

/* The whole first: who is odd there is not asked about in quarters. */
static int search(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                  struct gmt_fleet_difference *whole, struct gmt_fleet_difference *quarters)
{
    size_t steps = windows->residuals.steps;
    double limit;
    int rc = test(windows, measure, 0, steps, &limit);

    if (rc == 0) {
        keep(windows, whole, limit, 0, steps);
    }
    for (size_t q = 0; q < 4 && rc == 0 && steps >= QUARTERED_STEPS; q++) {
        size_t begin = steps * q / 4, end = steps * (q + 1) / 4;

        rc = test(windows, measure, begin, end, &limit);
        if (rc == 0) {
            keep(windows, quarters, limit, begin, end);
        }
    }
    return rc;
}

int gmt_fleet_windows_search(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                             int (*found)(void *context, size_t rank,
                                          const struct gmt_fleet_difference *difference),
                             void *context)
{
    size_t ranks = windows->fleet->count, known = 0;
    struct gmt_fleet_residuals *residuals = &windows->residuals;
    struct gmt_fleet_difference *kept = calloc(2 * ranks + 1, sizeof(*kept));
    int rc = kept != NULL ? 0 : -ENOMEM;

    if (rc != 0) {
        return rc;
    }
    for (size_t r = 0; r < ranks; r++) {
        double level = gmt_fleet_median_of_steps(&windows->fleet->ranks[r], measure,
                                                 residuals->first_step, residuals->steps,
                                                 residuals->room);
        if (!isnan(level)) {
            windows->levels[known++] = level;
        }
    }
    windows->self = gmt_fleet_median(windows->levels, known);
    gmt_fleet_residuals_fill(residuals, windows->fleet, measure);
    rc = search(windows, measure, kept, kept + ranks);
    for (size_t r = 0; r < ranks && rc == 0; r++) {
        struct gmt_fleet_difference *difference = &kept[kept[r].score != 0 ? r : ranks + r];

        if (difference->score == 0) {
            continue;
        }
        difference->measure = measure;
        difference->middle = windows->self;
        difference->value = windows->self + difference->by;
        if (gmt_fleet_measure_rows[measure].cause == GMT_FLEET_CAUSE_LEAK) {
            difference->value = difference->by;
            difference->middle = 0;
        }
        rc = found(context, r, difference);
    }
    free(kept);
    return rc;
}

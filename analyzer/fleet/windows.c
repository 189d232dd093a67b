/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a measure in the whole of a run and in its quarters. */
#include "analyzer/fleet/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/fleet/outliers.h"
#include "analyzer/fleet/presence.h"

/* Among few ranks what is reported must be larger: their usual spread is not known. */
#define FEW_RANKS_FLOOR 5
/*
 * Among few ranks the pieces of a window are the evidence, and must not depend on each other: all that a thread of the host does, the
 * driver's part of calls as well, is slower by a third at times, for a tenth of a second or so (docs/measurements.md).
 */
#define PIECE_LEAST_NS 1e8
/* So many degrees of freedom make Student's distribution the normal one. */
#define NORMAL_FREEDOM 1e4

static int make_set(struct gmt_fleet_window_set *set, const struct gmt_fleet *fleet,
                    const struct gmt_fleet_result *result, bool apart)
{
    int rc = gmt_fleet_residuals_make(&set->residuals, fleet->count, result->first_step,
                                      result->step_count, apart);

    set->is_used = true;
    if (rc == 0) {
        rc = gmt_fleet_residuals_make(&set->waiting, fleet->count, result->first_step,
                                      result->step_count, apart);
    }
    if (rc == 0) {
        gmt_fleet_residuals_fill(&set->waiting, fleet, GMT_FLEET_COLLECTIVES);
    }
    return rc;
}

int gmt_fleet_windows_make(struct gmt_fleet_windows *windows, const struct gmt_fleet *fleet,
                           const struct gmt_fleet_result *result)
{
    int rc = 0;

    *windows = (struct gmt_fleet_windows){
        .fleet = fleet, .step_ns = result->spread[GMT_FLEET_STEP].median, .alpha = result->alpha};
    windows->levels = calloc(fleet->count + 1, sizeof(double));
    windows->scores = calloc(fleet->count + 1, sizeof(double));
    windows->is_few_for_growth = gmt_fleet_is_few_for_growth(fleet, result);
    bool needed[2] = {!windows->is_few_for_growth, windows->is_few_for_growth};
    for (size_t i = 0; i < gmt_fleet_window_count(result->step_count); i++) {
        struct gmt_fleet_window window = gmt_fleet_window_at(result->step_count, i);

        windows->is_few[i] = gmt_fleet_is_few(fleet, result, window);
        needed[windows->is_few[i]] = true;
    }
    for (int few = 0; few < 2 && rc == 0; few++) {
        rc = needed[few] ? make_set(&windows->sets[few], fleet, result, few != 0) : 0;
    }
    windows->set = &windows->sets[result->few_ranks];
    return windows->levels != NULL && windows->scores != NULL ? rc : -ENOMEM;
}

void gmt_fleet_windows_free(struct gmt_fleet_windows *windows)
{
    for (size_t i = 0; i < 2; i++) {
        gmt_fleet_residuals_free(&windows->sets[i].residuals);
        gmt_fleet_residuals_free(&windows->sets[i].waiting);
    }
    free(windows->levels);
    free(windows->scores);
}

static double floor_of(const struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure)
{
    const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[measure];
    double of = row->floor_of == GMT_FLEET_OF_STEP ? windows->step_ns : windows->self;

    return isnan(of) ? 0 : row->floor * of * (windows->set->residuals.apart ? FEW_RANKS_FLOOR : 1);
}

static bool is_time(enum gmt_fleet_measure measure)
{
    enum gmt_fleet_unit unit = gmt_fleet_measure_rows[measure].unit;

    return unit == GMT_FLEET_UNIT_NS || unit == GMT_FLEET_UNIT_RATE;
}

/* How long the window's steps took, mean of the ranks; those of which that is not known left out. */
static double window_ns(const struct gmt_fleet_windows *windows, size_t begin, size_t end)
{
    double sum = 0;

    for (size_t step = begin; step < end; step++) {
        double ns = 0, known = 0;

        for (size_t r = 0; r < windows->fleet->count; r++) {
            double value = gmt_fleet_value_at(&windows->fleet->ranks[r], GMT_FLEET_STEP,
                                              windows->set->residuals.first_step + step);
            ns += isnan(value) ? 0 : value;
            known += !isnan(value);
        }
        sum += known > 0 ? ns / known : 0;
    }
    return sum;
}

/* Into how many pieces a window may be cut. */
static size_t pieces_most(const struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                          size_t begin, size_t end)
{
    if (!windows->set->residuals.apart || !is_time(measure)) {
        return GMT_FLEET_PIECES;
    }
    double most = floor(window_ns(windows, begin, end) / PIECE_LEAST_NS);

    return most < GMT_FLEET_PIECES ? (size_t)most : GMT_FLEET_PIECES;
}

/* Is it there in three quarters of the pieces, with its sign and half of its size? */
static bool persists(struct gmt_fleet_windows *windows, size_t rank, size_t begin, size_t end,
                     size_t most, bool grows)
{
    double pieces[GMT_FLEET_PIECES], level = windows->levels[rank];
    size_t same = 0;
    size_t n = gmt_fleet_pieces(&windows->set->residuals, rank, begin, end,
                                grows ? GMT_FLEET_PIECES / 2 : most, pieces);
    size_t asked = n;

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
static void score_by_steps(struct gmt_fleet_windows *windows, size_t begin, size_t end, size_t most,
                           enum gmt_fleet_side side, double alpha, double *limit)
{
    const double each = alpha / (double)windows->fleet->count;

    *limit = NAN;
    for (size_t r = 0; r < windows->fleet->count; r++) {
        double pieces[GMT_FLEET_PIECES], mean = 0, squares = 0;
        size_t n = gmt_fleet_pieces(&windows->set->residuals, r, begin, end, most, pieces);

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

/*
 * Among few ranks: does it grow through the pieces of the window? Kendall's S, pairs of pieces of which the later is more, less
 * those of which it is less, in its standard deviation where the order of the pieces is chance (Kendall, Biometrika 30, 1938). Of how
 * much they grow nothing is asked: allocators take memory in segments, by steps that come now and then.
 */
static void score_by_trend(struct gmt_fleet_windows *windows, size_t begin, size_t end,
                           double alpha, double *limit)
{
    *limit = gmt_student_upper(alpha / (double)windows->fleet->count, NORMAL_FREEDOM);
    for (size_t r = 0; r < windows->fleet->count; r++) {
        double pieces[GMT_FLEET_TREND_PIECES], pairs = 0;
        size_t n = gmt_fleet_pieces(&windows->set->residuals, r, begin, end, GMT_FLEET_TREND_PIECES,
                                    pieces);

        for (size_t i = 0; i < n; i++) {
            for (size_t later = i + 1; later < n; later++) {
                pairs += (pieces[later] > pieces[i]) - (pieces[later] < pieces[i]);
            }
        }
        double count = (double)n, deviation = sqrt(count * (count - 1) * (2 * count + 5) / 18);

        windows->scores[r] = n >= GMT_FLEET_LEAST_STEPS && pairs / deviation > *limit
                                 ? pairs / deviation
                                 : 0;
    }
}

/* By how much the rank's own memory grows in the window, whatever that of the others does. */
static double own_growth(struct gmt_fleet_windows *windows, size_t rank, size_t begin, size_t end)
{
    const struct gmt_fleet_rank *of = &windows->fleet->ranks[rank];
    size_t steps = end - begin, quarter = steps >= 4 ? steps / 4 : 1;
    size_t first = windows->set->residuals.first_step + begin;
    double *room = windows->set->residuals.room;

    return gmt_fleet_median_of_steps(of, GMT_FLEET_LEAK, first + steps - quarter, quarter, room) -
           gmt_fleet_median_of_steps(of, GMT_FLEET_LEAK, first, quarter, room);
}

/* What a rank's steps of the window differ by, mean: of those that are known. */
static double mean_residual(const struct gmt_fleet_windows *windows, size_t rank, size_t begin,
                            size_t end)
{
    const double *values = windows->set->residuals.values + rank * windows->set->residuals.steps;
    double sum = 0, known = 0;

    for (size_t step = begin; step < end; step++) {
        sum += isnan(values[step]) ? 0 : values[step];
        known += !isnan(values[step]);
    }
    return known > 0 ? sum / known : NAN;
}

/* What else must hold of a rank whose score is odd. */
static bool holds(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure, size_t rank,
                  size_t begin, size_t end)
{
    bool grows = gmt_fleet_measure_rows[measure].cause == GMT_FLEET_CAUSE_LEAK;
    double by = fabs(windows->levels[rank]) * (grows ? (double)(end - begin) : 1);

    if (isnan(by) || by < floor_of(windows, measure) ||
        !persists(windows, rank, begin, end, pieces_most(windows, measure, begin, end), grows)) {
        return false;
    }
    /* Kernels beside a collective that waits for another rank share the device with it: they are not what is waited for. */
    if (measure == GMT_FLEET_KERNELS && gmt_fleet_level(&windows->set->waiting, rank, begin, end) >=
                                            floor_of(windows, GMT_FLEET_COLLECTIVES)) {
        return false;
    }
    /* Of hosts that run ahead, most steps are short, and those in which they wait long: all of them may take as long. */
    if (measure == GMT_FLEET_STEP && mean_residual(windows, rank, begin, end) < by / 2) {
        return false;
    }
    /* It grows against the others, too, where they shrink. */
    return !grows || own_growth(windows, rank, begin, end) >= by / 2;
}

/* Leaves in scores what is odd in steps begin to end - 1. limit: in standard deviations. */
static int test(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure, size_t begin,
                size_t end, double *limit)
{
    const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[measure];
    const bool grows = row->cause == GMT_FLEET_CAUSE_LEAK;
    /* Half for the whole, half for its quarters. */
    double alpha = windows->alpha / (end - begin == windows->set->residuals.steps ? 2 : 8);
    struct gmt_outliers outliers = {.limit = NAN};
    int rc = 0;

    for (size_t r = 0; r < windows->fleet->count; r++) {
        windows->levels[r] = grows ? gmt_fleet_growth(&windows->set->residuals, r, begin, end)
                                   : gmt_fleet_level(&windows->set->residuals, r, begin, end);
    }
    if (!windows->set->residuals.apart) {
        rc = gmt_outliers_find(&outliers, windows->levels, windows->fleet->count, row->side, alpha,
                               windows->scores);
    } else if (grows) {
        score_by_trend(windows, begin, end, alpha, &outliers.limit);
    } else {
        score_by_steps(windows, begin, end, pieces_most(windows, measure, begin, end), row->side,
                       alpha, &outliers.limit);
    }
    *limit = outliers.limit;
    for (size_t r = 0; r < windows->fleet->count && rc == 0; r++) {
        if (windows->scores[r] != 0 && !holds(windows, measure, r, begin, end)) {
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
        size_t first = windows->set->residuals.first_step + begin;

        if (windows->scores[r] == 0) {
            continue;
        }
        if (kept->score == 0) {
            kept->first_step = first;
        }
        kept->last_step = windows->set->residuals.first_step + end - 1;
        if (fabs(windows->scores[r]) > fabs(kept->score)) {
            kept->score = windows->scores[r];
            kept->by = windows->levels[r];
            kept->limit = limit;
            kept->by_steps = windows->set->residuals.apart;
        }
    }
}

/* The whole first: who is odd there is not asked about in quarters. */
static int search(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                  struct gmt_fleet_difference *whole, struct gmt_fleet_difference *quarters)
{
    const bool grows = gmt_fleet_measure_rows[measure].cause == GMT_FLEET_CAUSE_LEAK;
    size_t steps = windows->set->residuals.steps;
    int rc = 0;

    for (size_t i = 0; i < gmt_fleet_window_count(steps) && rc == 0; i++) {
        struct gmt_fleet_window window = gmt_fleet_window_at(steps, i);
        double limit;
        bool few = grows && i == 0 ? windows->is_few_for_growth : windows->is_few[i];

        windows->set = &windows->sets[few];
        rc = test(windows, measure, window.begin, window.end, &limit);
        if (rc == 0) {
            keep(windows, i == 0 ? whole : quarters, limit, window.begin, window.end);
        }
    }
    return rc;
}

/* Among few ranks caches that fill look like leaks until they are full: one goes on to the end. */
static bool has_stopped(const struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                        const struct gmt_fleet_difference *difference)
{
    const struct gmt_fleet_residuals *residuals = &windows->set->residuals;

    return difference->by_steps && gmt_fleet_measure_rows[measure].cause == GMT_FLEET_CAUSE_LEAK &&
           difference->last_step + 1 < residuals->first_step + residuals->steps;
}

/* What the rank has, and the others. Among few ranks it is itself half of their median. */
static void set_value(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                      size_t rank, struct gmt_fleet_difference *difference)
{
    double own = gmt_fleet_median_of_steps(
        &windows->fleet->ranks[rank], measure, difference->first_step,
        difference->last_step - difference->first_step + 1, windows->set->residuals.room);

    difference->middle = windows->self;
    difference->value = windows->self + difference->by;
    if (difference->by_steps) {
        difference->value = own;
        difference->middle = fmax(own - difference->by, 0);
    }
}

int gmt_fleet_windows_search(struct gmt_fleet_windows *windows, enum gmt_fleet_measure measure,
                             int (*found)(void *context, size_t rank,
                                          const struct gmt_fleet_difference *difference),
                             void *context)
{
    size_t ranks = windows->fleet->count, known = 0;
    const struct gmt_fleet_residuals *residuals = &windows->set->residuals;
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
    for (size_t i = 0; i < 2; i++) {
        if (windows->sets[i].is_used) {
            gmt_fleet_residuals_fill(&windows->sets[i].residuals, windows->fleet, measure);
        }
    }
    rc = search(windows, measure, kept, kept + ranks);
    for (size_t r = 0; r < ranks && rc == 0; r++) {
        struct gmt_fleet_difference *difference = &kept[kept[r].score != 0 ? r : ranks + r];

        if (difference->score == 0 || has_stopped(windows, measure, difference)) {
            continue;
        }
        difference->measure = measure;
        set_value(windows, measure, r, difference);
        if (gmt_fleet_measure_rows[measure].cause == GMT_FLEET_CAUSE_LEAK) {
            difference->value = difference->by;
            difference->middle = 0;
        }
        rc = found(context, r, difference);
    }
    free(kept);
    return rc;
}

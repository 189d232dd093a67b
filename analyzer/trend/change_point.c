/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the shifts of a series, the narrowest interval first. */
#include "analyzer/trend/change_point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/compare.h"
#include "analyzer/fleet/outliers.h"

/* Of each end of a sample. */
#define GMT_TREND_TRIMMED 0.2
/* From one length of intervals to the next. */
#define DECAY 0.70710678118654752

struct interval {
    size_t begin, end;
};

struct shift_candidate {
    struct interval interval;
    size_t at;
    double p;
};

struct shift_search {
    const double *values; /* as they are compared */
    size_t n;
    double spread;
    double *left, *right;  /* room: of n values each */
    const bool *is_stray;  /* of each value */
    double share_of_tests; /* positions per test: what a run of stray values is held to */
};

/* ---- one test --------------------------------------------------------------------------------- */

static void trim(const double *sorted, size_t n, double *mean, double *squares, size_t *kept)
{
    size_t cut = (size_t)(GMT_TREND_TRIMMED * (double)n);
    double sum = 0, all = 0;

    *kept = n - 2 * cut;
    for (size_t i = cut; i < n - cut; i++) {
        sum += sorted[i];
    }
    *mean = sum / (double)*kept;
    double low = sorted[cut], high = sorted[n - cut - 1];
    double winsorized = (sum + (double)cut * (low + high)) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double value = fmin(fmax(sorted[i], low), high) - winsorized;

        all += value * value;
    }
    /* Equal values have an equal mean and no squares: no rounding. */
    *squares = low == high ? 0 : all;
    *mean = low == high ? low : *mean;
}

double gmt_trend_t(const double *a, size_t a_count, const double *b, size_t b_count, double spread,
                   double *freedom)
{
    double a_mean, b_mean, a_squares, b_squares;
    size_t a_kept, b_kept;

    trim(a, a_count, &a_mean, &a_squares, &a_kept);
    trim(b, b_count, &b_mean, &b_squares, &b_kept);
    *freedom = (double)(a_kept + b_kept) - 2;
    double variance = fmax((a_squares + b_squares) / *freedom, spread * spread);
    double by = b_mean - a_mean;
    if (by == 0) {
        return 0;
    }
    return variance > 0 ? by / sqrt(variance * (1 / (double)a_kept + 1 / (double)b_kept))
                        : copysign(INFINITY, by);
}

/* Of five values around the i-th of n; of all where there are fewer. */
static double running_median(const double *values, size_t n, size_t i)
{
    enum { WINDOW = 5 };
    double window[WINDOW];
    size_t count = n < WINDOW ? n : WINDOW;
    size_t begin = i > WINDOW / 2 ? i - WINDOW / 2 : 0;

    begin = begin > n - count ? n - count : begin;
    memcpy(window, values + begin, count * sizeof(*window));
    return gmt_median(window, count);
}

double gmt_trend_spread(const double *values, size_t n, double *room, bool *is_stray)
{
    for (size_t i = 0; i < n; i++) {
        room[i] = fabs(values[i] - running_median(values, n, i));
    }
    /* Of independent normal values it is 0.49 standard deviations: many are the median of their window themselves. */
    double spread = n > 0 ? gmt_median(room, n) / 0.49 : 0;
    for (size_t i = 0; i < n; i++) {
        double by = fabs(values[i] - running_median(values, n, i));

        is_stray[i] = by > GMT_TREND_STRAY * spread;
    }
    return spread;
}

/* So many values of a level may be nearer to the one beside it: a third, none of the least level. */
static size_t misfits_of(size_t count)
{
    return (count - 1) / 3;
}

/* P(at least `least` of n are so), each with that probability. */
static double binomial_tail(size_t n, size_t least, double probability)
{
    double sum = 0;

    for (size_t k = least; k <= n && probability > 0; k++) {
        sum += exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1)) *
               pow(probability, (double)k) * pow(1 - probability, (double)(n - k));
    }
    return sum;
}

/* How likely stray values would make up the shorter side of a place, in tests as those of t. */
static double chance_of_run(const struct shift_search *search, struct interval interval, size_t at)
{
    size_t left = 0, right = 0, all = 0;
    size_t left_count = at - interval.begin, right_count = interval.end - at;

    for (size_t i = 0; i < search->n; i++) {
        all += search->is_stray[i];
        left += search->is_stray[i] && i >= interval.begin && i < at;
        right += search->is_stray[i] && i >= at && i < interval.end;
    }
    bool is_left = left_count != right_count ? left_count < right_count : left > right;
    size_t count = is_left ? left_count : right_count;
    double share = (double)(all - (is_left ? left : right)) / (double)(search->n - count);

    return binomial_tail(count, count - misfits_of(count), share) * search->share_of_tests;
}

static double level(const double *values, size_t begin, size_t end, double *room)
{
    memcpy(room, values + begin, (end - begin) * sizeof(*room));
    return gmt_median(room, end - begin);
}

/* Are the values at both sides nearer to the median of their own? A few that are far off move a mean, no level. */
static bool are_levels(const struct shift_search *search, struct interval interval, size_t at)
{
    double left = level(search->values, interval.begin, at, search->left);
    double right = level(search->values, at, interval.end, search->right);
    size_t left_misfits = 0, right_misfits = 0;

    for (size_t i = interval.begin; i < interval.end; i++) {
        double to_left = fabs(search->values[i] - left), to_right = fabs(search->values[i] - right);

        left_misfits += i < at && to_left >= to_right;
        right_misfits += i >= at && to_right >= to_left;
    }
    return left_misfits <= misfits_of(at - interval.begin) &&
           right_misfits <= misfits_of(interval.end - at);
}

/* ---- places of an interval -------------------------------------------------------------------- */

/* Into n sorted ones. */
static void insert(double *sorted, size_t n, double value)
{
    size_t i = n;

    for (; i > 0 && sorted[i - 1] > value; i--) {
        sorted[i] = sorted[i - 1];
    }
    sorted[i] = value;
}

/* Out of n sorted ones, of which it is one. */
static void take_out(double *sorted, size_t n, double value)
{
    size_t i = 0;

    while (i + 1 < n && sorted[i] != value) {
        i++;
    }
    memmove(sorted + i, sorted + i + 1, (n - i - 1) * sizeof(*sorted));
}

/* Sum of the distances from their median, of sorted ones. */
static double distances(const double *sorted, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n / 2; i++) {
        sum += sorted[n - 1 - i] - sorted[i];
    }
    return sum;
}

/*
 * The clearest result of the interval's places, 1 where there is none; and the place from which on values are nearest to
 * a level of their own. The former does not say where: what is trimmed may lie on the wrong side.
 */
static struct shift_candidate best_of(struct shift_search *search, struct interval interval)
{
    struct shift_candidate best = {interval, interval.begin, 1};
    size_t length = interval.end - interval.begin;
    double least = INFINITY;

    for (size_t i = 0; i < length; i++) {
        insert(search->right, i, search->values[interval.begin + i]);
    }
    for (size_t k = 1; k + GMT_TREND_LEVEL_LEAST <= length; k++) {
        double value = search->values[interval.begin + k - 1], freedom;

        insert(search->left, k - 1, value);
        take_out(search->right, length - k + 1, value);
        if (k < GMT_TREND_LEVEL_LEAST) {
            continue;
        }
        double t = fabs(
            gmt_trend_t(search->left, k, search->right, length - k, search->spread, &freedom));
        double sum = distances(search->left, k) + distances(search->right, length - k);
        double p = isinf(t) ? 0 : 2 * gmt_student_tail(t, freedom);

        best.p = fmin(best.p, p);
        if (sum < least) {
            least = sum;
            best.at = interval.begin + k;
        }
    }
    if (best.at > interval.begin) {
        best.p = are_levels(search, interval, best.at)
                     ? fmax(best.p, chance_of_run(search, interval, best.at))
                     : 1;
    }
    return best;
}

/* ---- intervals -------------------------------------------------------------------------------- */

/* Calls `visit` with each seeded interval of n values that is long enough. */
static void each_interval(size_t n, void (*visit)(void *context, struct interval interval),
                          void *context)
{
    const size_t least = 2 * GMT_TREND_LEVEL_LEAST;
    double share = 1;

    for (;; share *= DECAY) {
        double length = (double)n * share;
        size_t count = 2 * (size_t)ceil(1 / share - 1e-9) - 1;

        if (length < (double)least) {
            break;
        }
        for (size_t i = 0; i < count; i++) {
            double shift = count > 1 ? ((double)n - length) * (double)i / (double)(count - 1) : 0;
            size_t begin = (size_t)(shift + 1e-9), end = (size_t)ceil(shift + length - 1e-9);

            visit(context, (struct interval){begin, end < n ? end : n});
        }
    }
}

static void count_tests(void *context, struct interval interval)
{
    *(size_t *)context += interval.end - interval.begin + 1 - 2 * GMT_TREND_LEVEL_LEAST;
}

size_t gmt_trend_tests(size_t n)
{
    size_t tests = 0;

    each_interval(n, count_tests, &tests);
    return tests;
}

struct shift_candidates {
    struct shift_search *search;
    double limit;
    struct shift_candidate *all;
    size_t count;
    bool failed;
};

static void ask_interval(void *context, struct interval interval)
{
    struct shift_candidates *candidates = context;
    struct shift_candidate best = best_of(candidates->search, interval);

    if (best.p > candidates->limit || candidates->failed) {
        return;
    }
    struct shift_candidate *grown = realloc(candidates->all,
                                            (candidates->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        candidates->failed = true;
        return;
    }
    candidates->all = grown;
    candidates->all[candidates->count++] = best;
}

static int narrowest_first(const void *a, const void *b)
{
    const struct shift_candidate *x = a, *y = b;
    size_t p = x->interval.end - x->interval.begin, q = y->interval.end - y->interval.begin;

    if (p != q) {
        return p < q ? -1 : 1;
    }
    return x->p != y->p ? (x->p < y->p ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b)
{
    const struct gmt_trend_shift *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Takes candidates whose intervals hold no shift that was taken before. Returns how many. */
static size_t choose(const struct shift_candidates *candidates, struct gmt_trend_shift *shifts)
{
    size_t count = 0;

    for (size_t c = 0; c < candidates->count; c++) {
        const struct shift_candidate *candidate = &candidates->all[c];
        bool is_free = true;

        for (size_t i = 0; i < count; i++) {
            is_free = is_free && (shifts[i].at <= candidate->interval.begin ||
                                  shifts[i].at >= candidate->interval.end);
        }
        if (is_free) {
            shifts[count++] = (struct gmt_trend_shift){.at = candidate->at, .p = candidate->p};
        }
    }
    qsort(shifts, count, sizeof(*shifts), by_place);
    return count;
}

/* What lies between two shifts is an interval of its own. Returns how many shifts there are then. */
static size_t ask_between(struct shift_search *search, double limit, struct gmt_trend_shift *shifts,
                          size_t count)
{
    for (size_t i = 0; i <= count;) {
        struct interval between = {i > 0 ? shifts[i - 1].at : 0,
                                   i < count ? shifts[i].at : search->n};
        struct shift_candidate best = {.p = 1};

        if (between.end - between.begin >= 2 * (size_t)GMT_TREND_LEVEL_LEAST) {
            best = best_of(search, between);
        }
        if (best.p > limit) {
            i++;
            continue;
        }
        memmove(&shifts[i + 1], &shifts[i], (count - i) * sizeof(*shifts));
        shifts[i] = (struct gmt_trend_shift){.at = best.at, .p = best.p};
        count++;
    }
    return count;
}

/* ---- what is reported ------------------------------------------------------------------------- */

/* An interval of few values knows the place less well than all that lies between two other shifts. */
static void place_again(struct shift_search *search, struct gmt_trend_shift *shifts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct interval between = {i > 0 ? shifts[i - 1].at : 0,
                                   i + 1 < count ? shifts[i + 1].at : search->n};
        struct shift_candidate best = best_of(search, between);

        shifts[i].at = best.at;
        shifts[i].p = fmin(shifts[i].p, best.p);
    }
}

/* Levels between shifts; leaves out the smallest of those that are not worth a line, until there is none. */
static size_t keep_large(const double *values, size_t n, struct gmt_trend_least least,
                         struct gmt_trend_shift *shifts, size_t count, double *room)
{
    for (;;) {
        size_t smallest = count;
        double smallest_by = 1;

        for (size_t i = 0; i < count; i++) {
            struct gmt_trend_shift *shift = &shifts[i];

            shift->before = level(values, i > 0 ? shifts[i - 1].at : 0, shift->at, room);
            shift->after = level(values, shift->at, i + 1 < count ? shifts[i + 1].at : n, room);
            double limit = fmax(least.share * fabs(shift->before), least.size);
            double by = fabs(shift->after - shift->before);
            double of_limit = limit > 0 ? by / limit : by > 0 ? INFINITY : 0;

            if (of_limit < smallest_by) {
                smallest = i;
                smallest_by = of_limit;
            }
        }
        if (smallest == count) {
            return count;
        }
        memmove(&shifts[smallest], &shifts[smallest + 1], (count - smallest - 1) * sizeof(*shifts));
        count--;
    }
}

int gmt_trend_shifts(const double *values, size_t n, bool is_ratio, double alpha,
                     struct gmt_trend_least least, struct gmt_trend_shift **shifts, size_t *count)
{
    size_t tests = gmt_trend_tests(n);
    double *room = calloc(3 * n + 1, sizeof(*room));
    bool *is_stray = calloc(n + 1, sizeof(*is_stray));
    struct shift_search search = {.values = values, .n = n, .is_stray = is_stray};
    struct shift_candidates candidates = {.search = &search};
    int rc = room != NULL && is_stray != NULL ? 0 : -ENOMEM;

    *shifts = NULL;
    *count = 0;
    if (rc != 0 || tests == 0) {
        goto out;
    }
    search.left = room;
    search.right = room + n;
    for (size_t i = 0; i < n; i++) {
        room[2 * n + i] = is_ratio ? log(values[i]) : values[i];
    }
    search.values = room + 2 * n;
    search.spread = gmt_trend_spread(search.values, n, search.left, is_stray);
    search.share_of_tests = (double)n / (double)tests;
    candidates.limit = alpha / (double)tests;
    each_interval(n, ask_interval, &candidates);
    if (candidates.count > 1) {
        qsort(candidates.all, candidates.count, sizeof(*candidates.all), narrowest_first);
    }
    /* Levels are no shorter than they may be. */
    *shifts = calloc(candidates.count + n / GMT_TREND_LEVEL_LEAST + 1, sizeof(**shifts));
    if (*shifts == NULL || candidates.failed) {
        rc = -ENOMEM;
        goto out;
    }
    *count = choose(&candidates, *shifts);
    *count = ask_between(&search, candidates.limit, *shifts, *count);
    place_again(&search, *shifts, *count);
    *count = keep_large(values, n, least, *shifts, *count, search.left);
out:
    if (rc != 0) {
        free(*shifts);
        *shifts = NULL;
        *count = 0;
    }
    free(candidates.all);
    free(is_stray);
    free(room);
    return rc;
}

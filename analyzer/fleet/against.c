/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs the ranks of two runs. */
#include "analyzer/fleet/against.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/residuals.h"

struct rank_pairs {
    const struct gmt_fleet *before, *after;
    const struct gmt_fleet_result *before_result, *after_result;
    size_t *partner; /* of each rank of `after`: its index in `before`; before->count: none */
    double *room;    /* of steps of either run */
    double *befores, *afters, *differences; /* of pairs */
};

/* The rank of that number, if there is just one. */
static size_t only_one(const struct gmt_fleet *fleet, const char *number)
{
    size_t found = fleet->count, count = 0;

    for (size_t r = 0; r < fleet->count && number != NULL; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];

        if (rank->trouble == NULL && rank->rank != NULL && strcmp(rank->rank, number) == 0) {
            found = r;
            count++;
        }
    }
    return count == 1 ? found : fleet->count;
}

/* How many of n coins must fall alike, so that they do by chance with at most that probability. */
static size_t needed_of(size_t n, double chance)
{
    double tail = 0;
    size_t k = n + 1;

    while (k > 0) {
        double at = exp(lgamma((double)n + 1) - lgamma((double)k) -
                        lgamma((double)n - (double)k + 2) - (double)n * log(2));

        if (2 * (tail + at) > chance) {
            break;
        }
        tail += at;
        k--;
    }
    return k;
}

/* Levels of the pairs that have the measure; returns their number. */
static size_t fill_pairs(struct rank_pairs *pairs, enum gmt_fleet_measure measure)
{
    size_t n = 0;

    for (size_t r = 0; r < pairs->after->count; r++) {
        size_t partner = pairs->partner[r];

        if (partner == pairs->before->count) {
            continue;
        }
        double before = gmt_fleet_median_of_steps(&pairs->before->ranks[partner], measure,
                                                  pairs->before_result->first_step,
                                                  pairs->before_result->step_count, pairs->room);
        double after = gmt_fleet_median_of_steps(&pairs->after->ranks[r], measure,
                                                 pairs->after_result->first_step,
                                                 pairs->after_result->step_count, pairs->room);

        if (!isnan(before) && !isnan(after)) {
            pairs->befores[n] = before;
            pairs->afters[n] = after;
            pairs->differences[n++] = after - before;
        }
    }
    return n;
}

static void compare_measure(struct rank_pairs *pairs, struct gmt_fleet_changes *changes,
                            enum gmt_fleet_measure measure)
{
    const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[measure];
    struct gmt_fleet_change change = {.measure = measure};
    size_t n = fill_pairs(pairs, measure);
    size_t needed = needed_of(n, GMT_FLEET_FALSE_ALARMS / GMT_FLEET_MEASURES);

    for (size_t i = 0; i < n; i++) {
        change.more += pairs->differences[i] > 0;
        change.less += pairs->differences[i] < 0;
    }
    change.before = gmt_fleet_median(pairs->befores, n);
    change.after = gmt_fleet_median(pairs->afters, n);
    double of = row->floor_of == GMT_FLEET_OF_STEP
                    ? pairs->before_result->spread[GMT_FLEET_STEP].median
                    : change.before;
    double by = fabs(gmt_fleet_median(pairs->differences, n));

    if (n > 0 && (change.more >= needed || change.less >= needed) && by >= row->floor * of) {
        changes->changes[changes->count++] = change;
    }
}

int gmt_fleet_against(struct gmt_fleet_changes *changes, const struct gmt_fleet *before,
                      const struct gmt_fleet_result *before_result, const struct gmt_fleet *after,
                      const struct gmt_fleet_result *after_result)
{
    struct rank_pairs pairs = {before, after, before_result, after_result, NULL,
                               NULL,   NULL,  NULL,          NULL};
    size_t ranks = after->count + 1;
    double *memory = calloc(3 * ranks, sizeof(*memory));
    int rc = -ENOMEM;

    *changes = (struct gmt_fleet_changes){0};
    pairs.partner = calloc(ranks, sizeof(*pairs.partner));
    pairs.room = calloc(before_result->step_count + after_result->step_count + 1,
                        sizeof(*pairs.room));
    if (memory == NULL || pairs.partner == NULL || pairs.room == NULL) {
        goto out;
    }
    pairs.befores = memory;
    pairs.afters = memory + ranks;
    pairs.differences = memory + 2 * ranks;
    for (size_t r = 0; r < after->count; r++) {
        const char *number = after->ranks[r].rank;
        bool alone = only_one(after, number) == r;

        pairs.partner[r] = alone ? only_one(before, number) : before->count;
        changes->paired += pairs.partner[r] != before->count;
    }
    changes->needed = needed_of(changes->paired, GMT_FLEET_FALSE_ALARMS / GMT_FLEET_MEASURES);
    for (int m = 0; m < GMT_FLEET_MEASURES; m++) {
        compare_measure(&pairs, changes, (enum gmt_fleet_measure)m);
    }
    rc = 0;
out:
    free(memory);
    free(pairs.partner);
    free(pairs.room);
    return rc;
}

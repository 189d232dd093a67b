/* SPDX-License-Identifier: Apache-2.0 */
/* From differences of single measures to odd ranks, each with its cause. */
#include "analyzer/fleet/detect.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/outliers.h"
#include "analyzer/fleet/presence.h"
#include "analyzer/fleet/windows.h"

struct assembly {
    struct gmt_fleet_result *result;
    struct gmt_fleet_odd *by_rank; /* of all ranks; cause GMT_FLEET_CAUSES: not odd */
};

static int add_difference(void *context, size_t rank, const struct gmt_fleet_difference *difference)
{
    struct assembly *assembly = context;
    struct gmt_fleet_odd *odd = &assembly->by_rank[rank];
    enum gmt_fleet_cause cause = gmt_fleet_measure_rows[difference->measure].cause;

    odd->differences[odd->difference_count++] = *difference;
    if (cause < odd->cause) {
        odd->cause = cause;
    }
    if (difference->measure == GMT_FLEET_COLLECTIVES) {
        odd->waited_ns = -difference->by;
    }
    return 0;
}

/* What more than half of the ranks have there; NULL: nothing. */
static const char *usual_trait(const struct gmt_fleet *fleet, int trait)
{
    const char *usual = NULL;
    size_t known = 0, votes = 0, count = 0;

    /* Whoever has the majority survives the pairing off of unequal ones. */
    for (size_t r = 0; r < fleet->count; r++) {
        const char *value = fleet->ranks[r].traits[trait];

        if (value == NULL || fleet->ranks[r].trouble != NULL) {
            continue;
        }
        known++;
        if (votes == 0) {
            usual = value;
        }
        votes = strcmp(usual, value) == 0 ? votes + 1 : votes - 1;
    }
    for (size_t r = 0; r < fleet->count && usual != NULL; r++) {
        const char *value = fleet->ranks[r].traits[trait];

        count += value != NULL && fleet->ranks[r].trouble == NULL && strcmp(value, usual) == 0;
    }
    return count * 2 > known ? usual : NULL;
}

static void find_traits(const struct gmt_fleet *fleet, struct assembly *assembly)
{
    for (int trait = 0; trait < GMT_FLEET_TRAITS; trait++) {
        const char *usual = usual_trait(fleet, trait);

        for (size_t r = 0; r < fleet->count && usual != NULL; r++) {
            const struct gmt_fleet_rank *rank = &fleet->ranks[r];
            struct gmt_fleet_odd *odd = &assembly->by_rank[r];

            if (rank->trouble == NULL && rank->traits[trait] != NULL && odd->trait < 0 &&
                strcmp(rank->traits[trait], usual) != 0) {
                odd->cause = GMT_FLEET_CAUSE_VERSION;
                odd->trait = trait;
                odd->usual = usual;
            }
        }
    }
}

static void find_clocks(const struct gmt_fleet *fleet, const struct gmt_fleet_clocks *clocks,
                        struct assembly *assembly)
{
    for (size_t r = 0; r < fleet->count; r++) {
        struct gmt_fleet_odd *odd = &assembly->by_rank[r];

        if (!clocks->ranks[r].odd) {
            continue;
        }
        odd->clock_ns = clocks->ranks[r].offset_ns;
        odd->clock_error_ns = clocks->ranks[r].error_ns;
        if (odd->cause > GMT_FLEET_CAUSE_CLOCK) {
            odd->cause = GMT_FLEET_CAUSE_CLOCK;
        }
    }
}

/* Steps from the first to the last that half of the ranks have. 0 or -ENOMEM. */
static int find_steps(struct gmt_fleet_result *result, const struct gmt_fleet *fleet)
{
    double *first = calloc(fleet->count + 1, sizeof(*first));
    double *end = calloc(fleet->count + 1, sizeof(*end));
    size_t n = 0;

    for (size_t r = 0; r < fleet->count && first != NULL && end != NULL; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];

        if (rank->trouble == NULL && rank->step_count > 0) {
            first[n] = (double)rank->first_step;
            end[n++] = (double)(rank->first_step + rank->step_count);
        }
    }
    int rc = first != NULL && end != NULL ? 0 : -ENOMEM;

    result->compared = n;
    if (n > 0) {
        double from = ceil(gmt_fleet_median(first, n)), to = floor(gmt_fleet_median(end, n));

        result->first_step = (size_t)from;
        result->step_count = to > from ? (size_t)(to - from) : 0;
    }
    free(first);
    free(end);
    return rc;
}

/* A rank with a small part of the steps shows no spread of ranks, but must not keep the others from being asked. */
static void find_few(struct gmt_fleet_result *result, const struct gmt_fleet *fleet)
{
    size_t steps = result->step_count;

    result->few_ranks = gmt_fleet_is_few(fleet, result, gmt_fleet_window_at(steps, 0));
    result->few_in_part = !result->few_ranks && gmt_fleet_is_few_for_growth(fleet, result);
    for (size_t i = 1; i < gmt_fleet_window_count(steps) && !result->few_ranks; i++) {
        result->few_in_part = result->few_in_part ||
                              gmt_fleet_is_few(fleet, result, gmt_fleet_window_at(steps, i));
    }
}

static int fill_spread(struct gmt_fleet_result *result, const struct gmt_fleet *fleet)
{
    double *levels = calloc(fleet->count + 1, sizeof(*levels));
    double *room = calloc(result->step_count + 1, sizeof(*room));
    int rc = levels != NULL && room != NULL ? 0 : -ENOMEM;

    for (int m = 0; m < GMT_FLEET_MEASURES && rc == 0; m++) {
        struct gmt_fleet_spread *spread = &result->spread[m];
        size_t n = 0;

        *spread = (struct gmt_fleet_spread){.least = NAN, .median = NAN, .most = NAN};
        for (size_t r = 0; r < fleet->count; r++) {
            double level = gmt_fleet_median_of_steps(&fleet->ranks[r], (enum gmt_fleet_measure)m,
                                                     result->first_step, result->step_count, room);

            if (isnan(level)) {
                continue;
            }
            if (!(level >= spread->least)) {
                spread->least = level;
                spread->least_rank = r;
            }
            if (!(level <= spread->most)) {
                spread->most = level;
                spread->most_rank = r;
            }
            levels[n++] = level;
        }
        spread->median = gmt_fleet_median(levels, n);
    }
    free(levels);
    free(room);
    return rc;
}

static int search_measures(const struct gmt_fleet *fleet, struct assembly *assembly)
{
    struct gmt_fleet_windows windows;
    int rc = gmt_fleet_windows_make(&windows, fleet, assembly->result);

    for (int m = 0; m < GMT_FLEET_MEASURES && rc == 0; m++) {
        rc = gmt_fleet_windows_search(&windows, (enum gmt_fleet_measure)m, add_difference,
                                      assembly);
    }
    gmt_fleet_windows_free(&windows);
    return rc;
}

/* Those of the cause to the front, the others stay in their order. */
static void order_differences(struct gmt_fleet_odd *odd)
{
    struct gmt_fleet_difference sorted[GMT_FLEET_MEASURES];
    size_t n = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < odd->difference_count; i++) {
            bool of_cause = gmt_fleet_measure_rows[odd->differences[i].measure].cause == odd->cause;

            if (of_cause == (pass == 0)) {
                sorted[n++] = odd->differences[i];
            }
        }
    }
    memcpy(odd->differences, sorted, n * sizeof(*sorted));
}

static int by_cause(const void *a, const void *b)
{
    const struct gmt_fleet_odd *x = a, *y = b;

    return x->cause != y->cause ? (x->cause > y->cause) - (x->cause < y->cause)
                                : (x->rank > y->rank) - (x->rank < y->rank);
}

int gmt_fleet_detect(struct gmt_fleet_result *result, const struct gmt_fleet *fleet,
                     const struct gmt_fleet_clocks *clocks, struct gmt_arena *arena)
{
    struct assembly assembly = {.result = result};

    *result = (struct gmt_fleet_result){.false_alarms = GMT_FLEET_FALSE_ALARMS};
    result->alpha = (GMT_FLEET_FALSE_ALARMS - GMT_FLEET_CLOCK_ALARMS) / GMT_FLEET_MEASURES;
    assembly.by_rank = gmt_arena_alloc(arena, (fleet->count + 1) * sizeof(*assembly.by_rank));
    if (assembly.by_rank == NULL) {
        return -ENOMEM;
    }
    for (size_t r = 0; r < fleet->count; r++) {
        assembly.by_rank[r] = (struct gmt_fleet_odd){
            .rank = r, .cause = GMT_FLEET_CAUSES, .trait = -1, .waited_ns = NAN};
    }
    int rc = find_steps(result, fleet);
    if (rc == 0) {
        find_few(result, fleet);
        rc = fill_spread(result, fleet);
    }
    if (rc == 0) {
        find_traits(fleet, &assembly);
    }
    if (rc == 0 && clocks != NULL) {
        find_clocks(fleet, clocks, &assembly);
    }
    if (rc == 0 && result->step_count >= GMT_FLEET_LEAST_STEPS && result->compared >= 2) {
        rc = search_measures(fleet, &assembly);
    }
    result->odd = assembly.by_rank;
    for (size_t r = 0; r < fleet->count; r++) {
        if (assembly.by_rank[r].cause != GMT_FLEET_CAUSES) {
            struct gmt_fleet_odd *odd = &result->odd[result->odd_count++];

            *odd = assembly.by_rank[r];
            order_differences(odd);
        }
    }
    qsort(result->odd, result->odd_count, sizeof(*result->odd), by_cause);
    return rc;
}

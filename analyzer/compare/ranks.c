/* SPDX-License-Identifier: Apache-2.0 */
/* Least, middle and most of each figure over several traces, the odd one out, findings merged. */
#include "analyzer/compare/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/compare.h"

/* Closer to the middle than this nobody is odd, however well the others agree. */
#define GMT_ODD_SHARE 0.05
/* 0.6745 = 1 / 1.4826: makes the median deviation of a normal distribution its standard one. */
#define GMT_NORMAL 0.6745

static double score_of(double value, double middle, double deviation)
{
    double by = fabs(value - middle);

    if (isnan(value)) {
        return NAN;
    }
    if (by <= GMT_ODD_SHARE * fabs(middle)) {
        return 0;
    }
    /* More than half of the traces agree exactly: whoever does not is odd. */
    return deviation > 0 ? GMT_NORMAL * by / deviation : INFINITY;
}

/* A finding that lies near the limit of two severities makes nobody odd. */
static bool can_be_odd(int figure)
{
    return figure != GMT_FIGURE_findings_high && figure != GMT_FIGURE_findings_medium &&
           figure != GMT_FIGURE_findings_low;
}

static void fill_figure(struct gmt_ranks *ranks, int index, double *values, struct gmt_arena *arena)
{
    struct gmt_rank_figure *figure = &ranks->figures[index];
    double highest = 0;

    *figure = (struct gmt_rank_figure){.min = NAN, .median = NAN, .max = NAN, .odd = ranks->count};
    figure->scores = gmt_arena_alloc(arena, ranks->count * sizeof(*figure->scores));
    for (size_t i = 0; i < ranks->count; i++) {
        if (!isnan(ranks->traces[i].values[index])) {
            values[figure->known++] = ranks->traces[i].values[index];
        }
    }
    if (figure->known == 0 || figure->scores == NULL) {
        figure->known = 0;
        return;
    }
    figure->median = gmt_median(values, figure->known);
    figure->min = values[0];
    figure->max = values[figure->known - 1];
    double deviation = gmt_median_deviation(values, figure->known, figure->median);
    for (size_t i = 0; i < ranks->count; i++) {
        figure->scores[i] = can_be_odd(index) ? score_of(ranks->traces[i].values[index],
                                                         figure->median, deviation)
                                              : 0;
        if (gmt_rank_is_odd(figure, i) && figure->scores[i] > highest) {
            highest = figure->scores[i];
            figure->odd = i;
        }
    }
}

static struct gmt_rank_finding *
find_or_add(struct gmt_ranks *ranks, const struct gmt_finding *finding, struct gmt_arena *arena)
{
    for (size_t i = 0; i < ranks->finding_count; i++) {
        if (strcmp(ranks->findings[i].largest->fingerprint, finding->fingerprint) == 0) {
            return &ranks->findings[i];
        }
    }
    struct gmt_rank_finding *added = GMT_PUSH(arena, ranks->findings, ranks->finding_count);
    if (added != NULL) {
        *added = (struct gmt_rank_finding){.largest = finding};
        added->traces = gmt_arena_alloc(arena, ranks->count * sizeof(*added->traces));
    }
    return added;
}

static void merge_findings(struct gmt_ranks *ranks, struct gmt_arena *arena)
{
    for (size_t i = 0; i < ranks->count; i++) {
        for (size_t f = 0; f < ranks->traces[i].finding_count; f++) {
            const struct gmt_finding *finding = &ranks->traces[i].findings[f];
            struct gmt_rank_finding *merged;

            if (finding->severity == GMT_SEVERITY_NOTE) {
                continue;
            }
            merged = find_or_add(ranks, finding, arena);
            if (merged == NULL || merged->traces == NULL) {
                continue;
            }
            /* A fingerprint is unique within its trace. */
            merged->traces[merged->count++] = i;
            if (finding->saving.best_ns > merged->largest->saving.best_ns) {
                merged->largest = finding;
            }
        }
    }
}

static double saving_in(const struct gmt_summary *trace, const char *fingerprint)
{
    for (size_t f = 0; f < trace->finding_count; f++) {
        if (strcmp(trace->findings[f].fingerprint, fingerprint) == 0) {
            return trace->findings[f].saving.best_ns;
        }
    }
    return NAN;
}

static void price(const struct gmt_ranks *ranks, struct gmt_rank_finding *merged, double *values)
{
    size_t n = 0;

    for (size_t i = 0; i < merged->count; i++) {
        double ns = saving_in(&ranks->traces[merged->traces[i]], merged->largest->fingerprint);

        if (!isnan(ns)) {
            values[n++] = ns;
        }
    }
    merged->median_ns = gmt_median(values, n);
    merged->min_ns = n > 0 ? values[0] : NAN;
    merged->max_ns = n > 0 ? values[n - 1] : NAN;
}

static double weight(const struct gmt_rank_finding *merged)
{
    return isnan(merged->median_ns) ? -1 : merged->median_ns * (double)merged->count;
}

static int compare_merged(const void *a, const void *b)
{
    const struct gmt_rank_finding *x = a, *y = b;
    double p = weight(x), q = weight(y);

    if (p < q || p > q) {
        return p < q ? 1 : -1;
    }
    return strcmp(x->largest->fingerprint, y->largest->fingerprint);
}

static size_t oddest(const struct gmt_ranks *ranks)
{
    size_t odd = ranks->count, most = 0;

    for (size_t i = 0; i < ranks->count; i++) {
        size_t n = 0;

        for (int f = 0; f < GMT_FIGURES; f++) {
            n += gmt_figure_rows[f].gated && ranks->figures[f].known > 0 &&
                 gmt_rank_is_odd(&ranks->figures[f], i);
        }
        if (n > most) {
            most = n;
            odd = i;
        }
    }
    return odd;
}

void gmt_ranks_fill(struct gmt_ranks *ranks, const struct gmt_summary *traces, size_t n,
                    struct gmt_arena *arena)
{
    double *values = gmt_arena_alloc(arena, (n + 1) * sizeof(*values));

    *ranks = (struct gmt_ranks){.traces = traces, .count = n};
    if (values == NULL) {
        return;
    }
    for (int i = 0; i < GMT_FIGURES; i++) {
        fill_figure(ranks, i, values, arena);
    }
    merge_findings(ranks, arena);
    for (size_t i = 0; i < ranks->finding_count; i++) {
        price(ranks, &ranks->findings[i], values);
    }
    if (ranks->finding_count > 1) {
        qsort(ranks->findings, ranks->finding_count, sizeof(*ranks->findings), compare_merged);
    }
    ranks->odd = oddest(ranks);
}

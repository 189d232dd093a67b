/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of intervals on the timeline, and the one saving of all findings together. */
#include "analyzer/intervals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare_intervals(const void *a, const void *b)
{
    const struct gmt_interval *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

size_t gmt_intervals_merge(struct gmt_interval *intervals, size_t n)
{
    size_t kept = 0;

    for (size_t i = 1; i < n; i++) {
        if (intervals[i].begin_ns < intervals[i - 1].begin_ns) {
            qsort(intervals, n, sizeof(*intervals), compare_intervals);
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (intervals[i].end_ns <= intervals[i].begin_ns)
            continue;
        if (kept > 0 && intervals[i].begin_ns <= intervals[kept - 1].end_ns) {
            if (intervals[i].end_ns > intervals[kept - 1].end_ns)
                intervals[kept - 1].end_ns = intervals[i].end_ns;
        } else {
            intervals[kept++] = intervals[i];
        }
    }
    return kept;
}

double gmt_intervals_length(const struct gmt_interval *intervals, size_t n)
{
    double length = 0;

    for (size_t i = 0; i < n; i++)
        length += (double)(intervals[i].end_ns - intervals[i].begin_ns);
    return length;
}

/* A claim begins or ends. */
struct edge {
    int64_t at_ns;
    size_t finding;
    int step;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* Saving per ns of claimed time, and how many of the finding's claims are open. */
struct share {
    double low, best, high;
    int open;
};

static double share_of(double saving_ns, double claimed_ns)
{
    return fmin(1.0, fmax(0.0, saving_ns / claimed_ns));
}

static void add_segment(const struct share *shares, size_t n, double length_ns,
                        struct gmt_saving *sum)
{
    double low = 0, best = 0, high = 0;

    for (size_t i = 0; i < n; i++) {
        if (shares[i].open == 0)
            continue;
        low = fmax(low, shares[i].low);
        best = fmax(best, shares[i].best);
        high = fmax(high, shares[i].high);
    }
    sum->low_ns += low * length_ns;
    sum->best_ns += best * length_ns;
    sum->high_ns += high * length_ns;
}

int gmt_findings_combine(const struct gmt_finding *findings, size_t n, double wall_ns,
                         struct gmt_saving *combined)
{
    struct share *shares = calloc(n + 1, sizeof(*shares));
    struct edge *edges = NULL;
    size_t edge_count = 0, claims = 0;
    int rc = -ENOMEM;

    *combined = (struct gmt_saving){0};
    for (size_t i = 0; i < n; i++)
        claims += findings[i].claim_count;
    edges = calloc(2 * claims + 1, sizeof(*edges));
    if (shares == NULL || edges == NULL)
        goto out;
    for (size_t i = 0; i < n; i++) {
        const struct gmt_finding *finding = &findings[i];
        double claimed = gmt_intervals_length(finding->claims, finding->claim_count);

        if (isnan(finding->saving.best_ns) || claimed <= 0)
            continue;
        shares[i].low = share_of(finding->saving.low_ns, claimed);
        shares[i].best = share_of(finding->saving.best_ns, claimed);
        shares[i].high = share_of(finding->saving.high_ns, claimed);
        for (size_t c = 0; c < finding->claim_count; c++) {
            edges[edge_count++] = (struct edge){finding->claims[c].begin_ns, i, 1};
            edges[edge_count++] = (struct edge){finding->claims[c].end_ns, i, -1};
        }
    }
    qsort(edges, edge_count, sizeof(*edges), compare_edges);
    for (size_t e = 0; e < edge_count; e++) {
        if (e > 0 && edges[e].at_ns > edges[e - 1].at_ns)
            add_segment(shares, n, (double)(edges[e].at_ns - edges[e - 1].at_ns), combined);
        shares[edges[e].finding].open += edges[e].step;
    }
    combined->share = wall_ns > 0 ? combined->best_ns / wall_ns : NAN;
    rc = 0;
out:
    free(edges);
    free(shares);
    return rc;
}

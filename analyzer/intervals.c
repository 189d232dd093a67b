/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of intervals on the timeline, and the one saving of all findings together. */
#include "analyzer/intervals.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

double gmt_intervals_overlap(const struct gmt_interval *intervals, size_t n,
                             struct gmt_interval with)
{
    size_t low = 0, high = n;
    double covered = 0;

    /* The first that ends after the begin. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (intervals[middle].end_ns <= with.begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && intervals[low].begin_ns < with.end_ns; low++) {
        int64_t begin = intervals[low].begin_ns > with.begin_ns ? intervals[low].begin_ns
                                                                : with.begin_ns;
        int64_t end = intervals[low].end_ns < with.end_ns ? intervals[low].end_ns : with.end_ns;

        covered += end > begin ? (double)(end - begin) : 0;
    }
    return covered;
}

/* A claim begins or ends. */
struct edge {
    int64_t at_ns;
    size_t share;
    int step;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* Saving per ns of claimed time, and how many of the finding's claims are open. */
struct share {
    const struct gmt_finding *finding;
    double low, best, high;
    double stretch; /* time of all launches / of those that have a device time; else 1 */
    int open;
};

/* Findings of one kernel side by side, and of these the fixes for one thing. */
static int compare_shares(const void *a, const void *b)
{
    const struct gmt_finding *x = ((const struct share *)a)->finding;
    const struct gmt_finding *y = ((const struct share *)b)->finding;
    const char *p = x->where.kernel, *q = y->where.kernel;
    int order = p != NULL && q != NULL ? strcmp(p, q) : (p != NULL) - (q != NULL);

    if (order == 0 && x->touches != y->touches)
        order = x->touches < y->touches ? -1 : 1;
    return order != 0 ? order : (x > y) - (x < y);
}

/* Whether what the two save adds up at all. */
static bool same_kernel(const struct gmt_finding *a, const struct gmt_finding *b)
{
    return a->where.kernel != NULL && b->where.kernel != NULL && a->touches != GMT_TOUCHES_ALL &&
           b->touches != GMT_TOUCHES_ALL && strcmp(a->where.kernel, b->where.kernel) == 0;
}

static double share_of(double saving_ns, double claimed_ns)
{
    return fmin(1.0, fmax(0.0, saving_ns / claimed_ns));
}

/* Launches that were measured have no device time, and claim none, but cost as much as the others. */
static double stretch_of(const struct gmt_finding *finding, double claimed_ns)
{
    bool launches = finding->where.kernel != NULL && finding->touches != GMT_TOUCHES_ALL;

    return launches && finding->cost_ns > claimed_ns ? finding->cost_ns / claimed_ns : 1;
}

/* Where the sorted shares change the kernel, or what they touch: kept, as this is asked for often. */
enum { STARTS_KERNEL = 1, STARTS_THING = 2 };

static unsigned starts_of(const struct share *shares, size_t i)
{
    if (i == 0 || !same_kernel(shares[i].finding, shares[i - 1].finding))
        return STARTS_KERNEL | STARTS_THING;
    return shares[i].finding->touches != shares[i - 1].finding->touches ? STARTS_THING : 0;
}

/* What is saved of each ns while these are open, one kernel's fixes after the other's. */
static void add_segment(const struct share *shares, const unsigned *starts, size_t n,
                        double length_ns, struct gmt_saving *sum)
{
    double low = 0, best = 0, high = 0;    /* of all                                     */
    double left = 1, added = 0;            /* of the kernel, by the things before        */
    double thing_best = 0, thing_high = 0; /* of what is touched                         */

    for (size_t i = 0; i < n; i++) {
        if (starts[i] & STARTS_THING) {
            left *= 1 - thing_best;
            added += thing_high;
            thing_best = thing_high = 0;
        }
        if (starts[i] & STARTS_KERNEL) {
            left = 1;
            added = 0;
        }
        if (shares[i].open == 0)
            continue;
        thing_best = fmax(thing_best, shares[i].best);
        thing_high = fmax(thing_high, shares[i].high);
        low = fmax(low, shares[i].low * shares[i].stretch);
        best = fmax(best, ((1 - left) + left * thing_best) * shares[i].stretch);
        high = fmax(high, fmin(1, added + thing_high) * shares[i].stretch);
    }
    sum->low_ns += low * length_ns;
    sum->best_ns += best * length_ns;
    sum->high_ns += fmax(best, high) * length_ns; /* they are rounded apart */
}

int gmt_findings_combine(const struct gmt_finding *findings, size_t n, double wall_ns,
                         struct gmt_saving *combined)
{
    struct share *shares = calloc(n + 1, sizeof(*shares));
    unsigned *starts = calloc(n + 1, sizeof(*starts));
    struct edge *edges = NULL;
    size_t edge_count = 0, claims = 0;
    int rc = -ENOMEM;

    *combined = (struct gmt_saving){0};
    for (size_t i = 0; i < n; i++)
        claims += findings[i].claim_count;
    edges = calloc(2 * claims + 1, sizeof(*edges));
    if (shares == NULL || starts == NULL || edges == NULL)
        goto out;
    for (size_t i = 0; i < n; i++)
        shares[i].finding = &findings[i];
    qsort(shares, n, sizeof(*shares), compare_shares);
    for (size_t i = 0; i < n; i++) {
        const struct gmt_finding *finding = shares[i].finding;
        double claimed = gmt_intervals_length(finding->claims, finding->claim_count);

        starts[i] = starts_of(shares, i);
        if (isnan(finding->saving.best_ns) || claimed <= 0)
            continue;
        shares[i].stretch = stretch_of(finding, claimed);
        claimed *= shares[i].stretch;
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
            add_segment(shares, starts, n, (double)(edges[e].at_ns - edges[e - 1].at_ns), combined);
        shares[edges[e].share].open += edges[e].step;
    }
    combined->share = wall_ns > 0 ? combined->best_ns / wall_ns : NAN;
    rc = 0;
out:
    free(edges);
    free(starts);
    free(shares);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of intervals on the timeline, and the one saving of all findings together. */
#include "analyzer/base/intervals.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"

/* By begin: an interval is a pair of numbers. */
static void sort_intervals(struct gmt_interval *intervals, size_t n)
{
    static_assert(sizeof(struct gmt_interval) == 2 * sizeof(int64_t) &&
                      offsetof(struct gmt_interval, begin_ns) == 0,
                  "an interval is its begin and its end");
    gmt_sort_pairs((int64_t(*)[2])(void *)intervals, n);
}

size_t gmt_intervals_merge(struct gmt_interval *intervals, size_t n)
{
    size_t kept = 0;

    sort_intervals(intervals, n);
    for (size_t i = 0; i < n; i++) {
        if (intervals[i].end_ns <= intervals[i].begin_ns) {
            continue;
        }
        if (kept > 0 && intervals[i].begin_ns <= intervals[kept - 1].end_ns) {
            if (intervals[i].end_ns > intervals[kept - 1].end_ns) {
                intervals[kept - 1].end_ns = intervals[i].end_ns;
            }
        } else {
            intervals[kept++] = intervals[i];
        }
    }
    return kept;
}

double gmt_intervals_length(const struct gmt_interval *intervals, size_t n)
{
    double length = 0;

    for (size_t i = 0; i < n; i++) {
        length += (double)(intervals[i].end_ns - intervals[i].begin_ns);
    }
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

        if (intervals[middle].end_ns <= with.begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < n && intervals[low].begin_ns < with.end_ns; low++) {
        int64_t begin = intervals[low].begin_ns > with.begin_ns ? intervals[low].begin_ns
                                                                : with.begin_ns;
        int64_t end = intervals[low].end_ns < with.end_ns ? intervals[low].end_ns : with.end_ns;

        covered += end > begin ? (double)(end - begin) : 0;
    }
    return covered;
}

/* Saving per ns of claimed time, and how far the sweep over the claims has come. */
struct finding_share {
    const struct gmt_finding *finding;
    double low, best, high;
    double stretch;       /* time of all launches / of those that have a device time; else 1 */
    size_t kernel, thing; /* numbers of the groups below that it is in */
    size_t edge;          /* the next begin or end of a claim: of claim edge / 2 */
};

/* Findings of one kernel side by side, and of these the fixes for one thing. */
static int compare_shares(const void *a, const void *b)
{
    const struct gmt_finding *x = ((const struct finding_share *)a)->finding;
    const struct gmt_finding *y = ((const struct finding_share *)b)->finding;
    const char *p = x->where.kernel, *q = y->where.kernel;
    int order = p != NULL && q != NULL ? strcmp(p, q) : (p != NULL) - (q != NULL);

    if (order == 0 && x->touches != y->touches) {
        order = x->touches < y->touches ? -1 : 1;
    }
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

/* Neighbours after sorting: of one kernel, and of these the fixes for one thing. */
static void number_groups(struct finding_share *shares, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        bool kernel = !same_kernel(shares[i].finding, shares[i - 1].finding);
        bool thing = shares[i].finding->touches != shares[i - 1].finding->touches;

        shares[i].kernel = shares[i - 1].kernel + kernel;
        shares[i].thing = shares[i - 1].thing + (kernel || thing);
    }
}

/* What is saved of each ns while these are open, one kernel's fixes after the other's. */
static void add_segment(const struct finding_share *shares, const size_t *open, size_t n,
                        double length_ns, struct gmt_saving *sum)
{
    double low = 0, best = 0, high = 0;    /* of all                                     */
    double left = 1, added = 0;            /* of the kernel, by the things before        */
    double thing_best = 0, thing_high = 0; /* of what is touched                         */

    for (size_t i = 0; i < n; i++) {
        const struct finding_share *share = &shares[open[i]];
        const struct finding_share *before = i > 0 ? &shares[open[i - 1]] : NULL;

        if (before == NULL || share->thing != before->thing) {
            left *= 1 - thing_best;
            added += thing_high;
            thing_best = thing_high = 0;
        }
        if (before == NULL || share->kernel != before->kernel) {
            left = 1;
            added = 0;
        }
        thing_best = fmax(thing_best, share->best);
        thing_high = fmax(thing_high, share->high);
        low = fmax(low, share->low * share->stretch);
        best = fmax(best, ((1 - left) + left * thing_best) * share->stretch);
        high = fmax(high, fmin(1, added + thing_high) * share->stretch);
    }
    sum->low_ns += low * length_ns;
    sum->best_ns += best * length_ns;
    sum->high_ns += fmax(best, high) * length_ns; /* they are rounded apart */
}

/* When the share's next claim begins or ends. */
static int64_t next_edge(const struct finding_share *share)
{
    const struct gmt_interval *claim = &share->finding->claims[share->edge / 2];

    return share->edge % 2 == 0 ? claim->begin_ns : claim->end_ns;
}

/* The share with the earliest edge is first: put the one at `at` where it belongs below. */
static void sift(const struct finding_share *shares, size_t *heap, size_t n, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n &&
            next_edge(&shares[heap[child + 1]]) < next_edge(&shares[heap[child]])) {
            child++;
        }
        if (next_edge(&shares[heap[at]]) <= next_edge(&shares[heap[child]])) {
            return;
        }
        size_t above = heap[at];

        heap[at] = heap[child];
        heap[child] = above;
    }
}

/* Open it or close it; the open ones stay in the order of the shares. */
static size_t toggle(size_t *open, size_t n, size_t share)
{
    size_t at = n;

    while (at > 0 && open[at - 1] >= share) {
        at--;
    }
    if (at < n && open[at] == share) {
        memmove(&open[at], &open[at + 1], (n - at - 1) * sizeof(*open));
        return n - 1;
    }
    memmove(&open[at + 1], &open[at], (n - at) * sizeof(*open));
    open[at] = share;
    return n + 1;
}

/* Over all claims at once, each finding's being in order and apart. */
static void sweep(struct finding_share *shares, size_t *heap, size_t n, size_t *open,
                  struct gmt_saving *combined)
{
    size_t open_count = 0;
    int64_t last = 0;

    for (size_t i = n; i-- > 0;) {
        sift(shares, heap, n, i);
    }
    while (n > 0) {
        struct finding_share *share = &shares[heap[0]];
        int64_t at = next_edge(share);

        if (open_count > 0 && at > last) {
            add_segment(shares, open, open_count, (double)(at - last), combined);
        }
        last = at;
        open_count = toggle(open, open_count, heap[0]);
        if (++share->edge == 2 * share->finding->claim_count) {
            heap[0] = heap[--n];
        }
        sift(shares, heap, n, 0);
    }
}

int gmt_findings_combine(const struct gmt_finding *findings, size_t n, double wall_ns,
                         struct gmt_saving *combined)
{
    struct finding_share *shares = calloc(n + 1, sizeof(*shares));
    size_t *heap = calloc(n + 1, sizeof(*heap));
    size_t *open = calloc(n + 1, sizeof(*open));
    size_t claiming = 0;
    int rc = -ENOMEM;

    *combined = (struct gmt_saving){0};
    if (shares == NULL || heap == NULL || open == NULL) {
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        shares[i].finding = &findings[i];
    }
    qsort(shares, n, sizeof(*shares), compare_shares);
    number_groups(shares, n);
    for (size_t i = 0; i < n; i++) {
        const struct gmt_finding *finding = shares[i].finding;
        double claimed = gmt_intervals_length(finding->claims, finding->claim_count);

        if (isnan(finding->saving.best_ns) || claimed <= 0) {
            continue;
        }
        shares[i].stretch = stretch_of(finding, claimed);
        claimed *= shares[i].stretch;
        shares[i].low = share_of(finding->saving.low_ns, claimed);
        shares[i].best = share_of(finding->saving.best_ns, claimed);
        shares[i].high = share_of(finding->saving.high_ns, claimed);
        heap[claiming++] = i;
    }
    sweep(shares, heap, claiming, open, combined);
    combined->share = wall_ns > 0 ? combined->best_ns / wall_ns : NAN;
    rc = 0;
out:
    free(open);
    free(heap);
    free(shares);
    return rc;
}

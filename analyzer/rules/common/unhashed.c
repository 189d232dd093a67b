/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates by a share: the copies of one memory and size that could be compared stand for the others. */
#include "analyzer/rules/common/unhashed.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"

/* Copies of one place that are of the same memory and size. */
struct group {
    size_t compared, repeated, open;
    bool whole; /* every byte was hashed wherever anything repeats */
};

struct gmt_share_limits gmt_wilson_limits(size_t hits, size_t n)
{
    const double z = 1.96, many = (double)n, share = (double)hits / many;
    double middle = share + z * z / (2 * many);
    double width = z * sqrt(share * (1 - share) / many + z * z / (4 * many * many));
    double whole = 1 + z * z / many;

    return (struct gmt_share_limits){hits == 0 ? 0 : (middle - width) / whole,
                                     hits == n ? 1 : (middle + width) / whole};
}

static int compare_rows(const void *a, const void *b, void *timeline)
{
    const struct gmt_timeline *tl = timeline;
    const struct gmt_unhashed_copy *x = a, *y = b;
    int64_t p = tl->copies[x->index].bytes, q = tl->copies[y->index].bytes;

    if (x->memory != y->memory) {
        return x->memory < y->memory ? -1 : 1;
    }
    if (p != q) {
        return p < q ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

static bool is_alike(const struct gmt_timeline *tl, const struct gmt_unhashed_copy *a,
                     const struct gmt_unhashed_copy *b)
{
    return a->memory == b->memory && tl->copies[a->index].bytes == tl->copies[b->index].bytes;
}

static void count(struct group *group, enum gmt_hashed state, const struct gmt_print *print)
{
    group->compared += state == GMT_HASHED_NEW || state == GMT_HASHED_REPEATED;
    group->repeated += state == GMT_HASHED_REPEATED;
    group->whole &= state != GMT_HASHED_REPEATED || print->whole == 1;
}

/* What the fingerprint of an open copy says beside `last`, the last one before it; NULL: there is none. */
static enum gmt_hashed against(const struct gmt_print *last, const struct gmt_print *print)
{
    switch (last != NULL ? gmt_print_compare(last, print) : GMT_CONTENT_UNKNOWN) {
    case GMT_CONTENT_SAME: return GMT_HASHED_REPEATED;
    case GMT_CONTENT_OTHER: return GMT_HASHED_NEW;
    case GMT_CONTENT_UNKNOWN: break;
    }
    return GMT_HASHED_OTHERWISE;
}

static struct group look_at_group(const struct gmt_unhashed_ask *ask,
                                  const struct gmt_unhashed_copy *rows, size_t n)
{
    struct group group = {.whole = true};
    const struct gmt_print *last = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_copy_content *content = &ask->contents[rows[i].index];

        /* Another place has written there in between: what comes across that is no repeat. */
        if (i == 0 || content->before < 0 || (size_t)content->before != rows[i - 1].index) {
            last = NULL;
        }
        count(&group, rows[i].state, &content->print);
        group.open += rows[i].state == GMT_HASHED_OPEN;
        if (ask->in_a_row && rows[i].state == GMT_HASHED_OPEN && content->print.whole >= 0) {
            count(&group, against(last, &content->print), &content->print);
        }
        if (content->print.whole >= 0) {
            last = &content->print;
        }
    }
    return group;
}

static void add_group(const struct gmt_unhashed_ask *ask, const struct group *group,
                      struct gmt_unhashed_copy *rows, size_t n, struct gmt_unhashed *all)
{
    struct gmt_copy_sum sum = {0};

    if (group->open == 0 || group->repeated == 0) {
        /* Nothing is said of them, and nothing claimed. */
        for (size_t i = 0; i < n; i++) {
            rows[i].state = rows[i].state == GMT_HASHED_OPEN ? GMT_HASHED_OTHERWISE : rows[i].state;
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (rows[i].state == GMT_HASHED_OPEN) {
            ask->add(ask->context, rows[i].index, &sum);
        }
    }
    double share = (double)group->repeated / (double)group->compared;
    struct gmt_share_limits limits = gmt_wilson_limits(group->repeated, group->compared);
    all->compared += group->compared;
    all->repeated += group->repeated;
    all->open += group->open;
    all->copies += share * (double)group->open;
    all->bytes += share * sum.bytes;
    all->cost_ns += share * sum.cost_ns;
    all->most_cost_ns += limits.high * sum.cost_ns;
    all->low_ns += group->whole ? limits.low * sum.low_ns : 0;
    all->best_ns += share * sum.best_ns;
    all->high_ns += limits.high * gmt_copy_sum_high(&sum);
}

struct gmt_unhashed gmt_unhashed_estimate(const struct gmt_unhashed_ask *ask,
                                          struct gmt_unhashed_copy *rows, size_t n)
{
    const struct gmt_timeline *tl = ask->timeline;
    struct gmt_unhashed all = {0};

    qsort_r(rows, n, sizeof(*rows), compare_rows, (void *)(uintptr_t)tl);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_alike(tl, &rows[i], &rows[end]); end++) {
        }
        struct group group = look_at_group(ask, rows + i, end - i);
        add_group(ask, &group, rows + i, end - i, &all);
    }
    return all;
}

const char *gmt_unhashed_words(struct gmt_analysis *analysis, const struct gmt_unhashed *unhashed)
{
    return unhashed->open == 0
               ? ""
               : gmt_text(analysis,
                          " (%zu of %zu that could be compared, an estimate for %zu that hashing "
                          "had no time for)",
                          unhashed->repeated, unhashed->compared, unhashed->open);
}

const char *gmt_unhashed_method(const struct gmt_unhashed *unhashed)
{
    return unhashed->open == 0 ? ""
                               : "; copies that hashing had no time for count by the share of the "
                                 "compared ones of the same place, memory and size, within its 95 "
                                 "% interval (Wilson)";
}

void gmt_unhashed_evidence(const struct gmt_unhashed *unhashed, struct gmt_finding *finding)
{
    if (unhashed->open == 0) {
        return;
    }
    gmt_finding_evidence(finding, "not_hashed", "count", (double)unhashed->open);
    gmt_finding_evidence(finding, "compared", "count", (double)unhashed->compared);
    gmt_finding_evidence(finding, "compared_and_repeated", "count", (double)unhashed->repeated);
    gmt_finding_evidence(finding, "estimated_copies", "count", unhashed->copies);
    gmt_finding_evidence(finding, "estimated_bytes", "bytes", unhashed->bytes);
    if (isfinite(unhashed->cost_ns)) {
        gmt_finding_evidence(finding, "estimated_time", "ns", unhashed->cost_ns);
    }
}

void gmt_unhashed_claim(struct gmt_analysis *analysis, const struct gmt_unhashed *unhashed,
                        const struct gmt_unhashed_copy *rows, size_t n, struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;

    for (size_t i = 0; unhashed->open > 0 && i < n; i++) {
        if (rows[i].state == GMT_HASHED_OPEN) {
            gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, &tl->copies[rows[i].index]));
        }
    }
}

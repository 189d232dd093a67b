/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of ranks, by fingerprint. */
#include "analyzer/fleet/common_findings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct found {
    const struct gmt_fleet_finding *finding;
    size_t rank;
};

static double price_of(const struct gmt_fleet_finding *finding)
{
    return isnan(finding->saves_ns) ? -1 : finding->saves_ns;
}

/* Equal ones beside each other, the worst first; of equally bad ones that of the first rank. */
static int by_fingerprint(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order = strcmp(x->finding->fingerprint, y->finding->fingerprint);
    double p = price_of(x->finding), q = price_of(y->finding);

    if (order != 0) {
        return order;
    }
    return p != q ? (p < q) - (p > q) : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_total(const void *a, const void *b)
{
    const struct gmt_common_finding *x = a, *y = b;

    if (x->total_ns != y->total_ns) {
        return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
    }
    if (x->ranks != y->ranks) {
        return (x->ranks < y->ranks) - (x->ranks > y->ranks);
    }
    return strcmp(x->worst->fingerprint, y->worst->fingerprint);
}

/* A rank may have one fingerprint twice: it is one rank. The ranks of a group come in any order. */
static size_t ranks_of(const struct found *group, size_t n)
{
    size_t ranks = 0;

    for (size_t i = 0; i < n; i++) {
        size_t earlier = 0;

        while (group[earlier].rank != group[i].rank) {
            earlier++;
        }
        ranks += earlier == i;
    }
    return ranks;
}

static int add_group(struct gmt_common_findings *common, const struct found *group, size_t n,
                     struct gmt_arena *arena)
{
    struct gmt_common_finding *added = GMT_PUSH(arena, common->findings, common->count);

    if (added == NULL) {
        return -ENOMEM;
    }
    *added = (struct gmt_common_finding){
        .worst = group[0].finding, .worst_rank = group[0].rank, .ranks = ranks_of(group, n)};
    for (size_t i = 0; i < n; i++) {
        if (!isnan(group[i].finding->saves_ns)) {
            added->total_ns += group[i].finding->saves_ns;
            added->priced++;
            added->is_modelled = added->is_modelled || group[i].finding->is_modelled != 0;
        }
    }
    return 0;
}

static size_t gather(struct found *found, const struct gmt_fleet *fleet)
{
    size_t n = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];

        for (size_t i = 0; i < rank->finding_count; i++) {
            if (found != NULL) {
                found[n] = (struct found){&rank->findings[i], r};
            }
            n++;
        }
    }
    return n;
}

int gmt_common_findings_find(struct gmt_common_findings *common, const struct gmt_fleet *fleet,
                             struct gmt_arena *arena)
{
    size_t n = gather(NULL, fleet);
    struct found *found = calloc(n + 1, sizeof(*found));
    int rc = found != NULL ? 0 : -ENOMEM;

    *common = (struct gmt_common_findings){0};
    for (size_t r = 0; r < fleet->count; r++) {
        common->analysed += fleet->ranks[r].has_findings;
    }
    if (rc == 0) {
        gather(found, fleet);
        qsort(found, n, sizeof(*found), by_fingerprint);
    }
    for (size_t i = 0, end; rc == 0 && i < n; i = end) {
        end = i + 1;
        while (end < n &&
               strcmp(found[end].finding->fingerprint, found[i].finding->fingerprint) == 0) {
            end++;
        }
        rc = add_group(common, found + i, end - i, arena);
    }
    free(found);
    if (rc == 0 && common->count > 1) {
        qsort(common->findings, common->count, sizeof(*common->findings), by_total);
    }
    return rc;
}

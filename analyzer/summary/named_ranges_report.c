/* SPDX-License-Identifier: Apache-2.0 */
/* Which range a finding belongs to, and the report's list of ranges. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/summary/range_sums.h"
#include "analyzer/summary/range_tree.h"
#include "analyzer/summary/summary.h"

/* While findings are named: of each group what lies in it, and the claim that was added to it last. */
struct costs {
    struct gmt_range_paths *paths;
    double *cost_ns; /* all zero between findings */
    uint64_t *claim;
    uint64_t claims;
};

/* Of what a claim has visited: ranges of the process count where it lies in none of its thread. -1: it does not. */
static int32_t group_of(const struct gmt_range_paths *paths, const struct gmt_range_claim *claim,
                        size_t visited)
{
    const struct gmt_named_range *ranges = paths->all->ranges;
    int32_t range = paths->visited[visited].range;

    return ranges[range].thread == ranges[claim->range].thread ? ranges[range].group : -1;
}

/* Once to each group: a call can lie in ranges of one name that lie in each other. */
static void add_cost(struct costs *costs, const struct gmt_range_claim *claim)
{
    size_t visited = gmt_range_sums_visit(costs->paths, claim);

    costs->claims++;
    for (size_t i = 0; i < visited; i++) {
        int32_t group = group_of(costs->paths, claim, i);

        if (group >= 0 && costs->claim[group] != costs->claims) {
            costs->claim[group] = costs->claims;
            costs->cost_ns[group] += claim->ns;
        }
    }
}

/* The innermost group that more than half of the claims lie in, or -1. */
static int32_t most_of(struct costs *costs, const struct gmt_range_claim *claims, size_t count)
{
    double total_ns = 0, best_ns = INFINITY;
    int32_t best = -1;

    for (size_t i = 0; i < count; i++) {
        total_ns += claims[i].ns;
        add_cost(costs, &claims[i]);
    }
    /* What lies around another one has no smaller part: the smallest is the innermost. */
    for (size_t i = 0; i < count; i++) {
        size_t visited = gmt_range_sums_visit(costs->paths, &claims[i]);

        for (size_t k = 0; k < visited; k++) {
            int32_t group = group_of(costs->paths, &claims[i], k);
            double ns = group >= 0 ? costs->cost_ns[group] : 0;

            if (ns > total_ns / 2 && ns < best_ns) {
                best_ns = ns;
                best = group;
            }
        }
    }
    memset(costs->cost_ns, 0, costs->paths->all->group_count * sizeof(*costs->cost_ns));
    return best;
}

/* `claims` are those of the findings, one after the other; returns what follows them. */
static const struct gmt_range_claim *name_findings(struct costs *costs,
                                                   const struct gmt_range_claim *claims,
                                                   struct gmt_range_row *rows,
                                                   struct gmt_finding *findings, size_t count)
{
    for (size_t i = 0, own; i < count; i++, claims += own) {
        own = gmt_range_claims_of(costs->paths->timeline, &findings[i]);
        int32_t group = most_of(costs, claims, own);

        if (group < 0) {
            continue;
        }
        findings[i].range = rows[group].label;
        if (findings[i].note_why != NULL) {
            continue;
        }
        rows[group].findings++;
        if (isfinite(findings[i].saving.best_ns)) {
            rows[group].best_ns += findings[i].saving.best_ns;
        }
    }
    return claims;
}

static int compare_rows(const void *a, const void *b)
{
    const struct gmt_range_row *x = a, *y = b;

    if (x->best_ns < y->best_ns || x->best_ns > y->best_ns) {
        return x->best_ns < y->best_ns ? 1 : -1;
    }
    if (x->findings != y->findings) {
        return x->findings < y->findings ? 1 : -1;
    }
    return (x->host_ns < y->host_ns) - (x->host_ns > y->host_ns);
}

/* In the order of groups. */
static void make_rows(const struct gmt_named_ranges *all, const struct gmt_timeline *tl,
                      struct gmt_arena *arena, struct gmt_range_row *rows)
{
    for (size_t i = 0; i < all->group_count; i++) {
        const struct gmt_range_group *group = &all->groups[i];

        rows[i] = (struct gmt_range_row){
            .label = group->domain != NULL
                         ? gmt_arena_text(arena, "%s@%s", group->name, group->domain)
                         : gmt_arena_copy(arena, group->name),
            .count = group->count,
            .host_ns = tl->simulated ? NAN : group->host_ns};
    }
}

static int name_all(struct gmt_range_paths *paths, const struct gmt_range_claim *claims,
                    struct gmt_range_row *rows, struct gmt_report *report)
{
    size_t groups = paths->all->group_count;
    struct costs costs = {.paths = paths,
                          .cost_ns = calloc(groups, sizeof(*costs.cost_ns)),
                          .claim = calloc(groups, sizeof(*costs.claim))};
    int rc = costs.cost_ns != NULL && costs.claim != NULL ? 0 : -ENOMEM;

    if (rc == 0) {
        claims = name_findings(&costs, claims, rows, report->findings, report->finding_count);
        name_findings(&costs, claims, rows, report->notes, report->note_count);
    }
    free(costs.cost_ns);
    free(costs.claim);
    return rc;
}

static int fill(const struct gmt_named_ranges *all, const struct gmt_timeline *tl,
                struct gmt_report *report)
{
    struct gmt_range_row *rows = gmt_arena_alloc(report->arena, all->group_count * sizeof(*rows));
    struct gmt_range_claims claims = {0};
    struct gmt_range_paths paths = {0};
    int rc = rows != NULL ? gmt_range_claims_find(&claims, all, tl, report) : -ENOMEM;

    if (rc == 0) {
        make_rows(all, tl, report->arena, rows);
        rc = gmt_range_paths_make(&paths, all, tl, report->has_time_parts);
    }
    /* By all paths: what a report leaves out of the tree may still be what a finding is in. */
    if (rc == 0 && claims.items != NULL) {
        rc = name_all(&paths, claims.items, rows, report);
    }
    if (rc == 0) {
        rc = gmt_range_tree_limit(&paths);
    }
    if (rc == 0) {
        gmt_range_sums_add_calls(&paths, tl);
        gmt_range_sums_add_findings(&paths, &claims, report);
        rc = gmt_range_tree_report(&paths, rows, report);
    }
    if (rc == 0) {
        qsort(rows, all->group_count, sizeof(*rows), compare_rows);
        report->ranges = rows;
        report->range_count = all->group_count;
    }
    gmt_range_claims_free(&claims);
    gmt_range_paths_free(&paths);
    return rc;
}

int gmt_report_name_ranges(const struct gmt_timeline *timeline, struct gmt_report *report)
{
    struct gmt_named_ranges all;
    int rc = gmt_named_ranges_load(&all, timeline);

    if (rc == 0 && all.count > 0) {
        rc = fill(&all, timeline, report);
    }
    gmt_named_ranges_free(&all);
    return rc;
}

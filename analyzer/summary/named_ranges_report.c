/* SPDX-License-Identifier: Apache-2.0 */
/* Which range a finding belongs to, and the report's list of ranges. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/price/cycle_times.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/named_ranges.h"

/* One claim of a finding. Claims are made of what rows say: each ends when a call ended, or when its work on
 * the device did, in a graph too; so the end identifies the call. A launch of a class that has its time by cycles
 * claims that time from its begin on. */
struct claim {
    int64_t end_ns;
    double ns;
    int64_t called_ns; /* when the call began */
    int32_t range;     /* the innermost one then; -1: none */
};

struct claims {
    struct claim *items; /* finding by finding, then note by note */
    uint32_t *order;     /* by end */
    size_t count, at;    /* `at`: where the last search ended */
};

/* Of a modelled timeline: the class whose launches, in a row, are this claim; -1: it is no class's. */
static int32_t class_of(const struct gmt_timeline *tl, const struct gmt_interval *claim)
{
    for (size_t i = 0; tl->modelled && i < tl->class_count; i++) {
        const struct gmt_interval *modelled = &tl->classes[i].modelled;

        if (modelled->end_ns > modelled->begin_ns && modelled->begin_ns == claim->begin_ns &&
            modelled->end_ns == claim->end_ns) {
            return (int32_t)i;
        }
    }
    return -1;
}

static size_t launches_of(const struct gmt_timeline *tl, int32_t class)
{
    size_t count = 0;

    for (size_t i = 0; i < tl->launch_count; i++) {
        count += tl->launches[i].class_index == class;
    }
    return count;
}

/* A class's claim is that of each of its launches; there is none where only graphs launch it. */
static size_t claims_of(const struct gmt_timeline *tl, const struct gmt_finding *finding)
{
    size_t count = 0;

    for (size_t k = 0; k < finding->claim_count; k++) {
        int32_t class = class_of(tl, &finding->claims[k]);

        count += class >= 0 ? launches_of(tl, class) : 1;
    }
    return count;
}

static void add_launches(struct claims *claims, const struct gmt_named_ranges *all,
                         const struct gmt_timeline *tl, int32_t class, double ns)
{
    size_t count = launches_of(tl, class);

    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_call *call = &tl->launches[i].call;

        if (tl->launches[i].class_index == class) {
            claims->order[claims->count] = (uint32_t)claims->count;
            claims->items[claims->count++] = (struct claim){
                .end_ns = GMT_NO_TIME,
                .ns = ns / (double)count,
                .called_ns = call->begin_ns,
                .range = gmt_named_ranges_at(all, call->thread, call->begin_ns)};
        }
    }
}

static void add_claims(struct claims *claims, const struct gmt_named_ranges *all,
                       const struct gmt_timeline *tl, const struct gmt_finding *findings,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < findings[i].claim_count; k++) {
            const struct gmt_interval *claim = &findings[i].claims[k];
            int32_t class = class_of(tl, claim);
            double ns = (double)(claim->end_ns - claim->begin_ns);

            if (class >= 0) {
                add_launches(claims, all, tl, class, ns);
                continue;
            }
            claims->order[claims->count] = (uint32_t)claims->count;
            claims->items[claims->count++] = (struct claim){
                claim->end_ns, ns, claim->begin_ns, gmt_named_ranges_at(all, -1, claim->begin_ns)};
        }
    }
}

static int by_end(const void *a, const void *b, void *items)
{
    const struct claim *x = (const struct claim *)items + *(const uint32_t *)a;
    const struct claim *y = (const struct claim *)items + *(const uint32_t *)b;

    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int64_t end_at(const struct claims *claims, size_t i)
{
    return claims->items[claims->order[i]].end_ns;
}

/* Index in `order` of the first claim that ends at end_ns or later. Calls come nearly in order: a few steps
 * on from the last one, else halving. */
static size_t first_at(struct claims *claims, int64_t end_ns)
{
    size_t low = 0, high = claims->count;

    if (claims->at < high && end_at(claims, claims->at) < end_ns) {
        low = claims->at + 1;
    }
    for (size_t steps = 0; steps < 4 && low > 0 && low < high; steps++, low++) {
        if (end_at(claims, low) >= end_ns) {
            return low;
        }
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (end_at(claims, middle) < end_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void resolve(struct claims *claims, const struct gmt_named_ranges *all,
                    const struct gmt_tl_call *call, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns == GMT_NO_TIME) {
        return;
    }
    size_t i = claims->at = first_at(claims, end_ns);

    for (; i < claims->count && end_at(claims, i) == end_ns; i++) {
        struct claim *claim = &claims->items[claims->order[i]];

        claim->called_ns = begin_ns;
        claim->range = gmt_named_ranges_at(all, call->thread, begin_ns);
    }
}

static void resolve_all(struct claims *claims, const struct gmt_named_ranges *all,
                        const struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];

        resolve(claims, all, &copy->call, copy->call.begin_ns, copy->call.end_ns);
        resolve(claims, all, &copy->call, copy->call.begin_ns, copy->device_end_ns);
        if (copy->modelled.end_ns > copy->modelled.begin_ns) {
            resolve(claims, all, &copy->call, copy->call.begin_ns, copy->modelled.end_ns);
        }
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        resolve(claims, all, &launch->call, launch->call.begin_ns, launch->call.end_ns);
        resolve(claims, all, &launch->call, launch->call.begin_ns, launch->device_end_ns);
        if (launch->measured && launch->class_index >= 0) {
            resolve(claims, all, &launch->call, launch->call.begin_ns,
                    gmt_cycle_times_end(&tl->classes[launch->class_index], launch));
        }
    }
    for (size_t i = 0; i < tl->node_count; i++) {
        const struct gmt_tl_launch *launch = gmt_timeline_launch(tl, tl->nodes[i].launch_id);

        if (launch != NULL) {
            resolve(claims, all, &launch->call, launch->call.begin_ns, tl->nodes[i].device_end_ns);
        }
    }
    for (size_t i = 0; i < tl->allocation_count; i++) {
        const struct gmt_tl_allocation *one = &tl->allocations[i];

        resolve(claims, all, &one->call, one->call.begin_ns, one->call.end_ns);
        resolve(claims, all, &one->call, one->free_begin_ns, one->free_end_ns);
    }
}

static size_t count_claims(const struct gmt_timeline *tl, const struct gmt_finding *findings,
                           size_t count)
{
    size_t claims = 0;

    for (size_t i = 0; i < count; i++) {
        claims += claims_of(tl, &findings[i]);
    }
    return claims;
}

static int find_groups(struct claims *claims, const struct gmt_named_ranges *all,
                       const struct gmt_timeline *tl, const struct gmt_report *report)
{
    size_t most = count_claims(tl, report->findings, report->finding_count) +
                  count_claims(tl, report->notes, report->note_count);

    if (most > UINT32_MAX) {
        return 0;
    }
    claims->items = malloc((most + 1) * sizeof(*claims->items));
    claims->order = malloc((most + 1) * sizeof(*claims->order));
    if (claims->items == NULL || claims->order == NULL) {
        return -ENOMEM;
    }
    add_claims(claims, all, tl, report->findings, report->finding_count);
    add_claims(claims, all, tl, report->notes, report->note_count);
    qsort_r(claims->order, claims->count, sizeof(*claims->order), by_end, claims->items);
    resolve_all(claims, all, tl);
    return 0;
}

/* The next range outwards that the call lies in, too; -1: none. Of another domain, one may have ended before. */
static int32_t around(const struct gmt_named_ranges *all, const struct claim *claim, int32_t range)
{
    do {
        range = all->ranges[range].parent;
    } while (range >= 0 && all->ranges[range].end_ns < claim->called_ns);
    return range;
}

/* Whether a range further in has the name of this one: a call is in both, and counts once. */
static bool is_repeated(const struct gmt_named_ranges *all, const struct claim *claim,
                        int32_t range)
{
    int32_t inner = claim->range;

    while (inner != range && all->ranges[inner].group != all->ranges[range].group) {
        inner = around(all, claim, inner);
    }
    return inner != range;
}

static void add_cost(const struct gmt_named_ranges *all, const struct claim *claim, double *cost_ns)
{
    for (int32_t at = claim->range; at >= 0; at = around(all, claim, at)) {
        if (!is_repeated(all, claim, at)) {
            cost_ns[all->ranges[at].group] += claim->ns;
        }
    }
}

/* The innermost group that more than half of the claims lie in, or -1; `cost_ns` is all zero before and after. */
static int32_t most_of(const struct gmt_named_ranges *all, const struct claim *claims, size_t count,
                       double *cost_ns)
{
    double total_ns = 0, best_ns = INFINITY;
    int32_t best = -1;

    for (size_t i = 0; i < count; i++) {
        total_ns += claims[i].ns;
        add_cost(all, &claims[i], cost_ns);
    }
    /* What lies around another one has no smaller part: the smallest is the innermost. */
    for (size_t i = 0; i < count; i++) {
        for (int32_t at = claims[i].range; at >= 0; at = around(all, &claims[i], at)) {
            double ns = cost_ns[all->ranges[at].group];

            if (ns > total_ns / 2 && ns < best_ns) {
                best_ns = ns;
                best = all->ranges[at].group;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (int32_t at = claims[i].range; at >= 0; at = around(all, &claims[i], at)) {
            cost_ns[all->ranges[at].group] = 0;
        }
    }
    return best;
}

/* `claims` are those of the findings, one after the other; returns what follows them. */
static const struct claim *name_findings(const struct gmt_named_ranges *all,
                                         const struct gmt_timeline *tl, const struct claim *claims,
                                         struct gmt_range_row *rows, struct gmt_finding *findings,
                                         size_t count, double *cost_ns)
{
    for (size_t i = 0, own; i < count; i++, claims += own) {
        own = claims_of(tl, &findings[i]);
        int32_t group = most_of(all, claims, own, cost_ns);

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

/* Of rows that are still in the order of groups: what is around all ranges of each. No row is around itself, by others either: the
 * outermost range of any has none around it. */
static void find_outer(const struct gmt_named_ranges *all, struct gmt_range_row *rows)
{
    enum { NOT_SEEN = -2 };

    for (size_t i = 0; i < all->group_count; i++) {
        rows[i].around = NOT_SEEN;
    }
    for (size_t i = 0; i < all->count; i++) {
        int32_t parent = all->ranges[i].parent;
        int32_t around = parent >= 0 ? all->ranges[parent].group : -1;
        struct gmt_range_row *row = &rows[all->ranges[i].group];

        row->around = row->around == NOT_SEEN || row->around == around ? around : -1;
    }
}

/* Rows have a new order: indices that were of groups are of rows. */
static int index_outer(struct gmt_range_row *rows, size_t count)
{
    int32_t *row_of = malloc((count + 1) * sizeof(*row_of));

    if (row_of == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        row_of[rows[i].group] = (int32_t)i;
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].around = rows[i].around >= 0 ? row_of[rows[i].around] : -1;
    }
    free(row_of);
    return 0;
}

static int fill(const struct gmt_named_ranges *all, const struct gmt_timeline *tl,
                struct gmt_report *report)
{
    struct gmt_arena *arena = report->arena;
    double *cost_ns = calloc(all->group_count, sizeof(*cost_ns));
    struct gmt_range_row *rows = gmt_arena_alloc(arena, all->group_count * sizeof(*rows));

    struct claims claims = {0};
    int rc = cost_ns != NULL && rows != NULL ? find_groups(&claims, all, tl, report) : -ENOMEM;

    if (rc != 0) {
        goto out;
    }
    for (size_t i = 0; i < all->group_count; i++) {
        const struct gmt_range_group *group = &all->groups[i];

        rows[i] = (struct gmt_range_row){
            .label = group->domain != NULL
                         ? gmt_arena_text(arena, "%s@%s", group->name, group->domain)
                         : gmt_arena_copy(arena, group->name),
            .count = group->count,
            .group = (int32_t)i,
            .host_ns = tl->simulated ? NAN : group->host_ns};
    }
    find_outer(all, rows);
    if (claims.items != NULL) {
        const struct claim *of_notes = name_findings(all, tl, claims.items, rows, report->findings,
                                                     report->finding_count, cost_ns);

        name_findings(all, tl, of_notes, rows, report->notes, report->note_count, cost_ns);
    }
    qsort(rows, all->group_count, sizeof(*rows), compare_rows);
    rc = index_outer(rows, all->group_count);
    if (rc != 0) {
        goto out;
    }
    report->ranges = rows;
    report->range_count = all->group_count;
out:
    free(claims.items);
    free(claims.order);
    free(cost_ns);
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

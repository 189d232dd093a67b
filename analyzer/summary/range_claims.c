/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which call each claim of the findings belongs to, and by that which range. */
#include "analyzer/summary/range_claims.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/price/cycle_times.h"

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

size_t gmt_range_claims_of(const struct gmt_timeline *tl, const struct gmt_finding *finding)
{
    size_t count = 0;

    for (size_t k = 0; k < finding->claim_count; k++) {
        int32_t class = class_of(tl, &finding->claims[k]);

        count += class >= 0 ? launches_of(tl, class) : 1;
    }
    return count;
}

static void add_launches(struct gmt_range_claims *claims, const struct gmt_named_ranges *all,
                         const struct gmt_timeline *tl, int32_t class, double ns)
{
    size_t count = launches_of(tl, class);

    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_call *call = &tl->launches[i].call;

        if (tl->launches[i].class_index == class) {
            claims->order[claims->count] = (uint32_t)claims->count;
            claims->items[claims->count++] = (struct gmt_range_claim){
                .end_ns = GMT_NO_TIME,
                .ns = ns / (double)count,
                .called_ns = call->begin_ns,
                .range = gmt_named_ranges_at(all, call->thread, call->begin_ns)};
        }
    }
}

static void add_claims(struct gmt_range_claims *claims, const struct gmt_named_ranges *all,
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
            claims->items[claims->count++] = (struct gmt_range_claim){
                claim->end_ns, ns, claim->begin_ns, gmt_named_ranges_at(all, -1, claim->begin_ns)};
        }
    }
}

static int by_end(const void *a, const void *b, void *items)
{
    const struct gmt_range_claim *x = (const struct gmt_range_claim *)items + *(const uint32_t *)a;
    const struct gmt_range_claim *y = (const struct gmt_range_claim *)items + *(const uint32_t *)b;

    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int64_t end_at(const struct gmt_range_claims *claims, size_t i)
{
    return claims->items[claims->order[i]].end_ns;
}

/* Index in `order` of the first claim that ends at end_ns or later. Calls come nearly in order: a few steps
 * on from the last one, else halving. */
static size_t first_at(struct gmt_range_claims *claims, int64_t end_ns)
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

static void resolve(struct gmt_range_claims *claims, const struct gmt_named_ranges *all,
                    const struct gmt_tl_call *call, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns == GMT_NO_TIME) {
        return;
    }
    size_t i = claims->at = first_at(claims, end_ns);

    for (; i < claims->count && end_at(claims, i) == end_ns; i++) {
        struct gmt_range_claim *claim = &claims->items[claims->order[i]];

        claim->called_ns = begin_ns;
        claim->range = gmt_named_ranges_at(all, call->thread, begin_ns);
    }
}

static void resolve_all(struct gmt_range_claims *claims, const struct gmt_named_ranges *all,
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
        claims += gmt_range_claims_of(tl, &findings[i]);
    }
    return claims;
}

int gmt_range_claims_find(struct gmt_range_claims *claims, const struct gmt_named_ranges *all,
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

void gmt_range_claims_free(struct gmt_range_claims *claims)
{
    free(claims->items);
    free(claims->order);
    *claims = (struct gmt_range_claims){.items = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names the ranks whose memory others have opened, by the hashes of its handles. */
#include "analyzer/fleet/handed/direct.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct exported_handle {
    uint64_t hash;
    const char *host; /* of its rank */
    size_t rank;
};

struct direct_search {
    struct gmt_fleet_direct *direct;
    const struct gmt_fleet *fleet;
    struct exported_handle *handles; /* by hash, host and rank */
    size_t handle_count;
    struct gmt_fleet_direct_pair *found; /* one for each flow whose ranks are known */
    struct gmt_fleet_direct_opened
        *opened; /* of each flow: what was opened, and the ranks on both sides of copies */
    size_t found_count, opened_count;
};

/* Without the rank: 0 is a handle that may be the same. */
static int compare_names(const struct exported_handle *x, const struct exported_handle *y)
{
    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    return strcmp(x->host, y->host);
}

static int compare_handles(const void *a, const void *b)
{
    const struct exported_handle *x = a, *y = b;
    int order = compare_names(x, y);

    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int gather(struct direct_search *search)
{
    const struct gmt_fleet *fleet = search->fleet;
    size_t handles = 0, flows = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        handles += fleet->ranks[r].exported_count;
        flows += fleet->ranks[r].flow_count;
    }
    search->handles = calloc(handles + 1, sizeof(*search->handles));
    search->found = calloc(flows + 1, sizeof(*search->found));
    search->opened = calloc(3 * flows + 1, sizeof(*search->opened));
    if (search->handles == NULL || search->found == NULL || search->opened == NULL) {
        return -ENOMEM;
    }
    for (size_t r = 0; r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];

        for (size_t i = 0; rank->host != NULL && i < rank->exported_count; i++) {
            search->handles[search->handle_count++] = (struct exported_handle){rank->exported[i],
                                                                               rank->host, r};
        }
    }
    qsort(search->handles, search->handle_count, sizeof(*search->handles), compare_handles);
    return 0;
}

/* ---- one flow --------------------------------------------------------------------------------- */

/* How many ranks of its host have exported what rank `by` opened with that hash, 2: or more; `rank`: the first of them. */
static size_t owners_of(const struct direct_search *search, uint64_t hash, size_t by, size_t *rank)
{
    const struct exported_handle key = {hash, search->fleet->ranks[by].host, by};
    size_t low = 0, high = search->handle_count, owners = 0;

    if (key.host == NULL) {
        return 0;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_names(&search->handles[middle], &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < search->handle_count && owners < 2 &&
           compare_names(&search->handles[low], &key) == 0;
         low++) {
        size_t owner = search->handles[low].rank;

        if (owner != by) {
            *rank = owners == 0 ? owner : *rank;
            owners++;
        }
    }
    return owners;
}

/* Memory of that rank is in a copy, of whomever the other side is. */
static void mark_copied(struct direct_search *search, const struct gmt_fleet_flow *flow,
                        size_t owner, size_t by)
{
    if (flow->copies > 0 && owner != by) {
        search->opened[search->opened_count++] = (struct gmt_fleet_direct_opened){
            .owner = owner, .by = by, .is_copied = true};
    }
}

static void match(struct direct_search *search, const struct gmt_fleet_flow *flow, size_t by)
{
    struct gmt_fleet_direct *direct = search->direct;
    size_t from = by, to = by;
    size_t owners_from = flow->from != 0 ? owners_of(search, flow->from, by, &from) : 1;
    size_t owners_to = flow->to != 0 ? owners_of(search, flow->to, by, &to) : 1;

    if (owners_from == 1) {
        mark_copied(search, flow, from, by);
    }
    if (owners_to == 1) {
        mark_copied(search, flow, to, by);
    }
    if (owners_from != 1 || owners_to != 1) {
        struct gmt_fleet_direct_rest *rest = owners_from == 0 || owners_to == 0
                                                 ? &direct->unknown
                                                 : &direct->ambiguous;
        rest->opened += flow->opened;
        rest->copies += flow->copies;
        rest->bytes += flow->bytes;
        return;
    }
    if (flow->opened > 0) {
        search->opened[search->opened_count++] = (struct gmt_fleet_direct_opened){
            .owner = from, .by = by, .allocations = flow->opened, .bytes = flow->opened_bytes};
    }
    if (flow->copies == 0) {
        return;
    }
    search->found[search->found_count++] = (struct gmt_fleet_direct_pair){
        .from = from,
        .to = to,
        .by = by,
        .over_host = flow->over_host != 0,
        .is_modelled = search->fleet->ranks[by].sharing.is_modelled != 0,
        .copies = flow->copies,
        .bytes = flow->bytes,
        .timed_bytes = flow->timed_bytes,
        .device_ns = flow->device_ns};
}

/* ---- pairs of ranks --------------------------------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
    const struct gmt_fleet_direct_pair *p = a, *q = b;
    const size_t x[] = {p->from, p->to, p->by, p->over_host};
    const size_t y[] = {q->from, q->to, q->by, q->over_host};
    int order = 0;

    for (size_t i = 0; i < sizeof(x) / sizeof(*x) && order == 0; i++) {
        order = (x[i] > y[i]) - (x[i] < y[i]);
    }
    return order;
}

static int compare_bytes(const void *a, const void *b)
{
    const struct gmt_fleet_direct_pair *x = a, *y = b;

    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? 1 : -1;
    }
    return compare_ranks(a, b);
}

static void finish(struct gmt_fleet_direct *direct, struct gmt_fleet_direct_pair *pair)
{
    bool is_timed = pair->device_ns > 0;

    pair->bytes_per_s = is_timed ? (double)pair->timed_bytes / pair->device_ns * 1e9 : NAN;
    pair->device_ns = is_timed ? pair->device_ns : NAN;
    if (!pair->over_host) {
        direct->copies += pair->copies;
        direct->bytes += pair->bytes;
    }
}

static int add_up(struct direct_search *search, struct gmt_arena *arena)
{
    struct gmt_fleet_direct *direct = search->direct;

    qsort(search->found, search->found_count, sizeof(*search->found), compare_ranks);
    for (size_t i = 0, end; i < search->found_count; i = end) {
        struct gmt_fleet_direct_pair *pair = GMT_PUSH(arena, direct->pairs, direct->pair_count);

        if (pair == NULL) {
            return -ENOMEM;
        }
        *pair = search->found[i];
        for (end = i + 1; end < search->found_count &&
                          compare_ranks(&search->found[i], &search->found[end]) == 0;
             end++) {
            pair->copies += search->found[end].copies;
            pair->bytes += search->found[end].bytes;
            pair->device_ns += search->found[end].device_ns;
            pair->timed_bytes += search->found[end].timed_bytes;
        }
        finish(direct, pair);
    }
    if (direct->pair_count > 1) {
        qsort(direct->pairs, direct->pair_count, sizeof(*direct->pairs), compare_bytes);
    }
    return 0;
}

/* ---- what was opened -------------------------------------------------------------------------- */

static int compare_owners(const void *a, const void *b)
{
    const struct gmt_fleet_direct_opened *x = a, *y = b;

    if (x->owner != y->owner) {
        return x->owner < y->owner ? -1 : 1;
    }
    return (x->by > y->by) - (x->by < y->by);
}

static int add_up_opened(struct direct_search *search, struct gmt_arena *arena)
{
    struct gmt_fleet_direct *direct = search->direct;

    qsort(search->opened, search->opened_count, sizeof(*search->opened), compare_owners);
    for (size_t i = 0, end; i < search->opened_count; i = end) {
        struct gmt_fleet_direct_opened *opened = GMT_PUSH(arena, direct->opened,
                                                          direct->opened_count);

        if (opened == NULL) {
            return -ENOMEM;
        }
        *opened = search->opened[i];
        for (end = i + 1; end < search->opened_count &&
                          compare_owners(&search->opened[i], &search->opened[end]) == 0;
             end++) {
            opened->allocations += search->opened[end].allocations;
            opened->bytes += search->opened[end].bytes;
            opened->is_copied = opened->is_copied || search->opened[end].is_copied;
        }
        if (opened->allocations == 0) {
            direct->opened_count--; /* what was opened has been left out */
        }
    }
    return 0;
}

int gmt_fleet_direct_fill(struct gmt_fleet_direct *direct, const struct gmt_fleet *fleet,
                          struct gmt_arena *arena)
{
    struct direct_search search = {.direct = direct, .fleet = fleet};

    *direct = (struct gmt_fleet_direct){0};
    int rc = gather(&search);
    for (size_t r = 0; rc == 0 && r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];

        direct->sharing.opened += rank->sharing.opened;
        direct->sharing.left_out += rank->sharing.left_out;
        for (size_t i = 0; i < rank->flow_count; i++) {
            match(&search, &rank->flows[i], r);
        }
    }
    if (rc == 0) {
        rc = add_up(&search, arena);
    }
    if (rc == 0) {
        rc = add_up_opened(&search, arena);
    }
    free(search.handles);
    free(search.found);
    free(search.opened);
    return rc;
}

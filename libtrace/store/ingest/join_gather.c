/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that one call made become one: those of a graph launch, and the halves of a staged copy. */
#include <errno.h>
#include <stdlib.h>

#include "libtrace/record/checked.h"
#include "libtrace/store/ingest/join_internal.h"

static int compare_members(const void *a, const void *b)
{
    const struct gmt_join_op *left = a, *right = b;
    if (left->context != right->context) {
        return left->context < right->context ? -1 : 1;
    }
    if (left->correlation != right->correlation) {
        return left->correlation < right->correlation ? -1 : 1;
    }
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* A member without times says nothing of when the whole ran. */
static void extend(struct gmt_join_op *op, const struct gmt_join_op *member)
{
    if (!gmt_join_is_timed(member)) {
        return;
    }
    if (!gmt_join_is_timed(op) || member->start_ns < op->start_ns) {
        op->start_ns = member->start_ns;
    }
    op->stop_ns = member->stop_ns > op->stop_ns ? member->stop_ns : op->stop_ns;
}

/* The operations of a graph launch become one; it stands in the first stream of theirs that is
 * known (branches of a graph run in streams of the driver's own). */
int gmt_join_gather_graphs(struct gmt_join *join)
{
    struct gmt_join_op *all = join->members.items;
    size_t next;
    if (join->members.count > 0) {
        qsort(all, join->members.count, sizeof(*all), compare_members);
    }
    for (size_t first = 0; first < join->members.count; first = next) {
        struct gmt_join_op *op = gmt_join_push(&join->ops, sizeof(*op));
        if (op == NULL) {
            return -ENOMEM;
        }
        *op = all[first];
        op->kind = GMT_JOIN_GRAPH;
        op->signature = gmt_join_simple_signature(GMT_JOIN_GRAPH, 0);
        op->first = first;
        for (next = first; next < join->members.count && all[next].context == op->context &&
                           all[next].correlation == op->correlation;
             next++) {
            extend(op, &all[next]);
            op->group = op->group < 0 ? all[next].group : op->group;
        }
        op->count = next - first;
    }
    return 0;
}

static int compare_halves(const void *a, const void *b)
{
    const struct gmt_join_op *left = a, *right = b;
    if (left->correlation != right->correlation) {
        return left->correlation < right->correlation ? -1 : 1;
    }
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* One copy of the halves [first, first + count). They stand in streams of the driver's, but for one that
 * may stand in the call's. */
static int gather_copy(struct gmt_join *join, const struct gmt_join_op *halves, size_t count)
{
    struct gmt_join_op *op = gmt_join_push(&join->ops, sizeof(*op));
    uint64_t out = 0, in = 0;
    if (op == NULL) {
        return -ENOMEM;
    }
    *op = halves[0];
    op->first = join->members.count;
    op->count = count;
    for (size_t i = 0; i < count; i++) {
        struct gmt_join_op *member = gmt_join_push(&join->members, sizeof(*member));
        if (member == NULL) {
            return -ENOMEM;
        }
        *member = halves[i];
        extend(op, member);
        op->group = op->group < 0 ? member->group : op->group;
        uint64_t *sum = member->outward ? &out : &in;
        *sum = gmt_add_clamped_u64(*sum, member->bytes);
    }
    op->bytes = out > in ? out : in; /* the same, unless a record was lost */
    op->signature = gmt_join_within_devices(op->bytes);
    return 0;
}

int gmt_join_gather_staged(struct gmt_join *join)
{
    struct gmt_join_op *all = join->staged.items;
    int error = 0;
    size_t next;
    if (join->staged.count > 1) {
        qsort(all, join->staged.count, sizeof(*all), compare_halves);
    }
    for (size_t first = 0; first < join->staged.count && error == 0; first = next) {
        for (next = first + 1;
             next < join->staged.count && all[next].correlation == all[first].correlation;) {
            next++;
        }
        error = gather_copy(join, &all[first], next - first);
    }
    return error;
}

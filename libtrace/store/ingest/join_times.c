/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of device records that cannot be. CUPTI has given the end of a copy of 1 byte as that of work of seconds later
 * (docs/cupti-notes.md): what its stream was given after it would have run inside of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "libtrace/store/ingest/join_internal.h"

/* So many are looked at for each: kernels that all end in the far future would be compared with each other. */
enum { LOOK_AHEAD = 4096 };

static int compare_starts(const void *a, const void *b)
{
    const struct gmt_join_op *left = *(struct gmt_join_op *const *)a;
    const struct gmt_join_op *right = *(struct gmt_join_op *const *)b;
    if (left->group != right->group) {
        return left->group < right->group ? -1 : 1;
    }
    if (left->start_ns != right->start_ns) {
        return left->start_ns < right->start_ns ? -1 : 1;
    }
    return (left->id > right->id) - (left->id < right->id);
}

/* Must b, of the same stream, end after a? It is of a later call, and no kernel after a kernel: those may overlap. */
static bool must_end_after(const struct gmt_join_op *b, const struct gmt_join_op *a)
{
    bool both_kernels = a->kind == GMT_JOIN_KERNEL && b->kind == GMT_JOIN_KERNEL;
    return !both_kernels && b->correlation > a->correlation;
}

/* Has later work of the stream begun and ended while this one ran? `later`: those that start no earlier, in order. */
static bool has_work_inside(const struct gmt_join_op *op, struct gmt_join_op *const *later,
                            size_t count)
{
    for (size_t i = 0; i < count && i < LOOK_AHEAD && later[i]->group == op->group; i++) {
        if (later[i]->start_ns >= op->stop_ns) {
            return false;
        }
        if (later[i]->stop_ns < op->stop_ns && must_end_after(later[i], op)) {
            return true;
        }
    }
    return false;
}

/* Of streams that CUPTI names one by one. Operations of graphs run side by side, and the processor copies within the host. */
static size_t of_streams(struct gmt_join *join, struct gmt_join_op **list)
{
    struct gmt_join_op *ops = join->ops.items;
    size_t count = 0;
    for (size_t i = 0; i < join->ops.count; i++) {
        if (ops[i].group > 0 && ops[i].kind != GMT_JOIN_GRAPH && ops[i].count == 0 &&
            !ops[i].is_of_host && gmt_join_is_timed(&ops[i])) {
            list[count++] = &ops[i];
        }
    }
    return count;
}

int gmt_join_find_false_times(struct gmt_join *join)
{
    struct gmt_join_op **list = calloc(join->ops.count + 1, sizeof(struct gmt_join_op *));
    if (list == NULL) {
        return -ENOMEM;
    }
    size_t count = of_streams(join, list);
    if (count > 1) {
        qsort(list, count, sizeof(struct gmt_join_op *), compare_starts);
    }
    for (size_t i = 0; i < count; i++) {
        list[i]->is_false = has_work_inside(list[i], &list[i + 1], count - i - 1);
    }
    free(list);
    return 0;
}

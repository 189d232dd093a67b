/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices did, and by which calls (idle_causes.h). */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/summary/idle_causes.h"
#include "analyzer/trace/query.h"

#define CALLED(table, copy, which) \
    "SELECT o.device_start_ns, o.device_end_ns, o.begin_ns, o.end_ns, o.thread_id, " \
    "c.device_id, " copy " FROM " table " o LEFT JOIN context c ON c.id = o.context_id " \
    "WHERE o.device_start_ns IS NOT NULL AND o.device_end_ns IS NOT NULL" which
/* Calls that the timeline does not hold. */
#define NOT_LOADED " AND (o.result <> 0 OR o.capturing <> 0)"

/* Operations of graphs each by itself: the device may be idle between them. Of what was not joined no call is known. What a graph
 * copies was launched, too. */
static const char launches[] = CALLED("launch", "0", NOT_LOADED " AND o.kind <> 'graph'");
static const char copies[] = CALLED("transfer", "1", NOT_LOADED);
static const char memsets[] = CALLED("memset", "1", "");
static const char others[] =
    "SELECT o.start_ns, o.end_ns, l.begin_ns, l.end_ns, l.thread_id, "
    "coalesce(o.device_id, c.device_id), l.id IS NULL AND o.kind <> 'kernel' FROM device_op o "
    "LEFT JOIN launch l ON l.id = o.call_id LEFT JOIN context c ON c.id = o.context_id "
    "WHERE o.start_ns IS NOT NULL AND o.end_ns IS NOT NULL AND (o.call_id IS NULL OR l.kind = "
    "'graph')";
static const char graphs[] = CALLED("launch", "0", NOT_LOADED " AND o.kind = 'graph'");

static int make_room(struct gmt_idle_ops *ops, size_t *room, size_t count)
{
    struct gmt_idle_op *rows = realloc(ops->rows, count * sizeof(*rows));

    if (rows == NULL) {
        return -ENOMEM;
    }
    ops->rows = rows;
    *room = count;
    return 0;
}

static int add(struct gmt_idle_ops *ops, size_t *room, const struct gmt_idle_op *op)
{
    if (op->start_ns == GMT_NO_TIME || op->end_ns == GMT_NO_TIME || op->end_ns <= op->start_ns) {
        return 0;
    }
    int rc = ops->count == *room ? make_room(ops, room, *room + *room / 2) : 0;
    if (rc == 0) {
        ops->rows[ops->count++] = *op;
    }
    return rc;
}

static int add_rows(struct gmt_idle_ops *ops, size_t *room, const struct gmt_timeline *tl,
                    const char *sql)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_idle_op op = {.start_ns = gmt_query_time(&query, 0),
                                 .end_ns = gmt_query_time(&query, 1),
                                 .call_begin_ns = gmt_query_time(&query, 2),
                                 .call_end_ns = gmt_query_time(&query, 3),
                                 .thread = gmt_query_known_id(&query, 4),
                                 .device = gmt_query_known_id(&query, 5),
                                 .is_copy = gmt_query_int(&query, 6) != 0};

        rc = add(ops, room, &op);
    }
    return gmt_query_close(&query, rc);
}

/* Threads are numbered from 1 on. */
static struct gmt_idle_op op_of(const struct gmt_tl_call *call, int64_t start_ns, int64_t end_ns,
                                int32_t device)
{
    return (struct gmt_idle_op){.start_ns = start_ns,
                                .end_ns = end_ns,
                                .call_begin_ns = call->begin_ns,
                                .call_end_ns = call->end_ns,
                                .thread = call->thread > 0 ? call->thread : -1,
                                .device = device};
}

static int add_launches(struct gmt_idle_ops *ops, size_t *room, const struct gmt_timeline *tl,
                        bool of_graphs)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->is_graph == of_graphs) {
            struct gmt_idle_op op = op_of(&launch->call, launch->device_start_ns,
                                          launch->device_end_ns, launch->device);

            rc = add(ops, room, &op);
        }
    }
    if (rc == 0 && !tl->all_launches) {
        rc = add_rows(ops, room, tl, of_graphs ? graphs : launches);
    }
    return rc;
}

static int add_copies(struct gmt_idle_ops *ops, size_t *room, const struct gmt_timeline *tl)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        struct gmt_idle_op op = op_of(&copy->call, copy->device_start_ns, copy->device_end_ns,
                                      copy->device);

        op.is_copy = true;
        rc = add(ops, room, &op);
    }
    return rc == 0 && !tl->all_copies ? add_rows(ops, room, tl, copies) : rc;
}

/* Whether records of the device may be more than the operations of calls. */
static bool has_others(const struct gmt_timeline *tl)
{
    bool may = tl->has_unjoined_ops || !tl->all_launches;

    for (size_t i = 0; !may && i < tl->launch_count; i++) {
        may = tl->launches[i].is_graph;
    }
    return may;
}

static int compare_starts(const void *a, const void *b)
{
    const struct gmt_idle_op *x = a, *y = b;

    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return (x->call_begin_ns > y->call_begin_ns) - (x->call_begin_ns < y->call_begin_ns);
}

static bool are_sorted(const struct gmt_idle_ops *ops)
{
    for (size_t i = 1; i < ops->count; i++) {
        if (compare_starts(&ops->rows[i - 1], &ops->rows[i]) > 0) {
            return false;
        }
    }
    return true;
}

/* By start; those that start at once stay in their order. 0 or -ENOMEM. */
static int put_in_order(struct gmt_idle_ops *ops)
{
    int64_t(*order)[2] = malloc(ops->count * sizeof(*order));
    struct gmt_idle_op *rows = order != NULL ? malloc(ops->count * sizeof(*rows)) : NULL;

    if (rows == NULL) {
        free(order);
        return -ENOMEM;
    }
    for (size_t i = 0; i < ops->count; i++) {
        order[i][0] = ops->rows[i].start_ns;
        order[i][1] = (int64_t)i;
    }
    gmt_sort_pairs(order, ops->count);
    /* Into other memory: in place, each move would wait for the one before. */
    for (size_t i = 0; i < ops->count; i++) {
        rows[i] = ops->rows[order[i][1]];
    }
    free(order);
    free(ops->rows);
    ops->rows = rows;
    return 0;
}

/* Sorted by start: now those that start at once by their calls, too. */
static void sort_ties(struct gmt_idle_op *rows, size_t n)
{
    for (size_t i = 0, next; i < n; i = next) {
        bool sorted = true;

        for (next = i + 1; next < n && rows[next].start_ns == rows[i].start_ns; next++) {
            sorted &= compare_starts(&rows[next - 1], &rows[next]) <= 0;
        }
        if (!sorted) {
            qsort(&rows[i], next - i, sizeof(*rows), compare_starts);
        }
    }
}

/* By start, and what starts at once by its call. 0 or -ENOMEM. */
static int sort_ops(struct gmt_idle_ops *ops)
{
    if (are_sorted(ops)) {
        return 0;
    }
    int rc = put_in_order(ops);
    if (rc == 0) {
        sort_ties(ops->rows, ops->count);
    }
    return rc;
}

int gmt_idle_ops_load(struct gmt_idle_ops *ops, const struct gmt_timeline *tl)
{
    size_t room = 0;

    *ops = (struct gmt_idle_ops){.rows = NULL};
    int rc = make_room(ops, &room, tl->launch_count + tl->copy_count + 256);
    if (rc == 0) {
        rc = add_launches(ops, &room, tl, false);
    }
    if (rc == 0) {
        rc = add_copies(ops, &room, tl);
    }
    if (rc == 0) {
        rc = add_rows(ops, &room, tl, memsets);
    }
    if (rc == 0 && tl->op_count == 0) {
        rc = add_launches(ops, &room, tl, true);
    }
    if (rc == 0 && tl->op_count > 0 && has_others(tl)) {
        rc = add_rows(ops, &room, tl, others);
    }
    ops->until_ns = INT64_MIN;
    for (size_t i = 0; i < ops->count; i++) {
        ops->until_ns = ops->rows[i].end_ns > ops->until_ns ? ops->rows[i].end_ns : ops->until_ns;
    }
    return rc == 0 ? sort_ops(ops) : rc;
}

void gmt_idle_ops_free(struct gmt_idle_ops *ops)
{
    free(ops->rows);
    *ops = (struct gmt_idle_ops){.rows = NULL};
}

void gmt_idle_ops_select(const struct gmt_idle_ops *ops, int32_t device, struct gmt_idle_ops *of)
{
    of->count = 0;
    of->until_ns = ops->until_ns;
    for (size_t i = 0; i < ops->count; i++) {
        if (ops->rows[i].device == device) {
            of->rows[of->count++] = ops->rows[i];
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices did, and by which calls (idle_causes.h). */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/summary/idle_causes.h"
#include "analyzer/trace/query.h"

#define CALLED(table, copy) \
    "SELECT o.device_start_ns, o.device_end_ns, o.begin_ns, o.end_ns, o.thread_id, " \
    "c.device_id, " copy " FROM " table " o LEFT JOIN context c ON c.id = o.context_id " \
    "WHERE o.device_start_ns IS NOT NULL AND o.device_end_ns IS NOT NULL"
#define AND " UNION ALL "

/* Operations of graphs each by itself: the device may be idle between them. Of what was not joined no call is known. What a graph
 * copies was launched, too. */
static const char called[] = CALLED("launch", "0") " AND o.kind <> 'graph'" AND CALLED(
    "transfer", "1") AND CALLED("memset", "1");
static const char others[] =
    "SELECT o.start_ns, o.end_ns, l.begin_ns, l.end_ns, l.thread_id, "
    "coalesce(o.device_id, c.device_id), l.id IS NULL AND o.kind <> 'kernel' FROM device_op o "
    "LEFT JOIN launch l ON l.id = o.call_id LEFT JOIN context c ON c.id = o.context_id "
    "WHERE o.start_ns IS NOT NULL AND o.end_ns IS NOT NULL AND (o.call_id IS NULL OR l.kind = "
    "'graph')";
static const char graphs[] = CALLED("launch", "0") " AND o.kind = 'graph'";

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

        if (op.start_ns == GMT_NO_TIME || op.end_ns == GMT_NO_TIME || op.end_ns <= op.start_ns) {
            continue;
        }
        if (ops->count == *room) {
            size_t more = *room > 0 ? 2 * *room : 256;
            struct gmt_idle_op *rows = realloc(ops->rows, more * sizeof(*rows));

            if (rows == NULL) {
                rc = -ENOMEM;
                break;
            }
            ops->rows = rows;
            *room = more;
        }
        ops->rows[ops->count++] = op;
    }
    return gmt_query_close(&query, rc);
}

static int compare_starts(const void *a, const void *b)
{
    const struct gmt_idle_op *x = a, *y = b;

    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return (x->call_begin_ns > y->call_begin_ns) - (x->call_begin_ns < y->call_begin_ns);
}

int gmt_idle_ops_load(struct gmt_idle_ops *ops, const struct gmt_timeline *tl)
{
    int64_t device_ops = 0;
    size_t room = 0;

    *ops = (struct gmt_idle_ops){.rows = NULL};
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM device_op", &device_ops);
    if (rc == 0) {
        rc = add_rows(ops, &room, tl, called);
    }
    if (rc == 0) {
        rc = add_rows(ops, &room, tl, device_ops > 0 ? others : graphs);
    }
    bool sorted = true;
    for (size_t i = 1; i < ops->count && sorted; i++) {
        sorted = compare_starts(&ops->rows[i - 1], &ops->rows[i]) <= 0;
    }
    if (!sorted) {
        qsort(ops->rows, ops->count, sizeof(*ops->rows), compare_starts);
    }
    return rc;
}

void gmt_idle_ops_free(struct gmt_idle_ops *ops)
{
    free(ops->rows);
    *ops = (struct gmt_idle_ops){.rows = NULL};
}

void gmt_idle_ops_select(const struct gmt_idle_ops *ops, int32_t device, struct gmt_idle_ops *of)
{
    of->count = 0;
    for (size_t i = 0; i < ops->count; i++) {
        if (ops->rows[i].device == device) {
            of->rows[of->count++] = ops->rows[i];
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* When the device was busy, and when with kernels: from one pass over the records of its activity. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline.h"

/* Intervals that are gathered. */
struct spans {
    struct gmt_interval *rows;
    size_t count, capacity;
};

static void push(struct spans *spans, int64_t start, int64_t end)
{
    if (spans->count < spans->capacity && start != GMT_NO_TIME && end != GMT_NO_TIME &&
        end > start) {
        spans->rows[spans->count++] = (struct gmt_interval){start, end};
    }
}

static int make_room(struct spans *spans, size_t capacity)
{
    *spans = (struct spans){.rows = calloc(capacity + 1, sizeof(*spans->rows)),
                            .capacity = capacity};
    return spans->rows != NULL ? 0 : -ENOMEM;
}

/* The timeline keeps as many as are left. */
static void hand_over(const struct spans *spans, struct gmt_interval **rows, size_t *count)
{
    *count = gmt_intervals_merge(spans->rows, spans->count);
    *rows = realloc(spans->rows, (*count + 1) * sizeof(**rows));
    if (*rows == NULL) {
        *rows = spans->rows;
    }
}

/* Records of the device's activity. */
static int read_ops(struct gmt_timeline *tl, struct spans *busy, struct spans *kernels)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT start_ns, end_ns, kind = 'kernel', graph IS NOT NULL, "
                            "call_id IS NULL FROM device_op");

    while (rc == 0 && gmt_query_next(&query)) {
        int64_t start = gmt_query_time(&query, 0), end = gmt_query_time(&query, 1);

        push(busy, start, end);
        tl->has_graph_ops |= gmt_query_int(&query, 3) != 0;
        tl->has_unjoined_ops |= gmt_query_int(&query, 4) != 0;
        if (gmt_query_int(&query, 2) != 0) {
            tl->has_kernel_ops = true;
            push(kernels, start, end);
        }
    }
    return gmt_query_close(&query, rc);
}

/* Without such records: what calls know of the device. */
static int read_calls(struct gmt_timeline *tl, struct spans *busy)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, "SELECT device_start_ns, device_end_ns FROM memset");

    while (rc == 0 && gmt_query_next(&query)) {
        push(busy, gmt_query_time(&query, 0), gmt_query_time(&query, 1));
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        push(busy, tl->copies[i].device_start_ns, tl->copies[i].device_end_ns);
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        push(busy, tl->launches[i].device_start_ns, tl->launches[i].device_end_ns);
    }
    return gmt_query_close(&query, rc);
}

int gmt_timeline_load_ops(struct gmt_timeline *tl)
{
    struct spans busy = {0}, kernels = {0};
    int64_t ops = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM device_op", &ops);

    if (rc != 0 || ops <= 0) {
        return rc;
    }
    tl->op_count = (size_t)ops;
    rc = make_room(&busy, tl->op_count);
    if (rc == 0) {
        rc = make_room(&kernels, tl->op_count);
    }
    if (rc == 0) {
        rc = read_ops(tl, &busy, &kernels);
    }
    hand_over(&busy, &tl->busy, &tl->busy_count);
    hand_over(&kernels, &tl->kernel_busy, &tl->kernel_busy_count);
    return rc;
}

/* Of a trace without records: from what calls know. */
static int find_busy(struct gmt_timeline *tl)
{
    struct spans busy = {0};
    int64_t memsets = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM memset", &memsets);

    if (rc == 0) {
        rc = make_room(&busy, tl->copy_count + tl->launch_count + (size_t)memsets);
    }
    if (rc == 0) {
        rc = read_calls(tl, &busy);
    }
    hand_over(&busy, &tl->busy, &tl->busy_count);
    return rc;
}

/* The times of a graph's launch are from its first operation to its last: what the records say goes before. */
static int find_kernels(struct gmt_timeline *tl)
{
    struct spans kernels = {0};
    int rc = make_room(&kernels, tl->launch_count);

    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        push(&kernels, tl->launches[i].device_start_ns, tl->launches[i].device_end_ns);
    }
    free(tl->kernel_busy);
    hand_over(&kernels, &tl->kernel_busy, &tl->kernel_busy_count);
    return rc;
}

int gmt_timeline_load_busy(struct gmt_timeline *tl)
{
    int rc = tl->op_count == 0 ? find_busy(tl) : 0;

    if (rc == 0 && !tl->has_kernel_ops) {
        rc = find_kernels(tl);
    }
    tl->has_device_times = tl->busy_count > 0;
    return rc;
}

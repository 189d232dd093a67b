/* SPDX-License-Identifier: Apache-2.0 */
/* Loads faults and migrations of managed memory, and finds launch and allocation of each (managed_ops.h). */
#include "analyzer/trace/managed_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"

enum { LEAST_PAGE_BYTES = 4096 };

static int load_rows(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int64_t rows = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM managed_op", &rows);

    if (rc != 0) {
        return rc;
    }
    if (rows < 0 || !gmt_guard_plausible_rows(tl->db, rows)) {
        return -ENOMEM;
    }
    tl->managed = calloc((size_t)rows + 1, sizeof(*tl->managed));
    if (tl->managed == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db,
                        "SELECT kind, start_ns, coalesce(end_ns, start_ns), address, bytes, cause "
                        "FROM managed_op ORDER BY start_ns");
    while (rc == 0 && rows > 0 && gmt_query_next(&query)) {
        const char *cause = gmt_query_text_here(&query, 5);
        struct gmt_tl_managed_op op = {
            .start_ns = gmt_query_instant(&query, 1),
            .end_ns = gmt_query_instant(&query, 2),
            .address = (uint64_t)gmt_query_int(&query, 3),
            .bytes = gmt_query_bytes(&query, 4),
            .allocation = -1,
            .class_index = -1,
            .kind = gmt_index_of_name(gmt_query_text_here(&query, 0), gmt_name_managed_kind,
                                      GMT_MANAGED_KIND_COUNT, GMT_MANAGED_KIND_COUNT),
            .asked = cause != NULL && strcmp(cause, "user") == 0,
        };

        rows--;
        op.end_ns = op.end_ns > op.start_ns ? op.end_ns : op.start_ns;
        tl->managed[tl->managed_count++] = op;
    }
    return gmt_query_close(&query, rc);
}

/* ---- whose pages they are ---------------------------------------------------------------------- */

static bool holds(const struct gmt_tl_allocation *allocation, const struct gmt_tl_managed_op *op)
{
    uint64_t bytes = op->bytes > LEAST_PAGE_BYTES ? (uint64_t)op->bytes : LEAST_PAGE_BYTES;

    return op->address < allocation->address + (uint64_t)allocation->bytes &&
           allocation->address < op->address + bytes && allocation->call.begin_ns <= op->start_ns &&
           (allocation->free_end_ns == GMT_NO_TIME || op->start_ns < allocation->free_end_ns);
}

/* Most are of the same allocation as the one before. */
static int find_allocations(struct gmt_timeline *tl)
{
    int32_t *managed = calloc(tl->allocation_count + 1, sizeof(*managed));
    size_t count = 0, last = 0;

    if (managed == NULL || tl->allocation_count > INT32_MAX) {
        free(managed);
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->allocation_count; i++) {
        if (tl->allocations[i].kind == GMT_ALLOC_MANAGED) {
            managed[count++] = (int32_t)i;
        }
    }
    for (size_t i = 0; i < tl->managed_count && count > 0; i++) {
        struct gmt_tl_managed_op *op = &tl->managed[i];

        for (size_t k = 0; k < count && op->allocation < 0; k++) {
            size_t at = (last + k) % count;

            if (holds(&tl->allocations[managed[at]], op)) {
                op->allocation = managed[at];
                last = at;
            }
        }
    }
    free(managed);
    return 0;
}

/* ---- which launch waited for them -------------------------------------------------------------- */

/* When launch i ran; empty where it is not known. */
static struct gmt_interval interval_of(const struct gmt_timeline *tl, size_t i)
{
    const struct gmt_tl_launch *launch = &tl->launches[i];
    struct gmt_interval ran = {0, 0};

    if (launch->device_end_ns != GMT_NO_TIME) {
        ran = (struct gmt_interval){launch->device_start_ns, launch->device_end_ns};
    } else if (launch->measured) {
        ran = (struct gmt_interval){launch->call.begin_ns, launch->call.end_ns};
        if (i + 1 == tl->launch_count) {
            ran.end_ns = INT64_MAX;
        } else if (tl->launches[i + 1].call.begin_ns > ran.end_ns) {
            ran.end_ns = tl->launches[i + 1].call.begin_ns;
        }
    }
    return ran;
}

/* The device waits for it. */
static bool stops_kernels(const struct gmt_tl_managed_op *op)
{
    return op->kind == GMT_MANAGED_GPU_FAULT || op->kind == GMT_MANAGED_THROTTLING ||
           ((op->kind == GMT_MANAGED_H2D || op->kind == GMT_MANAGED_D2D) && !op->asked);
}

static int merge_faults(struct gmt_timeline *tl)
{
    size_t n = 0;

    tl->faults = calloc(tl->managed_count + 1, sizeof(*tl->faults));
    if (tl->faults == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->managed_count; i++) {
        const struct gmt_tl_managed_op *op = &tl->managed[i];
        struct gmt_interval *last = n > 0 ? &tl->faults[n - 1] : NULL;

        if (!stops_kernels(op) || op->end_ns == op->start_ns) {
            continue;
        }
        /* In the order of their begin. */
        if (last != NULL && op->start_ns - last->end_ns <= GMT_FAULT_GAP_NS) {
            last->end_ns = op->end_ns > last->end_ns ? op->end_ns : last->end_ns;
        } else {
            tl->faults[n++] = (struct gmt_interval){op->start_ns, op->end_ns};
        }
    }
    tl->fault_count = n;
    return 0;
}

double gmt_faults_within(const struct gmt_timeline *tl, struct gmt_interval interval)
{
    return tl->fault_count > 0 ? gmt_intervals_overlap(tl->faults, tl->fault_count, interval) : 0;
}

/* Index of the first that starts at that time or later. */
static size_t first_from(const struct gmt_timeline *tl, int64_t at_ns)
{
    size_t low = 0, high = tl->managed_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->managed[middle].start_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void claim(struct gmt_timeline *tl, struct gmt_interval ran, int32_t class)
{
    for (size_t k = first_from(tl, ran.begin_ns);
         class >= 0 && k < tl->managed_count && tl->managed[k].start_ns < ran.end_ns; k++) {
        if (tl->managed[k].class_index < 0) {
            tl->managed[k].class_index = class;
        }
    }
}

static void find_launches(struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->launch_count; i++) {
        struct gmt_tl_launch *launch = &tl->launches[i];
        struct gmt_interval ran = interval_of(tl, i);

        launch->faults_ns = gmt_faults_within(tl, ran);
        if (launch->faults_ns > 0) {
            claim(tl, ran, launch->class_index);
        }
    }
    for (size_t c = 0; c < tl->class_count; c++) {
        for (int64_t i = 0; i < tl->classes[c].in_graphs; i++) {
            const struct gmt_tl_node *node = &tl->classes[c].nodes[i];

            claim(tl, (struct gmt_interval){node->device_start_ns, node->device_end_ns},
                  (int32_t)c);
        }
    }
}

int gmt_managed_ops_load(struct gmt_timeline *tl)
{
    if (!gmt_trace_has_column(tl->db, "managed_op", "kind")) {
        return 0;
    }
    int rc = load_rows(tl);

    tl->has_managed_ops = rc == 0;
    if (rc == 0) {
        rc = find_allocations(tl);
    }
    if (rc == 0) {
        rc = merge_faults(tl);
    }
    if (rc == 0 && tl->fault_count > 0) {
        find_launches(tl);
    }
    return rc;
}

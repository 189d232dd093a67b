/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a rank from and to memory that other processes have exported. */
#include "analyzer/fleet/handed/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/query.h"
#include "libtrace/store/db/own_schema.h"

/* An allocation that is memory of another process. */
struct opened {
    int64_t allocation;
    uint64_t hash;
    uint64_t bytes;
};

struct flows_read {
    struct gmt_fleet_rank *rank;
    const struct gmt_timeline *timeline;
    struct gmt_arena *arena; /* of what stays */
    struct gmt_arena here;
    struct opened *opened; /* by allocation */
    size_t opened_count;
    uint64_t *exported; /* any order, equal ones too */
    size_t exported_count;
    struct gmt_fleet_flow *flows; /* one for each copy, and for each that was opened */
    size_t flow_count;
};

static int compare_words(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int compare_opened(const void *a, const void *b)
{
    const struct opened *x = a, *y = b;

    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

static int compare_flows(const void *a, const void *b)
{
    const struct gmt_fleet_flow *x = a, *y = b;
    int order = compare_words(&x->from, &y->from);

    order = order != 0 ? order : compare_words(&x->to, &y->to);
    return order != 0 ? order : compare_words(&x->over_host, &y->over_host);
}

/* ---- from the trace --------------------------------------------------------------------------- */

static int read_handles(struct flows_read *reading)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, reading->timeline->db,
        "SELECT kind = 'imported', hash, allocation_id, bytes FROM memory_handle WHERE hash <> 0 "
        "AND (kind = 'exported' OR allocation_id IS NOT NULL)");

    while (rc == 0 && gmt_query_next(&query)) {
        bool is_opened = gmt_query_int(&query, 0) != 0;
        uint64_t hash = (uint64_t)gmt_query_int(&query, 1);

        if (is_opened) {
            struct opened *opened = GMT_PUSH(&reading->here, reading->opened,
                                             reading->opened_count);
            rc = opened != NULL ? 0 : -ENOMEM;
            if (rc == 0) {
                *opened = (struct opened){gmt_query_int(&query, 2), hash,
                                          (uint64_t)gmt_query_bytes(&query, 3)};
            }
        } else {
            uint64_t *exported = GMT_PUSH(&reading->here, reading->exported,
                                          reading->exported_count);
            rc = exported != NULL ? 0 : -ENOMEM;
            if (rc == 0) {
                *exported = hash;
            }
        }
    }
    return gmt_query_close(&query, rc);
}

/* 0: memory of this process. */
static uint64_t hash_of(const struct flows_read *reading, int64_t allocation)
{
    const struct opened key = {.allocation = allocation};
    const struct opened *found = bsearch(&key, reading->opened, reading->opened_count,
                                         sizeof(*reading->opened), compare_opened);

    return found != NULL ? found->hash : 0;
}

/* 0: not known. */
static double device_ns(const struct gmt_timeline *timeline, const struct gmt_tl_copy *copy)
{
    if (timeline->modelled) {
        return (double)(copy->modelled.end_ns - copy->modelled.begin_ns);
    }
    bool known = copy->device_start_ns != GMT_NO_TIME && copy->device_end_ns != GMT_NO_TIME &&
                 copy->device_end_ns > copy->device_start_ns;
    return known ? (double)(copy->device_end_ns - copy->device_start_ns) : 0;
}

static int add_copy(struct flows_read *reading, const struct gmt_tl_copy *copy)
{
    uint64_t from = hash_of(reading, copy->src_allocation);
    uint64_t to = hash_of(reading, copy->dst_allocation);

    if (from == 0 && to == 0) {
        return 0;
    }
    struct gmt_fleet_flow *flow = GMT_PUSH(&reading->here, reading->flows, reading->flow_count);
    if (flow == NULL) {
        return -ENOMEM;
    }
    double ns = device_ns(reading->timeline, copy);
    *flow = (struct gmt_fleet_flow){.from = from,
                                    .to = to,
                                    .over_host = copy->direction == GMT_DIR_H2D ||
                                                 copy->direction == GMT_DIR_D2H,
                                    .copies = 1,
                                    .bytes = (uint64_t)copy->bytes,
                                    .timed_bytes = ns > 0 ? (uint64_t)copy->bytes : 0,
                                    .device_ns = ns > 0 ? ns : 0};
    return 0;
}

static int add_opened(struct flows_read *reading)
{
    for (size_t i = 0; i < reading->opened_count; i++) {
        const struct opened *opened = &reading->opened[i];
        struct gmt_fleet_flow *flow = GMT_PUSH(&reading->here, reading->flows, reading->flow_count);

        if (flow == NULL) {
            return -ENOMEM;
        }
        *flow = (struct gmt_fleet_flow){
            .from = opened->hash, .opened = 1, .opened_bytes = opened->bytes};
    }
    return 0;
}

/* ---- what stays ------------------------------------------------------------------------------- */

static int keep_exported(struct flows_read *reading)
{
    struct gmt_fleet_rank *rank = reading->rank;

    if (reading->exported_count > 1) {
        qsort(reading->exported, reading->exported_count, sizeof(*reading->exported),
              compare_words);
    }
    for (size_t i = 0; i < reading->exported_count; i++) {
        uint64_t hash = reading->exported[i];

        if (i > 0 && hash == reading->exported[i - 1]) {
            continue;
        }
        if (rank->exported_count == GMT_FLEET_HANDLES_MOST) {
            rank->sharing.left_out++;
            continue;
        }
        uint64_t *kept = GMT_PUSH(reading->arena, rank->exported, rank->exported_count);
        if (kept == NULL) {
            return -ENOMEM;
        }
        *kept = hash;
    }
    return 0;
}

static int keep_flows(struct flows_read *reading)
{
    struct gmt_fleet_rank *rank = reading->rank;
    struct gmt_fleet_flow *sum = NULL;

    if (reading->flow_count > 1) {
        qsort(reading->flows, reading->flow_count, sizeof(*reading->flows), compare_flows);
    }
    for (size_t i = 0; i < reading->flow_count; i++) {
        const struct gmt_fleet_flow *flow = &reading->flows[i];

        if (i == 0 || compare_flows(flow, flow - 1) != 0) {
            if (rank->flow_count == GMT_FLEET_HANDLES_MOST) {
                rank->sharing.left_out++;
                sum = NULL;
                continue;
            }
            sum = GMT_PUSH(reading->arena, rank->flows, rank->flow_count);
            if (sum == NULL) {
                return -ENOMEM;
            }
            *sum = *flow;
        } else if (sum != NULL) {
            sum->opened += flow->opened;
            sum->opened_bytes += flow->opened_bytes;
            sum->copies += flow->copies;
            sum->bytes += flow->bytes;
            sum->timed_bytes += flow->timed_bytes;
            sum->device_ns += flow->device_ns;
        }
    }
    return 0;
}

int gmt_fleet_flows_read(struct gmt_fleet_rank *rank, const struct gmt_timeline *timeline,
                         struct gmt_arena *arena)
{
    struct flows_read reading = {.rank = rank, .timeline = timeline, .arena = arena};

    if (!gmt_trace_has_column(timeline->db, "memory_handle", "hash")) {
        return 0;
    }
    int rc = read_handles(&reading);
    if (reading.opened_count > 1) {
        qsort(reading.opened, reading.opened_count, sizeof(*reading.opened), compare_opened);
    }
    for (size_t i = 0; rc == 0 && reading.opened_count > 0 && i < timeline->copy_count; i++) {
        rc = add_copy(&reading, &timeline->copies[i]);
    }
    if (rc == 0) {
        rc = add_opened(&reading);
    }
    rank->sharing.opened = reading.opened_count;
    rank->sharing.is_modelled = timeline->modelled;
    if (rc == 0) {
        rc = keep_exported(&reading);
    }
    if (rc == 0) {
        rc = keep_flows(&reading);
    }
    gmt_arena_free(&reading.here);
    return rc;
}

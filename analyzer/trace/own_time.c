/* SPDX-License-Identifier: Apache-2.0 */
/* What gmtrace's own work cost the program (own_time.h). */
#include "analyzer/trace/own_time.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/trace/query.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"

/* Held time since the last wait. */
struct held {
    double host_ns, idle_ns; /* of which the device had nothing to do */
    double kernels_ns;       /* own time of the kernels that were counted */
    int64_t last_end_ns;
};

static double length_of(struct gmt_interval interval)
{
    return (double)(interval.end_ns - interval.begin_ns);
}

/* The launch that was counted in an interval: there is at most one. */
static const struct gmt_tl_launch *launch_in(const struct gmt_timeline *tl,
                                             struct gmt_interval interval)
{
    size_t low = 0, high = tl->launch_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->launches[middle].call.begin_ns < interval.begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < tl->launch_count && tl->launches[low].call.begin_ns <= interval.end_ns; low++) {
        if (tl->launches[low].measured) {
            return &tl->launches[low];
        }
    }
    return NULL;
}

/*
 * How long the kernel takes when it is not counted: as other launches of its class did. Of a class without
 * one, hardware counters are the nearest: their range waits for the kernel and does not change it.
 */
static double kernel_ns(const struct gmt_timeline *tl, const struct gmt_tl_launch *launch,
                        double interval_ns)
{
    double ns = NAN;

    if (launch != NULL && launch->class_index >= 0) {
        ns = tl->classes[launch->class_index].median_ns;
    }
    if (isnan(ns) && launch != NULL && launch->by_hardware) {
        ns = interval_ns;
    }
    return isnan(ns) ? 0 : fmin(ns, interval_ns);
}

/*
 * When the host began to wait for the device: the first time at or after `at_ns`, or the end of the run.
 * Times are asked for in ascending order: `copy` is how far the copies were looked at, from 0.
 */
static int wait_after(const struct gmt_timeline *tl, size_t *copy, int64_t at_ns, int64_t *wait_ns)
{
    struct gmt_query query;
    char sql[128];

    *wait_ns = tl->end_ns;
    for (; *copy < tl->copy_count; (*copy)++) {
        const struct gmt_tl_copy *next = &tl->copies[*copy];

        if (next->blocking && next->call.begin_ns >= at_ns) {
            *wait_ns = next->call.begin_ns < tl->end_ns ? next->call.begin_ns : tl->end_ns;
            break;
        }
    }
    snprintf(sql, sizeof(sql),
             "SELECT begin_ns FROM sync WHERE begin_ns >= %" PRId64 " AND result = 0 "
             "ORDER BY begin_ns LIMIT 1",
             at_ns);
    int rc = gmt_query_open(&query, tl->db, sql);
    if (rc == 0 && gmt_query_next(&query)) {
        int64_t sync_ns = gmt_query_instant(&query, 0);

        *wait_ns = sync_ns < *wait_ns ? sync_ns : *wait_ns;
    }
    return gmt_query_close(&query, rc);
}

/* What the program loses to `held` until it waits at `wait_ns`. */
static double lost_ns(const struct gmt_timeline *tl, const struct held *held, int64_t wait_ns)
{
    int64_t last_ns = held->last_end_ns;
    double slack_ns = 0;

    for (size_t low = 0, high = tl->busy_count; low < high;) {
        size_t middle = low + (high - low) / 2;

        if (tl->busy[middle].begin_ns < wait_ns) {
            if (tl->busy[middle].end_ns > last_ns) {
                last_ns = tl->busy[middle].end_ns;
            }
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (last_ns < wait_ns) {
        slack_ns = (double)(wait_ns - last_ns);
    }
    return fmin(held->host_ns, slack_ns + fmax(0, held->idle_ns - held->kernels_ns));
}

static int sum_lost(const struct gmt_timeline *tl, double *sum_ns)
{
    struct held held = {0};
    size_t copy = 0;
    int64_t wait_ns = tl->start_ns;
    int rc = 0;

    *sum_ns = 0;
    for (size_t i = 0; rc == 0 && i < tl->own_count; i++) {
        struct gmt_interval own = tl->own[i];
        double ns = length_of(own);

        if (i == 0 || own.begin_ns >= wait_ns) {
            *sum_ns += lost_ns(tl, &held, wait_ns);
            held = (struct held){0};
            rc = wait_after(tl, &copy, own.end_ns, &wait_ns);
        }
        held.host_ns += ns;
        held.idle_ns += ns - gmt_intervals_overlap(tl->busy, tl->busy_count, own);
        held.kernels_ns += kernel_ns(tl, launch_in(tl, own), ns);
        held.last_end_ns = own.end_ns;
    }
    *sum_ns += lost_ns(tl, &held, wait_ns);
    return rc;
}

static int load_rows(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int64_t rows = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM own_time", &rows);

    if (rc != 0) {
        return rc;
    }
    if (rows < 0 || !gmt_guard_plausible_rows(tl->db, rows)) {
        return -ENOMEM;
    }
    tl->own = calloc((size_t)rows + 1, sizeof(*tl->own));
    if (tl->own == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db, "SELECT begin_ns, end_ns FROM own_time WHERE beside = 0");
    while (rc == 0 && rows > 0 && gmt_query_next(&query)) {
        struct gmt_interval own = {gmt_query_instant(&query, 0), gmt_query_instant(&query, 1)};

        rows--;
        own.begin_ns = own.begin_ns > tl->start_ns ? own.begin_ns : tl->start_ns;
        own.end_ns = own.end_ns < tl->end_ns ? own.end_ns : tl->end_ns;
        if (own.end_ns > own.begin_ns) {
            tl->own[tl->own_count++] = own;
        }
    }
    tl->own_count = gmt_intervals_merge(tl->own, tl->own_count);
    return gmt_query_close(&query, rc);
}

static int load_hashing(const struct gmt_timeline *tl, double *ns)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT max(spent) FROM (SELECT sum(min(max(hash_ns, 0), 1 << 40)) AS spent FROM "
        "fingerprint f JOIN transfer t ON t.id = f.transfer_id WHERE hash_ns "
        "IS NOT NULL GROUP BY t.thread_id)");

    if (rc == 0 && gmt_query_next(&query)) {
        *ns = fmax(0, (double)gmt_query_int(&query, 0));
    }
    return gmt_query_close(&query, rc);
}

double gmt_measured_kernels_ns(const struct gmt_timeline *tl)
{
    double ns = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        int64_t untimed = class->measured - class->repeated;

        if (untimed > 0 && isfinite(class->median_ns)) {
            ns += (double)untimed * class->median_ns;
        }
    }
    return ns;
}

static int load_taken_stacks(struct gmt_timeline *tl)
{
    int64_t taken = 0;

    if (!gmt_trace_has_column(tl->db, "overhead", "stacks_taken")) {
        return 0;
    }
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM overhead WHERE stacks_taken > 0",
                             &taken);
    tl->takes_stacks = taken > 0;
    return rc;
}

int gmt_own_time_load(struct gmt_timeline *tl)
{
    double hashing_ns = 0, lost = 0;
    int rc = load_taken_stacks(tl);

    if (rc != 0) {
        return rc;
    }
    if (tl->simulated || !gmt_trace_has_column(tl->db, "own_time", "work") ||
        !gmt_trace_has_column(tl->db, "fingerprint", "hash_ns")) {
        return 0;
    }
    rc = load_rows(tl);
    if (rc == 0) {
        rc = load_hashing(tl, &hashing_ns);
    }
    if (rc == 0) {
        rc = sum_lost(tl, &lost);
    }
    /* What the device did was the program's. */
    if (rc == 0) {
        tl->own_ns = fmin(lost + hashing_ns, gmt_timeline_recorded_ns(tl) -
                                                 gmt_intervals_length(tl->busy, tl->busy_count) -
                                                 gmt_measured_kernels_ns(tl));
    }
    tl->own_ns = fmax(0, tl->own_ns);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorded time went to: parts that do not overlap, and where the program was while the device was idle. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/findings/rule.h"
#include "analyzer/summary/host_basis.h"
#include "analyzer/summary/idle_pieces.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/own_time.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/unseen.h"

/* Disjoint and ascending. */
struct span_list {
    struct gmt_interval *rows;
    size_t count;
};

static int span_list_push(struct span_list *spans, size_t *capacity, int64_t begin_ns,
                          int64_t end_ns)
{
    if (end_ns <= begin_ns) {
        return 0;
    }
    if (spans->count == *capacity) {
        size_t more = *capacity > 0 ? 2 * *capacity : 256;
        struct gmt_interval *rows = realloc(spans->rows, more * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        spans->rows = rows;
        *capacity = more;
    }
    spans->rows[spans->count++] = (struct gmt_interval){begin_ns, end_ns};
    return 0;
}

/* Takes what the second ones cover out of the first; *taken_ns: how much that was. */
static int subtract(struct span_list *from, const struct gmt_interval *cut, size_t cuts,
                    double *taken_ns)
{
    double before_ns = gmt_intervals_length(from->rows, from->count);
    struct span_list left = {0};
    size_t capacity = 0, next = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < from->count; i++) {
        int64_t at_ns = from->rows[i].begin_ns, end_ns = from->rows[i].end_ns;

        for (; next < cuts && cut[next].end_ns <= at_ns; next++) {
        }
        for (size_t k = next; rc == 0 && k < cuts && cut[k].begin_ns < end_ns; k++) {
            rc = span_list_push(&left, &capacity, at_ns, cut[k].begin_ns);
            at_ns = cut[k].end_ns > at_ns ? cut[k].end_ns : at_ns;
        }
        if (rc == 0) {
            rc = span_list_push(&left, &capacity, at_ns, end_ns);
        }
    }
    free(from->rows);
    *from = left;
    *taken_ns = before_ns - gmt_intervals_length(left.rows, left.count);
    return rc;
}

static void scale(struct gmt_time_row *row, double ns)
{
    for (size_t i = 0; i < row->place_count; i++) {
        row->places[i].time_ns *= ns / row->ns;
        row->places[i].longest_ns *= ns / row->ns;
    }
    row->longest_ns *= ns / row->ns;
    row->more_ns *= ns / row->ns;
    row->ns = ns;
}

/*
 * Kernels that were counted have no device times, and of gmtrace's work only that counts which the program lost (own_time.h).
 * So the parts are made to agree with both: what they lack comes out of idle time, the least certain first.
 */
static void balance(struct gmt_report *report, double busy_ns)
{
    static const enum gmt_time_part order[] = {
        GMT_TIME_HOST,         GMT_TIME_START_UP,     GMT_TIME_SHUTDOWN,   GMT_TIME_SYNC,
        GMT_TIME_OTHER_CALLS,  GMT_TIME_LAUNCH_CALLS, GMT_TIME_COPY_CALLS, GMT_TIME_ALLOCATION,
        GMT_TIME_PAGE_LOCKING, GMT_TIME_LOADING,      GMT_TIME_UNSEEN,     GMT_TIME_COPIES,
        GMT_TIME_KERNELS};
    struct gmt_time_row *parts = report->time_parts;
    double own_ns = isnan(report->own_ns) ? 0 : report->own_ns;
    double worked_ns = parts[GMT_TIME_OWN].ns;

    parts[GMT_TIME_KERNELS].ns += fmax(0, report->recorded_busy_ns - busy_ns);
    parts[GMT_TIME_OWN].ns = own_ns;
    double lack_ns = fmax(0, report->recorded_busy_ns - busy_ns) + own_ns - worked_ns;
    if (lack_ns < 0) {
        parts[GMT_TIME_HOST].ns -= lack_ns;
    }
    for (size_t i = 0; lack_ns > 0 && i < sizeof(order) / sizeof(order[0]); i++) {
        struct gmt_time_row *row = &parts[order[i]];
        double ns = fmin(lack_ns, row->ns);

        if (ns > 0) {
            scale(row, row->ns - ns);
            lack_ns -= ns;
        }
    }
    if (isnan(report->own_ns)) {
        parts[GMT_TIME_OWN].ns = NAN;
    }
}

static int begin_idle(const struct gmt_timeline *tl, struct span_list *idle)
{
    size_t capacity = 0;

    return span_list_push(idle, &capacity, tl->start_ns, tl->end_ns);
}

/* What of the time no work of gmtrace's lies in, and what the device did is known. */
static int leave_out(const struct gmt_timeline *tl, struct span_list *idle, double *own_ns,
                     double *unseen_ns)
{
    int rc = subtract(idle, tl->own, tl->own_count, own_ns);

    return rc == 0 ? subtract(idle, tl->off, tl->off_count, unseen_ns) : rc;
}

/* Of all devices together: none of them works. */
static int fill_parts(struct gmt_analysis *analysis, const struct gmt_idle_calls *calls,
                      const struct gmt_idle_ops *ops, struct gmt_idle_pieces *pieces)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_time_row *parts = analysis->report->time_parts;
    struct span_list idle = {0};
    double ns[GMT_TIME_PARTS] = {0}, busy_ns = 0;
    int rc = begin_idle(tl, &idle);

    if (rc == 0) {
        rc = subtract(&idle, tl->kernel_busy, tl->kernel_busy_count, &parts[GMT_TIME_KERNELS].ns);
    }
    if (rc == 0) {
        rc = subtract(&idle, tl->busy, tl->busy_count, &parts[GMT_TIME_COPIES].ns);
    }
    if (rc == 0) {
        busy_ns = gmt_timeline_recorded_ns(tl) - gmt_intervals_length(idle.rows, idle.count);
        rc = leave_out(tl, &idle, &parts[GMT_TIME_OWN].ns, &parts[GMT_TIME_UNSEEN].ns);
    }
    if (rc == 0) {
        pieces->part_ns = ns;
        rc = gmt_idle_causes_find(calls, ops, idle.rows, idle.count, gmt_idle_pieces_take, pieces);
    }
    for (size_t i = GMT_TIME_ALLOCATION; rc == 0 && i <= GMT_TIME_HOST; i++) {
        parts[i].ns = ns[i];
    }
    if (rc == 0) {
        rc = gmt_idle_pieces_take_copies(pieces, ops, tl->kernel_busy, tl->kernel_busy_count);
    }
    if (rc == 0) {
        rc = gmt_idle_pieces_name(analysis, pieces);
    }
    if (rc == 0) {
        balance(analysis->report, busy_ns);
        analysis->report->has_time_parts = true;
    }
    free(idle.rows);
    return rc;
}

static const char *device_name(struct gmt_analysis *analysis, int32_t device)
{
    struct gmt_query query;
    const char *name = NULL;
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT name FROM device WHERE id = ?1");

    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, device);
    }
    if (rc == 0 && gmt_query_next(&query)) {
        name = gmt_query_text(&query, 0, analysis->report->arena);
    }
    gmt_query_close(&query, rc);
    return name;
}

/* Of one device: what others do meanwhile does not keep it busy. */
static int fill_device(struct gmt_analysis *analysis, const struct gmt_idle_calls *calls,
                       const struct gmt_idle_ops *ops, struct gmt_idle_pieces *pieces)
{
    struct gmt_report *report = analysis->report;
    struct gmt_device_idle *row = GMT_PUSH(report->arena, report->device_idle,
                                           report->device_idle_count);
    struct gmt_interval *busy = calloc(ops->count + 1, sizeof(*busy));
    struct span_list idle = {0};
    double out_ns = 0;
    int rc = row != NULL && busy != NULL ? begin_idle(analysis->timeline, &idle) : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < ops->count; i++) {
        busy[i] = (struct gmt_interval){ops->rows[i].start_ns, ops->rows[i].end_ns};
    }
    if (rc == 0) {
        rc = subtract(&idle, busy, gmt_intervals_merge(busy, ops->count), &out_ns);
    }
    if (rc == 0) {
        rc = leave_out(analysis->timeline, &idle, &out_ns, &out_ns);
    }
    if (rc == 0) {
        *row = (struct gmt_device_idle){.device = pieces->device,
                                        .name = device_name(analysis, pieces->device),
                                        .idle_ns = gmt_intervals_length(idle.rows, idle.count)};
        pieces->part_ns = row->ns;
        rc = gmt_idle_causes_find(calls, ops, idle.rows, idle.count, gmt_idle_pieces_take, pieces);
    }
    free(busy);
    free(idle.rows);
    return rc;
}

static int compare_devices(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Each device that had work, where several had. */
static int fill_devices(struct gmt_analysis *analysis, const struct gmt_idle_calls *calls,
                        const struct gmt_idle_ops *ops, struct gmt_idle_pieces *pieces)
{
    struct gmt_idle_ops of = {.rows = calloc(ops->count + 1, sizeof(*of.rows))};
    int32_t *devices = calloc(ops->count + 1, sizeof(*devices));
    size_t n = 0;
    int rc = of.rows != NULL && devices != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < ops->count; i++) {
        if (i == 0 || ops->rows[i].device != ops->rows[i - 1].device) {
            devices[n++] = ops->rows[i].device;
        }
    }
    if (n > 1) {
        qsort(devices, n, sizeof(*devices), compare_devices);
    }
    for (size_t i = 0; rc == 0 && n > 1 && i < n; i++) {
        if (devices[i] < 0 || (i > 0 && devices[i] == devices[i - 1]) ||
            devices[0] == devices[n - 1]) {
            continue;
        }
        gmt_idle_ops_select(ops, devices[i], &of);
        pieces->device = devices[i];
        rc = fill_device(analysis, calls, &of, pieces);
    }
    free(devices);
    gmt_idle_ops_free(&of);
    return rc;
}

static int fill(struct gmt_analysis *analysis, const struct gmt_host_basis *basis)
{
    const struct gmt_idle_calls *calls = &basis->idle_calls;
    const struct gmt_idle_ops *ops = &basis->ops;
    struct gmt_stack_frames frames = {0};
    struct gmt_user_calls user_calls = {.calls = NULL};
    struct gmt_idle_pieces all = {.places = {.calls = &basis->calls, .frames = &frames},
                                  .user_calls = &user_calls};
    struct gmt_idle_pieces each = all;
    int rc = gmt_stack_frames_load(&frames, analysis->timeline);

    all.device = ops->count > 0 ? ops->rows[0].device : -1;
    frames.cut_are_same = true;
    if (rc == 0) {
        rc = gmt_user_calls_make(&user_calls, &basis->calls, &frames);
    }
    if (rc == 0) {
        rc = fill_parts(analysis, calls, ops, &all);
    }
    if (rc == 0) {
        rc = fill_devices(analysis, calls, ops, &each);
    }
    if (rc == 0) {
        rc = gmt_idle_pieces_keep(analysis, analysis->report->device_idle_count > 0 ? &each : &all);
    }
    gmt_idle_pieces_free(&all);
    gmt_idle_pieces_free(&each);
    gmt_user_calls_free(&user_calls);
    gmt_stack_frames_free(&frames);
    return rc;
}

int gmt_time_report(struct gmt_analysis *analysis, const struct gmt_host_basis *basis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_report *report = analysis->report;

    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        report->time_parts[i] = (struct gmt_time_row){.times = NAN, .longest_ns = NAN};
    }
    /* What lies outside of a range is not there, and would be taken for idle time. */
    if (tl->simulated || !tl->has_device_times || isnan(report->gpu_busy_ns) ||
        (tl->unseen != NULL && tl->unseen->limited) || tl->end_ns <= tl->start_ns) {
        return 0;
    }
    return fill(analysis, basis);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorded time went to: parts that do not overlap, and where the program was while the device was idle. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/findings/rule.h"
#include "analyzer/summary/host_calls.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/own_time.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/unseen.h"

enum { MOST_PLACES = 5 };

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

static int unseen_spans(const struct gmt_timeline *tl, struct span_list *unseen)
{
    struct gmt_query query;
    size_t capacity = 0;
    int rc = gmt_timeline_open_gaps(tl, &query);

    if (rc != 0) {
        return rc;
    }
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t begin_ns = gmt_query_time(&query, 0), end_ns = gmt_query_time(&query, 1);

        if (begin_ns != GMT_NO_TIME) {
            rc = span_list_push(unseen, &capacity, begin_ns,
                                end_ns != GMT_NO_TIME ? end_ns : tl->end_ns);
        }
    }
    unseen->count = gmt_intervals_merge(unseen->rows, unseen->count);
    return gmt_query_close(&query, rc);
}

/* Ranks the sums and names the places of the first. */
static void name_places(struct gmt_analysis *analysis, const struct gmt_host_calls *calls,
                        struct gmt_call_sums *sums, bool between, struct gmt_time_row *row)
{
    row->times = 0;
    row->longest_ns = 0;
    gmt_call_sums_rank(sums, true);
    for (size_t i = 0; i < sums->count; i++) {
        const struct gmt_call_sum *sum = &sums->rows[i];
        struct gmt_call_place *place = i < MOST_PLACES ? GMT_PUSH(analysis->report->arena,
                                                                  row->places, row->place_count)
                                                       : NULL;

        row->times += sum->count;
        row->longest_ns = fmax(row->longest_ns, sum->longest_ns);
        if (place == NULL) {
            continue;
        }
        *place = (struct gmt_call_place){
            .count = sum->count, .time_ns = sum->time_ns, .longest_ns = sum->longest_ns};
        place->where = sum->first < calls->count
                           ? gmt_host_call_where(analysis, &calls->rows[sum->first])
                           : (struct gmt_where){.label = "the first call"};
        if (between) {
            place->until = sum->until < calls->count
                               ? gmt_host_call_where(analysis, &calls->rows[sum->until]).label
                               : "the end of the run";
        }
    }
}

/* Takes out of idle time what the host spends in calls of one kind. */
static int take_calls(struct gmt_analysis *analysis, const struct gmt_host_calls *calls,
                      struct span_list *idle, enum gmt_time_part part)
{
    struct gmt_time_row *row = &analysis->report->time_parts[part];
    struct gmt_call_sums sums = {0};
    struct span_list cut = {0};
    size_t capacity = 0, next = 0;
    int64_t done_ns = INT64_MIN;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < calls->count; i++) {
        const struct gmt_host_call *call = &calls->rows[i];
        int64_t begin_ns = call->begin_ns > done_ns ? call->begin_ns : done_ns;
        double ns = 0;

        if (call->part != part || call->end_ns <= begin_ns) {
            continue;
        }
        done_ns = call->end_ns;
        rc = span_list_push(&cut, &capacity, begin_ns, call->end_ns);
        for (; next < idle->count && idle->rows[next].end_ns <= begin_ns; next++) {
        }
        for (size_t k = next; k < idle->count && idle->rows[k].begin_ns < call->end_ns; k++) {
            int64_t from_ns = idle->rows[k].begin_ns, to_ns = idle->rows[k].end_ns;

            from_ns = from_ns > begin_ns ? from_ns : begin_ns;
            to_ns = to_ns < call->end_ns ? to_ns : call->end_ns;
            ns += (double)(to_ns - from_ns);
        }
        if (rc == 0 && ns > 0) {
            rc = gmt_call_sums_add(&sums, (uint64_t[2]){call->site, 0}, ns, i, 0);
        }
    }
    if (rc == 0) {
        rc = subtract(idle, cut.rows, cut.count, &row->ns);
    }
    if (rc == 0) {
        name_places(analysis, calls, &sums, false, row);
    }
    free(sums.rows);
    free(cut.rows);
    return rc;
}

/* What is left: no thread is in a call. Named by the calls before and after it. */
static int take_host(struct gmt_analysis *analysis, const struct gmt_host_calls *calls,
                     const struct span_list *idle)
{
    struct gmt_time_row *row = &analysis->report->time_parts[GMT_TIME_HOST];
    struct gmt_call_sums sums = {0};
    size_t next = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < idle->count; i++) {
        for (; next < calls->count && calls->rows[next].begin_ns < idle->rows[i].end_ns; next++) {
        }
        uint64_t key[2] = {next > 0 ? calls->rows[next - 1].site : 0,
                           next < calls->count ? calls->rows[next].site : 0};
        double ns = (double)(idle->rows[i].end_ns - idle->rows[i].begin_ns);

        rc = gmt_call_sums_add(&sums, key, ns, next > 0 ? next - 1 : SIZE_MAX, next);
    }
    row->ns = gmt_intervals_length(idle->rows, idle->count);
    if (rc == 0) {
        name_places(analysis, calls, &sums, true, row);
    }
    free(sums.rows);
    return rc;
}

static void scale(struct gmt_time_row *row, double ns)
{
    for (size_t i = 0; i < row->place_count; i++) {
        row->places[i].time_ns *= ns / row->ns;
        row->places[i].longest_ns *= ns / row->ns;
    }
    row->longest_ns *= ns / row->ns;
    row->ns = ns;
}

/*
 * Kernels that were counted have no device times, and of gmtrace's work only that counts which the program lost (own_time.h).
 * So the parts are made to agree with both: what they lack comes out of idle time, the least certain first.
 */
static void balance(struct gmt_report *report, double busy_ns)
{
    static const enum gmt_time_part order[] = {
        GMT_TIME_HOST,       GMT_TIME_SYNC,       GMT_TIME_OTHER_CALLS, GMT_TIME_LAUNCH_CALLS,
        GMT_TIME_COPY_CALLS, GMT_TIME_ALLOCATION, GMT_TIME_LOADING,     GMT_TIME_UNSEEN,
        GMT_TIME_COPIES,     GMT_TIME_KERNELS};
    struct gmt_time_row *parts = report->time_parts;
    double own_ns = isnan(report->own_ns) ? 0 : report->own_ns;
    double worked_ns = parts[GMT_TIME_OWN].ns;

    parts[GMT_TIME_KERNELS].ns += fmax(0, report->gpu_busy_ns - busy_ns);
    parts[GMT_TIME_OWN].ns = own_ns;
    double lack_ns = fmax(0, report->gpu_busy_ns - busy_ns) + own_ns - worked_ns;
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

static int fill(struct gmt_analysis *analysis, const struct gmt_host_calls *calls,
                struct span_list *idle, const struct span_list *unseen)
{
    static const enum gmt_time_part causes[] = {GMT_TIME_ALLOCATION, GMT_TIME_LOADING,
                                                GMT_TIME_COPY_CALLS, GMT_TIME_LAUNCH_CALLS,
                                                GMT_TIME_SYNC,       GMT_TIME_OTHER_CALLS};
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_time_row *parts = analysis->report->time_parts;
    size_t capacity = 0;
    double busy_ns, all_ns;
    int rc = span_list_push(idle, &capacity, tl->start_ns, tl->end_ns);

    if (rc == 0) {
        rc = subtract(idle, tl->kernel_busy, tl->kernel_busy_count, &parts[GMT_TIME_KERNELS].ns);
    }
    if (rc == 0) {
        rc = subtract(idle, tl->busy, tl->busy_count, &parts[GMT_TIME_COPIES].ns);
    }
    all_ns = gmt_timeline_recorded_ns(tl);
    busy_ns = all_ns - gmt_intervals_length(idle->rows, idle->count);
    if (rc == 0) {
        rc = subtract(idle, tl->own, tl->own_count, &parts[GMT_TIME_OWN].ns);
    }
    if (rc == 0) {
        rc = subtract(idle, unseen->rows, unseen->count, &parts[GMT_TIME_UNSEEN].ns);
    }
    for (size_t i = 0; rc == 0 && i < sizeof(causes) / sizeof(causes[0]); i++) {
        rc = take_calls(analysis, calls, idle, causes[i]);
    }
    if (rc == 0) {
        rc = take_host(analysis, calls, idle);
    }
    if (rc == 0) {
        balance(analysis->report, busy_ns);
        analysis->report->has_time_parts = true;
    }
    return rc;
}

int gmt_time_report(struct gmt_analysis *analysis, const struct gmt_host_calls *calls)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_report *report = analysis->report;
    struct span_list idle = {0}, unseen = {0};

    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        report->time_parts[i] = (struct gmt_time_row){.times = NAN, .longest_ns = NAN};
    }
    /* What lies outside of a range is not there, and would be taken for idle time. */
    if (tl->simulated || !tl->has_device_times || isnan(report->gpu_busy_ns) ||
        (tl->unseen != NULL && tl->unseen->limited) || tl->end_ns <= tl->start_ns) {
        return 0;
    }
    int rc = unseen_spans(tl, &unseen);
    if (rc == 0) {
        rc = fill(analysis, calls, &idle, &unseen);
    }
    free(idle.rows);
    free(unseen.rows);
    return rc;
}

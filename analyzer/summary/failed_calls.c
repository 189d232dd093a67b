/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that failed, by function, place and error, in the order of time; and the first one that no program survives. */
#include "reports/model/failed_calls.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/rule.h"
#include "analyzer/summary/host_calls.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/results.h"

/* Rows of a report; and for how many that are left out it is looked whether they are of a row's place. */
enum { MOST_ROWS = 10, MOST_LOOKED_AT = 256 };

/* The first call of one function, stack and error. */
struct failure {
    struct gmt_tl_call call;
    int result;
    bool handled;
    double count;
};

struct failures {
    struct failure *rows;
    size_t count, capacity;
    struct gmt_call_sums sums; /* by function and error, and by site; `first` is an index of rows */
};

/* An allocation that got no memory: allocators free memory and try again, and the report has a section for it. */
#define NO_MEMORY \
    "result = 2 AND api_id IN (SELECT id FROM api WHERE family = 'alloc') " /* OUT_OF_MEMORY */
#define FAILED_OF \
    "SELECT id, begin_ns, end_ns, caller, stack_id, api_id, thread_id, result, " NO_MEMORY "FROM "
#define FAILED " WHERE result <> 0 AND capturing <> 3" /* GMT_CAPTURING_STEP: a call of gmtrace's */

enum { COPIES, LAUNCHES, MEMSETS, WAITS, OTHERS, TABLES };

static const char *const tables[TABLES] = {
    [COPIES] = FAILED_OF "transfer" FAILED, [LAUNCHES] = FAILED_OF "launch" FAILED,
    [MEMSETS] = FAILED_OF "memset" FAILED,  [WAITS] = FAILED_OF "sync" FAILED,
    [OTHERS] = FAILED_OF "api_call" FAILED,
};

static struct failure read_failure(const struct gmt_timeline *tl, struct gmt_query *query)
{
    struct failure failure = {
        .call = {.id = gmt_query_id(query, 0),
                 .begin_ns = gmt_query_time(query, 1),
                 .end_ns = gmt_query_time(query, 2),
                 .caller = (uint64_t)gmt_query_int(query, 3),
                 .stack_id = gmt_query_id(query, 4),
                 .api = gmt_query_id(query, 5),
                 .thread = gmt_query_id(query, 6)},
        .result = (int)gmt_clamp(gmt_query_int(query, 7), INT_MIN, INT_MAX),
        .handled = gmt_query_int(query, 8) != 0,
    };

    if (!gmt_index_within(failure.call.api, tl->api_count)) {
        failure.call.api = 0;
    }
    failure.call.site = gmt_timeline_site(tl, failure.call.stack_id, failure.call.caller);
    return failure;
}

static bool is_earlier(const struct gmt_tl_call *a, const struct gmt_tl_call *b)
{
    return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->id < b->id;
}

static int add(struct failures *failures, const struct failure *now)
{
    uint64_t key[2] = {(uint64_t)(uint32_t)now->call.api << 32 | (uint32_t)now->result,
                       now->call.site};
    int rc = gmt_call_sums_add(&failures->sums, key, 0, failures->count, 0);

    if (rc != 0) {
        return rc;
    }
    struct gmt_call_sum *sum = failures->sums.last;
    if (sum->count > 1) {
        struct failure *kept = &failures->rows[sum->first];

        if (is_earlier(&now->call, &kept->call)) {
            *kept = *now;
        }
        return 0;
    }
    if (failures->count == failures->capacity) {
        size_t capacity = failures->capacity > 0 ? 2 * failures->capacity : 16;
        struct failure *rows = realloc(failures->rows, capacity * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        failures->rows = rows;
        failures->capacity = capacity;
    }
    failures->rows[failures->count++] = *now;
    return 0;
}

static int read_table(const struct gmt_timeline *tl, int table, struct failures *failures)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, tables[table]);

    while (rc == 0 && gmt_query_next(&query)) {
        struct failure now = read_failure(tl, &query);
        const struct gmt_result_row *result = gmt_result_of(now.result);

        if (result != NULL && result->kind == GMT_RESULT_ANSWER) {
            continue;
        }
        now.handled = now.handled ||
                      (result != NULL && result->kind == GMT_RESULT_HANDLED && table == OTHERS);
        rc = add(failures, &now);
    }
    return gmt_query_close(&query, rc);
}

static int compare_failures(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;

    return is_earlier(&x->call, &y->call) ? -1 : is_earlier(&y->call, &x->call);
}

/* All of them, the earliest first. */
static int read_failures(const struct gmt_timeline *tl, struct failures *failures)
{
    int rc = 0;

    for (int i = 0; i < TABLES && rc == 0; i++) {
        bool is_empty = (i == COPIES && tl->all_copies) || (i == LAUNCHES && tl->all_launches);

        rc = is_empty ? 0 : read_table(tl, i, failures);
    }
    for (size_t i = 0; i < failures->sums.capacity; i++) {
        const struct gmt_call_sum *sum = &failures->sums.rows[i];

        if (sum->count > 0 && sum->first < failures->count) {
            failures->rows[sum->first].count = sum->count;
        }
    }
    if (failures->count > 1) {
        qsort(failures->rows, failures->count, sizeof(*failures->rows), compare_failures);
    }
    return rc;
}

static struct gmt_failed_call make(struct gmt_analysis *analysis, const struct failure *failure)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_result_row *result = gmt_result_of(failure->result);
    bool timed = !tl->simulated && failure->call.end_ns != GMT_NO_TIME;

    return (struct gmt_failed_call){
        .where = gmt_where_of_call(analysis, &failure->call),
        .result = failure->result,
        .error = result != NULL ? result->name : NULL,
        .runtime_name = result != NULL ? result->runtime_name : NULL,
        .words = result != NULL ? result->words : "an error that this version does not know",
        .sticky = result != NULL && result->kind == GMT_RESULT_STICKY,
        .calls = failure->count,
        .at_ns = timed ? (double)(failure->call.end_ns - tl->start_ns) : NAN,
    };
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Places are lines: several stacks may lead to one. */
static struct gmt_failed_call *row_of(struct gmt_failed_calls *failed,
                                      const struct gmt_failed_call *call)
{
    for (size_t i = 0; i < failed->row_count; i++) {
        struct gmt_failed_call *row = &failed->rows[i];

        if (row->result == call->result && same_text(row->where.label, call->where.label) &&
            same_text(row->where.api, call->where.api)) {
            return row;
        }
    }
    return NULL;
}

static void put_handled(struct gmt_arena *arena, struct gmt_failed_calls *failed,
                        const struct failure *failure)
{
    const struct gmt_result_row *result = gmt_result_of(failure->result);
    struct gmt_handled_error *row = NULL;

    for (size_t i = 0; i < failed->handled_count; i++) {
        if (failed->handled[i].result == failure->result) {
            failed->handled[i].calls += failure->count;
            return;
        }
    }
    row = result != NULL ? GMT_PUSH(arena, failed->handled, failed->handled_count) : NULL;
    if (row != NULL) {
        *row = (struct gmt_handled_error){.result = failure->result,
                                          .error = result->name,
                                          .runtime_name = result->runtime_name,
                                          .words = result->words,
                                          .calls = failure->count};
    }
}

static void put(struct gmt_analysis *analysis, struct gmt_failed_calls *failed,
                const struct failure *failure, size_t position)
{
    struct gmt_arena *arena = analysis->report->arena;
    const struct gmt_result_row *result = gmt_result_of(failure->result);
    bool is_alarm = failed->alarm == NULL && result != NULL && result->kind == GMT_RESULT_STICKY;

    if (position >= MOST_LOOKED_AT && !is_alarm) {
        failed->other_calls += failure->count;
        return;
    }
    struct gmt_failed_call call = make(analysis, failure), *row = row_of(failed, &call);
    if (row != NULL) {
        row->calls += call.calls;
    } else if (failed->row_count < MOST_ROWS) {
        row = GMT_PUSH(arena, failed->rows, failed->row_count);
        if (row != NULL) {
            *row = call;
        }
    } else {
        failed->other_calls += call.calls;
    }
    if (is_alarm) {
        struct gmt_failed_call *alarm = gmt_arena_alloc(arena, sizeof(*alarm));

        if (alarm != NULL) {
            *alarm = call;
            failed->alarm = alarm;
        }
    }
}

static int compare_handled(const void *a, const void *b)
{
    const struct gmt_handled_error *x = a, *y = b;
    int order = (x->calls < y->calls) - (x->calls > y->calls);

    return order != 0 ? order : (x->result > y->result) - (x->result < y->result);
}

/* Fills what is all zeros. */
static void fill(struct gmt_analysis *analysis, const struct failures *failures,
                 struct gmt_failed_calls *failed)
{
    size_t position = 0;

    for (size_t i = 0; i < failures->count; i++) {
        if (failures->rows[i].handled) {
            put_handled(analysis->report->arena, failed, &failures->rows[i]);
        } else {
            put(analysis, failed, &failures->rows[i], position++);
        }
    }
    if (failed->handled_count > 1) {
        qsort(failed->handled, failed->handled_count, sizeof(*failed->handled), compare_handled);
    }
}

int gmt_failed_calls_report(struct gmt_analysis *analysis)
{
    struct gmt_report *report = analysis->report;
    struct failures failures = {0};
    int rc = read_failures(analysis->timeline, &failures);

    if (rc == 0 && failures.count > 0) {
        struct gmt_failed_calls *failed = gmt_arena_alloc(report->arena, sizeof(*failed));

        if (failed != NULL) {
            *failed = (struct gmt_failed_calls){0};
            fill(analysis, &failures, failed);
            report->failed_calls = failed;
        } else {
            rc = -ENOMEM;
        }
    }
    free(failures.rows);
    free(failures.sums.rows);
    return rc;
}

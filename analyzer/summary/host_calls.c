/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded call of the host, in the order of time, and sums over calls (host_calls.h). */
#include "analyzer/summary/host_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/findings/rule.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/guard.h"

/* What an idle device is idle for during calls of each family, by id of the function. */
static int load_parts(const struct gmt_timeline *tl, enum gmt_time_part *parts)
{
    static const struct {
        const char *family;
        enum gmt_time_part part;
    } rows[] = {
        {"alloc", GMT_TIME_ALLOCATION},    {"module", GMT_TIME_LOADING},
        {"transfer", GMT_TIME_COPY_CALLS}, {"memset", GMT_TIME_COPY_CALLS},
        {"launch", GMT_TIME_LAUNCH_CALLS}, {"sync", GMT_TIME_SYNC},
    };
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, "SELECT id, family FROM api");

    for (size_t i = 0; i < tl->api_count + 1; i++) {
        parts[i] = GMT_TIME_OTHER_CALLS;
    }
    while (rc == 0 && gmt_query_next(&query)) {
        int32_t id = gmt_query_id(&query, 0);
        const char *family = gmt_query_text_here(&query, 1);

        for (size_t i = 0; family != NULL && gmt_index_within(id, tl->api_count) &&
                           i < sizeof(rows) / sizeof(rows[0]);
             i++) {
            if (strcmp(rows[i].family, family) == 0) {
                parts[id] = rows[i].part;
            }
        }
    }
    return gmt_query_close(&query, rc);
}

static bool add(struct gmt_host_calls *calls, size_t capacity, const enum gmt_time_part *parts,
                const struct gmt_tl_call *call)
{
    if (calls->count >= capacity) {
        return false;
    }
    calls->rows[calls->count++] = (struct gmt_host_call){.begin_ns = call->begin_ns,
                                                         .end_ns = call->end_ns,
                                                         .stack_id = call->stack_id,
                                                         .site = call->site,
                                                         .caller = call->caller,
                                                         .api = call->api,
                                                         .thread = call->thread,
                                                         .part = parts[call->api]};
    return true;
}

#define OTHERS(columns, table, condition) "SELECT " columns " FROM " table " WHERE " condition
#define PLAIN "begin_ns, end_ns, stack_id, caller, api_id, thread_id"
#define FREES "free_begin_ns, free_end_ns, free_stack_id, NULL, free_api_id, free_thread_id"

/* Calls that the timeline does not hold. */
static const char others[] =
    OTHERS(PLAIN, "transfer", "result <> 0 OR capturing <> 0") " UNION ALL " OTHERS(PLAIN, "launch", "result <> 0 OR capturing <> 0") " UNION ALL " OTHERS(PLAIN, "memset", "1") " UNION ALL " OTHERS(
        PLAIN, "sync",
        "1") " UNION ALL " OTHERS(PLAIN, "api_call",
                                  "1") " UNION ALL " OTHERS(PLAIN, "allocation",
                                                            "begin_ns IS NOT NULL AND end_ns IS "
                                                            "NOT NULL") " UNION ALL " OTHERS(FREES,
                                                                                             "alloc"
                                                                                             "atio"
                                                                                             "n",
                                                                                             "free_"
                                                                                             "begin"
                                                                                             "_ns "
                                                                                             "IS "
                                                                                             "NOT "
                                                                                             "NULL "
                                                                                             "AND "
                                                                                             "free_"
                                                                                             "end_"
                                                                                             "ns "
                                                                                             "IS "
                                                                                             "NOT "
                                                                                             "NULL") " UNION ALL " OTHERS(PLAIN,
                                                                                                                          "host_allocation",
                                                                                                                          "begin_ns IS NOT NULL AND end_ns IS NOT NULL") " UNION ALL " OTHERS(FREES,
                                                                                                                                                                                              "host_allocation",
                                                                                                                                                                                              "free_begin_ns IS NOT NULL AND free_end_ns IS NOT NULL");

static int count_others(const struct gmt_timeline *tl, size_t *n)
{
    char sql[sizeof(others) + 64];
    int64_t rows = 0;

    snprintf(sql, sizeof(sql), "SELECT count(*) FROM (%s)", others);
    int rc = gmt_query_int64(tl->db, sql, &rows);
    if (rc == 0 && (rows < 0 || !gmt_guard_plausible_rows(tl->db, rows))) {
        rc = -ENOMEM;
    }
    *n = (size_t)rows;
    return rc;
}

static int load_others(struct gmt_host_calls *calls, size_t capacity,
                       const enum gmt_time_part *parts, const struct gmt_timeline *tl)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, others);
    bool room = true;

    while (rc == 0 && room && gmt_query_next(&query)) {
        struct gmt_tl_call call = {.begin_ns = gmt_query_instant(&query, 0),
                                   .end_ns = gmt_query_instant(&query, 1),
                                   .stack_id = gmt_query_id(&query, 2),
                                   .caller = (uint64_t)gmt_query_int(&query, 3),
                                   .api = gmt_query_id(&query, 4),
                                   .thread = gmt_query_id(&query, 5)};

        call.site = gmt_timeline_site(tl, call.stack_id, call.caller);
        if (!gmt_index_within(call.api, tl->api_count)) {
            call.api = 0;
        }
        room = add(calls, capacity, parts, &call);
    }
    return gmt_query_close(&query, rc);
}

/* One call may be several rows: the copies of a batch, pieces of a range that was mapped. */
static bool is_same(const struct gmt_host_call *a, const struct gmt_host_call *b)
{
    return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->thread == b->thread &&
           a->api == b->api;
}

static int sort_by_begin(struct gmt_host_calls *calls)
{
    int64_t(*order)[2] = calloc(calls->count + 1, sizeof(*order));
    struct gmt_host_call *rows = calloc(calls->count + 1, sizeof(*rows));
    size_t kept = 0;

    if (order == NULL || rows == NULL) {
        free(order);
        free(rows);
        return -ENOMEM;
    }
    for (size_t i = 0; i < calls->count; i++) {
        order[i][0] = calls->rows[i].begin_ns;
        order[i][1] = (int64_t)i;
    }
    gmt_sort_pairs(order, calls->count);
    for (size_t i = 0; i < calls->count; i++) {
        const struct gmt_host_call *row = &calls->rows[order[i][1]];

        if (kept == 0 || !is_same(&rows[kept - 1], row)) {
            rows[kept++] = *row;
        }
    }
    free(order);
    free(calls->rows);
    calls->rows = rows;
    calls->count = kept;
    return 0;
}

int gmt_host_calls_load(struct gmt_host_calls *calls, const struct gmt_timeline *tl)
{
    enum gmt_time_part *parts = calloc(tl->api_count + 1, sizeof(*parts));
    size_t more = 0;

    *calls = (struct gmt_host_calls){0};
    int rc = parts != NULL ? load_parts(tl, parts) : -ENOMEM;
    if (rc == 0) {
        rc = count_others(tl, &more);
    }
    size_t capacity = tl->copy_count + tl->launch_count + more;
    if (rc == 0) {
        calls->rows = calloc(capacity + 1, sizeof(*calls->rows));
        rc = calls->rows != NULL ? 0 : -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < tl->copy_count; i++) {
        add(calls, capacity, parts, &tl->copies[i].call);
    }
    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        add(calls, capacity, parts, &tl->launches[i].call);
    }
    if (rc == 0) {
        rc = load_others(calls, capacity, parts, tl);
    }
    free(parts);
    return rc == 0 ? sort_by_begin(calls) : rc;
}

void gmt_host_calls_free(struct gmt_host_calls *calls)
{
    free(calls->rows);
    *calls = (struct gmt_host_calls){0};
}

struct gmt_where gmt_host_call_where(struct gmt_analysis *analysis,
                                     const struct gmt_host_call *call)
{
    struct gmt_tl_call like = {.begin_ns = call->begin_ns,
                               .end_ns = call->end_ns,
                               .site = call->site,
                               .caller = call->caller,
                               .stack_id = call->stack_id,
                               .api = call->api,
                               .thread = call->thread};

    return gmt_where_of_call(analysis, &like);
}

/* ---- sums ------------------------------------------------------------------------------------- */

static struct gmt_call_sum *slot_of(struct gmt_call_sum *rows, size_t capacity,
                                    const uint64_t key[static 2])
{
    uint64_t hash = (key[0] ^ (key[1] * UINT64_C(0x9e3779b97f4a7c15))) *
                    UINT64_C(0xff51afd7ed558ccd);
    size_t at = (size_t)(hash >> 32) & (capacity - 1);

    while (rows[at].count > 0 && (rows[at].key[0] != key[0] || rows[at].key[1] != key[1])) {
        at = (at + 1) & (capacity - 1);
    }
    return &rows[at];
}

static int grow(struct gmt_call_sums *sums)
{
    size_t capacity = sums->capacity > 0 ? 2 * sums->capacity : 64;
    struct gmt_call_sum *rows = calloc(capacity, sizeof(*rows));

    if (rows == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < sums->capacity; i++) {
        if (sums->rows[i].count > 0) {
            *slot_of(rows, capacity, sums->rows[i].key) = sums->rows[i];
        }
    }
    free(sums->rows);
    sums->rows = rows;
    sums->capacity = capacity;
    return 0;
}

int gmt_call_sums_add(struct gmt_call_sums *sums, const uint64_t key[static 2], double time_ns,
                      size_t first, size_t until)
{
    if (2 * sums->count >= sums->capacity && grow(sums) != 0) {
        return -ENOMEM;
    }
    struct gmt_call_sum *sum = slot_of(sums->rows, sums->capacity, key);
    if (sum->count == 0) {
        *sum = (struct gmt_call_sum){.key = {key[0], key[1]}, .first = first, .until = until};
        sums->count++;
    }
    sum->count++;
    sum->time_ns += time_ns;
    if (time_ns > sum->longest_ns) {
        sum->longest_ns = time_ns;
        sum->first = first;
        sum->until = until;
    }
    return 0;
}

static int compare_first(const struct gmt_call_sum *x, const struct gmt_call_sum *y)
{
    return (x->first > y->first) - (x->first < y->first);
}

static int compare_times(const void *a, const void *b)
{
    const struct gmt_call_sum *x = a, *y = b;
    int order = (x->time_ns < y->time_ns) - (x->time_ns > y->time_ns);

    return order != 0 ? order : compare_first(x, y);
}

static int compare_counts(const void *a, const void *b)
{
    const struct gmt_call_sum *x = a, *y = b;
    int order = (x->count < y->count) - (x->count > y->count);

    return order != 0 ? order : compare_first(x, y);
}

void gmt_call_sums_rank(struct gmt_call_sums *sums, bool timed)
{
    size_t used = 0;

    for (size_t i = 0; i < sums->capacity; i++) {
        if (sums->rows[i].count > 0) {
            sums->rows[used++] = sums->rows[i];
        }
    }
    if (used > 1) {
        qsort(sums->rows, used, sizeof(*sums->rows), timed ? compare_times : compare_counts);
    }
}

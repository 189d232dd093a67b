/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded call of the host, in the order of time, and sums over calls (host_calls.h). */
#include "analyzer/summary/host_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"
#include "libtrace/record/traits.h"
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
        if (gmt_index_within(id, tl->api_count) && parts[id] == GMT_TIME_ALLOCATION &&
            (tl->apis[id].traits & (GMT_TRAIT_LOCKS_HOST | GMT_TRAIT_FREES_HOST)) != 0) {
            parts[id] = GMT_TIME_PAGE_LOCKING;
        }
    }
    return gmt_query_close(&query, rc);
}

static struct gmt_host_call call_of(const struct gmt_tl_call *call, const enum gmt_time_part *parts)
{
    return (struct gmt_host_call){.begin_ns = call->begin_ns,
                                  .end_ns = call->end_ns,
                                  .stack_id = (int32_t)call->stack_id,
                                  .site = call->site,
                                  .caller = call->caller,
                                  .api = call->api,
                                  .thread = call->thread,
                                  .part = parts[call->api]};
}

#define CALLS "SELECT begin_ns, end_ns, stack_id, caller, api_id, thread_id FROM "
#define FREES \
    "SELECT free_begin_ns, free_end_ns, free_stack_id, NULL, free_api_id, free_thread_id FROM "
#define ALLOCATED " WHERE begin_ns IS NOT NULL AND end_ns IS NOT NULL"
#define FREED " WHERE free_begin_ns IS NOT NULL AND free_end_ns IS NOT NULL"
#define NOT_LOADED " WHERE result <> 0 OR capturing <> 0"

enum { NO_COPIES, NO_LAUNCHES, SOURCES = 9 };

/* Statements of their own: of a union, SQLite names the first table as that of a value. The first two: calls that the timeline does not
 * hold. */
static const char *const sources[SOURCES] = {
    [NO_COPIES] = CALLS "transfer" NOT_LOADED,
    [NO_LAUNCHES] = CALLS "launch" NOT_LOADED,
    CALLS "memset",
    CALLS "sync",
    CALLS "api_call",
    CALLS "allocation" ALLOCATED,
    FREES "allocation" FREED,
    CALLS "host_allocation" ALLOCATED,
    FREES "host_allocation" FREED,
};

/* At most so many: all rows of these tables, which SQLite counts without looking at them. */
static int count_others(const struct gmt_timeline *tl, size_t *n)
{
    int64_t rows = 0;
    int rc = gmt_query_int64(
        tl->db,
        "SELECT (SELECT count(*) FROM transfer) + (SELECT count(*) FROM launch) + "
        "(SELECT count(*) FROM memset) + (SELECT count(*) FROM sync) + "
        "(SELECT count(*) FROM api_call) + 2 * ((SELECT count(*) FROM allocation) + "
        "(SELECT count(*) FROM host_allocation))",
        &rows);

    rows -= (int64_t)(tl->copy_count + tl->launch_count);
    if (rc == 0 && (rows < 0 || !gmt_guard_plausible_rows(tl->db, rows))) {
        rc = -ENOMEM;
    }
    *n = (size_t)rows;
    return rc;
}

static int load_source(struct gmt_host_calls *calls, size_t capacity,
                       const enum gmt_time_part *parts, const struct gmt_timeline *tl,
                       const char *sql)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, sql);

    while (rc == 0 && calls->count < capacity && gmt_query_next(&query)) {
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
        calls->rows[calls->count++] = call_of(&call, parts);
    }
    return gmt_query_close(&query, rc);
}

static int load_others(struct gmt_host_calls *calls, size_t capacity,
                       const enum gmt_time_part *parts, const struct gmt_timeline *tl)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < SOURCES; i++) {
        bool is_empty = (i == NO_COPIES && tl->all_copies) ||
                        (i == NO_LAUNCHES && tl->all_launches);

        rc = is_empty ? 0 : load_source(calls, capacity, parts, tl, sources[i]);
    }
    return rc;
}

static int compare_begins(const void *a, const void *b)
{
    const struct gmt_host_call *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* One call may be several rows: the copies of a batch, pieces of a range that was mapped. */
static bool is_same(const struct gmt_host_call *a, const struct gmt_host_call *b)
{
    return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->thread == b->thread &&
           a->api == b->api;
}

static void put(struct gmt_host_calls *calls, struct gmt_host_call call)
{
    if (calls->count == 0 || !is_same(&calls->rows[calls->count - 1], &call)) {
        calls->rows[calls->count++] = call;
    }
}

/* Copies and launches are in the order of time already. */
static void merge(struct gmt_host_calls *calls, const struct gmt_timeline *tl,
                  const enum gmt_time_part *parts, const struct gmt_host_calls *more)
{
    size_t copy = 0, launch = 0, other = 0;

    while (copy < tl->copy_count || launch < tl->launch_count || other < more->count) {
        int64_t copy_ns = copy < tl->copy_count ? tl->copies[copy].call.begin_ns : INT64_MAX;
        int64_t launch_ns = launch < tl->launch_count ? tl->launches[launch].call.begin_ns
                                                      : INT64_MAX;
        int64_t other_ns = other < more->count ? more->rows[other].begin_ns : INT64_MAX;

        if (copy < tl->copy_count && copy_ns <= launch_ns && copy_ns <= other_ns) {
            put(calls, call_of(&tl->copies[copy++].call, parts));
        } else if (launch < tl->launch_count && launch_ns <= other_ns) {
            put(calls, call_of(&tl->launches[launch++].call, parts));
        } else {
            put(calls, more->rows[other++]);
        }
    }
}

/* The first call that begins at a time or later. */
static size_t first_from(const struct gmt_host_calls *calls, int64_t begin_ns)
{
    size_t low = 0, high = calls->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (calls->rows[middle].begin_ns < begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void mark(struct gmt_host_calls *calls, const struct gmt_tl_call *launch)
{
    for (size_t i = first_from(calls, launch->begin_ns);
         i < calls->count && calls->rows[i].begin_ns == launch->begin_ns; i++) {
        if (calls->rows[i].thread == launch->thread &&
            calls->rows[i].part == GMT_TIME_LAUNCH_CALLS) {
            calls->rows[i].part = GMT_TIME_LOADING;
        }
    }
}

/*
 * Code is loaded when its first kernel is launched, or the kernel itself (CUDA_MODULE_LOADING=LAZY): the call takes longer then
 * than any launch.
 */
static int mark_loading(struct gmt_host_calls *calls, const struct gmt_timeline *tl)
{
    int64_t(*order)[2] = calloc(tl->launch_count + 1, sizeof(*order));
    size_t n = 0;

    if (order == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].kernel >= 0) {
            order[n][0] = tl->launches[i].kernel;
            order[n++][1] = (int64_t)i;
        }
    }
    gmt_sort_pairs(order, n);
    for (size_t i = 0, next; i < n; i = next) {
        const struct gmt_tl_call *first = &tl->launches[order[i][1]].call;

        for (next = i + 1; next < n && order[next][0] == order[i][0]; next++) {
            const struct gmt_tl_call *call = &tl->launches[order[next][1]].call;

            first = call->id < first->id ? call : first;
        }
        if ((double)(first->end_ns - first->begin_ns) >= GMT_LOADING_LAUNCH_NS) {
            mark(calls, first);
        }
    }
    free(order);
    return 0;
}

int gmt_host_calls_load(struct gmt_host_calls *calls, const struct gmt_timeline *tl)
{
    enum gmt_time_part *parts = calloc(tl->api_count + 1, sizeof(*parts));
    struct gmt_host_calls more = {0};
    size_t capacity = 0;

    *calls = (struct gmt_host_calls){0};
    int rc = parts != NULL ? load_parts(tl, parts) : -ENOMEM;
    if (rc == 0) {
        rc = count_others(tl, &capacity);
    }
    if (rc == 0) {
        more.rows = calloc(capacity + 1, sizeof(*more.rows));
        calls->rows = calloc(tl->copy_count + tl->launch_count + capacity + 1,
                             sizeof(*calls->rows));
        rc = more.rows != NULL && calls->rows != NULL ? load_others(&more, capacity, parts, tl)
                                                      : -ENOMEM;
    }
    if (rc == 0) {
        qsort(more.rows, more.count, sizeof(*more.rows), compare_begins);
        merge(calls, tl, parts, &more);
        rc = mark_loading(calls, tl);
    }
    free(more.rows);
    free(parts);
    return rc;
}

void gmt_host_calls_free(struct gmt_host_calls *calls)
{
    free(calls->rows);
    *calls = (struct gmt_host_calls){0};
}

struct gmt_tl_call gmt_host_call_of_timeline(const struct gmt_host_call *call)
{
    return (struct gmt_tl_call){.begin_ns = call->begin_ns,
                                .end_ns = call->end_ns,
                                .site = call->site,
                                .caller = call->caller,
                                .stack_id = call->stack_id,
                                .api = call->api,
                                .thread = call->thread};
}

struct gmt_where gmt_host_call_where(struct gmt_analysis *analysis,
                                     const struct gmt_host_call *call)
{
    struct gmt_tl_call like = gmt_host_call_of_timeline(call);

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
    struct gmt_call_sum *sum = sums->last;

    /* A loop calls from one place again and again. */
    if (sum == NULL || sum->key[0] != key[0] || sum->key[1] != key[1]) {
        if (2 * sums->count >= sums->capacity && grow(sums) != 0) {
            return -ENOMEM;
        }
        sum = sums->last = slot_of(sums->rows, sums->capacity, key);
    }
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

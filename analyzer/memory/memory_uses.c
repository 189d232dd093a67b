/* SPDX-License-Identifier: Apache-2.0 */
/* When each allocation was used: by copies, memsets and kernels, and when it may have been. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/memory/memory.h"
#include "analyzer/trace/ids.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/sharing.h"
#include "libtrace/store/db/traits.h"

/* A use of memory. `open`: its end on the device is not known. */
struct memory_use {
    int64_t first_ns, last_ns;
    bool open, by_kernel;
};

/* The use that a call makes, by the device's clock where that is known. */
static struct memory_use use_of(int64_t begin_ns, int64_t end_ns, int64_t start_ns, int64_t stop_ns)
{
    bool timed = start_ns != GMT_NO_TIME && stop_ns != GMT_NO_TIME;

    return (struct memory_use){timed ? start_ns : begin_ns, timed ? stop_ns : end_ns, !timed,
                               false};
}

struct gmt_memory_row *gmt_memory_find(const struct gmt_memory *memory, int64_t id)
{
    size_t low = 0, high = memory->count;

    if (high == 0 || id <= 0) {
        return NULL;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memory->rows[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < memory->count && memory->rows[low].id == id ? &memory->rows[low] : NULL;
}

static void add_use(struct gmt_memory_row *row, struct memory_use use)
{
    if (row == NULL || use.first_ns == GMT_NO_TIME) {
        return;
    }
    if (row->first_use_ns == GMT_NO_TIME || use.first_ns < row->first_use_ns) {
        row->first_use_ns = use.first_ns;
    }
    if (row->last_use_ns == GMT_NO_TIME || use.last_ns > row->last_use_ns) {
        row->last_use_ns = use.last_ns;
        row->open_end = use.open;
    }
    row->in_kernels |= use.by_kernel;
}

/* Copies of one dimension show which bytes they touch; others may touch all. */
static void add_copied(struct gmt_memory_row *row, uint64_t address, int64_t bytes, bool linear)
{
    if (row == NULL || row->bytes <= 0) {
        return;
    }
    int64_t begin = 0, end = row->bytes;
    uint64_t offset = address - (uint64_t)row->address;

    if (linear && address != 0 && offset <= (uint64_t)row->bytes &&
        bytes <= row->bytes - (int64_t)offset) {
        begin = (int64_t)offset;
        end = begin + bytes;
    }
    row->copied_begin = begin < row->copied_begin ? begin : row->copied_begin;
    row->copied_end = end > row->copied_end ? end : row->copied_end;
}

static void add_copies(struct gmt_memory *memory)
{
    const struct gmt_timeline *tl = memory->timeline;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        struct gmt_memory_row *dst = gmt_memory_find(memory, copy->dst_allocation);
        struct gmt_memory_row *src = gmt_memory_find(memory, copy->src_allocation);
        struct memory_use use = use_of(copy->call.begin_ns, copy->call.end_ns,
                                       copy->device_start_ns, copy->device_end_ns);

        use.open &= !copy->blocking;
        add_use(dst, use);
        add_use(src, use);
        if (src != NULL) {
            src->copied_from = true;
        }
        if (dst != NULL) {
            dst->sent |= copy->direction != GMT_DIR_D2D;
        }
        add_copied(dst, copy->dst, copy->bytes, copy->linear);
        add_copied(src, copy->src, copy->bytes, copy->linear);
    }
}

/* Columns: allocation, call's begin and end, the device's begin and end, by a kernel. */
static int add_rows(struct gmt_memory *memory, const char *sql)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, memory->timeline->db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        struct memory_use use = use_of(gmt_query_time(&query, 1), gmt_query_time(&query, 2),
                                       gmt_query_time(&query, 3), gmt_query_time(&query, 4));

        use.by_kernel = gmt_query_id(&query, 5) != 0;
        add_use(gmt_memory_find(memory, gmt_query_id(&query, 0)), use);
    }
    return gmt_query_close(&query, rc);
}

static int add_memsets(struct gmt_memory *memory)
{
    return add_rows(memory,
                    "SELECT dst_allocation_id, begin_ns, end_ns, device_start_ns, device_end_ns, 0 "
                    "FROM memset WHERE result = 0 AND capturing = 0");
}

/* What kernels touched, also by pointers that they found in memory. Old traces have no such table. */
static int add_footprints(struct gmt_memory *memory)
{
    int64_t tables = 0;
    int rc = gmt_query_int64(memory->timeline->db,
                             "SELECT count(*) FROM sqlite_master WHERE name = 'kernel_footprint'",
                             &tables);

    if (rc != 0 || tables == 0) {
        return rc;
    }
    return add_rows(memory, "SELECT f.allocation_id, l.begin_ns, l.end_ns, l.device_start_ns, "
                            "l.device_end_ns, 1 FROM kernel_footprint f JOIN launch l "
                            "ON l.seq = f.launch_seq WHERE f.allocation_id IS NOT NULL");
}

#define BEGINS_CAPTURE GMT_SQL_HAS("traits", GMT_TRAIT_BEGINS_CAPTURE)
#define FREES GMT_SQL_HAS("traits", GMT_TRAITS_FREE)

/* What was captured runs in launches of graphs, any of which may be the one. */
#define GMT_IN_GRAPHS(prefix) \
    ", " prefix "begin_ns, max(" prefix "end_ns, coalesce((SELECT max(coalesce(device_end_ns, " \
    "end_ns)) FROM launch WHERE kind = 'graph'), 0)), NULL, NULL, 1 "

static int add_captured(struct gmt_memory *memory)
{
    static const char *const sources[] = {
        "SELECT dst_allocation_id" GMT_IN_GRAPHS("") "FROM memset "
                                                     "WHERE result = 0 AND capturing = 1",
        "SELECT dst_allocation_id" GMT_IN_GRAPHS("") "FROM transfer "
                                                     "WHERE result = 0 AND capturing = 1",
        "SELECT src_allocation_id" GMT_IN_GRAPHS("") "FROM transfer "
                                                     "WHERE result = 0 AND capturing = 1",
        "SELECT a.allocation_id" GMT_IN_GRAPHS(
            "l.") "FROM launch l "
                  "JOIN launch_argument a ON a.set_id = l.argument_set_id "
                  "WHERE l.result = 0 AND l.capturing = 1",
    };
    int64_t captures = 0;
    int rc = gmt_query_int64(memory->timeline->db, "SELECT count(*) FROM api WHERE " BEGINS_CAPTURE,
                             &captures);

    if (rc != 0 || captures == 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++) {
        rc = add_rows(memory, sources[i]);
    }
    return rc;
}

static void widen(struct memory_use *all, struct memory_use use)
{
    if (all->first_ns == GMT_NO_TIME || use.first_ns < all->first_ns) {
        all->first_ns = use.first_ns;
    }
    if (all->last_ns == GMT_NO_TIME || use.last_ns > all->last_ns) {
        all->last_ns = use.last_ns;
        all->open = use.open;
    }
}

static struct memory_use use_of_launch(const struct gmt_tl_launch *launch)
{
    struct memory_use use = use_of(launch->call.begin_ns, launch->call.end_ns,
                                   launch->device_start_ns, launch->device_end_ns);

    use.by_kernel = true;
    return use;
}

/* Launches with equal arguments share a set: its first and last use are found before its members. */
static int add_launches(struct gmt_memory *memory)
{
    const struct gmt_timeline *tl = memory->timeline;
    struct gmt_ids sets = {0};
    struct gmt_query query;
    int rc = gmt_ids_load(&sets, tl->db, "SELECT DISTINCT set_id FROM launch_argument ORDER BY 1");
    struct memory_use *uses = calloc(sets.n + 1, sizeof(*uses));

    if (rc == 0 && uses == NULL) {
        rc = -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < sets.n; i++) {
        uses[i] = (struct memory_use){GMT_NO_TIME, GMT_NO_TIME, false, true};
    }
    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        int64_t set = gmt_ids_index(&sets, tl->launches[i].argument_set);

        if (set >= 0) {
            widen(&uses[set], use_of_launch(&tl->launches[i]));
        }
    }
    if (rc == 0) {
        rc = gmt_query_open(&query, tl->db, "SELECT set_id, allocation_id FROM launch_argument");
        while (rc == 0 && gmt_query_next(&query)) {
            int64_t set = gmt_ids_index(&sets, gmt_query_id(&query, 0));

            if (set >= 0) {
                add_use(gmt_memory_find(memory, gmt_query_id(&query, 1)), uses[set]);
            }
        }
        rc = gmt_query_close(&query, rc);
    }
    free(uses);
    free(sets.ids);
    return rc;
}

static int compare_intervals(const void *a, const void *b)
{
    const struct gmt_interval *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int load_doubts(struct gmt_memory *memory)
{
    const struct gmt_timeline *tl = memory->timeline;
    size_t n = 0;

    for (size_t i = 0; i < tl->launch_count; i++) {
        n += !tl->launches[i].arguments_complete;
    }
    memory->doubts = calloc(n + 1, sizeof(*memory->doubts));
    if (memory->doubts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        struct memory_use use = use_of_launch(&tl->launches[i]);

        if (!tl->launches[i].arguments_complete) {
            memory->doubts[memory->doubt_count++] = (struct gmt_interval){use.first_ns,
                                                                          use.last_ns};
        }
    }
    qsort(memory->doubts, memory->doubt_count, sizeof(*memory->doubts), compare_intervals);
    return 0;
}

/* A use whose end the device did not report is over when the host has waited next. */
static int load_syncs(struct gmt_memory *memory)
{
    struct gmt_query query;
    bool wanted = false;
    int64_t n = 0;

    for (size_t i = 0; i < memory->count; i++) {
        wanted |= memory->rows[i].open_end;
    }
    int rc = wanted ? gmt_query_int64(memory->timeline->db, "SELECT count(*) FROM sync", &n) : 0;
    if (rc != 0 || n <= 0) {
        return rc;
    }
    memory->syncs = calloc((size_t)n, sizeof(*memory->syncs));
    if (memory->syncs == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, memory->timeline->db,
                        "SELECT begin_ns, end_ns FROM sync WHERE result = 0");
    while (rc == 0 && memory->sync_count < (size_t)n && gmt_query_next(&query)) {
        memory->syncs[memory->sync_count++] = (struct gmt_interval){gmt_query_time(&query, 0),
                                                                    gmt_query_time(&query, 1)};
    }
    qsort(memory->syncs, memory->sync_count, sizeof(*memory->syncs), compare_intervals);
    return gmt_query_close(&query, rc);
}

static int find_sharing(struct gmt_memory *memory)
{
    int64_t begin_ns;
    int rc = gmt_sharing_begin(memory->timeline, &begin_ns);

    memory->shared = begin_ns != GMT_NO_TIME;
    return rc;
}

/*
 * Of all calls, also of those that a range leaves out; 600: CUDA_ERROR_NOT_READY. Who works on after a
 * call that failed has not given up for it: the last success is looked for, by the index, where one failed.
 */
#define LAST_SUCCESS(table) \
    "SELECT * FROM (SELECT begin_ns AS t FROM main." table \
    " WHERE result = 0 ORDER BY begin_ns DESC LIMIT 1)"
#define LAST_FAILURE(table, fine) \
    "SELECT max(begin_ns) AS t FROM main." table " WHERE result NOT IN (" fine ")"

/* The later of *at_ns and what the query finds. */
static int later_of(sqlite3 *db, const char *sql, int64_t *at_ns)
{
    int64_t found_ns = INT64_MIN;
    int rc = gmt_query_int64(db, sql, &found_ns);

    *at_ns = found_ns > *at_ns ? found_ns : *at_ns;
    return rc;
}

/* Of a table with a row for each call: where the timeline has as many as there are, none of them has failed, and
 * the rows are not gone through. */
static int last_failure_of(sqlite3 *db, const char *count, size_t loaded, const char *sql,
                           int64_t *at_ns)
{
    int64_t rows = -1;
    int rc = gmt_query_int64(db, count, &rows);

    return rc != 0 || (rows >= 0 && (uint64_t)rows == loaded) ? rc : later_of(db, sql, at_ns);
}

static int find_failure(struct gmt_memory *memory)
{
    const struct gmt_timeline *tl = memory->timeline;
    int64_t failed_ns = INT64_MIN, done_ns = INT64_MIN;
    int rc = later_of(
        tl->db,
        "SELECT max(t) FROM (" LAST_FAILURE("api_call", "0, 600") " UNION ALL " LAST_FAILURE(
            "sync", "0, 600") " UNION ALL " LAST_FAILURE("memset", "0") ")",
        &failed_ns);

    if (rc == 0) {
        rc = last_failure_of(tl->db, "SELECT count(*) FROM main.transfer", tl->copy_count,
                             LAST_FAILURE("transfer", "0"), &failed_ns);
    }
    if (rc == 0) {
        rc = last_failure_of(tl->db, "SELECT count(*) FROM main.launch", tl->launch_count,
                             LAST_FAILURE("launch", "0"), &failed_ns);
    }
    if (rc == 0 && failed_ns != INT64_MIN) {
        rc = later_of(tl->db,
                      "SELECT max(t) FROM (" LAST_SUCCESS("transfer") " UNION ALL " LAST_SUCCESS(
                          "memset") " UNION ALL " LAST_SUCCESS("launch") ")",
                      &done_ns);
        memory->failed = failed_ns > done_ns;
    }
    if (rc != 0) {
        return rc;
    }
    return gmt_query_int64(memory->timeline->db,
                           "SELECT max(begin_ns) FROM api_call WHERE result = 2 AND api_id IN "
                           "(SELECT id FROM api WHERE family = 'alloc' AND NOT " FREES ")",
                           &memory->last_failure_ns);
}

int gmt_memory_find_uses(struct gmt_memory *memory)
{
    static int (*const steps[])(struct gmt_memory *) = {add_memsets,  add_footprints, add_captured,
                                                        add_launches, load_doubts,    load_syncs,
                                                        find_sharing, find_failure};
    int rc = 0;

    add_copies(memory);
    for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
        rc = steps[i](memory);
    }
    return rc;
}

/* Index of the first of the intervals that begins at or after that time. */
static size_t first_from(const struct gmt_interval *intervals, size_t n, int64_t at_ns)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (intervals[middle].begin_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool gmt_memory_in_doubt(const struct gmt_memory *memory, struct gmt_interval interval)
{
    size_t at = first_from(memory->doubts, memory->doubt_count, interval.begin_ns);

    return at < memory->doubt_count && memory->doubts[at].begin_ns < interval.end_ns;
}

static int64_t closed_end(const struct gmt_memory *memory, const struct gmt_memory_row *row)
{
    /* The software device has done the work when the call returns. */
    if (!row->open_end || memory->timeline->simulated) {
        return row->last_use_ns;
    }
    size_t at = first_from(memory->syncs, memory->sync_count, row->last_use_ns);

    return at < memory->sync_count ? memory->syncs[at].end_ns : INT64_MAX;
}

struct gmt_interval gmt_memory_needed(const struct gmt_memory *memory,
                                      const struct gmt_memory_row *row)
{
    struct gmt_interval life = {row->lives_ns, gmt_memory_freed_ns(row)},
                        need = {life.begin_ns, life.begin_ns};

    if (row->kind == GMT_ALLOC_MANAGED || row->kind == GMT_ALLOC_UNKNOWN ||
        gmt_memory_is_foreign(row) || row->segment || row->indirect || memory->shared) {
        return life;
    }
    if (row->first_use_ns != GMT_NO_TIME) {
        need = (struct gmt_interval){row->first_use_ns, closed_end(memory, row)};
    }
    size_t first = first_from(memory->doubts, memory->doubt_count, life.begin_ns);
    size_t end = first_from(memory->doubts, memory->doubt_count, life.end_ns);
    if (first < end) {
        int64_t begin_ns = memory->doubts[first].begin_ns;
        int64_t end_ns = memory->doubts[end - 1].end_ns;

        if (row->first_use_ns == GMT_NO_TIME || begin_ns < need.begin_ns) {
            need.begin_ns = begin_ns;
        }
        need.end_ns = end_ns > need.end_ns ? end_ns : need.end_ns;
    }
    need.begin_ns = need.begin_ns < life.begin_ns ? life.begin_ns : need.begin_ns;
    need.end_ns = need.end_ns > life.end_ns ? life.end_ns : need.end_ns;
    return need;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The peak of memory, the places that made it, and who held memory when there was none left. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/findings/rule.h"
#include "analyzer/memory/memory.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/unseen.h"
#include "libtrace/store/db/traits.h"

enum { MOST_HOLDERS = 5, MOST_FAILURES = 5 };

/* A moment, and whose memory is asked for. */
struct moment {
    int64_t at_ns, until_ns, device_id; /* device INT64_MIN: of all devices */
    bool host;
};

struct site_sum {
    uint64_t site;
    double bytes, allocations, idle_bytes;
    size_t largest; /* row that stands for the site */
    bool segments;
};

static int compare_sites(const void *a, const void *b)
{
    const struct site_sum *x = a, *y = b;

    if (x->site != y->site) {
        return x->site < y->site ? -1 : 1;
    }
    return (x->largest > y->largest) - (x->largest < y->largest);
}

static int compare_bytes(const void *a, const void *b)
{
    const struct site_sum *x = a, *y = b;

    if (x->bytes < y->bytes || x->bytes > y->bytes) {
        return x->bytes < y->bytes ? 1 : -1;
    }
    return (x->largest > y->largest) - (x->largest < y->largest);
}

/* Memory whose device is not known may be on any. */
static bool is_meant(const struct gmt_memory *memory, const struct gmt_memory_row *row,
                     const struct moment *moment)
{
    if (row->host != moment->host || row->bytes <= 0 || row->lives_ns > moment->at_ns ||
        gmt_memory_freed_ns(row) <= moment->at_ns) {
        return false;
    }
    if (moment->host || moment->device_id == INT64_MIN || memory->timeline->device_count < 2) {
        return true;
    }
    return row->device_id < 0 || row->device_id == moment->device_id;
}

/* Then it is not known what lies idle, or how long memory is needed. */
static bool uses_are_missing(const struct gmt_timeline *tl)
{
    return tl->unseen != NULL && tl->unseen->uses != NULL;
}

/* One sum per live row; NULL: no memory. */
static struct site_sum *live_rows(const struct gmt_memory *memory, const struct moment *moment,
                                  size_t *count)
{
    struct site_sum *sums = calloc(memory->count + 1, sizeof(*sums));

    *count = 0;
    for (size_t i = 0; sums != NULL && i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (!is_meant(memory, row, moment)) {
            continue;
        }
        struct gmt_interval need = gmt_memory_needed(memory, row);
        /* Where there was no memory left, what waits for its first use is needed, too. */
        bool idle = !uses_are_missing(memory->timeline) &&
                    (need.end_ns <= moment->at_ns ||
                     (moment->until_ns > moment->at_ns && need.begin_ns >= moment->until_ns));
        sums[(*count)++] = (struct site_sum){.site = row->site,
                                             .bytes = (double)row->bytes,
                                             .allocations = 1,
                                             .idle_bytes = idle ? (double)row->bytes : 0,
                                             .largest = i,
                                             .segments = row->segment};
    }
    return sums;
}

/* Merges those of one site, in place; returns how many are left, largest first. */
static size_t merge_sites(const struct gmt_memory *memory, struct site_sum *sums, size_t n)
{
    size_t sites = 0;

    qsort(sums, n, sizeof(*sums), compare_sites);
    for (size_t i = 0; i < n; i++) {
        struct site_sum *to = sites > 0 ? &sums[sites - 1] : NULL;

        if (to == NULL || to->site != sums[i].site) {
            sums[sites++] = sums[i];
            continue;
        }
        if (memory->rows[sums[i].largest].bytes > memory->rows[to->largest].bytes) {
            to->largest = sums[i].largest;
        }
        to->bytes += sums[i].bytes;
        to->allocations += sums[i].allocations;
        to->idle_bytes += sums[i].idle_bytes;
        to->segments |= sums[i].segments;
    }
    qsort(sums, sites, sizeof(*sums), compare_bytes);
    return sites;
}

/* *held: of all places. 0 or -ENOMEM. */
static int find_holders(struct gmt_analysis *analysis, const struct moment *moment,
                        struct gmt_memory_holder **holders, size_t *count, double *held)
{
    const struct gmt_memory *memory = analysis->memory;
    size_t n = 0;
    struct site_sum *sums = live_rows(memory, moment, &n);

    if (sums == NULL) {
        return -ENOMEM;
    }
    n = merge_sites(memory, sums, n);
    *held = 0;
    for (size_t i = 0; i < n; i++) {
        struct gmt_memory_holder *holder = i < MOST_HOLDERS
                                               ? GMT_PUSH(analysis->report->arena, *holders, *count)
                                               : NULL;

        *held += sums[i].bytes;
        if (holder == NULL) {
            continue;
        }
        struct gmt_tl_call call = gmt_memory_call(memory, &memory->rows[sums[i].largest]);
        *holder = (struct gmt_memory_holder){.where = gmt_where_of_call(analysis, &call),
                                             .bytes = sums[i].bytes,
                                             .allocations = sums[i].allocations,
                                             .idle_bytes = sums[i].idle_bytes,
                                             .segments = sums[i].segments};
    }
    free(sums);
    return 0;
}

/* Times of the software device mean nothing. */
static double since_start(const struct gmt_timeline *tl, int64_t at_ns)
{
    return tl->simulated || at_ns == GMT_NO_TIME ? NAN : (double)(at_ns - tl->start_ns);
}

static int fill_peak(struct gmt_analysis *analysis)
{
    const struct gmt_memory *memory = analysis->memory;
    struct gmt_report *report = analysis->report;
    struct gmt_memory_peak peak, needed, pinned;
    struct gmt_interval *lives = gmt_memory_lives(memory);
    size_t device_count = memory->count - memory->host_count;
    double held;

    if (lives == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_memory_peak(memory, lives, false, &peak);
    if (rc == 0) {
        rc = gmt_memory_peak(memory, lives, true, &pinned);
    }
    for (size_t i = 0; i < memory->count; i++) {
        lives[i] = gmt_memory_needed(memory, &memory->rows[i]);
    }
    if (rc == 0) {
        rc = gmt_memory_peak(memory, lives, false, &needed);
    }
    free(lives);
    if (rc != 0) {
        return rc;
    }
    report->allocation_count = (double)device_count;
    report->peak_device_bytes = device_count > 0 ? (double)peak.bytes : NAN;
    report->peak_needed_bytes = device_count > 0 && !uses_are_missing(analysis->timeline)
                                    ? (double)needed.bytes
                                    : NAN;
    report->peak_pinned_bytes = memory->host_count > 0 ? (double)pinned.bytes : NAN;
    report->peak_at_ns = since_start(analysis->timeline, peak.at_ns);
    if (peak.at_ns == GMT_NO_TIME) {
        return 0;
    }
    return find_holders(analysis, &(struct moment){peak.at_ns, peak.until_ns, INT64_MIN, false},
                        &report->peak_holders, &report->peak_holder_count, &held);
}

/* A call that got no memory. */
struct failure {
    struct gmt_tl_call call;
    struct moment moment;
    double bytes, count;
};

static struct gmt_tl_call read_call(const struct gmt_timeline *tl, struct gmt_query *query)
{
    struct gmt_tl_call call = {.id = gmt_query_id(query, 0),
                               .begin_ns = gmt_query_time(query, 1),
                               .end_ns = gmt_query_time(query, 1),
                               .caller = (uint64_t)gmt_query_int(query, 2),
                               .stack_id = gmt_query_id(query, 3),
                               .api = gmt_query_id(query, 4)};

    if (call.api < 0 || (size_t)call.api >= tl->api_count) {
        call.api = 0;
    }
    call.site = gmt_timeline_site(tl, call.stack_id, call.caller);
    return call;
}

#define LOCKS_HOST GMT_SQL_HAS("a.traits", GMT_TRAIT_LOCKS_HOST)
#define FREES GMT_SQL_HAS("a.traits", GMT_TRAITS_FREE)

/* The last one of each place, and how many there were; places beyond the first few are left out. */
static int read_failures(const struct gmt_timeline *tl, struct failure *failures, size_t *count)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT c.id, c.begin_ns, c.caller, c.stack_id, c.api_id, c.bytes, "
                            "x.device_id, " LOCKS_HOST
                            " <> 0 FROM api a JOIN api_call c ON c.api_id = a.id "
                            "LEFT JOIN context x ON x.id = c.context_id "
                            "WHERE a.family = 'alloc' AND NOT " FREES " AND c.result = "
                            "2 " /* CUDA_ERROR_OUT_OF_MEMORY */
                            "ORDER BY c.begin_ns, c.id");

    *count = 0;
    while (rc == 0 && gmt_query_next(&query)) {
        struct failure now = {.call = read_call(tl, &query), .bytes = gmt_query_real(&query, 5)};
        size_t i = 0;

        now.moment = (struct moment){now.call.begin_ns, now.call.begin_ns,
                                     gmt_query_known(&query, 6), gmt_query_int(&query, 7) != 0};
        while (i < *count &&
               (failures[i].call.site != now.call.site || failures[i].call.api != now.call.api)) {
            i++;
        }
        if (i == MOST_FAILURES) {
            continue;
        }
        now.count = i < *count ? failures[i].count + 1 : 1;
        failures[i] = now;
        *count += i == *count;
    }
    return gmt_query_close(&query, rc);
}

static int fill_failures(struct gmt_analysis *analysis)
{
    struct gmt_report *report = analysis->report;
    struct failure failures[MOST_FAILURES];
    size_t n = 0;
    int rc = read_failures(analysis->timeline, failures, &n);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct gmt_memory_failure *to = GMT_PUSH(report->arena, report->failures,
                                                 report->failure_count);

        if (to == NULL) {
            return -ENOMEM;
        }
        *to = (struct gmt_memory_failure){
            .where = gmt_where_of_call(analysis, &failures[i].call),
            .failures = failures[i].count,
            .asked_bytes = failures[i].bytes,
            .at_ns = since_start(analysis->timeline, failures[i].moment.at_ns),
            .host = failures[i].moment.host,
        };
        rc = find_holders(analysis, &failures[i].moment, &to->holders, &to->holder_count,
                          &to->held_bytes);
    }
    return rc;
}

int gmt_memory_report(struct gmt_analysis *analysis)
{
    int rc = fill_peak(analysis);

    return rc == 0 ? fill_failures(analysis) : rc;
}

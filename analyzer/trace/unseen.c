/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether uses of memory are missing from a trace, why, and where. What the trace says decides
 * (main.loss, main.coverage, main.capability); views show some names and no others (redact.h).
 */
#include "analyzer/trace/unseen.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/trace/losses.h"
#include "analyzer/trace/named_ranges.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/range_scope.h"
#include "libtrace/store/ingest/range_scope.h"

/* A range may scope no call of its own and still end a stretch in which all were recorded. */
static const char recorded_cuts[] =
    "SELECT r.end_ns FROM main.range r LEFT JOIN main.string n ON n.id = r.name_id "
    "LEFT JOIN main.string d ON d.id = r.domain_id WHERE r.end_ns IS NOT NULL AND "
    "(?1 = '' OR n.text = ?1 OR n.text || '@' || d.text = ?1) ORDER BY 1";
static const char analysed_cuts[] =
    "SELECT begin_ns FROM (SELECT begin_ns, thread_id FROM main.launch UNION ALL "
    "SELECT begin_ns, thread_id FROM main.memset UNION ALL SELECT begin_ns, thread_id FROM "
    "main.transfer WHERE direction <> 'd2h') WHERE NOT gmt_in_range(thread_id, begin_ns) "
    "ORDER BY 1";

static bool has(const struct gmt_timeline *tl, const char *sql)
{
    int64_t n = 0;

    return gmt_query_int64(tl->db, sql, &n) == 0 && n > 0;
}

/* Times, ascending; what is there already stays, and the whole is sorted by the caller. */
static int add_cuts(struct gmt_unseen *unseen, const struct gmt_timeline *tl, const char *sql,
                    const char *name)
{
    struct gmt_query query;
    size_t room = unseen->cut_count;
    int rc = gmt_query_open(&query, tl->db, sql);

    if (rc == 0 && name != NULL) {
        sqlite3_bind_text(query.statement, 1, name, -1, SQLITE_STATIC);
    }
    while (rc == 0 && gmt_query_next(&query)) {
        if (unseen->cut_count == room) {
            int64_t *grown = realloc(unseen->cuts, (room = 2 * room + 64) * sizeof(*grown));

            if (grown == NULL) {
                rc = -ENOMEM;
                break;
            }
            unseen->cuts = grown;
        }
        unseen->cuts[unseen->cut_count++] = gmt_query_time(&query, 0);
    }
    return gmt_query_close(&query, rc);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Ranges were written from version 2 on. */
static int find_recorded(struct gmt_unseen *unseen, const struct gmt_timeline *tl,
                         struct gmt_report *report)
{
    char name[512];
    struct gmt_query query;
    const char *detail = NULL;

    if (!gmt_range_scope(tl->db, name, sizeof(name))) {
        return 0;
    }
    /* As reports show it: names may be redacted. */
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT detail FROM capability WHERE name = '" GMT_RANGE_SCOPE "'");
    if (rc == 0 && gmt_query_next(&query)) {
        detail = gmt_query_text(&query, 0, report->arena);
    }
    rc = gmt_query_close(&query, rc);
    unseen->limited = true;
    unseen->uses = gmt_arena_text(
        report->arena, "%s: uses outside of them are not in the trace",
        detail != NULL && detail[0] != '\0' ? detail : "only calls inside of ranges are recorded");
    if (has(tl,
            "SELECT count(*) FROM main.capability WHERE name = '" GMT_RANGE_SCOPE_THREADS "'")) {
        unseen->calls = "other threads made calls that are not in the trace, while one was inside "
                        "of the range that was recorded";
    }
    if (rc == 0 && has(tl, "SELECT count(*) FROM main.sqlite_master WHERE name = 'range'")) {
        rc = add_cuts(unseen, tl, recorded_cuts, name);
    }
    return rc;
}

static int find_analysed(struct gmt_unseen *unseen, const struct gmt_timeline *tl)
{
    if (!gmt_range_is_limited(tl->db)) {
        return 0;
    }
    unseen->limited = true;
    unseen->uses = "only calls inside of ranges are analysed: uses outside of them are not seen";
    return add_cuts(unseen, tl, analysed_cuts, NULL);
}

/* "the trace is not complete (record dropped: spool limit reached): ..."; NULL: no such loss. */
static const char *lost(const struct gmt_timeline *tl, struct gmt_report *report, const char *kinds)
{
    struct gmt_largest_loss loss = gmt_loss_largest(tl->db, kinds, report->arena);

    return loss.kind == NULL
               ? NULL
               : gmt_arena_text(report->arena,
                                "the trace is not complete (%s%s%s): what is missing may use the "
                                "memory",
                                loss.kind, loss.detail[0] != '\0' ? ": " : "", loss.detail);
}

/* A dump has what was allocated before its window, not what used it. NULL: all of the run was recorded. */
static const char *before_window(const struct gmt_timeline *tl)
{
    return has(tl, "SELECT count(*) FROM main.capability WHERE name = '" GMT_RING_SCOPE "'")
               ? "only the last seconds are in the trace: uses of memory before them are not known"
               : NULL;
}

/* Of functions that move, launch or map, or that nobody knew; traces of earlier versions do not say what a
 * function does. NULL: none was called. */
static const char *uncovered_calls(const struct gmt_timeline *tl, struct gmt_report *report)
{
    static const char largest[] =
        "SELECT l.detail, EXISTS (SELECT 1 FROM coverage v WHERE v.kind = c.kind AND v.what = "
        "c.what) FROM main.loss l JOIN main.coverage c ON c.kind = 'entry point' AND c.what = "
        "l.detail WHERE l.kind = 'entry point not covered' AND l.count > 0 AND c.class IN "
        "('move', 'launch', 'map', 'unknown') ORDER BY l.count DESC, 1 LIMIT 1";
    struct gmt_query query;
    const char *why = NULL;

    if (!has(tl, "SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = "
                 "'coverage'")) {
        return NULL;
    }
    int rc = gmt_query_open(&query, tl->db, largest);
    if (rc == 0 && gmt_query_next(&query)) {
        why = gmt_arena_text(
            report->arena, "the program called %s, which is not recorded: it may use the memory",
            gmt_query_int(&query, 1) != 0 ? gmt_query_text(&query, 0, report->arena)
                                          : "a function");
    }
    (void)gmt_query_close(&query, rc);
    return why;
}

int gmt_unseen_load(struct gmt_unseen *unseen, const struct gmt_timeline *tl,
                    struct gmt_report *report)
{
    *unseen = (struct gmt_unseen){0};
    int rc = find_recorded(unseen, tl, report);

    if (rc == 0) {
        rc = find_analysed(unseen, tl);
    }
    if (rc != 0) {
        return rc;
    }
    if (unseen->cut_count > 1) {
        qsort(unseen->cuts, unseen->cut_count, sizeof(*unseen->cuts), compare_times);
    }
    const char *calls = lost(tl, report, GMT_LOSSES_OF_CALLS);
    if (calls == NULL && !tl->complete) {
        calls = "the trace was never finished: what is missing may use the memory";
    }
    if (calls == NULL) {
        calls = uncovered_calls(tl, report);
    }
    if (calls != NULL) {
        unseen->calls = calls;
    }
    if (unseen->uses == NULL) {
        unseen->uses = before_window(tl);
    }
    if (unseen->uses == NULL) {
        unseen->uses = unseen->calls != NULL ? unseen->calls : lost(tl, report, GMT_LOSSES_OF_USES);
    }
    return 0;
}

void gmt_unseen_free(struct gmt_unseen *unseen)
{
    free(unseen->cuts);
    *unseen = (struct gmt_unseen){0};
}

bool gmt_unseen_between(const struct gmt_unseen *unseen, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = unseen != NULL ? unseen->cut_count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (unseen->cuts[middle] < from_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return unseen != NULL && low < unseen->cut_count && unseen->cuts[low] < to_ns;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Merges copies, launches, memsets and waits by time, and reads fingerprints. */
#include "analyzer/content_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/query.h"

/* A row of a table that is read along with the timeline. */
struct cursor {
    struct gmt_query query;
    int64_t at_ns; /* of the row it stands on; INT64_MAX: at its end */
    int rc;
};

static void advance(struct cursor *cursor)
{
    cursor->at_ns = cursor->rc == 0 && gmt_query_next(&cursor->query)
                        ? gmt_query_time(&cursor->query, 0)
                        : INT64_MAX;
}

static void open_cursor(struct cursor *cursor, const struct gmt_timeline *timeline, const char *sql)
{
    cursor->rc = gmt_query_open(&cursor->query, timeline->db, sql);
    advance(cursor);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int gmt_content_events(const struct gmt_timeline *tl,
                       void (*on_event)(void *data, const struct gmt_content_event *event),
                       void *data)
{
    struct cursor sets, waits;
    size_t copy = 0, launch = 0;

    open_cursor(
        &sets, tl,
        "SELECT begin_ns, dst_allocation_id, dst, CASE WHEN coalesce(height, 1) > 1 THEN -1 "
        "ELSE bytes END FROM memset WHERE result = 0 AND capturing = 0 ORDER BY begin_ns");
    open_cursor(&waits, tl,
                "SELECT begin_ns, CASE kind WHEN 'stream' THEN coalesce(stream_id, 0) ELSE -1 END "
                "FROM sync WHERE result = 0 AND kind IN ('stream', 'context', 'device') "
                "ORDER BY begin_ns");
    for (;;) {
        int64_t copy_ns = copy < tl->copy_count ? tl->copies[copy].call.begin_ns : INT64_MAX;
        int64_t launch_ns = launch < tl->launch_count ? tl->launches[launch].call.begin_ns
                                                      : INT64_MAX;
        int64_t next_ns = least(least(copy_ns, launch_ns), least(sets.at_ns, waits.at_ns));
        struct gmt_content_event event = {0};

        if (next_ns == INT64_MAX)
            break;
        if (copy_ns == next_ns) {
            event = (struct gmt_content_event){.kind = GMT_EVENT_COPY, .index = copy++};
        } else if (launch_ns == next_ns) {
            event = (struct gmt_content_event){.kind = GMT_EVENT_LAUNCH, .index = launch++};
        } else if (sets.at_ns == next_ns) {
            event = (struct gmt_content_event){.kind = GMT_EVENT_MEMSET,
                                               .allocation = gmt_query_int(&sets.query, 1),
                                               .address = (uint64_t)gmt_query_int(&sets.query, 2),
                                               .bytes = gmt_query_int(&sets.query, 3)};
            advance(&sets);
        } else {
            event = (struct gmt_content_event){.kind = GMT_EVENT_WAIT,
                                               .stream = gmt_query_int(&waits.query, 1)};
            advance(&waits);
        }
        on_event(data, &event);
    }
    int rc = gmt_query_close(&sets.query, sets.rc);
    return gmt_query_close(&waits.query, rc != 0 ? rc : waits.rc);
}

/* ---- fingerprints ----------------------------------------------------------------------------- */

struct numbered {
    int64_t id;
    size_t index;
};

static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static bool parse_hash(const char *text, struct gmt_print *print)
{
    char half[17] = "";
    char *end;

    if (text == NULL || strlen(text) != 32)
        return false;
    memcpy(half, text, 16);
    print->high = strtoull(half, &end, 16);
    if (*end != '\0')
        return false;
    print->low = strtoull(text + 16, &end, 16);
    return *end == '\0';
}

static void read_print(struct gmt_query *query, struct gmt_print *print)
{
    const char *why = (const char *)sqlite3_column_text(query->statement, 4);

    print->skipped = why != NULL ? why[0] : 0;
    if (parse_hash((const char *)sqlite3_column_text(query->statement, 1), print)) {
        print->bytes_hashed = gmt_query_int(query, 2);
        print->whole = gmt_query_int(query, 3) != 0;
    }
}

int gmt_content_prints(const struct gmt_timeline *tl, struct gmt_copy_content *contents)
{
    struct gmt_query query;
    int64_t tables = 0;
    size_t at = 0;
    int rc = gmt_query_int64(
        tl->db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'fingerprint'",
        &tables);

    if (rc != 0 || tables == 0)
        return rc;
    struct numbered *order = calloc(tl->copy_count + 1, sizeof(*order));
    if (order == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < tl->copy_count; i++)
        order[i] = (struct numbered){tl->copies[i].call.id, i};
    qsort(order, tl->copy_count, sizeof(*order), compare_numbered);
    rc = gmt_query_open(&query, tl->db,
                        "SELECT transfer_id, hash, bytes_hashed, whole, skipped FROM fingerprint "
                        "ORDER BY transfer_id");
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t id = gmt_query_int(&query, 0);

        while (at < tl->copy_count && order[at].id < id)
            at++;
        if (at < tl->copy_count && order[at].id == id)
            read_print(&query, &contents[order[at].index].print);
    }
    free(order);
    return gmt_query_close(&query, rc);
}

int gmt_content_host_memory(const struct gmt_timeline *tl, struct gmt_host_memory **rows,
                            size_t *count)
{
    struct gmt_query query;
    int64_t n = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM host_allocation", &n);

    *count = 0;
    *rows = rc == 0 && n >= 0 ? calloc((size_t)n + 1, sizeof(**rows)) : NULL;
    if (*rows == NULL)
        return rc != 0 ? rc : -ENOMEM;
    rc = gmt_query_open(&query, tl->db, "SELECT id, address FROM host_allocation");
    while (rc == 0 && *count < (size_t)n && gmt_query_next(&query))
        (*rows)[(*count)++] = (struct gmt_host_memory){gmt_query_int(&query, 0),
                                                       (uint64_t)gmt_query_int(&query, 1)};
    return gmt_query_close(&query, rc);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Merges copies, launches, memsets and waits by time, and reads fingerprints. */
#include "analyzer/memory/content_events.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/query.h"
#include "analyzer/trace/sharing.h"
#include "analyzer/trace/unseen.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/db/traits.h"

/* A table that is read along with the timeline: begin_ns, kind, stream, allocation, address, bytes. */
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

#define HAS_HOST_WORK GMT_SQL_HAS("traits", GMT_TRAIT_HOST_WORK)
#define WRITES_VALUE GMT_SQL_HAS("traits", GMT_TRAIT_WRITES_VALUE)

static const char memsets[] =
    "SELECT begin_ns, 2, coalesce(stream_id, 0), dst_allocation_id, dst, CASE WHEN "
    "coalesce(height, 1) > 1 THEN -1 ELSE bytes END FROM memset WHERE result = 0 AND "
    "capturing = 0 ORDER BY begin_ns";
static const char waits[] =
    "SELECT begin_ns, 3, CASE kind WHEN 'stream' THEN coalesce(stream_id, 0) ELSE -1 END, 0, 0, 0 "
    "FROM sync WHERE result = 0 AND kind IN ('stream', 'context', 'device') ORDER BY begin_ns";
static const char calls[] =
    "SELECT begin_ns, 4, coalesce(stream_id, 0), 0, 0, 0 FROM main.api_call WHERE result = 0 AND "
    "capturing = 0 AND api_id IN (SELECT id FROM api WHERE " HAS_HOST_WORK ") ORDER BY begin_ns";
static const char values[] =
    "SELECT begin_ns, 7, coalesce(stream_id, 0), 0, 0, 0 FROM main.api_call WHERE result = 0 AND "
    "capturing = 0 AND api_id IN (SELECT id FROM api WHERE " WRITES_VALUE ") ORDER BY begin_ns";
static_assert(GMT_EVENT_MEMSET == 2 && GMT_EVENT_WAIT == 3 && GMT_EVENT_HOST_WORK == 4 &&
                  GMT_EVENT_SHARED == 5 && GMT_EVENT_VALUE == 7,
              "the SQL above names them by number");

enum { CURSORS = 5 };

static int open_cursors(struct cursor cursors[CURSORS], const struct gmt_timeline *tl)
{
    static const char none[] = "SELECT 0 WHERE 0";
    char shared[64];
    int64_t shared_ns;
    int rc = gmt_sharing_begin(tl, &shared_ns);
    const char *const sql[CURSORS] = {memsets, waits, calls, values,
                                      shared_ns != GMT_NO_TIME ? shared : none};

    (void)snprintf(shared, sizeof(shared), "SELECT %" PRId64 ", 5, -1, 0, 0, 0", shared_ns);
    for (int i = 0; i < CURSORS; i++) {
        cursors[i].rc = gmt_query_open(&cursors[i].query, tl->db, sql[i]);
        advance(&cursors[i]);
    }
    return rc;
}

static struct gmt_content_event event_of(struct cursor *cursor)
{
    struct gmt_content_event event = {
        .kind = (enum gmt_event_kind)gmt_query_int(&cursor->query, 1),
        .stream = gmt_query_int(&cursor->query, 2),
        .allocation = gmt_query_id(&cursor->query, 3),
        .address = (uint64_t)gmt_query_int(&cursor->query, 4),
        .bytes = gmt_query_bytes(&cursor->query, 5),
    };
    advance(cursor);
    return event;
}

int gmt_content_events(const struct gmt_timeline *tl,
                       void (*on_event)(void *data, const struct gmt_content_event *event),
                       void *data)
{
    struct cursor cursors[CURSORS];
    const struct gmt_unseen *unseen = tl->unseen;
    size_t copy = 0, launch = 0, cut = 0, cuts = unseen != NULL ? unseen->cut_count : 0;
    int rc = open_cursors(cursors, tl);

    for (;;) {
        int64_t copy_ns = copy < tl->copy_count ? tl->copies[copy].call.begin_ns : INT64_MAX;
        int64_t launch_ns = launch < tl->launch_count ? tl->launches[launch].call.begin_ns
                                                      : INT64_MAX;
        int64_t cut_ns = cut < cuts ? unseen->cuts[cut] : INT64_MAX;
        struct cursor *first = cursors;
        struct gmt_content_event event = {0};

        for (int i = 1; i < CURSORS; i++) {
            first = cursors[i].at_ns < first->at_ns ? &cursors[i] : first;
        }
        if (copy_ns == INT64_MAX && launch_ns == INT64_MAX) {
            break;
        }
        if (cut_ns < copy_ns && cut_ns < launch_ns && cut_ns <= first->at_ns) {
            event = (struct gmt_content_event){.kind = GMT_EVENT_UNSEEN, .index = cut++};
        } else if (first->at_ns < copy_ns && first->at_ns < launch_ns) {
            event = event_of(first);
        } else if (copy_ns <= launch_ns) {
            event = (struct gmt_content_event){.kind = GMT_EVENT_COPY, .index = copy++};
        } else {
            event = (struct gmt_content_event){.kind = GMT_EVENT_LAUNCH, .index = launch++};
        }
        on_event(data, &event);
    }
    for (int i = 0; i < CURSORS; i++) {
        rc = gmt_query_close(&cursors[i].query, rc != 0 ? rc : cursors[i].rc);
    }
    return rc;
}

/* ---- fingerprints ----------------------------------------------------------------------------- */

struct copy_number {
    int64_t id;
    size_t index;
};

static int compare_numbered(const void *a, const void *b)
{
    const struct copy_number *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static bool parse_hash(const char *text, struct gmt_print *print)
{
    char half[17] = "";
    char *end;

    if (text == NULL || strlen(text) != 32) {
        return false;
    }
    memcpy(half, text, 16);
    print->high = strtoull(half, &end, 16);
    if (*end != '\0') {
        return false;
    }
    print->low = strtoull(text + 16, &end, 16);
    return *end == '\0';
}

static void read_print(struct gmt_query *query, struct gmt_print *print)
{
    print->skipped = gmt_index_of_name(gmt_query_text_here(query, 4), gmt_name_fingerprint_skip,
                                       GMT_PRINT_ASYNCHRONOUS + 1, GMT_PRINT_NONE);
    if (parse_hash(gmt_query_text_here(query, 1), print)) {
        print->bytes_hashed = gmt_query_bytes(query, 2);
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

    if (rc != 0 || tables == 0) {
        return rc;
    }
    struct copy_number *order = calloc(tl->copy_count + 1, sizeof(*order));
    if (order == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        order[i] = (struct copy_number){tl->copies[i].call.id, i};
    }
    qsort(order, tl->copy_count, sizeof(*order), compare_numbered);
    rc = gmt_query_open(&query, tl->db,
                        "SELECT transfer_id, hash, bytes_hashed, whole, skipped FROM fingerprint "
                        "ORDER BY transfer_id");
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t id = gmt_query_int(&query, 0);

        while (at < tl->copy_count && order[at].id < id) {
            at++;
        }
        if (at < tl->copy_count && order[at].id == id) {
            read_print(&query, &contents[order[at].index].print);
        }
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
    if (*rows == NULL) {
        return rc != 0 ? rc : -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db, "SELECT id, address, free_begin_ns FROM host_allocation");
    while (rc == 0 && *count < (size_t)n && gmt_query_next(&query)) {
        (*rows)[(*count)++] = (struct gmt_host_memory){gmt_query_int(&query, 0),
                                                       (uint64_t)gmt_query_int(&query, 1),
                                                       gmt_query_time(&query, 2)};
    }
    return gmt_query_close(&query, rc);
}

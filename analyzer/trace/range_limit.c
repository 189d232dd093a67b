/* SPDX-License-Identifier: Apache-2.0 */
/* Limits an analysis to calls inside of ranges of one name: the tables of calls are read through views. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/named_ranges.h"
#include "analyzer/trace/query.h"

/* When a thread is in a range of the name, without overlaps; thread -1: all threads are. */
struct span {
    int64_t thread, begin_ns, end_ns;
};

struct spans {
    struct span *items;
    size_t count, room;
};

static void free_spans(void *data)
{
    struct spans *spans = data;

    free(spans->items);
    free(spans);
}

static int add(struct spans *spans, struct span span)
{
    struct span *last = spans->count > 0 ? &spans->items[spans->count - 1] : NULL;

    if (last != NULL && last->thread == span.thread && span.begin_ns <= last->end_ns) {
        last->end_ns = span.end_ns > last->end_ns ? span.end_ns : last->end_ns;
        return 0;
    }
    if (spans->items == NULL || spans->count == spans->room) {
        size_t room = spans->room > 0 ? 2 * spans->room : 64;
        struct span *grown = realloc(spans->items, room * sizeof(*grown));

        if (grown == NULL) {
            return -ENOMEM;
        }
        spans->items = grown;
        spans->room = room;
    }
    spans->items[spans->count++] = span;
    return 0;
}

static bool has(const struct spans *spans, int64_t thread, int64_t at_ns)
{
    size_t low = 0, high = spans->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct span *span = &spans->items[middle];

        if (span->thread < thread || (span->thread == thread && span->begin_ns <= at_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && spans->items[low - 1].thread == thread &&
           at_ns <= spans->items[low - 1].end_ns;
}

/* gmt_in_range(thread_id, begin_ns) */
static void in_range(sqlite3_context *context, int n, sqlite3_value **values)
{
    const struct spans *spans = sqlite3_user_data(context);
    int64_t at_ns = sqlite3_value_int64(values[1]);

    (void)n;
    sqlite3_result_int(context,
                       has(spans, -1, at_ns) || has(spans, sqlite3_value_int64(values[0]), at_ns));
}

/* Of the trace itself: names are not redacted here. */
static int load(sqlite3 *db, const char *name, struct spans *spans)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, db,
        "SELECT CASE r.kind WHEN 'push' THEN coalesce(r.thread_id, -1) ELSE -1 END, r.begin_ns, "
        "coalesce(r.end_ns, 9223372036854775807) FROM main.range r "
        "JOIN main.string n ON n.id = r.name_id LEFT JOIN main.string d ON d.id = r.domain_id "
        "WHERE n.text = ?1 OR n.text || '@' || d.text = ?1 ORDER BY 1, 2");

    if (rc == 0) {
        sqlite3_bind_text(query.statement, 1, name, -1, SQLITE_STATIC);
    }
    while (rc == 0 && gmt_query_next(&query)) {
        struct span span = {gmt_query_int(&query, 0), gmt_query_int(&query, 1),
                            gmt_query_int(&query, 2)};

        rc = add(spans, span);
    }
    return gmt_query_close(&query, rc);
}

/* "no range 'x'; the most frequent are: step, epoch, ..." */
static void explain(sqlite3 *db, const char *name, char *message, size_t bytes)
{
    struct gmt_query query;
    size_t used = (size_t)snprintf(message, bytes, "no range '%s'", name);
    int rc = gmt_query_open(&query, db,
                            "SELECT n.text, count(*) FROM main.range r JOIN main.string n "
                            "ON n.id = r.name_id GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 8");
    const char *before = "; the most frequent are: ";

    while (rc == 0 && used < bytes && gmt_query_next(&query)) {
        const char *text = gmt_query_text_here(&query, 0);

        used += (size_t)snprintf(message + used, bytes - used, "%s%s", before,
                                 text != NULL ? text : "?");
        before = ", ";
    }
    (void)gmt_query_close(&query, rc);
    if (used < bytes && before[0] == ';') {
        (void)snprintf(message + used, bytes - used,
                       ": the trace has none (NVTX_INJECTION64_PATH, see gmtrace(1))");
    }
}

#define IN_RANGE "gmt_in_range(thread_id, begin_ns)"

/* Which rows of a table are inside. Memory is left as it is: calls inside use what was allocated before. */
static const struct limited {
    const char *table, *inside;
} limited[] = {
    {"transfer", IN_RANGE},
    {"memset", IN_RANGE},
    {"launch", IN_RANGE},
    {"sync", IN_RANGE},
    {"api_call", IN_RANGE},
    {"device_op", "call_id IN (SELECT id FROM temp.transfer UNION ALL SELECT id FROM temp.memset "
                  "UNION ALL SELECT id FROM temp.launch)"},
    /* What a graph runs is known by its class alone. */
    {"kernel_class", "id IN (SELECT class_id FROM temp.launch) OR "
                     "EXISTS (SELECT 1 FROM temp.launch WHERE kind = 'graph')"},
};

/* What reads the whole table: a TEMP view may add columns that the trace's table lacks. */
static char *whole_table(sqlite3 *db, const char *table)
{
    static const char as[] = " AS ";
    struct gmt_query query;
    char *sql = NULL;
    int rc = gmt_query_open(&query, db,
                            "SELECT sql FROM sqlite_temp_master WHERE type = 'view' AND name = ?1");

    if (rc == 0) {
        sqlite3_bind_text(query.statement, 1, table, -1, SQLITE_STATIC);
    }
    if (rc == 0 && gmt_query_next(&query)) {
        const char *made = gmt_query_text_here(&query, 0);
        const char *select = made != NULL ? strstr(made, as) : NULL;

        sql = select != NULL ? sqlite3_mprintf("%s", select + sizeof(as) - 1) : NULL;
    } else {
        sql = sqlite3_mprintf("SELECT * FROM main.\"%w\"", table);
    }
    if (gmt_query_close(&query, rc) != 0) {
        sqlite3_free(sql);
        sql = NULL;
    }
    return sql;
}

static int limit_table(sqlite3 *db, const struct limited *limit)
{
    char *whole = whole_table(db, limit->table);
    char *sql = whole != NULL ? sqlite3_mprintf("DROP VIEW IF EXISTS temp.\"%w\";"
                                                "CREATE TEMP VIEW \"%w\" AS SELECT * FROM (%s) "
                                                "WHERE %s",
                                                limit->table, limit->table, whole, limit->inside)
                              : NULL;
    int rc = sql != NULL && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;

    sqlite3_free(sql);
    sqlite3_free(whole);
    return rc;
}

bool gmt_range_is_limited(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    bool limited_to_some = sqlite3_prepare_v2(db, "SELECT gmt_in_range(0, 0)", -1, &statement,
                                              NULL) == SQLITE_OK;

    sqlite3_finalize(statement);
    return limited_to_some;
}

int gmt_range_limit(sqlite3 *db, const char *name, char *message, size_t bytes)
{
    int64_t tables = 0;
    struct spans *spans = calloc(1, sizeof(*spans));
    int rc = spans == NULL ? -ENOMEM
                           : gmt_query_int64(db,
                                             "SELECT count(*) FROM main.sqlite_master "
                                             "WHERE type = 'table' AND name = 'range'",
                                             &tables);

    if (rc == 0 && tables > 0) {
        rc = load(db, name, spans);
    }
    if (rc == 0 && spans->count == 0) {
        explain(db, name, message, bytes);
        rc = -ENOENT;
    }
    if (rc != 0) {
        if (spans != NULL) {
            free_spans(spans);
        }
        return rc;
    }
    /* It takes the spans, and frees them on failure, too. */
    if (sqlite3_create_function_v2(db, "gmt_in_range", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, spans,
                                   in_range, NULL, NULL, free_spans) != SQLITE_OK) {
        return -EIO;
    }
    for (size_t i = 0; rc == 0 && i < sizeof(limited) / sizeof(limited[0]); i++) {
        rc = limit_table(db, &limited[i]);
    }
    return rc;
}

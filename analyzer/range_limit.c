/* SPDX-License-Identifier: Apache-2.0 */
/* Limits an analysis to calls inside of ranges of one name: the tables of calls are read through views. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/named_ranges.h"
#include "analyzer/query.h"

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
    if (spans->count == spans->room) {
        size_t room = spans->room > 0 ? 2 * spans->room : 64;
        struct span *grown = realloc(spans->items, room * sizeof(*grown));

        if (grown == NULL)
            return -ENOMEM;
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

        if (span->thread < thread || (span->thread == thread && span->begin_ns <= at_ns))
            low = middle + 1;
        else
            high = middle;
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

    if (rc == 0)
        sqlite3_bind_text(query.statement, 1, name, -1, SQLITE_STATIC);
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
        used += (size_t)snprintf(message + used, bytes - used, "%s%s", before,
                                 (const char *)sqlite3_column_text(query.statement, 0));
        before = ", ";
    }
    (void)gmt_query_close(&query, rc);
    if (used < bytes && before[0] == ';')
        (void)snprintf(message + used, bytes - used,
                       ": the trace has none (NVTX_INJECTION64_PATH, see gmtrace(1))");
}

/* Memory is in no view: calls inside use what was allocated before. */
static const char views[] =
    "CREATE TEMP VIEW transfer AS SELECT * FROM main.transfer "
    "WHERE gmt_in_range(thread_id, begin_ns);"
    "CREATE TEMP VIEW memset AS SELECT * FROM main.memset WHERE gmt_in_range(thread_id, begin_ns);"
    "CREATE TEMP VIEW launch AS SELECT * FROM main.launch WHERE gmt_in_range(thread_id, begin_ns);"
    "CREATE TEMP VIEW sync AS SELECT * FROM main.sync WHERE gmt_in_range(thread_id, begin_ns);"
    "CREATE TEMP VIEW api_call AS SELECT * FROM main.api_call "
    "WHERE gmt_in_range(thread_id, begin_ns);"
    "CREATE TEMP VIEW device_op AS SELECT * FROM main.device_op WHERE call_id IN "
    "(SELECT id FROM temp.transfer UNION ALL SELECT id FROM temp.memset "
    "UNION ALL SELECT id FROM temp.launch);"
    "CREATE TEMP VIEW kernel_class AS SELECT * FROM main.kernel_class WHERE id IN "
    "(SELECT class_id FROM temp.launch);";

int gmt_range_limit(sqlite3 *db, const char *name, char *message, size_t bytes)
{
    int64_t tables = 0;
    struct spans *spans = calloc(1, sizeof(*spans));
    int rc = spans == NULL ? -ENOMEM
                           : gmt_query_int64(db,
                                             "SELECT count(*) FROM main.sqlite_master "
                                             "WHERE type = 'table' AND name = 'range'",
                                             &tables);

    if (rc == 0 && tables > 0)
        rc = load(db, name, spans);
    if (rc == 0 && spans->count == 0) {
        explain(db, name, message, bytes);
        rc = -ENOENT;
    }
    if (rc != 0) {
        if (spans != NULL)
            free_spans(spans);
        return rc;
    }
    /* It takes the spans, and frees them on failure, too. */
    if (sqlite3_create_function_v2(db, "gmt_in_range", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, spans,
                                   in_range, NULL, NULL, free_spans) != SQLITE_OK ||
        sqlite3_exec(db, views, NULL, NULL, NULL) != SQLITE_OK)
        return -EIO;
    return 0;
}

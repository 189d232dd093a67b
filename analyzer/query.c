/* SPDX-License-Identifier: Apache-2.0 */
/* Reading SQLite rows without repeating its error handling. */
#include "analyzer/query.h"

#include <errno.h>
#include <math.h>

#include "analyzer/timeline.h"
#include "reports/progress.h"

int gmt_query_open(struct gmt_query *query, sqlite3 *db, const char *sql)
{
    query->statement = NULL;
    query->code = sqlite3_prepare_v2(db, sql, -1, &query->statement, NULL);
    return query->code == SQLITE_OK ? 0 : -EIO;
}

bool gmt_query_next(struct gmt_query *query)
{
    query->code = sqlite3_step(query->statement);
    gmt_progress_row();
    return query->code == SQLITE_ROW;
}

int gmt_query_close(struct gmt_query *query, int rc)
{
    /* ROW: the caller had enough. OK: it did not step at all. */
    bool good = query->code == SQLITE_DONE || query->code == SQLITE_ROW || query->code == SQLITE_OK;

    sqlite3_finalize(query->statement);
    query->statement = NULL;
    if (rc != 0)
        return rc;
    return good ? 0 : -EIO;
}

int64_t gmt_query_int(struct gmt_query *query, int column)
{
    return sqlite3_column_int64(query->statement, column);
}

int64_t gmt_query_known(struct gmt_query *query, int column)
{
    if (sqlite3_column_type(query->statement, column) == SQLITE_NULL)
        return INT64_MIN;
    return sqlite3_column_int64(query->statement, column);
}

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    if (value < least)
        return least;
    return value > most ? most : value;
}

int64_t gmt_query_time(struct gmt_query *query, int column)
{
    const int64_t limit = INT64_C(1) << 61;

    if (sqlite3_column_type(query->statement, column) == SQLITE_NULL)
        return GMT_NO_TIME;
    return within(sqlite3_column_int64(query->statement, column), -limit, limit);
}

int64_t gmt_query_bytes(struct gmt_query *query, int column)
{
    return within(sqlite3_column_int64(query->statement, column), 0, INT64_C(1) << 43);
}

double gmt_query_real(struct gmt_query *query, int column)
{
    if (sqlite3_column_type(query->statement, column) == SQLITE_NULL)
        return NAN;
    return sqlite3_column_double(query->statement, column);
}

char *gmt_query_text(struct gmt_query *query, int column, struct gmt_arena *arena)
{
    return gmt_arena_copy(arena, (const char *)sqlite3_column_text(query->statement, column));
}

int gmt_query_int64(sqlite3 *db, const char *sql, int64_t *value)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, db, sql);

    if (rc == 0 && gmt_query_next(&query) && sqlite3_column_type(query.statement, 0) != SQLITE_NULL)
        *value = gmt_query_int(&query, 0);
    return gmt_query_close(&query, rc);
}

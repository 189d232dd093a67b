/* SPDX-License-Identifier: Apache-2.0 */
/* Reading SQLite rows without repeating its error handling. */
#include "analyzer/trace/query.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/trace/timeline.h"
#include "libtrace/base/progress.h"
#include "libtrace/record/checked.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/values.h"

/* Ends the query with "is damaged: table.column is ...". */
__attribute__((cold, noinline)) static void note_damage(struct gmt_query *query, int column,
                                                        const char *what)
{
    if (!query->damaged) {
        gmt_guard_note_value(query->statement, column, what);
    }
    query->damaged = true;
}

/* What the file itself declares: a table of somebody else's making may declare nothing. */
static void note_declared(struct gmt_query *query)
{
    int columns = sqlite3_column_count(query->statement);

    for (int i = 0; i < columns && i < GMT_QUERY_KEPT; i++) {
        const char *type = sqlite3_column_decltype(query->statement, i);

        query->integers |= (uint64_t)(type != NULL && strcmp(type, "INTEGER") == 0) << i;
        query->reals |= (uint64_t)(type != NULL && strcmp(type, "REAL") == 0) << i;
        query->texts |= (uint64_t)(type != NULL && strcmp(type, "TEXT") == 0) << i;
    }
}

int gmt_query_open(struct gmt_query *query, sqlite3 *db, const char *sql)
{
    *query = (struct gmt_query){0};
    query->code = sqlite3_prepare_v2(db, sql, -1, &query->statement, NULL);
    if (query->code != SQLITE_OK) {
        /* ERROR: a trace of an earlier version lacks tables. */
        if (query->code != SQLITE_ERROR) {
            gmt_guard_note_failure(db);
        }
        return -EIO;
    }
    note_declared(query);
    return 0;
}

static sqlite3_value *value_at(const struct gmt_query *query, int column)
{
    return column < query->kept ? query->values[column]
                                : sqlite3_column_value(query->statement, column);
}

static bool texts_are(struct gmt_query *query)
{
    for (uint64_t left = query->texts; left != 0; left &= left - 1) {
        int column = __builtin_ctzll(left);
        const char *text;

        if (sqlite3_value_type(query->values[column]) != SQLITE_NULL &&
            !gmt_value_text(query->statement, column, &text)) {
            query->damaged = true;
            return false;
        }
    }
    return true;
}

static bool is_as_declared(struct gmt_query *query)
{
    for (uint64_t left = query->integers | query->reals; left != 0; left &= left - 1) {
        int column = __builtin_ctzll(left);
        int type = sqlite3_value_type(query->values[column]);

        if (type == SQLITE_INTEGER || type == SQLITE_NULL ||
            (type == SQLITE_FLOAT && (query->reals >> column & 1) != 0)) {
            continue;
        }
        note_damage(query, column,
                    (query->reals >> column & 1) != 0 ? "is no number" : "is no integer");
        return false;
    }
    return texts_are(query);
}

/*
 * SQLite keeps a row's values in one array, mostly the same one for all rows of a statement: where the first and the last value lie where
 * they lay before, all others do, and only these two are asked for.
 */
static void keep_values(struct gmt_query *query)
{
    int columns = query->code == SQLITE_ROW ? sqlite3_column_count(query->statement) : 0;
    int n = columns < GMT_QUERY_KEPT ? columns : GMT_QUERY_KEPT;

    if (n > 0 && n == query->kept &&
        sqlite3_column_value(query->statement, 0) == query->values[0] &&
        sqlite3_column_value(query->statement, n - 1) == query->values[n - 1]) {
        return;
    }
    query->kept = n;
    for (int i = 0; i < n; i++) {
        query->values[i] = sqlite3_column_value(query->statement, i);
    }
}

bool gmt_query_next(struct gmt_query *query)
{
    if (query->damaged) {
        return false;
    }
    query->code = sqlite3_step(query->statement);
    gmt_progress_row();
    keep_values(query);
    return query->code == SQLITE_ROW && is_as_declared(query);
}

int gmt_query_close(struct gmt_query *query, int rc)
{
    /* ROW: the caller had enough. OK: it did not step at all. */
    bool good = query->code == SQLITE_DONE || query->code == SQLITE_ROW || query->code == SQLITE_OK;

    /* Where it was not prepared, gmt_query_open has done that. */
    if (!good && query->statement != NULL) {
        gmt_guard_note_failure(sqlite3_db_handle(query->statement));
    }
    sqlite3_finalize(query->statement);
    query->statement = NULL;
    if (rc != 0) {
        return rc;
    }
    return good && !query->damaged ? 0 : -EIO;
}

static int64_t integer_or(struct gmt_query *query, int column, int64_t otherwise)
{
    int64_t number = otherwise;

    if (!gmt_value_is_integer(value_at(query, column), &number)) {
        gmt_guard_note_value(query->statement, column, "is no integer");
        query->damaged = true;
    }
    return number;
}

int64_t gmt_query_int(struct gmt_query *query, int column)
{
    return integer_or(query, column, 0);
}

int64_t gmt_query_known(struct gmt_query *query, int column)
{
    return integer_or(query, column, GMT_UNKNOWN);
}

static int32_t id_or(struct gmt_query *query, int column, int32_t otherwise)
{
    if (sqlite3_value_type(value_at(query, column)) == SQLITE_NULL) {
        return otherwise;
    }
    int64_t id = integer_or(query, column, 0);
    if (id >= 0 && id <= INT32_MAX) {
        return (int32_t)id;
    }
    note_damage(query, column, "is no number that a recorder gives out");
    return otherwise;
}

int32_t gmt_query_id(struct gmt_query *query, int column)
{
    return id_or(query, column, 0);
}

int32_t gmt_query_known_id(struct gmt_query *query, int column)
{
    return id_or(query, column, -1);
}

int64_t gmt_query_time(struct gmt_query *query, int column)
{
    const int64_t limit = INT64_C(1) << 61;
    int64_t time = integer_or(query, column, GMT_NO_TIME);

    return time == GMT_NO_TIME ? time : gmt_clamp(time, -limit, limit);
}

int64_t gmt_query_instant(struct gmt_query *query, int column)
{
    int64_t time = gmt_query_time(query, column);

    if (time != GMT_NO_TIME) {
        return time;
    }
    note_damage(query, column, "is missing");
    return 0;
}

int64_t gmt_query_bytes(struct gmt_query *query, int column)
{
    return gmt_clamp(integer_or(query, column, 0), 0, INT64_C(1) << 43);
}

int64_t gmt_query_count(struct gmt_query *query, int column)
{
    return gmt_clamp(integer_or(query, column, 0), 0, INT32_MAX);
}

double gmt_query_real(struct gmt_query *query, int column)
{
    sqlite3_value *here = value_at(query, column);
    int type = sqlite3_value_type(here);

    if (type == SQLITE_NULL) {
        return NAN;
    }
    double value = sqlite3_value_double(here);
    if ((type == SQLITE_INTEGER || type == SQLITE_FLOAT) && isfinite(value)) {
        return value;
    }
    note_damage(query, column, type == SQLITE_FLOAT ? "is infinite" : "is no number");
    return NAN;
}

const char *gmt_query_text_here(struct gmt_query *query, int column)
{
    const char *text;

    if (!gmt_value_text(query->statement, column, &text)) {
        query->damaged = true;
    }
    return text;
}

char *gmt_query_text(struct gmt_query *query, int column, struct gmt_arena *arena)
{
    return gmt_arena_copy(arena, gmt_query_text_here(query, column));
}

int gmt_query_int64(sqlite3 *db, const char *sql, int64_t *value)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, db, sql);

    if (rc == 0 && gmt_query_next(&query) &&
        sqlite3_column_type(query.statement, 0) != SQLITE_NULL) {
        *value = gmt_query_int(&query, 0);
    }
    return gmt_query_close(&query, rc);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading SQLite rows without repeating its error handling. */
#ifndef GMT_ANALYZER_TRACE_QUERY_H
#define GMT_ANALYZER_TRACE_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/base/arena.h"

enum { GMT_QUERY_KEPT = 64 };

struct gmt_query {
    sqlite3_stmt *statement;
    int code;     /* SQLite's, of the last step */
    bool damaged; /* a value was not of its type */
    /* Columns among the first GMT_QUERY_KEPT that their table declares so. */
    uint64_t integers, reals, texts;
    int kept; /* values of the present row: looked up once for their type and their value */
    sqlite3_value *values[GMT_QUERY_KEPT];
};

/* 0 or -EIO; then the reason is in gmt_guard_reason. Close it in either case. */
int gmt_query_open(struct gmt_query *query, sqlite3 *db, const char *sql);
/*
 * False also where a column that its table declares as a number holds something else: whoever reads the row
 * is not run for it then. What only the functions below find (an absurd id, a number that is computed) is a
 * 0 or NULL for the rest of that row.
 */
bool gmt_query_next(struct gmt_query *query);
/*
 * rc when it is not 0; else 0, or -EIO when stepping failed or a value was not of its type. The reason is
 * kept (gmt_guard_noted): what goes on without these rows is no report of the trace.
 */
int gmt_query_close(struct gmt_query *query, int rc);

/*
 * Values of the row, by their type: a text where a number belongs, or a number that nothing of that kind
 * can be, ends the query (gmt_query_next is false, gmt_query_close fails) with a reason that names table
 * and column. The value is then what it is for NULL.
 */
int64_t gmt_query_int(struct gmt_query *query, int column);   /* NULL: 0            */
int64_t gmt_query_known(struct gmt_query *query, int column); /* NULL: GMT_UNKNOWN */
/* Of what a recorder numbers one by one: 0 to INT32_MAX; NULL: 0. */
int32_t gmt_query_id(struct gmt_query *query, int column);
int32_t gmt_query_known_id(struct gmt_query *query, int column); /* NULL: -1; otherwise as above */
/*
 * For arithmetic that need not fear a damaged trace; what is beyond becomes the limit. A clock within 73
 * years of its zero, NULL is GMT_NO_TIME; a size of 0 to 8 TiB, NULL is 0; a number of registers, threads,
 * lines and the like, 0 to INT32_MAX, NULL is 0.
 */
int64_t gmt_query_time(struct gmt_query *query, int column);
/* A time that every recorder writes: NULL ends the query, and the value is 0 then. */
int64_t gmt_query_instant(struct gmt_query *query, int column);
int64_t gmt_query_bytes(struct gmt_query *query, int column);
int64_t gmt_query_count(struct gmt_query *query, int column);
double gmt_query_real(struct gmt_query *query, int column); /* NULL: NAN          */
/* NULL, or the text until the next row; a blob, or more than GMT_TEXT_MOST_BYTES, is an error, as above. */
const char *gmt_query_text_here(struct gmt_query *query, int column);
/* A copy of it. */
char *gmt_query_text(struct gmt_query *query, int column, struct gmt_arena *arena);

/* The first column of the first row; unchanged when there is none or it is NULL. */
int gmt_query_int64(sqlite3 *db, const char *sql, int64_t *value);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading SQLite rows without repeating its error handling. */
#ifndef GMT_ANALYZER_QUERY_H
#define GMT_ANALYZER_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "reports/arena.h"

struct gmt_query {
    sqlite3_stmt *statement;
    int code; /* SQLite's, of the last step */
};

/* 0 or -EIO; then the reason is in sqlite3_errmsg. Close it in either case. */
int gmt_query_open(struct gmt_query *query, sqlite3 *db, const char *sql);
bool gmt_query_next(struct gmt_query *query);
/* rc when it is not 0; else 0, or -EIO when stepping failed. */
int gmt_query_close(struct gmt_query *query, int rc);

int64_t gmt_query_int(struct gmt_query *query, int column);   /* NULL: 0            */
int64_t gmt_query_known(struct gmt_query *query, int column); /* NULL: INT64_MIN */
/*
 * For arithmetic that need not fear a damaged trace: a clock within 73 years of its zero, NULL is
 * GMT_NO_TIME; a size of 0 to 8 TiB, NULL is 0. What is beyond becomes the limit.
 */
int64_t gmt_query_time(struct gmt_query *query, int column);
int64_t gmt_query_bytes(struct gmt_query *query, int column);
double gmt_query_real(struct gmt_query *query, int column); /* NULL: NAN          */
char *gmt_query_text(struct gmt_query *query, int column, struct gmt_arena *arena); /* or NULL */

/* The first column of the first row; unchanged when there is none or it is NULL. */
int gmt_query_int64(sqlite3 *db, const char *sql, int64_t *value);

#endif

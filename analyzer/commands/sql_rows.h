/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a query as text. */
#ifndef GMT_ANALYZER_COMMANDS_SQL_ROWS_H
#define GMT_ANALYZER_COMMANDS_SQL_ROWS_H

#include <sqlite3.h>
#include <stdio.h>

/* Steps the statement to its end. 0, or -EIO: SQLite or the output failed. */
typedef int gmt_rows_function(sqlite3_stmt *statement, FILE *out);

gmt_rows_function gmt_rows_table; /* aligned columns, for people                      */
gmt_rows_function gmt_rows_tsv;   /* tabs between, for cut and awk; NULL is empty     */
gmt_rows_function gmt_rows_csv;   /* RFC 4180; NULL is empty, an empty text is quoted */
gmt_rows_function gmt_rows_json;  /* an array of objects                              */

#endif

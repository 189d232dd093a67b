/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a trace on their way into DuckDB, a batch at a time. */
#ifndef GMT_ANALYZER_PARQUET_ROWS_H
#define GMT_ANALYZER_PARQUET_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/parquet/duckdb.h"
#include "analyzer/parquet/tables.h"

/* What the table function gmt_rows() gives: the owner sets table and statement before each query. */
struct gmt_parquet_rows {
    const struct gmt_duckdb *duckdb;
    const struct gmt_parquet_table *table;
    sqlite3_stmt *statement;
    int64_t trace_id;
    int64_t clock_offset_ns; /* added to times */
    int64_t count;           /* rows given so far */
    bool ended;              /* the statement has no more */
    bool failed;             /* `why` is the reason, not what DuckDB says */
    char why[256];
};

/* Makes gmt_rows() known to a connection; `rows` is used as long as that is open. 0 or -EIO. */
int gmt_parquet_rows_register(struct gmt_parquet_rows *rows, void *connection);

#endif

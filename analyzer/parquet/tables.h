/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables a trace becomes in Parquet, with which columns and units: made of our schema, gmtrace-parquet(5). */
#ifndef GMT_ANALYZER_PARQUET_TABLES_H
#define GMT_ANALYZER_PARQUET_TABLES_H

#include <sqlite3.h>
#include <stddef.h>

/* Of the form of the files: a reader of one version reads files of the same. */
#define GMT_PARQUET_SCHEMA 1

/* Words for units.def. */
#define GMT_UNIT_WALL "ns since 1970-01-01 UTC"
#define GMT_UNIT_DURATION "ns"
#define GMT_UNIT_BYTES "bytes"
#define GMT_UNIT_SECTORS "sectors of 32 bytes"
#define GMT_UNIT_SHARE "share, 0 to 1"
#define GMT_UNIT_NONE "none"

enum gmt_parquet_kind {
    GMT_PARQUET_TRACE_ID, /* the same number in every row */
    GMT_PARQUET_INTEGER,
    GMT_PARQUET_TIME, /* an integer, to be moved to the wall clock */
    GMT_PARQUET_REAL,
    GMT_PARQUET_TEXT,
    GMT_PARQUET_RAW, /* the bytes of a text that is not UTF-8, else NULL */
    GMT_PARQUET_BLOB
};

struct gmt_parquet_column {
    char name[96]; /* in the file */
    const char *unit;
    enum gmt_parquet_kind kind;
    int source; /* column of the statement */
};

struct gmt_parquet_table {
    char *name;
    char *sql; /* its rows in the trace, sqlite3_free */
    struct gmt_parquet_column *columns;
    size_t column_count;
};

struct gmt_parquet_tables {
    struct gmt_parquet_table *tables;
    size_t count;
};

/* Every table of `model` (gmt_own_schema), and first of all `trace`, which says what was exported; its statement has the
 * parameters ?1 schema, ?2 clock, ?3 clock_offset_ns. 0 or negative errno. gmt_parquet_tables_free in either case. */
int gmt_parquet_tables_make(struct gmt_parquet_tables *tables, sqlite3 *model);
void gmt_parquet_tables_free(struct gmt_parquet_tables *tables);

#endif

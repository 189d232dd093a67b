/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of Parquet files, made of our schema. */
#include "analyzer/parquet/tables.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/own_schema.h"

static bool fits(const char *pattern, const char *name)
{
    if (pattern[0] != '*') {
        return strcmp(pattern, name) == 0;
    }
    size_t tail = strlen(pattern + 1), length = strlen(name);
    return length >= tail && strcmp(name + length - tail, pattern + 1) == 0;
}

/* Which row of units.def holds. */
static const char *unit_of(const char *table, const char *column, bool *is_time)
{
    static const struct {
        const char *pattern, *unit;
        bool is_time;
    } units[] = {
#define GMT_UNIT(pattern, unit, is_time) {pattern, unit, is_time},
#include "analyzer/parquet/units.def"
#undef GMT_UNIT
    };
    char name[192];

    snprintf(name, sizeof(name), "%s.%s", table, column);
    *is_time = false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (fits(units[i].pattern, name)) {
            *is_time = units[i].is_time;
            return units[i].unit;
        }
    }
    return GMT_UNIT_NONE;
}

/* Whether a CHECK of the table lists the words of this column: such a text is always one of them. */
static bool has_words(const char *table_sql, const char *column)
{
    size_t n = strlen(column);
    const char *open;
    int length;

    while (table_sql != NULL && (open = gmt_own_schema_constraint(&table_sql, &length)) != NULL) {
        if (strncmp(open + 1, column, n) == 0 && strncmp(open + 1 + n, " IN", 3) == 0) {
            return true;
        }
    }
    return false;
}

static struct gmt_parquet_column *add_column(struct gmt_parquet_table *table, const char *name,
                                             enum gmt_parquet_kind kind, int source)
{
    size_t bytes = (table->column_count + 1) * sizeof(*table->columns);
    struct gmt_parquet_column *columns = realloc(table->columns, bytes);
    bool is_time;

    if (columns == NULL) {
        return NULL;
    }
    table->columns = columns;
    struct gmt_parquet_column *column = &columns[table->column_count++];
    *column = (struct gmt_parquet_column){.kind = kind, .source = source};
    /* The folders of a partition are columns, too, and would hide these. */
    bool is_key = strcmp(name, "run") == 0 || strcmp(name, "host") == 0 ||
                  strcmp(name, "rank") == 0;
    snprintf(column->name, sizeof(column->name), "%s%s%s%s", is_key ? table->name : "",
             is_key ? "_" : "", name, kind == GMT_PARQUET_RAW ? "_raw" : "");
    column->unit = unit_of(table->name, name, &is_time);
    if (kind == GMT_PARQUET_INTEGER && is_time) {
        column->kind = GMT_PARQUET_TIME;
    }
    return column;
}

static enum gmt_parquet_kind kind_of(const char *declared)
{
    return strcmp(declared, "REAL") == 0   ? GMT_PARQUET_REAL
           : strcmp(declared, "TEXT") == 0 ? GMT_PARQUET_TEXT
           : strcmp(declared, "BLOB") == 0 ? GMT_PARQUET_BLOB
                                           : GMT_PARQUET_INTEGER;
}

static int add_columns(struct gmt_parquet_table *table, sqlite3 *model, const char *table_sql)
{
    sqlite3_stmt *rows = NULL;
    sqlite3_str *sql = sqlite3_str_new(model);
    int rc = add_column(table, "trace_id", GMT_PARQUET_TRACE_ID, -1) != NULL ? 0 : -ENOMEM;

    if (sqlite3_prepare_v2(model, "SELECT name, type FROM pragma_table_info(?1)", -1, &rows,
                           NULL) != SQLITE_OK) {
        rc = -ENOMEM;
    }
    sqlite3_bind_text(rows, 1, table->name, -1, SQLITE_STATIC);
    for (int source = 0; rc == 0 && sqlite3_step(rows) == SQLITE_ROW; source++) {
        const char *name = (const char *)sqlite3_column_text(rows, 0);
        const char *declared = (const char *)sqlite3_column_text(rows, 1);

        if (name == NULL || declared == NULL) {
            rc = -ENOMEM;
            break;
        }
        enum gmt_parquet_kind kind = kind_of(declared);
        sqlite3_str_appendf(sql, "%s\"%w\"", source == 0 ? "SELECT " : ", ", name);
        rc = add_column(table, name, kind, source) != NULL ? 0 : -ENOMEM;
        if (rc == 0 && kind == GMT_PARQUET_TEXT && !has_words(table_sql, name)) {
            rc = add_column(table, name, GMT_PARQUET_RAW, source) != NULL ? 0 : -ENOMEM;
        }
    }
    sqlite3_finalize(rows);
    sqlite3_str_appendf(sql, " FROM \"%w\"", table->name);
    table->sql = sqlite3_str_finish(sql);
    return table->sql != NULL ? rc : -ENOMEM;
}

/* An empty one at the end. */
static struct gmt_parquet_table *add_table(struct gmt_parquet_tables *tables, const char *name)
{
    size_t bytes = (tables->count + 1) * sizeof(*tables->tables);
    struct gmt_parquet_table *grown = realloc(tables->tables, bytes);

    if (grown == NULL) {
        return NULL;
    }
    tables->tables = grown;
    struct gmt_parquet_table *table = &grown[tables->count++];
    *table = (struct gmt_parquet_table){.name = strdup(name)};
    return table->name != NULL ? table : NULL;
}

static int add_trace_table(struct gmt_parquet_tables *tables)
{
    struct gmt_parquet_table *table = add_table(tables, "trace");

    if (table == NULL || add_column(table, "trace_id", GMT_PARQUET_TRACE_ID, -1) == NULL ||
        add_column(table, "schema", GMT_PARQUET_INTEGER, 0) == NULL ||
        add_column(table, "clock", GMT_PARQUET_TEXT, 1) == NULL ||
        add_column(table, "clock_offset_ns", GMT_PARQUET_INTEGER, 2) == NULL) {
        return -ENOMEM;
    }
    table->sql = sqlite3_mprintf("SELECT ?1, ?2, ?3");
    return table->sql != NULL ? 0 : -ENOMEM;
}

int gmt_parquet_tables_make(struct gmt_parquet_tables *tables, sqlite3 *model)
{
    static const char names[] = "SELECT name, sql FROM sqlite_master WHERE type = 'table' "
                                "AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'ingest_*'";
    sqlite3_stmt *rows = NULL;

    *tables = (struct gmt_parquet_tables){0};
    int rc = add_trace_table(tables);
    if (rc == 0 && sqlite3_prepare_v2(model, names, -1, &rows, NULL) != SQLITE_OK) {
        rc = -EIO;
    }
    while (rc == 0 && sqlite3_step(rows) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(rows, 0);
        struct gmt_parquet_table *table = name != NULL ? add_table(tables, name) : NULL;

        rc = table != NULL ? add_columns(table, model, (const char *)sqlite3_column_text(rows, 1))
                           : -ENOMEM;
    }
    sqlite3_finalize(rows);
    return rc;
}

void gmt_parquet_tables_free(struct gmt_parquet_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        free(tables->tables[i].name);
        sqlite3_free(tables->tables[i].sql);
        free(tables->tables[i].columns);
    }
    free(tables->tables);
    *tables = (struct gmt_parquet_tables){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about a trace that are made of our schema: of what types its values are, and its CHECK
 * constraints. */
#include <stdbool.h>
#include <string.h>

#include "analyzer/commands/validate_checks.h"
#include "libtrace/store/db/own_schema.h"

static const char *column_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text != NULL ? text : "";
}

/* The types that a value of a column may have; NULL: any. */
static const char *types_of(const char *declared)
{
    static const char *const types[][2] = {{"INTEGER", "('integer', 'null')"},
                                           {"REAL", "('real', 'integer', 'null')"},
                                           {"TEXT", "('text', 'null')"},
                                           {"BLOB", "('blob', 'null')"}};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i][0], declared) == 0) {
            return types[i][1];
        }
    }
    return NULL;
}

static void add_union(sqlite3_str *sql)
{
    if (sqlite3_str_length(sql) > 0) {
        sqlite3_str_appendf(sql, " UNION ALL ");
    }
}

/* "table.column is text" of the first such column of a row. */
static void add_types(sqlite3_str *sql, sqlite3 *db, sqlite3 *model, const char *table)
{
    sqlite3_stmt *columns = NULL;
    sqlite3_str *where = sqlite3_str_new(db);

    if (sqlite3_prepare_v2(model, "SELECT name, type FROM pragma_table_info(?1)", -1, &columns,
                           NULL) == SQLITE_OK) {
        sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    }
    while (columns != NULL && sqlite3_step(columns) == SQLITE_ROW) {
        const char *name = column_text(columns, 0), *types = types_of(column_text(columns, 1));

        if (types == NULL || !gmt_trace_has_column(db, table, name)) {
            continue;
        }
        if (sqlite3_str_length(where) == 0) {
            add_union(sql);
            sqlite3_str_appendf(sql, "SELECT '%w.' || CASE ", table);
        }
        sqlite3_str_appendf(sql, "WHEN typeof(\"%w\") NOT IN %s THEN '%w is ' || typeof(\"%w\") ",
                            name, types, name, name);
        sqlite3_str_appendf(where, "%s typeof(\"%w\") NOT IN %s",
                            sqlite3_str_length(where) > 0 ? " OR" : "", name, types);
    }
    sqlite3_finalize(columns);
    bool any = sqlite3_str_length(where) > 0;
    char *condition = sqlite3_str_finish(where);
    if (any && condition != NULL) {
        sqlite3_str_appendf(sql, "END FROM main.\"%w\" WHERE%s", table, condition);
    }
    sqlite3_free(condition);
}

/* "table row: not so: column IN (...)" for the CHECK constraints of a table's text. */
static void add_constraints(sqlite3_str *sql, sqlite3 *db, const char *table, const char *text)
{
    const char *open;
    int length;

    while ((open = gmt_own_schema_constraint(&text, &length)) != NULL) {
        char *select = sqlite3_mprintf("SELECT '%w ' || rowid FROM main.\"%w\" WHERE NOT %.*s",
                                       table, table, length, open);
        sqlite3_stmt *statement = NULL;

        /* A trace of an earlier version lacks tables and columns. */
        if (select != NULL && sqlite3_prepare_v2(db, select, -1, &statement, NULL) == SQLITE_OK) {
            add_union(sql);
            sqlite3_str_appendf(sql, "%s", select);
        }
        sqlite3_finalize(statement);
        sqlite3_free(select);
    }
}

char *gmt_check_sql(const struct gmt_check *check, sqlite3 *db)
{
    sqlite3 *model = NULL;
    sqlite3_stmt *tables = NULL;
    sqlite3_str *sql = sqlite3_str_new(db);

    if (check->sql != NULL) {
        sqlite3_str_appendf(sql, "%s", check->sql);
    } else if (gmt_own_schema(&model) == 0) {
        (void)sqlite3_prepare_v2(model, "SELECT name, sql FROM sqlite_master WHERE type = 'table'",
                                 -1, &tables, NULL);
    }
    while (tables != NULL && sqlite3_step(tables) == SQLITE_ROW) {
        if (check->made_of == GMT_CHECK_TYPES) {
            add_types(sql, db, model, column_text(tables, 0));
        } else {
            add_constraints(sql, db, column_text(tables, 0), column_text(tables, 1));
        }
    }
    sqlite3_finalize(tables);
    sqlite3_close(model);
    return sqlite3_str_finish(sql);
}

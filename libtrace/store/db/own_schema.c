/* SPDX-License-Identifier: Apache-2.0 */
/* What this version's schema says of a trace: plain tables, and views of our own text. */
#include "libtrace/store/db/own_schema.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"

bool gmt_own_schema_reads(enum gmt_schema_part part, const char *table)
{
    static const char *const others[] = {"device", "meta", "process", "string"};
    bool found = part == GMT_SCHEMA_WHOLE || strcmp(table, "step") == 0 ||
                 strncmp(table, "step_", 5) == 0;
    for (size_t i = 0; !found && i < sizeof(others) / sizeof(others[0]); i++) {
        found = strcmp(table, others[i]) == 0;
    }
    return found;
}

int gmt_own_schema(sqlite3 **model)
{
    *model = NULL;
    int error = sqlite3_open_v2(":memory:", model,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                                NULL) == SQLITE_OK
                    ? gmt_database_exec(*model, gmt_schema_sql)
                    : -ENOMEM;
    if (error != 0) {
        sqlite3_close(*model);
        *model = NULL;
    }
    return error;
}

static const char *column_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

/* The type of the entry `name` in our schema ("table", "view"), "" if it is none of ours. The result is
 * valid until the statement is used again. */
static const char *own_type(sqlite3_stmt *own, const char *name)
{
    (void)sqlite3_reset(own);
    (void)sqlite3_bind_text(own, 1, name, -1, SQLITE_TRANSIENT);
    return sqlite3_step(own) == SQLITE_ROW ? column_text(own, 0) : "";
}

/* Whether `sql` begins with `create` and then the name: an entry is what its text makes, not what its other
 * columns say. */
static bool makes(const char *sql, const char *create, const char *name)
{
    size_t length = strlen(create), name_length = strlen(name);
    if (strncmp(sql, create, length) != 0) {
        return false;
    }
    sql += length;
    sql += *sql == '"' || *sql == '\'' || *sql == '`' || *sql == '[';
    if (name_length == 0 || strncasecmp(sql, name, name_length) != 0) {
        return false;
    }
    char next = sql[name_length];
    return next != '\0' && strchr("\"'`] \t\r\n(", next) != NULL;
}

static bool is_sound(const char *type, const char *name, const char *sql, bool has_root)
{
    if (strcmp(type, "table") == 0) {
        return has_root && makes(sql, "CREATE TABLE ", name);
    }
    if (strcmp(type, "view") == 0) {
        return !has_root && makes(sql, "CREATE VIEW ", name);
    }
    /* Triggers are switched off (guard.c). */
    if (strcmp(type, "trigger") == 0) {
        return !has_root && makes(sql, "CREATE TRIGGER ", name);
    }
    return strcmp(type, "index") == 0 && has_root &&
           (sql[0] == '\0' || makes(sql, "CREATE INDEX ", name) ||
            makes(sql, "CREATE UNIQUE INDEX ", name));
}

static int check_entry(sqlite3_stmt *entry, sqlite3_stmt *own, char *why, size_t why_bytes)
{
    const char *type = column_text(entry, 0), *name = column_text(entry, 1);
    const char *sql = column_text(entry, 2);
    if (strncmp(sql, "CREATE VIRTUAL", 14) == 0) {
        (void)snprintf(why, why_bytes, "is damaged: it has a virtual table, and a trace has none");
        return -EBADMSG;
    }
    /* It would hide SQLite's own function of that name from our statements. */
    if (strncasecmp(name, "pragma_", 7) == 0) {
        (void)snprintf(why, why_bytes, "is damaged: %.64s is a %s in it, not a function of SQLite",
                       name, type);
        return -EBADMSG;
    }
    if (!is_sound(type, name, sql, sqlite3_column_int64(entry, 3) > 0)) {
        (void)snprintf(why, why_bytes,
                       "is damaged: an entry of its schema is not of its declared type");
        return -EBADMSG;
    }
    const char *ours = own_type(own, name);
    if (ours[0] != '\0' && strcmp(ours, type) != 0) {
        (void)snprintf(why, why_bytes, "is damaged: %s is a %s in it, not a %s", name, type, ours);
        return -EBADMSG;
    }
    return 0;
}

/* A whole statement of indexes.sql. */
static bool is_own_index(const char *sql)
{
    const char *found = sql[0] != '\0' ? strstr(gmt_indexes_sql, sql) : NULL;
    return found != NULL && found[strlen(sql)] == ';' &&
           (found == gmt_indexes_sql || found[-1] == '\n');
}

/* Both come by name. Whether one of the model's is this entry, word by word: then it is as sound as ours. */
static bool equals_own(sqlite3_stmt *entry, sqlite3_stmt *ordered, bool *at_row)
{
    const char *name = column_text(entry, 1);
    while (*at_row && strcmp(column_text(ordered, 1), name) < 0) {
        *at_row = sqlite3_step(ordered) == SQLITE_ROW;
    }
    bool is_same = *at_row &&
                   (sqlite3_column_int64(entry, 3) > 0) == (sqlite3_column_int64(ordered, 3) > 0);
    for (int i = 0; i < 3 && is_same; i++) {
        is_same = strcmp(column_text(entry, i), column_text(ordered, i)) == 0;
    }
    return is_same;
}

#define ENTRIES "SELECT type, name, sql, rootpage FROM main.sqlite_master"

/* *foreign: some table or index is not made by our text. */
static int check_entries(sqlite3 *db, sqlite3 *model, bool *foreign, char *why, size_t why_bytes)
{
    sqlite3_stmt *own = NULL, *ordered = NULL, *entry = NULL;
    int error = 0, code = SQLITE_OK;
    if (sqlite3_prepare_v2(model,
                           "SELECT type, name FROM sqlite_master WHERE name = ?1 COLLATE NOCASE",
                           -1, &own, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(model, ENTRIES " ORDER BY name", -1, &ordered, NULL) != SQLITE_OK) {
        error = gmt_database_error(model);
    }
    if (error == 0 &&
        sqlite3_prepare_v2(db, ENTRIES " ORDER BY name", -1, &entry, NULL) != SQLITE_OK) {
        error = gmt_database_error(db);
    }
    bool at_row = error == 0 && sqlite3_step(ordered) == SQLITE_ROW;
    *foreign = false;
    while (error == 0 && (code = sqlite3_step(entry)) == SQLITE_ROW) {
        if (equals_own(entry, ordered, &at_row)) {
            continue;
        }
        error = check_entry(entry, own, why, why_bytes);
        *foreign = *foreign || !is_own_index(column_text(entry, 2));
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(entry);
    sqlite3_finalize(ordered);
    sqlite3_finalize(own);
    return error;
}

/* Columns and indexes whose value is computed by an expression in the file. */
static int check_computed(sqlite3 *db, char *why, size_t why_bytes)
{
    static const struct {
        const char *what, *sql;
    } checks[] = {
        {"a generated column",
         "SELECT m.name FROM main.sqlite_master m, pragma_table_xinfo(m.name, 'main') x "
         "WHERE m.type = 'table' AND x.hidden <> 0"},
        {"an index over an expression",
         "SELECT m.name FROM main.sqlite_master m, pragma_index_xinfo(m.name, 'main') x "
         "WHERE m.type = 'index' AND x.cid = -2"},
        {"an index over a part of a table",
         "SELECT m.name FROM main.sqlite_master m, pragma_index_list(m.name, 'main') x "
         "WHERE m.type = 'table' AND x.partial <> 0"},
    };
    int error = 0;
    for (size_t i = 0; error == 0 && i < sizeof(checks) / sizeof(checks[0]); i++) {
        sqlite3_stmt *row = NULL;
        int code = sqlite3_prepare_v2(db, checks[i].sql, -1, &row, NULL);
        if (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
            (void)snprintf(why, why_bytes, "is damaged: it has %s, and a trace has none",
                           checks[i].what);
            error = -EBADMSG;
        } else if (code != SQLITE_DONE) {
            error = gmt_database_error(db);
        }
        sqlite3_finalize(row);
    }
    return error;
}

int gmt_own_schema_check(sqlite3 *db, sqlite3 *model, char *why, size_t why_bytes)
{
    bool foreign = true;
    int error = check_entries(db, model, &foreign, why, why_bytes);
    return error == 0 && foreign ? check_computed(db, why, why_bytes) : error;
}

/* Tables whose texts other rows refer to, or that are read as a whole. */
static const char *const naming_tables[] = {
    "api",     "capability", "coverage",     "coverage_example",
    "device",  "device_gap", "device_model", "kernel",
    "loss",    "meta",       "metric",       "module",
    "process", "string",     "thread",       "kernel_footprint"};

static int check_text(sqlite3 *db, const char *table, const char *column, char *why,
                      size_t why_bytes)
{
    sqlite3_stmt *row = NULL;
    int error = 0;
    char *sql = sqlite3_mprintf("SELECT length(CAST(\"%w\" AS BLOB)) FROM main.\"%w\" WHERE "
                                "length(CAST(\"%w\" AS BLOB)) > %d LIMIT 1",
                                column, table, column, GMT_TEXT_MOST_BYTES);
    int code = sql != NULL ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        (void)snprintf(why, why_bytes,
                       "is damaged: a text in %s.%s has %lld bytes, and more than %d are absurd",
                       table, column, (long long)sqlite3_column_int64(row, 0), GMT_TEXT_MOST_BYTES);
        error = -EBADMSG;
    } else if (code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(row);
    return error;
}

bool gmt_trace_has_column(sqlite3 *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static int check_table_texts(sqlite3 *db, sqlite3 *model, const char *table, char *why,
                             size_t why_bytes)
{
    sqlite3_stmt *columns = NULL;
    int error = 0;
    if (sqlite3_prepare_v2(model, "SELECT name FROM pragma_table_info(?1) WHERE type = 'TEXT'", -1,
                           &columns, NULL) != SQLITE_OK) {
        return gmt_database_error(model);
    }
    (void)sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    while (error == 0 && sqlite3_step(columns) == SQLITE_ROW) {
        const char *name = column_text(columns, 0);
        if (gmt_trace_has_column(db, table, name)) {
            error = check_text(db, table, name, why, why_bytes);
        }
    }
    sqlite3_finalize(columns);
    return error;
}

int gmt_own_schema_texts(sqlite3 *db, sqlite3 *model, enum gmt_schema_part part, char *why,
                         size_t why_bytes)
{
    int error = 0;
    for (size_t i = 0; error == 0 && i < sizeof(naming_tables) / sizeof(naming_tables[0]); i++) {
        if (gmt_own_schema_reads(part, naming_tables[i])) {
            error = check_table_texts(db, model, naming_tables[i], why, why_bytes);
        }
    }
    return error;
}

const char *gmt_own_schema_constraint(const char **text, int *length)
{
    static const char check[] = "CHECK (";
    const char *found = strstr(*text, check);
    if (found == NULL) {
        return NULL;
    }
    const char *open = found + sizeof(check) - 2, *at = open;
    int depth = 0;
    do {
        depth += *at == '(';
        depth -= *at == ')';
        at++;
    } while (depth > 0 && *at != '\0');
    *text = at;
    *length = (int)(at - open);
    return open;
}

static int run(sqlite3 *db, sqlite3_str *text)
{
    char *sql = sqlite3_str_finish(text);
    int error = sql != NULL ? gmt_database_exec(db, sql) : -ENOMEM;
    sqlite3_free(sql);
    return error;
}

/* Hide a table that lacks columns by one that has them. */
static int complete_table(sqlite3 *db, sqlite3 *model, const char *table)
{
    sqlite3_stmt *columns = NULL;
    sqlite3_str *missing = sqlite3_str_new(db);
    int error = 0;
    if (!gmt_trace_has_column(db, table, NULL)) {
        sqlite3_free(sqlite3_str_finish(missing));
        return 0;
    }
    if (sqlite3_prepare_v2(model, "SELECT name FROM pragma_table_info(?1)", -1, &columns, NULL) !=
        SQLITE_OK) {
        error = gmt_database_error(model);
    }
    (void)sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    while (error == 0 && sqlite3_step(columns) == SQLITE_ROW) {
        const char *name = column_text(columns, 0);
        if (!gmt_trace_has_column(db, table, name)) {
            sqlite3_str_appendf(missing, ", NULL AS \"%w\"", name);
        }
    }
    sqlite3_finalize(columns);
    int length = sqlite3_str_length(missing);
    char *list = sqlite3_str_finish(missing);
    if (error == 0 && length > 0 && list != NULL) {
        sqlite3_str *sql = sqlite3_str_new(db);
        sqlite3_str_appendf(sql, "CREATE TEMP VIEW \"%w\" AS SELECT *%s FROM main.\"%w\"", table,
                            list, table);
        error = run(db, sql);
    }
    sqlite3_free(list);
    return error;
}

static int make_view(sqlite3 *db, const char *sql)
{
    static const char create[] = "CREATE VIEW ";
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_str_appendf(text, "CREATE TEMP VIEW %s", sql + sizeof(create) - 1);
    return run(db, text);
}

int gmt_own_schema_views(sqlite3 *db, sqlite3 *model, enum gmt_schema_part part)
{
    sqlite3_stmt *entry = NULL;
    int error = 0, code = SQLITE_OK;
    if (sqlite3_prepare_v2(model,
                           "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL "
                           "ORDER BY rowid",
                           -1, &entry, NULL) != SQLITE_OK) {
        return gmt_database_error(model);
    }
    /* One transaction: each statement would be one of its own. */
    error = gmt_database_exec(db, "SAVEPOINT own_views");
    while (error == 0 && (code = sqlite3_step(entry)) == SQLITE_ROW) {
        if (strcmp(column_text(entry, 0), "view") == 0) {
            error = part == GMT_SCHEMA_WHOLE ? make_view(db, column_text(entry, 2)) : 0;
        } else if (gmt_own_schema_reads(part, column_text(entry, 1))) {
            error = complete_table(db, model, column_text(entry, 1));
        }
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(model);
    }
    sqlite3_finalize(entry);
    return error == 0 ? gmt_database_exec(db, "RELEASE own_views") : error;
}

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

static int check_entries(sqlite3 *db, sqlite3 *model, char *why, size_t why_bytes)
{
    sqlite3_stmt *own = NULL, *entry = NULL;
    int error = 0, code = SQLITE_OK;
    if (sqlite3_prepare_v2(model,
                           "SELECT type, name FROM sqlite_master WHERE name = ?1 COLLATE NOCASE",
                           -1, &own, NULL) != SQLITE_OK) {
        return gmt_database_error(model);
    }
    if (sqlite3_prepare_v2(db, "SELECT type, name, sql, rootpage FROM main.sqlite_master", -1,
                           &entry, NULL) != SQLITE_OK) {
        error = gmt_database_error(db);
    }
    while (error == 0 && (code = sqlite3_step(entry)) == SQLITE_ROW) {
        error = check_entry(entry, own, why, why_bytes);
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(entry);
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
    int error = check_entries(db, model, why, why_bytes);
    return error == 0 ? check_computed(db, why, why_bytes) : error;
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

int gmt_own_schema_texts(sqlite3 *db, sqlite3 *model, char *why, size_t why_bytes)
{
    int error = 0;
    for (size_t i = 0; error == 0 && i < sizeof(naming_tables) / sizeof(naming_tables[0]); i++) {
        error = check_table_texts(db, model, naming_tables[i], why, why_bytes);
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

/* A table of which SQL looks at columns that nobody reads as values: as an operand it takes a text
 * for 0, and in a condition for what is not meant. */
struct asked_table {
    const char *name;
    bool calls; /* many rows, whose values are read but for those that decide which of them count */
};
static const struct asked_table asked_tables[] = {
    {"allocation", false},
    {"api", false},
    {"api_call", true},
    {"capability", false},
    {"coverage", false},
    {"device_gap", false},
    {"device_op", true},
    {"fingerprint", false},
    {"graph", false},
    {"graph_node", false},
    {"graph_switch", false},
    {"host_allocation", false},
    {"instruction", false},
    {"kernel_counters", false},
    {"kernel_footprint", false},
    {"launch", true},
    {"launch_argument", false},
    {"launch_tensor_map", false},
    {"loss", false},
    {"managed_op", false},
    {"memset", true},
    {"overhead", false},
    {"own_time", false},
    {"race", false},
    {"range", false},
    {"step", false},
    {"step_call", false},
    {"step_collective", false},
    {"step_kernel", false},
    {"step_memory", false},
    {"step_slowest", false},
    {"step_time", false},
    {"step_work", false},
    {"sync", true},
    {"tensor_map", false},
    {"tensor_map_encoding", false},
    {"transfer", true},
};
enum { ASKED_TABLES = sizeof(asked_tables) / sizeof(asked_tables[0]) };

/* Columns of a call that decide whether it counts, and as what: SQL alone looks at them. */
#define DECIDES "IN ('result', 'capturing', 'kind', 'direction')"

/* A column in a condition. Those of calls are never NULL, which would be neither true nor false. */
static char *operand_of(const struct asked_table *table, const char *column)
{
    return sqlite3_mprintf(table->calls ? "ifnull(\"%w\", '')" : "\"%w\"", column);
}

/* " WHEN a >= '' THEN 'a is no number'": texts and blobs sort behind all numbers. */
static void add_number(sqlite3_str *cases, const struct asked_table *table, const char *column)
{
    char *operand = operand_of(table, column);
    sqlite3_str_appendf(cases, " WHEN %s >= '' THEN '%q is no number'", operand, column);
    sqlite3_free(operand);
}

/*
 * " WHEN kind <> 'kernel' AND kind NOT IN ('kernel', ...) AND ... THEN 'kind is ...'" of the words that our
 * schema allows: the first is the usual one, and found sooner so. A word that the table's own text declares
 * is one that a later recorder may have added.
 */
static void add_word(sqlite3_str *cases, const struct asked_table *table, const char *column,
                     const char *words, int length)
{
    char *operand = operand_of(table, column);
    sqlite3_str_appendf(
        cases,
        " WHEN %s <> %.*s AND %s NOT IN %.*s AND NOT instr((SELECT sql FROM main.sqlite_master "
        "WHERE type = 'table' AND name = %Q COLLATE NOCASE), quote(%s)) THEN '%q is ' || CASE "
        "typeof(\"%w\") WHEN 'blob' THEN 'no text' ELSE 'no word of the format' END",
        operand, (int)strcspn(words + 1, ",)"), words + 1, operand, length, words, table->name,
        operand, column, column);
    sqlite3_free(operand);
}

static void add_numbers(sqlite3_str *cases, sqlite3 *db, sqlite3 *model,
                        const struct asked_table *table)
{
    sqlite3_stmt *columns = NULL;
    if (sqlite3_prepare_v2(model,
                           "SELECT name FROM pragma_table_info(?1) WHERE type IN ('INTEGER', "
                           "'REAL') AND (NOT ?2 OR name " DECIDES ")",
                           -1, &columns, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_text(columns, 1, table->name, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int(columns, 2, table->calls);
        while (sqlite3_step(columns) == SQLITE_ROW) {
            if (gmt_trace_has_column(db, table->name, column_text(columns, 0))) {
                add_number(cases, table, column_text(columns, 0));
            }
        }
    }
    sqlite3_finalize(columns);
}

/* Of each "(column IN (words))" of our text. */
static void add_words(sqlite3_str *cases, sqlite3 *db, sqlite3 *model,
                      const struct asked_table *table)
{
    sqlite3_stmt *column = NULL;
    if (sqlite3_prepare_v2(model,
                           "SELECT c.name, m.sql FROM sqlite_master m, pragma_table_info(m.name) c "
                           "WHERE m.name = ?1 AND c.type = 'TEXT' AND (NOT ?2 OR c.name " DECIDES
                           ")",
                           -1, &column, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_text(column, 1, table->name, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int(column, 2, table->calls);
    }
    while (column != NULL && sqlite3_step(column) == SQLITE_ROW) {
        const char *name = column_text(column, 0), *text = column_text(column, 1), *open;
        size_t name_length = strlen(name);
        int length;
        while ((open = gmt_own_schema_constraint(&text, &length)) != NULL) {
            const char *words = strchr(open + 1, '(');
            if (words != NULL && strncmp(open + 1, name, name_length) == 0 &&
                open[1 + name_length] == ' ' && gmt_trace_has_column(db, table->name, name)) {
                add_word(cases, table, name, words, (int)(open + length - 1 - words));
            }
        }
    }
    sqlite3_finalize(column);
}

/* A query for what is wrong with the first such row: "a is no number". NULL: there is no such table. */
static char *find_odd_sql(sqlite3 *db, sqlite3 *model, const struct asked_table *table)
{
    sqlite3_str *cases = sqlite3_str_new(db);
    add_numbers(cases, db, model, table);
    add_words(cases, db, model, table);
    bool any = sqlite3_str_length(cases) > 0;
    char *list = sqlite3_str_finish(cases);
    char *sql = any && list != NULL
                    ? sqlite3_mprintf("SELECT odd FROM (SELECT CASE%s END AS odd FROM main.\"%w\") "
                                      "WHERE odd IS NOT NULL LIMIT 1",
                                      list, table->name)
                    : NULL;
    sqlite3_free(list);
    return sql;
}

/* "column is ..." */
static void note_odd(sqlite3 *db, const char *table, const char *odd)
{
    char column[64];
    size_t length = strcspn(odd, " ");
    (void)snprintf(column, sizeof(column), "%.*s", (int)length, odd);
    gmt_guard_note_column(db, table, column, odd + length + (odd[length] == ' '));
}

int gmt_own_schema_values(sqlite3 *db, sqlite3 *model)
{
    int error = 0;
    for (size_t i = 0; error == 0 && i < ASKED_TABLES; i++) {
        char *sql = find_odd_sql(db, model, &asked_tables[i]);
        sqlite3_stmt *row = NULL;
        /* Without columns there is no such table: a trace of an earlier version. */
        int code = sql != NULL ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_DONE;
        sqlite3_free(sql);
        if (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
            note_odd(db, asked_tables[i].name, column_text(row, 0));
            error = -EBADMSG;
        } else if (code != SQLITE_DONE) {
            error = gmt_database_error(db);
        }
        sqlite3_finalize(row);
    }
    return error;
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

int gmt_own_schema_views(sqlite3 *db, sqlite3 *model)
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
        error = strcmp(column_text(entry, 0), "view") == 0
                    ? make_view(db, column_text(entry, 2))
                    : complete_table(db, model, column_text(entry, 1));
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(model);
    }
    sqlite3_finalize(entry);
    return error == 0 ? gmt_database_exec(db, "RELEASE own_views") : error;
}

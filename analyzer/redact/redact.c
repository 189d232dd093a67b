/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to be mailed: what names persons, machines, folders and functions is taken out of a trace. */
#include "analyzer/redact/redact.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/where.h"
#include "analyzer/redact/redact_columns.h"
#include "analyzer/redact/redact_functions.h"
#include "analyzer/redact/redact_text.h"
#include "analyzer/trace/query.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/db/traits.h"

/* What a string is used for decides what is shown of it; bits of temp.gmt_use.uses. */
#define FILE_USE "1"
#define FUNCTION_USE "2"
#define OPCODE_USE "4"
#define KERNEL_USE "8"
#define RANGE_USE "16"
#define DOMAIN_USE "32"
#define REGION_USE "64"

static const struct string_use {
    const char *table, *column, *use;
} string_uses[] = {
    {"frame", "function_id", FUNCTION_USE},
    {"frame", "file_id", FILE_USE},
    {"instruction", "function_id", FUNCTION_USE},
    {"instruction", "opcode_id", OPCODE_USE},
    {"instruction", "file_id", FILE_USE},
    {"instruction", "caller_file_id", FILE_USE},
    {"inline_level", "function_id", FUNCTION_USE},
    {"inline_level", "file_id", FILE_USE},
    {"race", "first_opcode_id", OPCODE_USE},
    {"race", "first_file_id", FILE_USE},
    {"race", "first_caller_file_id", FILE_USE},
    {"race", "second_opcode_id", OPCODE_USE},
    {"race", "second_file_id", FILE_USE},
    {"race", "second_caller_file_id", FILE_USE},
    {"source_file", "file_id", FILE_USE},
    {"device_op", "kernel_name_id", KERNEL_USE},
    {"range", "name_id", RANGE_USE},
    {"range", "domain_id", DOMAIN_USE},
    {"heap", "name_id", REGION_USE},
    {"heap", "domain_id", DOMAIN_USE},
    {"region", "name_id", REGION_USE},
    {"step", "name_id", RANGE_USE},
    {"step_collective", "name_id", KERNEL_USE},
    {"step_kernel", "name_id", KERNEL_USE},
    {"step_slowest", "name_id", KERNEL_USE},
};

/* A string with several uses, and one with none, is shown by a number. */
static const char string_without_names[] =
    "CASE uses WHEN " FILE_USE " THEN coalesce(gmt_file(text), gmt_package(text) || 'file ' || id) "
    "WHEN " OPCODE_USE " THEN coalesce(gmt_opcode(text), 'opcode ' || id) "
    "WHEN " RANGE_USE " THEN 'range ' || id WHEN " DOMAIN_USE " THEN 'domain ' || id "
    "WHEN " REGION_USE " THEN 'region ' || id "
    "ELSE CASE WHEN uses IN (" FUNCTION_USE ", " KERNEL_USE ", " FUNCTION_USE " | " KERNEL_USE ") "
    /* nvcc's launch stubs of kernels are recognised by this prefix. */
    "THEN CASE WHEN instr(text, '__device_stub_') > 0 THEN '__device_stub__' ELSE "
    "coalesce((SELECT 'kernel ' || k.id FROM temp.gmt_kernel k WHERE k.name = text), "
    "gmt_function(text), 'function ' || id) END ELSE 'name ' || id END END";
static const char string_without_paths[] = "CASE WHEN uses & " FILE_USE
                                           " THEN gmt_path(text) ELSE gmt_text(text) END";

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static int runf(sqlite3 *db, char *sql)
{
    int rc = sql != NULL ? run(db, sql) : -ENOMEM;

    sqlite3_free(sql);
    return rc;
}

/* ---- what the views ask -------------------------------------------------------------------------- */

static int note_uses(sqlite3 *db)
{
    int rc = run(db, "CREATE TEMP TABLE gmt_use (id INTEGER PRIMARY KEY, uses INTEGER)");

    for (size_t i = 0; rc == 0 && i < sizeof(string_uses) / sizeof(string_uses[0]); i++) {
        const struct string_use *use = &string_uses[i];

        if (gmt_trace_has_column(db, use->table, use->column)) {
            rc = runf(db,
                      sqlite3_mprintf("INSERT INTO temp.gmt_use SELECT DISTINCT %s, %s FROM "
                                      "main.\"%w\" WHERE typeof(%s) = 'integer' "
                                      "ON CONFLICT (id) DO UPDATE SET uses = uses | %s",
                                      use->column, use->use, use->table, use->column, use->use));
        }
    }
    return rc;
}

static void is_stub_of(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    sqlite3_result_int(context, gmt_where_is_stub((const char *)sqlite3_value_text(values[0]),
                                                  (const char *)sqlite3_value_text(values[1])));
}

/* Functions that nvcc makes of a kernel, which wrap its stub and have its name: with the names gone,
 * nothing else would say that they are not the user's. */
static int note_stubs(sqlite3 *db)
{
    static const char stubs[] =
        "INSERT OR IGNORE INTO temp.gmt_stub SELECT caller.frame_id FROM main.stack_frame callee "
        "JOIN main.frame f ON f.id = callee.frame_id JOIN main.string s ON s.id = f.function_id "
        "AND instr(s.text, '__wrapper__device_stub_') > 0 "
        "JOIN main.stack_frame caller ON caller.stack_id = callee.stack_id "
        "AND caller.position = callee.position + 1 JOIN main.frame g ON g.id = caller.frame_id "
        "JOIN main.string o ON o.id = g.function_id WHERE gmt_is_stub_of(s.text, o.text)";
    int rc = sqlite3_create_function(db, "gmt_is_stub_of", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                     NULL, is_stub_of, NULL, NULL) == SQLITE_OK
                 ? 0
                 : -EIO;

    if (rc == 0) {
        rc = run(db, "CREATE TEMP TABLE gmt_stub (id INTEGER PRIMARY KEY)");
    }
    return rc == 0 && gmt_trace_has_column(db, "stack_frame", "frame_id") ? run(db, stubs) : rc;
}

static int note_names(sqlite3 *db)
{
    int rc = run(db, "CREATE TEMP TABLE gmt_kernel (name TEXT PRIMARY KEY, id INTEGER);"
                     "INSERT OR IGNORE INTO temp.gmt_kernel SELECT mangled, id FROM main.kernel;"
                     "INSERT OR IGNORE INTO temp.gmt_kernel SELECT name, id FROM main.kernel;"
                     "CREATE TEMP TABLE gmt_variable (id INTEGER PRIMARY KEY, name TEXT UNIQUE)");

    if (rc == 0 && gmt_trace_has_column(db, "kernel_footprint", "name")) {
        rc = run(db, "INSERT INTO temp.gmt_variable (name) SELECT DISTINCT name "
                     "FROM main.kernel_footprint WHERE name IS NOT NULL");
    }
    return rc == 0 ? note_stubs(db) : rc;
}

/* ---- tables -------------------------------------------------------------------------------------- */

static const char *shown_as(const struct gmt_redaction *redaction, const char *table,
                            enum gmt_redact what)
{
    if (strcmp(table, "string") == 0 && redaction != NULL &&
        strcmp(redaction->column, "text") == 0) {
        return what == GMT_REDACT_NAMES ? string_without_names : string_without_paths;
    }
    if (redaction == NULL) {
        return "NULL";
    }
    return what == GMT_REDACT_NAMES ? redaction->names : redaction->paths;
}

static int check_words(sqlite3 *db, const char *table, const char *column, char *message,
                       size_t bytes)
{
    int64_t unknown = 0;
    char *sql = sqlite3_mprintf(
        "SELECT count(*) FROM (SELECT DISTINCT \"%w\" AS word FROM main.\"%w\") "
        "WHERE word IS NOT NULL AND gmt_word(word) IS NULL",
        column, table);
    int rc = sql != NULL ? gmt_query_int64(db, sql, &unknown) : -ENOMEM;

    sqlite3_free(sql);
    if (rc == 0 && unknown > 0) {
        snprintf(message, bytes, "cannot be redacted: %s.%s holds what no gmtrace writes there",
                 table, column);
        rc = -EIO;
    }
    return rc;
}

/* A column of our schema; `text`: it is declared as what may hold one. */
struct column {
    const char *table, *name;
    const struct gmt_redaction *redaction;
    bool text;
};

static struct column column_of(const char *table, struct gmt_query *query)
{
    const char *name = gmt_query_text_here(query, 0);
    const char *type = gmt_query_text_here(query, 1);

    return (struct column){table, name, gmt_redaction_of(table, name),
                           strcmp(type, "INTEGER") != 0 && strcmp(type, "REAL") != 0};
}

static int open_columns(struct gmt_query *query, sqlite3 *schema, const char *table)
{
    int rc = gmt_query_open(query, schema, "SELECT name, type FROM pragma_table_info(?1)");

    if (rc == 0) {
        sqlite3_bind_text(query->statement, 1, table, -1, SQLITE_STATIC);
    }
    return rc;
}

/* Does a table hold more than numbers and our own words? */
static int needs_view(sqlite3 *schema, const char *table, bool *needed)
{
    struct gmt_query query;
    int rc = open_columns(&query, schema, table);

    *needed = false;
    while (rc == 0 && gmt_query_next(&query)) {
        struct column column = column_of(table, &query);

        *needed |= column.redaction != NULL ? !column.redaction->is_word : column.text;
    }
    return gmt_query_close(&query, rc);
}

/* `checked`: words were looked at, and are shown as they are. */
static void append_column(sqlite3_str *columns, sqlite3 *db, const struct column *column,
                          bool checked, enum gmt_redact what)
{
    const struct gmt_redaction *redaction = column->redaction;
    bool present = gmt_trace_has_column(db, column->table, column->name);

    sqlite3_str_appendall(columns, sqlite3_str_length(columns) > 0 ? ", " : "");
    /* v_frame asks for one that frame has not always had. */
    if (strcmp(column->table, "api") == 0 && strcmp(column->name, "traits") == 0 &&
        gmt_trace_has_column(db, "api", "name")) {
        sqlite3_str_appendall(columns, gmt_traits_column(db));
    } else if (!present) {
        sqlite3_str_appendall(columns, "NULL");
    } else if (redaction != NULL && redaction->is_word && !checked) {
        sqlite3_str_appendf(columns, "gmt_word(\"%w\")", column->name);
    } else if (redaction == NULL && !column->text) {
        sqlite3_str_appendf(columns, "\"%w\"", column->name);
    } else if (shown_as(redaction, column->table, what) == NULL) {
        sqlite3_str_appendf(columns, "\"%w\"", column->name);
    } else {
        sqlite3_str_appendall(columns, shown_as(redaction, column->table, what));
    }
    sqlite3_str_appendf(columns, " AS \"%w\"", column->name);
}

/* A view with the columns that our schema has, whatever else the trace's table holds: an empty one where
 * it has no such table, as traces of older versions. */
static int cover_table(sqlite3 *db, sqlite3 *schema, const char *table, bool checked,
                       enum gmt_redact what)
{
    sqlite3_str *columns = sqlite3_str_new(db);
    struct gmt_query query;
    int rc = open_columns(&query, schema, table);

    while (rc == 0 && gmt_query_next(&query)) {
        struct column column = column_of(table, &query);

        append_column(columns, db, &column, checked, what);
    }
    rc = gmt_query_close(&query, rc);
    char *list = sqlite3_str_finish(columns);
    bool strings = strcmp(table, "string") == 0;
    /* One that adds what an older trace lacks may be there. */
    if (rc == 0) {
        rc = runf(db, sqlite3_mprintf("DROP VIEW IF EXISTS temp.\"%w\"", table));
    }
    if (rc == 0 && !gmt_trace_has_column(db, table, NULL)) {
        rc = runf(db, sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS SELECT %s WHERE 0", table, list));
    } else if (rc == 0) {
        rc = runf(db, sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS SELECT %s FROM main.\"%w\"%s",
                                      table, list, table,
                                      strings ? " LEFT JOIN temp.gmt_use USING (id)" : ""));
    }
    sqlite3_free(list);
    return rc;
}

/* Tables of events stay tables, which a range may limit: their words are looked at once. *complete: the
 * trace's table has all columns. */
static int check_table(sqlite3 *db, sqlite3 *schema, const char *table, bool *complete,
                       char *message, size_t bytes)
{
    struct gmt_query query;
    int rc = open_columns(&query, schema, table);

    *complete = true;

    while (rc == 0 && gmt_query_next(&query)) {
        struct column column = column_of(table, &query);

        if (!gmt_trace_has_column(db, table, column.name)) {
            *complete = false;
        } else if (column.redaction != NULL) {
            rc = check_words(db, table, column.name, message, bytes);
        }
    }
    return gmt_query_close(&query, rc);
}

static int cover_tables(sqlite3 *db, sqlite3 *schema, enum gmt_redact what, char *message,
                        size_t bytes)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, schema, "SELECT name FROM sqlite_master WHERE type = 'table'");

    while (rc == 0 && gmt_query_next(&query)) {
        const char *table = gmt_query_text_here(&query, 0);

        bool needed, complete = false;

        rc = needs_view(schema, table, &needed);
        if (rc == 0 && !needed) {
            rc = check_table(db, schema, table, &complete, message, bytes);
        }
        if (rc == 0 && !complete) {
            rc = cover_table(db, schema, table, !needed, what);
        }
    }
    return gmt_query_close(&query, rc);
}

/* Views of the trace would read its tables past ours: those of our own schema take their place. */
static int cover_views(sqlite3 *db, sqlite3 *schema)
{
    static const char create[] = "CREATE VIEW ";
    struct gmt_query query;
    int rc = gmt_query_open(&query, schema,
                            "SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid");

    while (rc == 0 && gmt_query_next(&query)) {
        const char *sql = gmt_query_text_here(&query, 0);

        rc = runf(db,
                  sqlite3_mprintf("CREATE TEMP VIEW IF NOT EXISTS %s", sql + sizeof(create) - 1));
    }
    return gmt_query_close(&query, rc);
}

int gmt_redact_trace(sqlite3 *db, enum gmt_redact what, char *message, size_t bytes)
{
    sqlite3 *schema = NULL;

    if (what == GMT_REDACT_NOTHING) {
        return 0;
    }
    message[0] = '\0';
    int rc = gmt_own_schema(&schema);
    if (rc == 0) {
        rc = run(db, "PRAGMA temp_store = MEMORY");
    }
    if (rc == 0) {
        rc = gmt_redact_functions_add(db);
    }
    if (rc == 0) {
        rc = gmt_traits_register(db);
    }
    if (rc == 0) {
        rc = note_uses(db);
    }
    if (rc == 0 && what == GMT_REDACT_NAMES) {
        rc = note_names(db);
    }
    if (rc == 0) {
        rc = cover_tables(db, schema, what, message, bytes);
    }
    if (rc == 0) {
        rc = cover_views(db, schema);
    }
    if (rc == -E2BIG) {
        snprintf(message, bytes, "cannot be redacted: it names more than %d users and hosts",
                 GMT_PRIVATE_WORDS);
    }
    if (rc == -ENOMEM) {
        snprintf(message, bytes, "cannot be redacted: %s", gmt_guard_memory_reason());
    }
    if (rc != 0 && message[0] == '\0') {
        snprintf(message, bytes, "cannot be redacted: %s", gmt_guard_reason(db));
    }
    sqlite3_close(schema);
    return rc;
}

char *gmt_redact_true_uuid(sqlite3 *db, struct gmt_arena *arena)
{
    struct gmt_query query;
    char *uuid = NULL;
    /* As the timeline chooses it. */
    int rc = gmt_query_open(&query, db,
                            "SELECT uuid FROM main.device ORDER BY id NOT IN (SELECT device_id "
                            "FROM main.context WHERE device_id IS NOT NULL), id LIMIT 1");

    if (rc == 0 && gmt_query_next(&query)) {
        uuid = gmt_query_text(&query, 0, arena);
    }
    gmt_query_close(&query, rc);
    return uuid;
}

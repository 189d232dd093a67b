/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to be mailed: what names persons, machines and folders is taken out of a trace. */
#include "analyzer/redact.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is shown in place of a column, by degree; NULL: as it is. Ids stay, so that one name is the
 * same everywhere. gmt_base and the other functions are those below.
 */
static const struct redaction {
    const char *table, *column, *paths, *names;
} redactions[] = {
    {"process", "exe", "gmt_base(exe)", "'program'"},
    {"process", "command", "coalesce(gmt_base(exe), 'program')", "'program'"},
    {"process", "cwd", "NULL", "NULL"},
    {"process", "hostname", "NULL", "NULL"},
    {"process", "options", "gmt_settings(options)", "NULL"},
    {"thread", "name", "NULL", "NULL"},
    {"module", "path", "gmt_path(path)",
     "CASE WHEN gmt_own(path) THEN 'module ' || id ELSE path END"},
    {"kernel", "name", "gmt_text(name)", "'kernel ' || id"},
    {"kernel", "mangled", NULL, "'kernel ' || id"},
    {"kernel_footprint", "name", NULL, "CASE WHEN name IS NOT NULL THEN 'variable' END"},
    {"capability", "detail", "gmt_text(detail)",
     "CASE name WHEN 'range' THEN 'scoped to ranges of one name' ELSE gmt_text(detail) END"},
    {"capability", "remedy", "gmt_text(remedy)", "gmt_text(remedy)"},
    /* Only of driver functions; a reason follows the name of a kernel. */
    {"loss", "detail", "gmt_text(detail)",
     "CASE WHEN kind = 'entry point not covered' THEN detail "
     "WHEN kind LIKE 'kernel%' AND instr(detail, ': ') > 0 "
     "THEN 'a kernel' || substr(detail, instr(detail, ': ')) ELSE '' END"},
    {"cubin", "image", "NULL", "NULL"},
    {"source_file", "text", "NULL", "NULL"},
    {"source_file", "hash", "NULL", "NULL"},
    {"device_gap", "client", NULL, "CASE WHEN client <> '' THEN 'a module' ELSE '' END"},
    {"coverage", "what", "gmt_path(what)",
     "CASE WHEN kind = 'runtime' AND gmt_own(what) THEN 'module ' || rowid ELSE gmt_path(what) "
     "END"},
    {"coverage", "detail", "gmt_text(detail)",
     "CASE WHEN kind IN ('door', 'records') THEN detail END"},
    {"coverage_example", "detail", "gmt_text(detail)", "NULL"},
    {"string", "text",
     "CASE WHEN id IN (SELECT file_id FROM temp.gmt_file) THEN gmt_path(text) "
     "ELSE gmt_text(text) END",
     "CASE WHEN id IN (SELECT file_id FROM temp.gmt_file) "
     "THEN CASE WHEN gmt_own(text) THEN 'file ' || id ELSE gmt_path(text) END "
     "WHEN id IN (SELECT id FROM temp.gmt_known) THEN gmt_text(text) "
     "WHEN id IN (SELECT id FROM temp.gmt_range) THEN 'range ' || id "
     /* The compiler's glue is told by this. */
     "WHEN instr(text, '__device_stub__') > 0 THEN '__device_stub__' ELSE 'function ' || id END"},
};
enum { REDACTIONS = sizeof(redactions) / sizeof(redactions[0]) };

/* Strings that are paths, and those that are not the user's; of tables that the trace has. */
static const struct string_use {
    const char *target, *table, *column, *condition;
} string_uses[] = {
    {"gmt_file", "frame", "file_id", ""},
    {"gmt_file", "instruction", "file_id", ""},
    {"gmt_file", "instruction", "caller_file_id", ""},
    {"gmt_file", "inline_level", "file_id", ""},
    {"gmt_file", "race", "first_file_id", ""},
    {"gmt_file", "race", "first_caller_file_id", ""},
    {"gmt_file", "race", "second_file_id", ""},
    {"gmt_file", "race", "second_caller_file_id", ""},
    {"gmt_range", "range", "name_id", ""},
    {"gmt_range", "range", "domain_id", ""},
    {"gmt_known", "frame", "function_id", " WHERE runtime = 1"},
    {"gmt_known", "instruction", "opcode_id", ""},
    {"gmt_known", "race", "first_opcode_id", ""},
    {"gmt_known", "race", "second_opcode_id", ""},
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The part of a path that names nobody: of the system's and the toolkit's files all of it. */
static const char *shown(const char *path)
{
    static const char *const system[] = {"/usr/", "/lib/", "/lib64/", "/lib32/", "/opt/cuda"};
    const char *targets = strstr(path, "/targets/"), *slash = strrchr(path, '/');

    for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++) {
        if (starts_with(path, system[i]) && !starts_with(path, "/usr/local/home") &&
            !starts_with(path, "/usr/home"))
            return path;
    }
    /* A toolkit in a folder of the user's is told by what follows. */
    if (targets != NULL && strstr(targets, "/include/") != NULL)
        return targets;
    return slash != NULL ? slash + 1 : path;
}

const char *gmt_redact_path(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool in_path(char c)
{
    return c != '\0' && strchr(" \t\n\"'()<>[]{},;:|&", c) == NULL;
}

/* A path begins at a slash that no word ends with, and goes on with a name: not "a / b". */
static bool path_begins(const char *text, const char *at)
{
    bool word = at > text && (in_path(at[-1]) && at[-1] != '=');

    return *at == '/' && !word && in_path(at[1]) && at[1] != '/';
}

static char *redacted(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;

    for (const char *at = text; copy != NULL && *at != '\0';) {
        if (!path_begins(text, at)) {
            *to++ = *at++;
            continue;
        }
        char path[4096];
        size_t length = 0;

        while (in_path(at[length]))
            length++;
        snprintf(path, sizeof(path), "%.*s", (int)length, at);
        const char *rest = length < sizeof(path) ? shown(path) : "…";
        size_t kept = strlen(rest);
        memcpy(to, rest, kept);
        to += kept;
        at += length;
    }
    if (copy != NULL)
        *to = '\0';
    return copy;
}

char *gmt_redact_text(struct gmt_arena *arena, const char *text)
{
    char *copy = text != NULL ? redacted(text) : NULL;
    char *result = gmt_arena_copy(arena, copy);

    free(copy);
    return result;
}

static const char *argument(sqlite3_context *context, sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    if (text == NULL)
        sqlite3_result_null(context);
    return text;
}

static void sql_text(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *text = argument(context, values[0]);

    (void)n;
    if (text == NULL)
        return;
    char *copy = redacted(text);
    if (copy == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text(context, copy, -1, free);
}

static void sql_path(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *text = argument(context, values[0]);

    (void)n;
    if (text != NULL)
        sqlite3_result_text(context, shown(text), -1, SQLITE_TRANSIENT);
}

static void sql_base(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *text = argument(context, values[0]);

    (void)n;
    if (text != NULL)
        sqlite3_result_text(context, gmt_redact_path(text), -1, SQLITE_TRANSIENT);
}

/* Of "key=value;...", values that are paths become base names, relative ones as well. */
static void sql_settings(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *text = argument(context, values[0]);
    sqlite3_str *shorter = sqlite3_str_new(NULL);

    (void)n;
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ";"), value = strcspn(text, "=;"), from = value;

        for (size_t i = value; i < length; i++) {
            if (text[i] == '/')
                from = i;
        }
        sqlite3_str_append(shorter, text, (int)value);
        if (value < length)
            sqlite3_str_append(shorter, "=", 1);
        if (from + 1 < length)
            sqlite3_str_append(shorter, text + from + 1, (int)(length - from - 1));
        text += length;
        if (*text == ';')
            sqlite3_str_append(shorter, text++, 1);
    }
    char *copy = sqlite3_str_finish(shorter);
    if (text != NULL)
        sqlite3_result_text(context, copy != NULL ? copy : "", -1, SQLITE_TRANSIENT);
    sqlite3_free(copy);
}

/* Whether a path is the user's: not the system's and not the toolkit's. */
static void sql_own(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *text = argument(context, values[0]);

    (void)n;
    if (text != NULL)
        sqlite3_result_int(context, shown(text)[0] != '/');
}

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

/* Traces of an older version lack some. */
static bool has_column(sqlite3 *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static int note_strings(sqlite3 *db)
{
    int rc = run(db, "CREATE TEMP TABLE gmt_file (file_id INTEGER PRIMARY KEY);"
                     "CREATE TEMP TABLE gmt_range (id INTEGER PRIMARY KEY);"
                     "CREATE TEMP TABLE gmt_known (id INTEGER PRIMARY KEY)");

    for (size_t i = 0; rc == 0 && i < sizeof(string_uses) / sizeof(string_uses[0]); i++) {
        const struct string_use *use = &string_uses[i];

        if (has_column(db, use->table, use->column))
            rc = runf(db, sqlite3_mprintf("INSERT OR IGNORE INTO temp.%s SELECT %s FROM main.%s%s",
                                          use->target, use->column, use->table, use->condition));
    }
    return rc;
}

static const char *expression_for(const char *table, const char *column, enum gmt_redact what)
{
    for (size_t i = 0; i < REDACTIONS; i++) {
        const struct redaction *r = &redactions[i];

        if (strcmp(r->table, table) == 0 && strcmp(r->column, column) == 0)
            return what == GMT_REDACT_NAMES ? r->names : r->paths;
    }
    return NULL;
}

/* A view with all columns of the table in their order, some of them redacted. */
static int cover_table(sqlite3 *db, const char *table, enum gmt_redact what)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_stmt *columns = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?1, 'main')", -1,
                                  &columns, NULL);
    size_t n = 0;

    sqlite3_str_appendf(sql, "CREATE TEMP VIEW \"%w\" AS SELECT ", table);
    if (code == SQLITE_OK)
        sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    while (code == SQLITE_OK && sqlite3_step(columns) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(columns, 0);
        const char *shown_as = expression_for(table, name, what);

        sqlite3_str_appendf(sql, n++ > 0 ? ", " : "");
        if (shown_as != NULL)
            sqlite3_str_appendf(sql, "%s AS \"%w\"", shown_as, name);
        else
            sqlite3_str_appendf(sql, "\"%w\"", name);
    }
    sqlite3_finalize(columns);
    sqlite3_str_appendf(sql, " FROM main.\"%w\"", table);
    char *text = sqlite3_str_finish(sql);
    if (n > 0)
        return runf(db, text);
    sqlite3_free(text);
    return code == SQLITE_OK ? 0 : -EIO; /* the trace has no such table */
}

/* The trace's own views read its tables past ours, unless they are made anew here. */
static int cover_views(sqlite3 *db)
{
    static const char create[] = "CREATE VIEW ";
    sqlite3_stmt *views = NULL;
    int code = sqlite3_prepare_v2(
        db, "SELECT sql FROM main.sqlite_master WHERE type = 'view' ORDER BY rowid", -1, &views,
        NULL);
    int rc = code == SQLITE_OK ? 0 : -EIO;

    while (rc == 0 && sqlite3_step(views) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(views, 0);

        if (sql != NULL && starts_with(sql, create))
            rc = runf(db, sqlite3_mprintf("CREATE TEMP VIEW %s", sql + strlen(create)));
    }
    sqlite3_finalize(views);
    return rc;
}

int gmt_redact_trace(sqlite3 *db, enum gmt_redact what)
{
    static const struct {
        const char *name;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {{"gmt_text", sql_text},
                     {"gmt_base", sql_base},
                     {"gmt_path", sql_path},
                     {"gmt_own", sql_own},
                     {"gmt_settings", sql_settings}};
    int rc = 0;

    if (what == GMT_REDACT_NOTHING)
        return 0;
    for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (sqlite3_create_function(db, functions[i].name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                    NULL, functions[i].call, NULL, NULL) != SQLITE_OK)
            rc = -EIO;
    }
    if (rc == 0)
        rc = run(db, "PRAGMA temp_store = MEMORY");
    if (rc == 0)
        rc = note_strings(db);
    for (size_t i = 0; rc == 0 && i < REDACTIONS; i++) {
        if (i == 0 || strcmp(redactions[i].table, redactions[i - 1].table) != 0)
            rc = cover_table(db, redactions[i].table, what);
    }
    return rc == 0 ? cover_views(db) : rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze sql: a query on a trace, which it cannot change. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/sql_rows.h"
#include "analyzer/commands/views.h"

/* In the order of the words of --format. */
static gmt_rows_function *const writers[] = {gmt_rows_table, gmt_rows_tsv, gmt_rows_csv,
                                             gmt_rows_json};
enum { FORMAT_UNKNOWN = -1, FORMAT_TABLE, FORMAT_TSV };

struct sql_options {
    const char *trace, *query;
    int format;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct sql_options *options = state->input;

    switch (key) {
    case GMT_KEY_sql_format: options->format = gmt_command_choice(state, key, argument); return 0;
    case ARGP_KEY_ARG:
        if (options->trace == NULL)
            options->trace = argument;
        else if (options->query == NULL)
            options->query = argument;
        else
            argp_error(state, "one query at a time, in quotes: '%s'", argument);
        return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL)
            argp_error(state, "no trace given");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Pragmas that tell of the schema, without an effect. */
static bool harmless_pragma(const char *name)
{
    static const char *const names[] = {"table_info", "table_xinfo", "table_list",
                                        "index_list", "index_info",  "foreign_key_list"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (name != NULL && strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* Reading is allowed, and nothing else: no other file, no table, no setting. */
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *view)
{
    (void)context;
    (void)database;
    (void)view;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second != NULL && strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return harmless_pragma(first) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

/* Nothing but blanks, semicolons and comments. */
static bool blank(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement = NULL;
    bool empty = true;

    while (empty && *text != '\0')
        empty = sqlite3_prepare_v2(db, text, -1, &statement, &text) == SQLITE_OK &&
                statement == NULL;
    sqlite3_finalize(statement);
    return empty;
}

/* One line, whatever the query held. */
static int refuse(const char *message)
{
    fprintf(stderr, "gmanalyze: sql: ");
    for (; *message != '\0'; message++)
        fputc(iscntrl((unsigned char)*message) ? ' ' : *message, stderr);
    fputc('\n', stderr);
    return GMT_EXIT_USAGE;
}

static int run_query(sqlite3 *db, const struct sql_options *options)
{
    static const char only_read[] = "a trace is only read: the statement would do more";
    sqlite3_stmt *statement = NULL;
    const char *rest = NULL;
    int status = GMT_EXIT_OK, format = options->format;

    if (sqlite3_prepare_v2(db, options->query, -1, &statement, &rest) != SQLITE_OK)
        return refuse(sqlite3_errcode(db) == SQLITE_AUTH ? only_read : sqlite3_errmsg(db));
    if (format == FORMAT_UNKNOWN)
        format = isatty(STDOUT_FILENO) ? FORMAT_TABLE : FORMAT_TSV;
    if (statement == NULL)
        status = refuse("the query is empty");
    else if (!blank(db, rest))
        status = refuse("one statement at a time");
    else if (sqlite3_column_count(statement) == 0)
        status = refuse(only_read);
    else if (writers[format](statement, stdout) != 0)
        status = refuse(sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return status;
}

static void list_views(sqlite3 *db)
{
    sqlite3_stmt *names = NULL;

    if (sqlite3_prepare_v2(db, GMT_VIEWS_SQL, -1, &names, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(names) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(names, 0);
        char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
        sqlite3_stmt *view = NULL;
        size_t column = (size_t)printf("%s", name);

        /* A view over tables that came after the trace cannot be asked. */
        if (sql == NULL || sqlite3_prepare_v2(db, sql, -1, &view, NULL) != SQLITE_OK)
            printf("  (not in this trace)");
        for (int i = 0; i < sqlite3_column_count(view); i++) {
            const char *field = sqlite3_column_name(view, i);

            if (i == 0 || column + strlen(field) + 1 > 96) {
                column = (size_t)printf("\n   ") - 1;
            }
            column += (size_t)printf(" %s", field);
        }
        putchar('\n');
        sqlite3_finalize(view);
        sqlite3_free(sql);
    }
    sqlite3_finalize(names);
    printf("\ngmtrace.db(5) says what they hold. Times are nanoseconds, sizes bytes; NULL is not "
           "known.\n");
}

int gmt_command_sql(int argc, char **argv)
{
    static const char doc[] =
        "The query may only read. Exit status: 0; 2 the query or the line is wrong; 3 the trace "
        "cannot be read.";
    struct sql_options options = {.format = FORMAT_UNKNOWN};
    sqlite3 *db = NULL;

    gmt_command_parse(GMT_COMMAND_SQL, parse_option, doc, argc, argv, &options);
    int status = gmt_command_open(options.trace, &db);
    if (status != GMT_EXIT_OK)
        return status;
    (void)sqlite3_exec(db, "PRAGMA query_only = 1", NULL, NULL, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    (void)sqlite3_set_authorizer(db, authorize, NULL);
    if (options.query != NULL)
        status = run_query(db, &options);
    else
        list_views(db);
    if (fflush(stdout) != 0 && status == GMT_EXIT_OK)
        status = GMT_EXIT_UNREADABLE;
    sqlite3_close(db);
    return status;
}

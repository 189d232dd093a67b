/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze sql: a query on a trace, which it cannot change. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/sql_rows.h"
#include "analyzer/commands/views.h"
#include "libtrace/base/format.h"
#include "libtrace/base/memory_short.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"

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
        if (options->trace == NULL) {
            options->trace = argument;
        } else if (options->query == NULL) {
            options->query = argument;
        } else {
            gmt_command_wrong(state, "one query at a time, in quotes: '%s'", argument);
        }
        return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL) {
            argp_error(state, "no trace given");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Nothing but blanks, semicolons and comments. */
static bool blank(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement = NULL;
    bool empty = true;

    while (empty && *text != '\0') {
        empty = sqlite3_prepare_v2(db, text, -1, &statement, &text) == SQLITE_OK &&
                statement == NULL;
    }
    sqlite3_finalize(statement);
    return empty;
}

/* One line, whatever the query held. */
static int refuse(const char *message)
{
    gmt_say(stderr, "gmanalyze: sql: %s\n", message);
    return GMT_EXIT_USAGE;
}

/* With too little memory it is not the query that is wrong. */
static int fail(sqlite3 *db)
{
    if (!gmt_memory_short() && sqlite3_errcode(db) != SQLITE_NOMEM) {
        const char *reason = gmt_guard_reason(db);
        bool is_name = strncmp(reason, "no such ", strlen("no such ")) == 0;

        gmt_say(stderr, "gmanalyze: sql: %s%s\n", reason,
                is_name ? "; without a query, the views and their columns are listed" : "");
        return GMT_EXIT_USAGE;
    }
    (void)refuse(gmt_guard_memory_reason());
    return GMT_EXIT_UNREADABLE;
}

static int run_query(sqlite3 *db, const struct sql_options *options)
{
    static const char only_read[] = "traces are read-only: the statement would write";
    sqlite3_stmt *statement = NULL;
    const char *rest = NULL;
    int status = GMT_EXIT_OK, format = options->format;

    if (sqlite3_prepare_v2(db, options->query, -1, &statement, &rest) != SQLITE_OK) {
        return sqlite3_errcode(db) == SQLITE_AUTH ? refuse(only_read) : fail(db);
    }
    if (format == FORMAT_UNKNOWN) {
        format = isatty(STDOUT_FILENO) ? FORMAT_TABLE : FORMAT_TSV;
    }
    if (statement == NULL) {
        status = refuse("the query is empty");
    } else if (!blank(db, rest)) {
        status = refuse("one statement at a time");
    } else if (sqlite3_column_count(statement) == 0) {
        status = refuse(only_read);
    } else if (writers[format](statement, stdout) != 0) {
        status = gmt_command_printed(GMT_EXIT_OK) == GMT_EXIT_OK ? fail(db) : GMT_EXIT_UNREADABLE;
    }
    sqlite3_finalize(statement);
    return status;
}

static void list_views(sqlite3 *db)
{
    sqlite3_stmt *names = NULL;

    if (sqlite3_prepare_v2(db, GMT_VIEWS_SQL, -1, &names, NULL) != SQLITE_OK) {
        return;
    }
    while (sqlite3_step(names) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(names, 0);
        char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
        sqlite3_stmt *view = NULL;
        size_t column = gmt_print_clean(stdout, name, 0);

        /* A view over tables that came after the trace cannot be asked. */
        if (sql == NULL || sqlite3_prepare_v2(db, sql, -1, &view, NULL) != SQLITE_OK) {
            printf("  (not in this trace)");
        }
        for (int i = 0; i < sqlite3_column_count(view); i++) {
            const char *field = sqlite3_column_name(view, i);

            if (i == 0 || column + strlen(field) + 1 > 96) {
                column = (size_t)printf("\n   ") - 1;
            }
            putchar(' ');
            column += 1 + gmt_print_clean(stdout, field, 0);
        }
        putchar('\n');
        sqlite3_finalize(view);
        sqlite3_free(sql);
    }
    sqlite3_finalize(names);
    printf("\ngmtrace.db(5) describes them. Times are nanoseconds, sizes bytes; NULL is not "
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
    if (status != GMT_EXIT_OK) {
        return status;
    }
    gmt_guard_seal(db);
    if (options.query != NULL) {
        status = run_query(db, &options);
    } else {
        list_views(db);
    }
    sqlite3_close(db);
    return gmt_command_printed(status);
}

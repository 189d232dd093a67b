/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze symbolize: names the frames that the recorder could not, where their files are now. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/commands/commands.h"
#include "libtrace/base/format.h"
#include "libtrace/base/memory_limit.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/symbols/symbolize.h"

enum { MOST_DIRS = 64 };

struct symbolize_options {
    const char *trace;
    const char *dirs[MOST_DIRS];
    size_t dir_count;
    bool strict;
};

/* Folders are looked into from wherever the library likes to be: they are made absolute. */
static void take_dir(struct argp_state *state, struct symbolize_options *options,
                     const char *argument)
{
    char *path = realpath(argument, NULL);

    if (path == NULL) {
        gmt_command_wrong(state, "--debug-dir %s: %s", argument, strerror(errno));
    } else if (options->dir_count == MOST_DIRS) {
        argp_error(state, "at most %d folders", MOST_DIRS);
    } else {
        options->dirs[options->dir_count++] = path;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct symbolize_options *options = state->input;

    switch (key) {
    case GMT_KEY_debug_dir: take_dir(state, options, argument); return 0;
    case GMT_KEY_strict: options->strict = true; return 0;
    case ARGP_KEY_ARG: gmt_command_take(state, &options->trace, argument); return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL) {
            argp_error(state, "no trace given");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What a value of module.symbols means, and what helps. */
static const struct {
    const char *state, *text;
} wordings[] = {
    {"functions", "has no lines: give a folder with its debug files, or compile it with -g"},
    {"stripped", "is stripped: give a folder with its debug files, or an unstripped copy"},
    {"changed", "has changed since the recording: give a folder with the file of that build"},
    {"missing", "is not here: give a folder with the file, or run this where it is"},
    {"late", "was not reached"},
};

/* One line per module that still lacks lines; returns how many there are, -1 for a fault. */
static int print_rest(sqlite3 *db)
{
    sqlite3_stmt *rows = NULL;
    int count = 0, code;

    if (sqlite3_prepare_v2(
            db,
            "SELECT m.path, m.symbols, m.build_id, count(*) FROM module m JOIN frame f "
            "ON f.module_id = m.id WHERE f.file_id IS NULL AND f.runtime = 0 AND "
            "m.symbols IS NOT NULL AND m.symbols <> 'lines' GROUP BY m.id "
            "ORDER BY 4 DESC, 1",
            -1, &rows, NULL) != SQLITE_OK) {
        return -1;
    }
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *state = (const char *)sqlite3_column_text(rows, 1);
        const char *build_id = (const char *)sqlite3_column_text(rows, 2);
        const char *name = (const char *)sqlite3_column_text(rows, 0);
        char *path = name != NULL ? gmt_clean_copy(name) : NULL;

        for (size_t i = 0; i < sizeof(wordings) / sizeof(wordings[0]); i++) {
            if (strcmp(wordings[i].state, state) == 0) {
                gmt_say(stdout, "%s %s (%lld frames%s%s)\n", path != NULL ? path : "?",
                        wordings[i].text, (long long)sqlite3_column_int64(rows, 3),
                        build_id != NULL ? ", build id " : "", build_id != NULL ? build_id : "");
            }
        }
        free(path);
        count++;
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE ? count : -1;
}

static const char count_named[] = "SELECT count(*) FROM frame WHERE file_id IS NOT NULL";

static int symbolize(sqlite3 *db, const struct symbolize_options *options, int64_t *more)
{
    const struct gmt_debug_dirs dirs = {options->dirs, options->dir_count};
    int64_t before = 0, after = 0;
    /* The file is the user's now, not one that a recorder can make again. */
    int rc = gmt_database_exec(db, "PRAGMA synchronous = FULL");

    if (rc == 0 && (rc = gmt_database_upgrade(db)) == 0 &&
        (rc = gmt_database_exec(db, "BEGIN IMMEDIATE")) == 0 &&
        (rc = gmt_database_integer(db, count_named, 0, &before)) == 0 &&
        (rc = gmt_symbolize_again(db, &dirs)) == 0 &&
        (rc = gmt_database_integer(db, count_named, 0, &after)) == 0) {
        rc = gmt_database_exec(db, "COMMIT");
    }
    *more = after - before;
    return rc;
}

static int open_for_writing(const char *trace, sqlite3 **db)
{
    struct stat info;
    int rc = gmt_database_open(trace, db);

    if (rc != 0) {
        return rc;
    }
    return stat(trace, &info) == 0 ? gmt_guard_writing(*db, info.st_size) : -errno;
}

int gmt_command_symbolize(int argc, char **argv)
{
    static const char doc[] =
        "Frames that have a function and a line stay as they are; what is added is written to the "
        "trace. A file is used only if its build id is the one that was recorded. Exit status: 0; "
        "2 usage; 3 the trace could not be read or written; 4 --strict and a module still has no "
        "lines.";
    struct symbolize_options options = {0};
    sqlite3 *db = NULL;
    int64_t more = 0;

    gmt_command_parse(GMT_COMMAND_SYMBOLIZE, parse_option, doc, argc, argv, &options);
    /* Says what is wrong with the file, finishes what a killed recorder left. */
    int rest = -1, status = gmt_command_open(options.trace, &db);
    sqlite3_close(db);
    db = NULL;
    /* What the files of the program need has nothing to do with the size of the trace. */
    gmt_memory_limit_lift();
    gmt_guard_lift_memory();
    if (status == GMT_EXIT_OK) {
        int rc = open_for_writing(options.trace, &db);

        if (rc == 0 && (rc = symbolize(db, &options, &more)) == 0) {
            printf("%lld frames got a line\n", (long long)more);
            rest = print_rest(db);
        }
        if (rest < 0) {
            gmt_say(stderr, "gmanalyze: %s: %s\n", options.trace,
                    rc == -ETIME ? gmt_guard_time_reason()
                    : db != NULL && gmt_guard_noted(db)
                        ? gmt_guard_reason(db)
                        : gmt_recording_explain(rc != 0 ? rc : -EIO));
            status = GMT_EXIT_UNREADABLE;
        }
        gmt_database_close(db);
    }
    for (size_t i = 0; i < options.dir_count; i++) {
        free((char *)(uintptr_t)options.dirs[i]);
    }
    if (status == GMT_EXIT_OK && rest > 0 && options.strict) {
        status = GMT_EXIT_INCOMPLETE;
    }
    return gmt_command_printed(status);
}

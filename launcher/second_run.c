/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program a second time to count its instructions, and takes them into the first run's traces. */
#include <dirent.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/values.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/finished/sass_merge.h"
#include "preload/session/options.h"

enum { MOST_TEXT = 512, REMOVE_TRIES = 1000 /* of 10 ms */ };

/* What distinguishes processes of one run, and finds their like in another run. */
struct traced {
    char *path;
    char program[MOST_TEXT]; /* executable, command line, rank */
    int64_t start_ns;
    bool wanted; /* has launches, and nobody has counted their instructions */
    bool cupti;  /* there is one */
    bool taken;
};

static const char identity_sql[] =
    "SELECT coalesce(exe, '') || char(10) || coalesce(command, '') || char(10) || "
    "coalesce(rank, ''), start_ns, "
    "EXISTS (SELECT 1 FROM launch WHERE class_id IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM "
    "capability WHERE name = 'software_device' AND state = 'ok'), "
    "NOT EXISTS (SELECT 1 FROM capability WHERE name = 'cupti' AND state = 'missing') "
    "FROM process WHERE id = 1";

static bool look(char *path, struct traced *traced)
{
    char message[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    bool found = false;
    *traced = (struct traced){.path = path};
    if (gmt_launcher_await(path) != 0 ||
        gmt_trace_open(path, 0, &db, message, sizeof(message)) != 0) {
        return false;
    }
    if (sqlite3_prepare_v2(db, identity_sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW) {
        const char *program;
        found = gmt_value_text(row, 0, &program) && program != NULL &&
                gmt_value_integer(row, 1, &traced->start_ns);
        (void)snprintf(traced->program, sizeof(traced->program), "%s", found ? program : "");
        traced->wanted = sqlite3_column_int(row, 2) != 0;
        traced->cupti = sqlite3_column_int(row, 3) != 0;
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
    return found;
}

static int by_start(const void *a, const void *b)
{
    const struct traced *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static size_t look_at_all(char **paths, size_t count, struct traced *traced)
{
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        good += look(paths[i], &traced[good]);
    }
    qsort(traced, good, sizeof(*traced), by_start);
    return good;
}

/* Of processes with one command line the first to start is the first. */
static void merge(struct traced *first, size_t first_count, struct traced *second,
                  size_t second_count)
{
    for (size_t i = 0; i < second_count; i++) {
        for (size_t k = 0; k < first_count; k++) {
            if (first[k].taken || strcmp(first[k].program, second[i].program) != 0) {
                continue;
            }
            first[k].taken = true;
            int error = gmt_sass_merge(first[k].path, second[i].path);
            if (error != 0) {
                gmt_say(stderr, "gmtrace: no counts of instructions in %s: %s\n", first[k].path,
                        strerror(-error));
            }
            break;
        }
    }
    for (size_t k = 0; k < first_count; k++) {
        if (first[k].wanted && !first[k].taken) {
            (void)gmt_sass_note_missing(first[k].path,
                                        "the second run of the program had no such process", "");
        }
    }
}

/* A trace of the second run lies in a folder of its own: everything there is ours. False: a recorder has
 * its spool there still. */
static bool empty_folder(const char *folder)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    DIR *entries = opendir(folder);
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        int length = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (length > 0 && (size_t)length < sizeof(path) && entry->d_name[0] != '.') {
            (void)unlink(path); /* not a spool: its recorder is still at work */
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return rmdir(folder) == 0;
}

/* A recorder removes its spool after its trace is complete. */
static void remove_folder(const char *folder)
{
    for (unsigned i = 0; i < REMOVE_TRIES; i++) {
        if (empty_folder(folder)) {
            return;
        }
        (void)usleep(10000);
    }
    gmt_say(stderr, "gmtrace: %s is left behind: remove it when its recorder has ended\n", folder);
}

static void run_and_merge(char *const argv[], struct traced *first, size_t count)
{
    char folder[PATH_MAX], output[PATH_MAX + 16];
    static char *paths[GMT_MOST_TRACES];
    static struct traced second[GMT_MOST_TRACES];
    const char *slash = strrchr(first[0].path, '/');
    (void)snprintf(folder, sizeof(folder), "%.*s.gmtrace-XXXXXX",
                   slash != NULL ? (int)(slash + 1 - first[0].path) : 0, first[0].path);
    char *absolute = mkdtemp(folder) != NULL ? realpath(folder, NULL) : NULL;
    if (absolute == NULL || strchr(absolute, '%') != NULL) {
        gmt_say(stderr,
                "gmtrace: cannot make a folder beside %s: instructions are not "
                "counted\n",
                first[0].path);
        free(absolute);
        (void)rmdir(folder);
        return;
    }
    struct gmt_launcher_run run = gmt_launcher_begin_run();
    (void)snprintf(output, sizeof(output), "%s/%%p.db", absolute);
    gmt_say(stderr,
            "gmtrace: running '%s' a second time to count its instructions; its output is "
            "discarded, its files are written again\n",
            argv[0]);
    int status = 0;
    (void)gmt_launcher_execute(argv, &run, output, &status);
    size_t traces = gmt_launcher_traces(output, &run, paths);
    merge(first, count, second, look_at_all(paths, traces, second));
    for (size_t i = 0; i < traces; i++) {
        free(paths[i]);
    }
    remove_folder(absolute);
    free(absolute);
}

/* Why there is no sense in a second run; NULL: there is. */
static const char *reason_against(const struct traced *first, size_t count)
{
    unsigned ranks;
    bool cupti = false;
    (void)gmt_options_rank(&ranks);
    for (size_t i = 0; i < count; i++) {
        cupti = cupti || (first[i].wanted && first[i].cupti);
    }
    return ranks > 1 ? "one of several ranks cannot be run a second time by itself"
           : !cupti  ? "there is no CUPTI (see cupti)"
                     : NULL;
}

void gmt_launcher_second_run(const char *pattern, const struct gmt_launcher_run *run,
                             char *const argv[])
{
    static char *paths[GMT_MOST_TRACES];
    static struct traced first[GMT_MOST_TRACES];
    size_t traces = gmt_launcher_traces(pattern, run, paths), wanted = 0;
    size_t count = look_at_all(paths, traces, first);
    for (size_t i = 0; i < count; i++) {
        wanted += first[i].wanted;
    }
    const char *against = wanted != 0 ? reason_against(first, count) : NULL;
    if (against != NULL) {
        for (size_t i = 0; i < count; i++) {
            (void)(first[i].wanted ? gmt_sass_note_missing(first[i].path, against, "") : 0);
        }
    } else if (wanted != 0) {
        run_and_merge(argv, first, count);
    }
    for (size_t i = 0; i < traces; i++) {
        free(paths[i]);
    }
}

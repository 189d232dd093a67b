/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the trace: a short summary, one line per thing that could not be collected, and the
 * next command. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libtrace/store/reader.h"
#include "libtrace/store/recording.h"
#include "preload/launcher/launcher.h"

#define WAIT_NS UINT64_C(10000000000)

/* A glob that matches every name the pattern can have become: fields turn into `*`. */
static void glob_of(const char *pattern, char *text, size_t bytes)
{
    size_t used = 0;
    for (const char *at = pattern; *at != '\0' && used + 4 < bytes; at++) {
        if (*at != '%') {
            if (strchr("*?[\\", *at) != NULL) {
                text[used++] = '\\';
            }
            text[used++] = *at;
            continue;
        }
        at++;
        if (*at == '%') {
            text[used++] = '%';
            continue;
        }
        text[used++] = '*';
        if (*at == 'q' && strchr(at, '}') != NULL) {
            at = strchr(at, '}');
        }
        if (*at == '\0') {
            break;
        }
    }
    text[used] = '\0';
}

static bool is_newer(const char *path, uint64_t since_ns)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           (uint64_t)status.st_mtim.tv_sec * UINT64_C(1000000000) +
                   (uint64_t)status.st_mtim.tv_nsec >=
               since_ns;
}

/* Several processes of one run say the same; the user reads it once. */
static bool is_new_line(const char *line)
{
    static char *said[64];
    size_t count = 0;
    while (count < sizeof(said) / sizeof(said[0]) && said[count] != NULL) {
        if (strcmp(said[count], line) == 0) {
            return false;
        }
        count++;
    }
    if (count < sizeof(said) / sizeof(said[0])) {
        said[count] = strdup(line);
    }
    return true;
}

static void print_capabilities(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT name, state, coalesce(detail, ''), coalesce(remedy, '') FROM "
                           "capability WHERE state IN ('missing', 'partial') "
                           /* Nobody who asks for the software device expects them. */
                           "AND NOT (name = 'hardware_counters' AND EXISTS (SELECT 1 FROM "
                           "capability WHERE name = 'software_device')) UNION ALL "
                           "SELECT 'device times', 'missing', printf('for %.1f ms, while %s used "
                           "CUPTI itself', sum(coalesce(g.end_ns, p.end_ns) - g.begin_ns) / 1e6, "
                           "CASE client WHEN '' THEN 'the program' ELSE client END), '' "
                           "FROM device_gap g, process p GROUP BY client ORDER BY name",
                           -1, &statement, NULL) == SQLITE_OK) {
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *remedy = (const char *)sqlite3_column_text(statement, 3);
            char line[1024];
            (void)snprintf(line, sizeof(line), "gmtrace: %s %s: %s%s%s",
                           (const char *)sqlite3_column_text(statement, 0),
                           (const char *)sqlite3_column_text(statement, 1),
                           (const char *)sqlite3_column_text(statement, 2),
                           remedy[0] != '\0' ? "; " : "", remedy);
            if (is_new_line(line)) {
                (void)fprintf(stderr, "%s\n", line);
            }
        }
    }
    sqlite3_finalize(statement);
}

int gmt_launcher_await(const char *path)
{
    int error = gmt_recording_wait(path, WAIT_NS);
    return error == -ETIMEDOUT ? error : gmt_recording_recover(path);
}

/* True when there is a trace to look at. */
static bool print_trace(const char *path, bool alone)
{
    char message[512];
    sqlite3 *db = NULL;
    if (gmt_launcher_await(path) == -ETIMEDOUT) {
        (void)fprintf(stderr, "gmtrace: %s is still being written; gmanalyze waits for it\n", path);
        return true;
    }
    if (gmt_trace_open(path, GMT_TRACE_ALLOW_INCOMPLETE, &db, message, sizeof(message)) != 0) {
        (void)fprintf(stderr, "gmtrace: %s\n", message);
        return false;
    }
    print_capabilities(db);
    gmt_launcher_out_of_memory(db);
    if (alone) {
        gmt_launcher_summary(db);
    } else {
        (void)fprintf(stderr, "gmtrace: wrote %s\n", path);
    }
    sqlite3_close(db);
    return true;
}

/* The file that a name found stands for; false: it is none of this run. */
static bool is_trace(const char *path, uint64_t since_ns, char plain[static PATH_MAX])
{
    size_t length = strlen(path);
    struct stat status;
    /* A spool without its trace (the recorder was killed at once) counts as one. */
    bool is_spool = length > 6 && strcmp(path + length - 6, ".spool") == 0;
    (void)snprintf(plain, PATH_MAX, "%.*s", (int)(is_spool ? length - 6 : length), path);
    return is_spool ? stat(plain, &status) != 0
                    : is_newer(path, since_ns) && strstr(path, ".db-") == NULL &&
                          (length < 4 || strcmp(path + length - 4, ".old") != 0);
}

/* One command over all of them. Names that a shell would take apart are quoted. */
static void print_next(char *const *paths, size_t n)
{
    (void)fprintf(stderr,
                  n == 1 ? "gmtrace: wrote %s; next: gmanalyze" : "gmtrace: next: gmanalyze",
                  n == 1 ? paths[0] : "");
    for (size_t i = 0; i < n; i++) {
        bool plain = paths[i][strcspn(paths[i], " \t\n'\"\\$&|;<>()*?[]#~!`")] == '\0';
        (void)fprintf(stderr, plain || strchr(paths[i], '\'') != NULL ? " %s" : " '%s'", paths[i]);
    }
    (void)fputc('\n', stderr);
}

size_t gmt_launcher_traces(const char *pattern, uint64_t since_ns,
                           char *paths[static GMT_MOST_TRACES])
{
    char name[PATH_MAX], suffixed[PATH_MAX + 4], plain[PATH_MAX];
    size_t traces = 0;
    glob_of(pattern, name, sizeof(name) - 2);
    (void)snprintf(suffixed, sizeof(suffixed), "%s.*", name);
    glob_t found = {0};
    (void)glob(name, 0, NULL, &found);
    (void)glob(suffixed, GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc && traces < GMT_MOST_TRACES; i++) {
        if (is_trace(found.gl_pathv[i], since_ns, plain)) {
            paths[traces] = strdup(plain);
            traces += paths[traces] != NULL;
        }
    }
    globfree(&found);
    return traces;
}

void gmt_launcher_report(const char *pattern, uint64_t since_ns, const char *program)
{
    char *paths[GMT_MOST_TRACES];
    size_t traces = gmt_launcher_traces(pattern, since_ns, paths), good = 0;
    for (size_t i = 0; i < traces; i++) {
        if (print_trace(paths[i], traces == 1)) {
            char *path = paths[i];
            paths[i] = paths[good];
            paths[good++] = path;
        }
    }
    if (good > 0) {
        print_next(paths, good);
    }
    for (size_t i = 0; i < traces; i++) {
        free(paths[i]);
    }
    if (traces == 0) {
        (void)fprintf(stderr, "gmtrace: no trace: '%s' made no CUDA call that reached the driver\n",
                      program);
    }
}

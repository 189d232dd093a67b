/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the trace: one line per file, and one per thing that could not be collected. */
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
                           "capability WHERE name = 'software_device')) ORDER BY name",
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

static void print_trace(const char *path)
{
    char message[512];
    sqlite3 *db = NULL;
    if (gmt_recording_wait(path, WAIT_NS) == -ETIMEDOUT) {
        (void)fprintf(stderr, "gmtrace: %s is still being written; gmanalyze waits for it\n", path);
        return;
    }
    (void)gmt_recording_recover(path);
    if (gmt_trace_open(path, GMT_TRACE_ALLOW_INCOMPLETE, &db, message, sizeof(message)) != 0) {
        (void)fprintf(stderr, "gmtrace: %s\n", message);
        return;
    }
    print_capabilities(db);
    sqlite3_close(db);
    (void)fprintf(stderr, "gmtrace: wrote %s; next: gmanalyze %s\n", path, path);
}

void gmt_launcher_report(const char *pattern, int64_t pid, uint64_t since_ns, const char *program)
{
    char name[PATH_MAX], suffixed[PATH_MAX + 4];
    (void)pid;
    glob_of(pattern, name, sizeof(name) - 2);
    (void)snprintf(suffixed, sizeof(suffixed), "%s.*", name);
    glob_t found = {0};
    (void)glob(name, 0, NULL, &found);
    (void)glob(suffixed, GLOB_APPEND, NULL, &found);
    unsigned traces = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i];
        size_t length = strlen(path);
        char plain[PATH_MAX];
        /* A spool without its trace (the recorder was killed at once) counts as one. */
        bool is_spool = length > 6 && strcmp(path + length - 6, ".spool") == 0;
        (void)snprintf(plain, sizeof(plain), "%.*s", (int)(is_spool ? length - 6 : length), path);
        struct stat status;
        if ((is_spool && stat(plain, &status) != 0) ||
            (!is_spool && is_newer(path, since_ns) && strstr(path, ".db-") == NULL &&
             (length < 4 || strcmp(path + length - 4, ".old") != 0))) {
            print_trace(plain);
            traces++;
        }
    }
    globfree(&found);
    if (traces == 0) {
        (void)fprintf(stderr, "gmtrace: no trace: '%s' made no CUDA call that reached the driver\n",
                      program);
    }
}

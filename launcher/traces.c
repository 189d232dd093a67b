/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the traces of a run: by the names that the pattern of the output can have become, and by what they hold. */
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/record/layout.h"
#include "libtrace/store/recording/recording.h"
#include "preload/session/options.h"

#define CLOCKS_APART_NS UINT64_C(600000000000)

static size_t put_literal(char *text, size_t used, size_t bytes, const char *from, size_t length)
{
    for (size_t i = 0; i < length && used + 4 < bytes; i++) {
        if (strchr("*?[\\", from[i]) != NULL) {
            text[used++] = '\\';
        }
        text[used++] = from[i];
    }
    return used;
}

/* The value of the variable in "{NAME}...", where it names folders: `*` matches no slash. Others are left to `*`: the
 * program's own launcher may set one for each rank. NULL: none. */
static const char *folders_of(const char *field)
{
    char name[256];
    size_t length = strcspn(field, "}");
    if (field[0] != '{' || field[length] == '\0' || length > sizeof(name)) {
        return NULL;
    }
    (void)snprintf(name, sizeof(name), "%.*s", (int)length - 1, field + 1);
    const char *value = getenv(name);
    return value != NULL && strchr(value, '/') != NULL ? value : NULL;
}

/* A glob that matches every name the pattern can have become: fields turn into `*`. */
static void glob_of(const char *pattern, char *text, size_t bytes)
{
    size_t used = 0;
    for (const char *at = pattern; *at != '\0' && used + 4 < bytes; at++) {
        if (*at != '%') {
            used = put_literal(text, used, bytes, at, 1);
            continue;
        }
        at++;
        if (*at == '%') {
            text[used++] = '%';
            continue;
        }
        const char *folders = *at == 'q' ? folders_of(at + 1) : NULL;
        if (folders != NULL) {
            used = put_literal(text, used, bytes, folders, strlen(folders));
        } else {
            text[used++] = '*';
        }
        if (*at == 'q' && strchr(at, '}') != NULL) {
            at = strchr(at, '}');
        }
        if (*at == '\0') {
            break;
        }
    }
    text[used] = '\0';
}

/* A spool without its trace (the recorder was killed at once) counts as one. */
static void name_of_trace(const char *found, char path[static PATH_MAX])
{
    size_t length = strlen(found);
    bool is_spool = length > 6 && strcmp(found + length - 6, ".spool") == 0;
    (void)snprintf(path, PATH_MAX, "%.*s", (int)(is_spool ? length - 6 : length), found);
}

static bool is_among(char *const *paths, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(paths[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/* A trace of earlier runs, of which there may be thousands: it was not written since this one began, whose
 * name begins with that time (ns, by the clock that stamps files; a file server has its own). */
static bool is_earlier(const char *path, const struct gmt_launcher_run *run)
{
    char spool[PATH_MAX + 8];
    struct stat info;
    (void)snprintf(spool, sizeof(spool), "%s.spool", path);
    if (stat(path, &info) != 0 || access(spool, F_OK) == 0) {
        return false;
    }
    uint64_t changed_ns = (uint64_t)info.st_mtim.tv_sec * UINT64_C(1000000000) +
                          (uint64_t)info.st_mtim.tv_nsec;
    return changed_ns + CLOCKS_APART_NS < strtoull(run->name, NULL, 10);
}

/* The name of a run is in its spools and traces, and in no others, whoever else writes into the folder. */
static bool is_of_run(const char *path, const struct gmt_launcher_run *run)
{
    char name[sizeof(((struct gmt_control *)0)->run)];
    size_t length = strlen(path);
    bool is_journal = length > 8 && strcmp(path + length - 8, "-journal") == 0;
    return !is_journal && !is_earlier(path, run) &&
           gmt_recording_run_of(path, name, sizeof(name)) == 0 && strcmp(name, run->name) == 0;
}

size_t gmt_launcher_traces(const char *pattern, const struct gmt_launcher_run *run,
                           char *paths[static GMT_MOST_TRACES])
{
    char name[PATH_MAX], suffixed[PATH_MAX + 4], dumps[PATH_MAX + 16], plain[PATH_MAX];
    size_t traces = 0;
    glob_of(pattern, name, sizeof(name) - 2);
    (void)snprintf(suffixed, sizeof(suffixed), "%s.*", name);
    glob_t found = {0};
    (void)glob(name, 0, NULL, &found);
    (void)glob(suffixed, GLOB_APPEND, NULL, &found);
    if (gmt_options.ring.ns != 0) {
        size_t length = strlen(name);
        bool has_ending = length > 3 && strcmp(name + length - 3, ".db") == 0;
        (void)snprintf(dumps, sizeof(dumps), "%.*s-[0-9]*%s",
                       (int)(has_ending ? length - 3 : length), name, has_ending ? ".db" : "");
        (void)glob(dumps, GLOB_APPEND, NULL, &found);
    }
    for (size_t i = 0; i < found.gl_pathc && traces < GMT_MOST_TRACES; i++) {
        name_of_trace(found.gl_pathv[i], plain);
        if (!is_among(paths, traces, plain) && is_of_run(plain, run)) {
            paths[traces] = strdup(plain);
            traces += paths[traces] != NULL;
        }
    }
    globfree(&found);
    return traces;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names the trace, and settles who may write which. */
#include "preload/session/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/spool.h"
#include "preload/session/older.h"
#include "preload/session/options.h"
#include "preload/session/run_note.h"

static bool is_one_of_several;

bool gmt_output_is_one_of_several(void)
{
    return is_one_of_several;
}

const char *gmt_output_explain(int error)
{
    return error == GMT_OUTPUT_NO_FILE    ? "it is no regular file"
           : error == GMT_OUTPUT_NO_TRACE ? "it is no trace of gmtrace and is not replaced"
                                          : strerror(-error);
}

static const char *program_name(void)
{
    const char *exe = gmt_options_exe();
    const char *slash = strrchr(exe, '/');
    return slash != NULL ? slash + 1 : exe;
}

static const char *rank_or_pid(char text[static 24])
{
    unsigned size;
    const char *rank = gmt_options_rank(&size);
    if (rank == NULL) {
        (void)snprintf(text, 24, "%ld", (long)getpid());
        rank = text;
    }
    return rank;
}

/* Text of one %-field; advances *at past it. NULL: no such field. */
static const char *expand_field(const char **at, char text[static 256])
{
    text[0] = '\0';
    switch (*(*at)++) {
    case '%': return "%";
    case 'p': (void)snprintf(text, 256, "%ld", (long)getpid()); return text;
    case 'h':
        if (gethostname(text, 255) != 0) {
            (void)snprintf(text, 256, "host");
        }
        return text;
    case 'r': return rank_or_pid(text);
    case 'e': return program_name();
    case 't': {
        time_t now = time(NULL);
        struct tm local;
        if (localtime_r(&now, &local) != NULL) {
            (void)strftime(text, 256, "%Y%m%d-%H%M%S", &local);
        }
        return text;
    }
    case 'q': {
        const char *end = **at == '{' ? strchr(*at, '}') : NULL;
        if (end == NULL || end - *at > 200) {
            return NULL;
        }
        (void)snprintf(text, 256, "%.*s", (int)(end - *at - 1), *at + 1);
        *at = end + 1;
        const char *value = getenv(text);
        return value != NULL ? value : "";
    }
    default: return NULL;
    }
}

int gmt_output_expand(const char *pattern, char *path, size_t bytes)
{
    size_t used = 0;
    for (const char *at = pattern; *at != '\0';) {
        char text[256] = {*at, '\0'};
        const char *piece = text;
        if (*at++ == '%') {
            piece = expand_field(&at, text);
            if (piece == NULL) {
                return -EINVAL;
            }
        }
        size_t length = strlen(piece);
        if (used + length >= bytes) {
            return -ENAMETOOLONG;
        }
        memcpy(path + used, piece, length);
        used += length;
    }
    path[used] = '\0';
    return used != 0 ? 0 : -EINVAL;
}

int gmt_output_make_absolute(char *path)
{
    char cwd[PATH_MAX], whole[PATH_MAX * 2];
    if (path[0] == '/') {
        return 0;
    }
    if (getcwd(cwd, sizeof(cwd)) == NULL) {
        return -errno;
    }
    (void)snprintf(whole, sizeof(whole), "%s/%s", cwd, path);
    if (strlen(whole) >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    memcpy(path, whole, strlen(whole) + 1);
    return 0;
}

/* The name is another's: -EEXIST. */
static int open_spool(const char *run, const struct gmt_spool_config *config)
{
    if (!gmt_older_spool_move(config->output, run)) {
        return -EEXIST;
    }
    int error = gmt_spool_open(config);
    /* Of the last seconds only, no trace of that name is written. */
    if (error == 0 && config->ring_ns == 0 && !gmt_older_trace_move(config->output, run)) {
        gmt_spool_withdraw();
        error = -EEXIST;
    }
    return error;
}

bool gmt_output_make_way(const char *path, const char *run)
{
    struct stat status;
    if (!gmt_older_spool_move(path, run)) {
        return false;
    }
    if (lstat(path, &status) != 0) {
        return true;
    }
    /* Where no spool can be made there is nobody to have the name. */
    int error = gmt_spool_open(&(struct gmt_spool_config){.output = path, .run = run});
    bool is_moved = error != -EEXIST && gmt_older_trace_move(path, run);
    if (error == 0) {
        gmt_spool_withdraw();
    }
    return is_moved;
}

int gmt_output_open(const char *pattern, unsigned long long limit_bytes, char *path)
{
    char wanted[PATH_MAX], digits[24];
    int error = gmt_output_expand(pattern, wanted, sizeof(wanted));
    if (error == 0) {
        error = gmt_output_make_absolute(wanted);
    }
    if (error != 0) {
        return error;
    }
    /* A device (/dev/null), a pipe, a folder: no name beside it would be what was asked for. */
    struct stat there;
    if (stat(wanted, &there) == 0 && !S_ISREG(there.st_mode)) {
        memcpy(path, wanted, strlen(wanted) + 1);
        return GMT_OUTPUT_NO_FILE;
    }
    const char *run = getenv(GMT_RUN_VARIABLE);
    if (gmt_older_is_foreign(wanted, run, path)) {
        return GMT_OUTPUT_NO_TRACE;
    }
    char name[sizeof(((struct gmt_control *)0)->run)];
    (void)snprintf(name, sizeof(name), "%.*s", run != NULL ? (int)strcspn(run, ":") : 0,
                   run != NULL ? run : "");
    for (int attempt = 0; attempt < 100; attempt++) {
        int length = attempt == 0 ? snprintf(path, PATH_MAX, "%s", wanted)
                     : attempt == 1
                         ? snprintf(path, PATH_MAX, "%s.%s", wanted, rank_or_pid(digits))
                         : snprintf(path, PATH_MAX, "%s.%ld.%d", wanted, (long)getpid(), attempt);
        if (length < 0 || length >= PATH_MAX - 16) {
            return -ENAMETOOLONG;
        }
        error = open_spool(run, &(struct gmt_spool_config){.output = path,
                                                           .bytes_limit = limit_bytes,
                                                           .run = name,
                                                           .ring_ns = gmt_options.ring.ns,
                                                           .ring_bytes = gmt_options.ring.bytes});
        is_one_of_several = attempt != 0;
        if (error != -EEXIST) {
            if (error == 0 && attempt != 0) {
                unsigned ranks = 1;
                bool is_rank = gmt_options_rank(&ranks) != NULL && ranks > 1;
                gmt_spool_capability("output", GMT_CAP_PARTIAL, EEXIST, wanted,
                                     is_rank
                                         ? "another process has that name, this one a suffix; "
                                           "-o trace-%r.db (GMTRACE_OUTPUT) names all ranks alike"
                                         : "another process has that name, this one a suffix; "
                                           "-o trace-%p.db (GMTRACE_OUTPUT) names all alike");
            }
            return error;
        }
    }
    return -EEXIST;
}

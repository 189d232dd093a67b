/* SPDX-License-Identifier: Apache-2.0 */
/* Names the trace, moves earlier ones aside, and settles who may write which. */
#include "preload/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/proc.h"
#include "libtrace/record/spool.h"
#include "libtrace/record/spool_names.h"
#include "preload/options.h"

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

static int make_absolute(char *path)
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

static double seconds_of(struct timespec time)
{
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* By CLOCK_BOOTTIME; a forked child keeps that of the program that it was forked from. */
static double loaded_s;

__attribute__((constructor)) static void note_loading(void)
{
    struct timespec boot;
    if (clock_gettime(CLOCK_BOOTTIME, &boot) == 0) {
        loaded_s = seconds_of(boot);
    }
}

/* Was it made while this process was alive (by another process, or by this one before an exec), or the
 * program that it was forked from? A brother's trace is of this run, however early it ended. The launcher's GMTRACE_RUN (its start, ns by the clock that stamps files) widens that to all processes
 * under it. That clock stands still for a tick (4 ms on most machines), which is longer than a small
 * program needs to make its spool: the age of a file may look that much too high. */
static bool is_of_this_run(const struct stat *status)
{
    const char *run = getenv("GMTRACE_RUN");
    if (run != NULL) {
        uint64_t changed_ns = (uint64_t)status->st_mtim.tv_sec * UINT64_C(1000000000) +
                              (uint64_t)status->st_mtim.tv_nsec;
        return changed_ns >= strtoull(run, NULL, 10);
    }
    struct timespec boot, real, tick;
    long hertz = sysconf(_SC_CLK_TCK);
    if (clock_gettime(CLOCK_BOOTTIME, &boot) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0 ||
        clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0 || hertz <= 0) {
        return false;
    }
    double start_s = (double)gmt_proc_start_time(getpid()) / (double)hertz;
    start_s = loaded_s != 0 && loaded_s < start_s ? loaded_s : start_s;
    double changed_ago_s = seconds_of(real) - seconds_of(status->st_mtim) - seconds_of(tick);
    return changed_ago_s < seconds_of(boot) - start_s;
}

/* Does a process hold a lock on `<spool>/<name>` (the writer on `control`, a reader on `lock`)? */
static bool is_locked(const char *spool, const char *name)
{
    char path[PATH_MAX + 32];
    (void)snprintf(path, sizeof(path), "%s/%s", spool, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    bool locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return locked;
}

static void remove_spool(const char *directory)
{
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char path[PATH_MAX * 2];
        (void)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        if (gmt_spool_name_is_ours(entry->d_name)) {
            unlink(path);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    rmdir(directory);
}

/* Move an earlier run's trace and what its recorder left aside. False: it belongs to this run. */
static bool make_way(const char *path)
{
    char spool[PATH_MAX + 16], old[PATH_MAX + 16], old_spool[PATH_MAX + 32];
    (void)snprintf(spool, sizeof(spool), "%s.spool", path);
    (void)snprintf(old, sizeof(old), "%s.old", path);
    (void)snprintf(old_spool, sizeof(old_spool), "%s.old.spool", path);
    struct stat trace_status, spool_status;
    bool has_trace = stat(path, &trace_status) == 0;
    bool has_spool = lstat(spool, &spool_status) == 0;
    if ((has_spool && (is_of_this_run(&spool_status) || is_locked(spool, "control") ||
                       is_locked(spool, "lock"))) ||
        (has_trace && (!S_ISREG(trace_status.st_mode) || is_of_this_run(&trace_status)))) {
        return false;
    }
    if (has_trace || has_spool) {
        remove_spool(old_spool);
        (void)unlink(old);
    }
    return (!has_spool || rename(spool, old_spool) == 0) && (!has_trace || rename(path, old) == 0);
}

int gmt_output_open(const char *pattern, unsigned long long limit_bytes, char *path)
{
    char wanted[PATH_MAX], digits[24];
    int error = gmt_output_expand(pattern, wanted, sizeof(wanted));
    if (error == 0) {
        error = make_absolute(wanted);
    }
    if (error != 0) {
        return error;
    }
    for (int attempt = 0; attempt < 100; attempt++) {
        int length = attempt == 0 ? snprintf(path, PATH_MAX, "%s", wanted)
                     : attempt == 1
                         ? snprintf(path, PATH_MAX, "%s.%s", wanted, rank_or_pid(digits))
                         : snprintf(path, PATH_MAX, "%s.%ld.%d", wanted, (long)getpid(), attempt);
        if (length < 0 || length >= PATH_MAX - 16) {
            return -ENAMETOOLONG;
        }
        if (!make_way(path)) {
            continue;
        }
        error = gmt_spool_open(
            &(struct gmt_spool_config){.output = path, .bytes_limit = limit_bytes});
        if (error != -EEXIST) {
            if (error == 0 && attempt != 0) {
                gmt_spool_capability("output", GMT_CAP_PARTIAL, EEXIST, wanted,
                                     "another process of this run writes that file; this process's "
                                     "trace has a suffix (use %p or %r in GMTRACE_OUTPUT)");
            }
            return error;
        }
    }
    return -EEXIST;
}

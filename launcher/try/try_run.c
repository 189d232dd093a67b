/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a program under `gmtrace try`: its output is caught, and what it reports is kept. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/try/try.h"
#include "libtrace/base/printable.h"
#include "preload/hash/content_hash.h"

#define LIMIT_RUNS 10 /* a run with fixes may take so often the time of one without */
#define LEAST_LIMIT_S 10.0

static double longest_s; /* that a run without fixes has taken */
static int shown = -1;   /* what the run that is shown wrote to standard output */

/* A plan with these fixes, in memory that the program reads by its path. */
static int make_plan(const struct gmt_try_set *set, char *path, size_t bytes)
{
    int fd = memfd_create("gmtrace-plan", 0);
    if (fd < 0) {
        return -1;
    }
    dprintf(fd, GMT_PLAN_FIRST_LINE "\nprogram %032d -\n", 0);
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        if (set->fixes[i]) {
            dprintf(fd, "fix %s %s", gmt_fixes[i].name, gmt_fix_states[GMT_FIX_TRYING]);
            if (set->swept[i] != NULL) {
                dprintf(fd, " %s=%" PRId64, gmt_fix_parameters[set->swept[i]->parameter].name,
                        set->swept[i]->value);
            }
            dprintf(fd, "\n");
        }
    }
    (void)snprintf(path, bytes, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return fd;
}

static void hash_output(int fd, char text[static 33])
{
    char path[64];
    struct stat info;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    gmt_plan_hash_file(path, text);
    if (text[0] == '\0' && fstat(fd, &info) == 0 && info.st_size == 0) {
        (void)snprintf(text, 33, "empty");
    }
}

void gmt_try_open_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", O_RDWR); /* the lowest that is free is this one */
        }
    }
}

/* Our own descriptors become the program's for as long as it runs. */
struct streams {
    int before[3];
};

/* Each run reads a file from where it stood; what cannot be read again is empty. */
static int open_input(int nothing)
{
    struct stat info;
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int again = at >= 0 && fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode)
                    ? open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC)
                    : -1;
    if (again >= 0 && lseek(again, at, SEEK_SET) == at) {
        return again;
    }
    if (again >= 0) {
        close(again);
    }
    return fcntl(nothing, F_DUPFD_CLOEXEC, 3);
}

static struct streams put_streams(int output, bool speaks)
{
    struct streams streams;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int input = open_input(nothing);
    for (int i = 0; i < 3; i++) {
        streams.before[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
    }
    (void)dup2(input, STDIN_FILENO);
    close(input);
    (void)dup2(output, STDOUT_FILENO);
    if (!speaks) {
        (void)dup2(nothing, STDERR_FILENO);
    }
    if (nothing >= 0) {
        close(nothing);
    }
    return streams;
}

static void take_streams_back(const struct streams *streams)
{
    for (int i = 0; i < 3; i++) {
        if (streams->before[i] >= 0) {
            (void)dup2(streams->before[i], i);
            close(streams->before[i]);
        } else {
            close(i);
        }
    }
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The environment of the run, by which the preloaded library knows what to do. 0 or -1. */
static int put_environment(enum gmt_try_kind kind, const char *plan, struct gmt_try_run *run)
{
    char value[64];
    if (kind == GMT_TRY_UNTOUCHED) {
        return unsetenv(GMT_APPLY_VARIABLE) != 0 || unsetenv(GMT_TRY_VARIABLE) != 0 ? -1 : 0;
    }
    run->note_fd = gmt_try_note_make(value, sizeof(value), &run->note);
    if (run->note_fd < 0) {
        run->note = NULL;
        errno = -run->note_fd;
        return -1;
    }
    run->note->watch = kind != GMT_TRY_TIMED;
    return setenv(GMT_APPLY_VARIABLE, plan, 1) != 0 || setenv(GMT_TRY_VARIABLE, value, 1) != 0 ? -1
                                                                                               : 0;
}

static bool has_fix(const struct gmt_try_set *set)
{
    bool any = false;
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        any = any || set->fixes[i];
    }
    return any;
}

/* A fix may have broken it so that it waits for ever. Without one, it takes the time that it takes. */
static double limit_of(const struct gmt_try_set *set)
{
    double limit_s = LIMIT_RUNS * longest_s;
    return !has_fix(set) ? 0 : limit_s > LEAST_LIMIT_S ? limit_s : LEAST_LIMIT_S;
}

static int interruption(void)
{
    int received = gmt_launcher_received();
    return received != 0 ? GMT_EXIT_SIGNAL + received : 0;
}

int gmt_try_execute(const struct gmt_try_options *options, enum gmt_try_kind kind,
                    const struct gmt_try_set *set, struct gmt_try_run *run)
{
    char plan[64];
    *run = (struct gmt_try_run){.note_fd = -1, .limit_s = limit_of(set)};
    if (interruption() != 0) {
        return interruption();
    }
    int plan_fd = make_plan(set, plan, sizeof(plan));
    int output = memfd_create("gmtrace-output", MFD_CLOEXEC);
    if (plan_fd < 0 || output < 0 || put_environment(kind, plan, run) != 0) {
        gmt_say(stderr, "gmtrace: %s\n", strerror(errno));
        return GMT_EXIT_FAILED;
    }
    struct gmt_launcher_run of_run = gmt_launcher_begin_run();
    of_run.limit_s = run->limit_s;
    struct streams streams = put_streams(output, kind == GMT_TRY_SHOWN);
    double began_s = now_s();
    int failure = gmt_launcher_execute(options->program, kind == GMT_TRY_UNTOUCHED ? NULL : &of_run,
                                       NULL, &run->status);
    run->seconds = now_s() - began_s;
    run->is_late = failure == GMT_EXECUTE_LATE;
    if (!has_fix(set) && run->seconds > longest_s) {
        longest_s = run->seconds;
    }
    take_streams_back(&streams);
    if (of_run.note >= 0) {
        close(of_run.note);
    }
    close(plan_fd);
    hash_output(output, run->output);
    if (kind == GMT_TRY_SHOWN) {
        shown = output;
    } else {
        close(output);
    }
    failure = interruption() != 0 ? interruption() : run->is_late ? 0 : failure;
    return failure < 0 ? GMT_EXIT_FAILED : failure;
}

void gmt_try_run_free(struct gmt_try_run *run)
{
    if (run->note != NULL) {
        (void)munmap(run->note, sizeof(*run->note));
        close(run->note_fd);
    }
    run->note = NULL;
}

int gmt_try_show_output(FILE *to)
{
    char text[4096];
    ssize_t got;
    off_t at = 0;
    while ((got = pread(shown, text, sizeof(text), at)) > 0) {
        if (fwrite(text, 1, (size_t)got, to) != (size_t)got) {
            return -EIO;
        }
        at += got;
    }
    return fflush(to) == 0 ? 0 : -EIO;
}

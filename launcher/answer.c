/* SPDX-License-Identifier: Apache-2.0 */
/* What to change first, when the program has ended: gmanalyze says it, within a time limit. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/recording/recording.h"
#include "preload/session/options.h"

/* Longer than most traces take, and no wait that somebody would remember. */
#ifdef __SANITIZE_ADDRESS__
enum { ANSWER_MS = 20000 }; /* gmanalyze takes ten times as long then */
#else
enum { ANSWER_MS = 2000 };
#endif
enum { ANSWER_BYTES = 16384 };

bool gmt_launcher_is_quiet(void)
{
    const char *wish = getenv("GMTRACE_SUMMARY");
    return wish != NULL && strcmp(wish, "off") == 0;
}

/* One of several ranks says it for all. */
static bool is_another_rank(void)
{
    unsigned ranks = 1;
    const char *rank = gmt_options_rank(&ranks);
    return rank != NULL && ranks > 1 && strcmp(rank, "0") != 0;
}

/* gmanalyze would wait for those that are still being written, and be ended meanwhile. */
static bool are_finished(char *const *traces, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (gmt_recording_wait(traces[i], 0) == -ETIMEDOUT) {
            return false;
        }
    }
    return true;
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts gmanalyze with these arguments, NULL at the end. output: its standard output, -1: none. With `speaks`
 * it has our standard error. False: it is not there, or cannot be started. */
static bool start(char *const arguments[], int output, bool speaks, pid_t *child)
{
    char path[PATH_MAX];
    posix_spawn_file_actions_t actions;
    if (gmt_launcher_part("gmanalyze", path, sizeof(path)) != 0 ||
        posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool ready = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
                                                  0) == 0 &&
                 (output >= 0 ? posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
                              : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
                                                                 "/dev/null", O_WRONLY, 0)) == 0 &&
                 (speaks || posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                                             O_WRONLY, 0) == 0);
    bool started = ready && posix_spawn(child, path, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

/* All that it says; false where that takes too long. */
static bool read_all(int fd, char text[static ANSWER_BYTES])
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    int64_t until_ms = now_ms() + ANSWER_MS, left_ms;
    size_t length = 0;
    ssize_t got = 1;
    while (got != 0 && length < ANSWER_BYTES - 1 && (left_ms = until_ms - now_ms()) > 0) {
        if (poll(&readable, 1, (int)left_ms) != 1) {
            continue; /* a signal, or the time is over */
        }
        got = read(fd, text + length, ANSWER_BYTES - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    return got == 0;
}

/* "gmanalyze fixes" over all traces; what it says, or false. */
static bool ask(char *const *traces, size_t count, char text[static ANSWER_BYTES])
{
    static char program[] = "gmanalyze", command[] = "fixes", end[] = "--";
    char **arguments = calloc(count + 4, sizeof(*arguments));
    int ends[2];
    pid_t child;
    if (arguments == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        free(arguments);
        return false;
    }
    arguments[0] = program;
    arguments[1] = command;
    arguments[2] = end;
    memcpy(&arguments[3], traces, count * sizeof(*arguments));
    bool asked = start(arguments, ends[1], false, &child), whole = false;
    close(ends[1]);
    if (asked) {
        whole = read_all(ends[0], text);
        if (!whole) {
            kill(child, SIGKILL);
        }
        whole = wait_for(child) == 0 && whole;
    }
    close(ends[0]);
    free(arguments);
    return whole;
}

static bool write_report(const char *file, char *const *traces, size_t count)
{
    static char program[] = "gmanalyze", option[] = "-o", end[] = "--";
    char **arguments = calloc(count + 5, sizeof(*arguments));
    char *name = strdup(file);
    pid_t child;
    int status = -1;
    if (arguments != NULL && name != NULL) {
        arguments[0] = program;
        arguments[1] = option;
        arguments[2] = name;
        arguments[3] = end;
        memcpy(&arguments[4], traces, count * sizeof(*arguments));
        status = start(arguments, -1, true, &child) ? wait_for(child) : -1;
    }
    if (status != 0) {
        gmt_say(stderr, "gmtrace: '%s' was not written%s\n", file,
                status == -1 ? ": gmanalyze is not beside gmtrace, or cannot be run" : "");
    }
    free(arguments);
    free(name);
    return status == 0;
}

/* The report that is asked for, or the page of --open: beside the trace, "trace.html" of "trace.db". */
static bool name_report(const char *trace, char file[static PATH_MAX])
{
    const char *named = getenv("GMTRACE_REPORT");
    size_t length = strlen(trace);
    if (named != NULL && named[0] != '\0') {
        return snprintf(file, PATH_MAX, "%s", named) < PATH_MAX;
    }
    if (length > 3 && strcmp(trace + length - 3, ".db") == 0) {
        length -= 3;
    }
    return gmt_launcher_wants_page_opened() &&
           snprintf(file, PATH_MAX, "%.*s.html", (int)length, trace) < PATH_MAX;
}

void gmt_launcher_answer(char *const *traces, size_t count)
{
    char text[ANSWER_BYTES], file[PATH_MAX], *rest = NULL;
    if (is_another_rank()) {
        return;
    }
    if (!gmt_launcher_is_quiet() && !gmt_options.aggregate && are_finished(traces, count) &&
        ask(traces, count, text)) {
        for (char *line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            gmt_say(stderr, "gmtrace: %s\n", line);
        }
    }
    if (name_report(traces[0], file) && write_report(file, traces, count) &&
        gmt_launcher_wants_page_opened()) {
        gmt_launcher_open_page(file);
    }
}

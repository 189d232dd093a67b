/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a measuring process, listens to it, and never waits for it in vain. */
#include "kernels/fit/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 << 10)
#define LINE_MOST ((size_t)256 << 20) /* a full calibration's timings are some MB */
#define SLICE_MS 1000                 /* time that this process was stopped for is one slice */
#define NAP_NS 2000000
#define NAPS_PER_S (1000000000 / NAP_NS)
#define KILLED_TIMEOUT_S 5

/* What was heard so far. */
struct talk {
    const struct gmt_child *child;
    char *text; /* from the last end of a line on */
    size_t bytes, room;
    json_t *result;
    char error[256];
};

static int add_file_actions(posix_spawn_file_actions_t *actions, int pipe_end)
{
    /* The pipe first: it may be one of 0 to 2 where the parent was started without these. */
    int rc = posix_spawn_file_actions_adddup2(actions, pipe_end, GMT_CHILD_FD);

    if (rc == 0) {
        rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
    }
    return rc;
}

/* 0, with the reading end of the pipe, or -errno. */
static int start(const struct gmt_child *child, pid_t *pid, int *reading)
{
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -errno;
    }
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc == 0) {
        rc = add_file_actions(&actions, ends[1]);
        if (rc == 0) {
            rc = posix_spawn(pid, child->program, &actions, NULL, child->arguments, environ);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (rc != 0) {
        close(ends[0]);
    } else {
        *reading = ends[0];
    }
    return -rc;
}

/* A line that is no message is left out: whatever a library says is not ours to judge. */
static void take_line(struct talk *talk, const char *line, size_t length)
{
    json_t *message = json_loadb(line, length, 0, NULL);
    const char *error = json_string_value(json_object_get(message, "error"));
    const char *what = json_string_value(json_object_get(message, "what"));
    json_t *result = json_object_get(message, "result");

    if (result != NULL && talk->result == NULL) {
        talk->result = json_incref(result);
    }
    if (error != NULL) {
        snprintf(talk->error, sizeof(talk->error), "%s", error);
    }
    if (what != NULL && talk->child->heard != NULL) {
        talk->child->heard(talk->child->context,
                           json_number_value(json_object_get(message, "units")), what);
    }
    json_decref(message);
}

static void take_lines(struct talk *talk)
{
    size_t from = 0;

    for (;;) {
        char *end = memchr(talk->text + from, '\n', talk->bytes - from);

        if (end == NULL) {
            break;
        }
        take_line(talk, talk->text + from, (size_t)(end - talk->text) - from);
        from = (size_t)(end - talk->text) + 1;
    }
    memmove(talk->text, talk->text + from, talk->bytes - from);
    talk->bytes -= from;
}

/* What the pipe holds. False at its end. */
static bool hear(struct talk *talk, int reading)
{
    if (talk->bytes + READ_BYTES > talk->room) {
        size_t room = 2 * talk->room + READ_BYTES;
        char *text = room <= LINE_MOST ? realloc(talk->text, room) : NULL;

        if (text == NULL) {
            return false;
        }
        talk->text = text;
        talk->room = room;
    }
    ssize_t got = read(reading, talk->text + talk->bytes, READ_BYTES);
    if (got <= 0) {
        return got < 0 && errno == EINTR;
    }
    bool has_end = memchr(talk->text + talk->bytes, '\n', (size_t)got) != NULL;
    talk->bytes += (size_t)got;
    if (has_end) {
        take_lines(talk);
    }
    return true;
}

/* Until the pipe is closed, which is when the child has ended; false: it has been silent too long. */
static bool listen_to(struct talk *talk, int reading)
{
    for (unsigned silent_s = 0; silent_s < talk->child->timeout_s;) {
        struct pollfd poller = {.fd = reading, .events = POLLIN};
        int rc = poll(&poller, 1, SLICE_MS);

        if (rc == 0) {
            silent_s++;
        } else if (rc > 0) {
            silent_s = 0;
            if (!hear(talk, reading)) {
                return true;
            }
        }
    }
    return false;
}

/* Has it ended after so many seconds? *status: 0 where somebody else has waited for it. */
static bool has_ended(pid_t pid, unsigned timeout_s, int *status)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    *status = 0;
    for (unsigned naps = 0; naps <= timeout_s * NAPS_PER_S; naps++) {
        pid_t rc = waitpid(pid, status, WNOHANG);

        if (rc == pid || (rc < 0 && errno != EINTR)) {
            return true;
        }
        nanosleep(&nap, NULL);
    }
    return false;
}

static void say_why(const struct talk *talk, bool was_silent, int status, char *message,
                    size_t bytes)
{
    if (was_silent) {
        snprintf(message, bytes, "gave no output for %u s and was stopped", talk->child->timeout_s);
    } else if (talk->error[0] != '\0') {
        snprintf(message, bytes, "failed: %s", talk->error);
    } else if (WIFSIGNALED(status)) {
        snprintf(message, bytes, "was killed by signal %d", WTERMSIG(status));
    } else {
        snprintf(message, bytes, "ended with status %d and no result", WEXITSTATUS(status));
    }
}

int gmt_child_run(const struct gmt_child *child, json_t **result, char *message, size_t bytes)
{
    struct talk talk = {.child = child};
    pid_t pid = -1;
    int reading = -1, status = 0;
    int rc = start(child, &pid, &reading);

    *result = NULL;
    if (rc != 0) {
        snprintf(message, bytes, "could not be started: %s", strerror(-rc));
        return rc;
    }
    bool was_silent = !listen_to(&talk, reading);
    close(reading);
    if (was_silent || !has_ended(pid, child->timeout_s, &status)) {
        kill(pid, SIGKILL);
        was_silent = true;
        has_ended(pid, KILLED_TIMEOUT_S, &status);
    }
    if (talk.result == NULL) {
        say_why(&talk, was_silent, status, message, bytes);
    }
    *result = talk.result;
    free(talk.text);
    return *result != NULL ? 0 : was_silent ? -ETIME : -ECHILD;
}

int gmt_child_begin(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return -errno;
    }
    /* After that: who looks from outside sees by the flag that it has begun. */
    if (fcntl(GMT_CHILD_FD, F_SETFD, FD_CLOEXEC) != 0) {
        return -EBADF;
    }
    return getppid() == parent ? 0 : -ESRCH;
}

static void send_message(json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(6));
    size_t left = text != NULL ? strlen(text) : 0;

    if (text != NULL) {
        text[left++] = '\n'; /* in the place of its end */
    }
    for (const char *at = text; left > 0;) {
        ssize_t done = write(GMT_CHILD_FD, at, left);

        if (done < 0 && errno != EINTR) {
            break; /* nobody listens any more */
        }
        if (done > 0) {
            at += done;
            left -= (size_t)done;
        }
    }
    free(text);
    json_decref(message);
}

void gmt_child_progress(double units, const char *what)
{
    send_message(json_pack("{s:f, s:s}", "units", units, "what", what));
}

void gmt_child_result(json_t *result)
{
    send_message(json_pack("{s:o}", "result", result));
}

void gmt_child_error(const char *text)
{
    json_t *message = json_object();

    json_object_set_new(message, "error", json_string_nocheck(text));
    send_message(message);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD by hand: with which name, and whether the loader finds the one that is set. */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/doctor.h"
#include "launcher/launcher.h"

static const char library[] = "libgmtrace.so";

static bool is_library(const char *path, size_t length)
{
    size_t ours = sizeof(library) - 1;
    return length >= ours && memcmp(path + length - ours, library, ours) == 0 &&
           (length == ours || path[length - ours - 1] == '/');
}

/* The entry of LD_PRELOAD that names our library; NULL: none does. */
static const char *preloaded_as(size_t *length)
{
    const char *at = getenv("LD_PRELOAD");
    while (at != NULL && *at != '\0') {
        *length = strcspn(at, ": ");
        if (is_library(at, *length)) {
            return at;
        }
        at += *length + (at[*length] != '\0');
    }
    return NULL;
}

/* What another program says when it starts: we ourselves find the library beside us. "" where there is no shell. */
static void start_another(char *said, size_t bytes)
{
    char name[] = "sh", option[] = "-c", nothing[] = ":";
    char *const arguments[] = {name, option, nothing, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t child;
    said[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return;
    }
    if (posix_spawn_file_actions_init(&actions) == 0) {
        bool started = posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO) == 0 &&
                       posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environ) == 0;
        (void)close(ends[1]);
        ends[1] = -1;
        size_t used = 0;
        ssize_t got = 0;
        while (started && used < bytes - 1 &&
               (got = read(ends[0], said + used, bytes - 1 - used)) > 0) {
            used += (size_t)got;
        }
        said[used] = '\0';
        if (started) {
            (void)waitpid(child, NULL, 0);
        }
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[0]);
    if (ends[1] >= 0) {
        (void)close(ends[1]);
    }
}

/* The loader's words, which are not translated. */
static bool loader_finds(const char *name, size_t length)
{
    char said[4096], refused[PATH_MAX + 64];
    (void)snprintf(refused, sizeof(refused), "object '%.*s' from LD_PRELOAD cannot be preloaded",
                   (int)length, name);
    start_another(said, sizeof(said));
    return strstr(said, refused) == NULL;
}

void gmt_doctor_preload(void)
{
    char relative[PATH_MAX], path[PATH_MAX], set[PATH_MAX + 64], remedy[PATH_MAX + 128];
    if (gmt_launcher_part("../lib/libgmtrace.so", relative, sizeof(relative)) != 0 ||
        realpath(relative, path) == NULL) {
        return; /* there is a line about that */
    }
    if (gmt_launcher_can_preload(path)) {
        (void)snprintf(set, sizeof(set), "LD_PRELOAD=%s", path);
    } else {
        (void)snprintf(set, sizeof(set), "LD_LIBRARY_PATH='%.*s' LD_PRELOAD=%s",
                       (int)(strrchr(path, '/') - path), path, library);
    }
    size_t length;
    const char *name = preloaded_as(&length);
    if (name == NULL) {
        gmt_doctor_say(
            GMT_DOCTOR_GOOD, "LD_PRELOAD", NULL,
            "to preload by hand: %s ./app; without its folder, the loader finds the name "
            "in system folders only",
            set);
    } else if (loader_finds(name, length)) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "LD_PRELOAD", NULL, "%.*s is found", (int)length, name);
    } else {
        (void)snprintf(remedy, sizeof(remedy), "set %s, or run gmtrace ./app", set);
        gmt_doctor_say(GMT_DOCTOR_BAD, "LD_PRELOAD", remedy,
                       "the loader does not find %.*s (\"cannot be preloaded\"): programs run "
                       "unrecorded",
                       (int)length, name);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace --open: shows the page of the report in the user's browser, where somebody sits in front of it. */
#include <errno.h>
#include <fcntl.h>
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

/* So long a browser has to say that it cannot; one that runs on stays open. */
enum { TRIES = 40, TRY_MS = 25 };

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

bool gmt_launcher_wants_page_opened(void)
{
    const char *wish = getenv("GMTRACE_OPEN");
    return wish != NULL && strcmp(wish, "on") == 0;
}

/* Why nobody would see it, or NULL. */
static const char *obstacle(void)
{
    if (is_set("CI")) {
        return "this is a CI job (CI is set)";
    }
    if (!isatty(STDERR_FILENO)) {
        return "standard error is no terminal";
    }
    if (!is_set("BROWSER") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) {
        return "there is no desktop here (DISPLAY, WAYLAND_DISPLAY and BROWSER are not set)";
    }
    return NULL;
}

/* Did it end with a failure at once? */
static bool fails(pid_t browser)
{
    for (int i = 0; i < TRIES; i++) {
        int status = 0;
        pid_t ended = waitpid(browser, &status, WNOHANG);
        if (ended != 0) {
            return ended == browser && status != 0;
        }
        const struct timespec pause = {.tv_nsec = TRY_MS * 1000000L};
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* It outlives gmtrace, and no Ctrl-C in the terminal ends it. */
static bool open_with(char *program, char *path)
{
    char *const arguments[] = {program, path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t browser = 0;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool started = false;
    if (posix_spawnattr_init(&attributes) == 0) {
        started = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID) == 0 &&
                  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
                                                   0) == 0 &&
                  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                                   0) == 0 &&
                  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                                   0) == 0 &&
                  posix_spawnp(&browser, program, &actions, &attributes, arguments, environ) == 0;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return started && !fails(browser);
}

/* BROWSER holds names with colons between, the first that works. */
static bool open_with_any(char *path)
{
    static char desktop[] = "xdg-open";
    const char *wish = getenv("BROWSER");
    char *list = strdup(wish != NULL ? wish : ""), *rest = NULL;
    bool opened = false;
    for (char *name = list != NULL ? strtok_r(list, ":", &rest) : NULL; name != NULL && !opened;
         name = strtok_r(NULL, ":", &rest)) {
        opened = open_with(name, path);
    }
    free(list);
    return opened || open_with(desktop, path);
}

void gmt_launcher_open_page(const char *path)
{
    const char *why = obstacle();
    char *page = realpath(path, NULL);
    if (why == NULL && (page == NULL || !open_with_any(page))) {
        why = "neither BROWSER nor xdg-open could";
    }
    if (why != NULL) {
        gmt_say(stderr, "gmtrace: %s is not opened: %s\n", path, why);
    }
    free(page);
}

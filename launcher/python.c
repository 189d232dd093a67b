/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the interpreter behind a program, its version, and asks it for the names of functions. */
#include "launcher/python.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/program.h"
#include "libtrace/base/printable.h"

#define MAX_SCRIPTS 4  /* the kernel follows no more */
#define ANSWER_MS 2000 /* Python prints its version within some 10 ms, through a chooser in 50 */

static const int first_that_knows[] = {3, 12, 0};
/* Recurses to 748 levels with it up to 3.12.2, less than the 1000 that programs may count on, and to
 * 4998 since: CPython's pull request 115083 raised its limit for C code from 1500 to 10000. */
static const int first_harmless[] = {3, 12, 3};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* python, python3, python3.12, python3.13t */
static bool is_python_name(const char *name)
{
    if (strncmp(name, "python", 6) != 0) {
        return false;
    }
    const char *rest = name + 6;
    rest += strspn(rest, "0123456789.");
    rest += strspn(rest, "dtm");
    return *rest == '\0';
}

/* The next word of a line; false: there is none. */
static bool next_word(const char **at, char word[static PATH_MAX])
{
    *at += strspn(*at, " \t");
    size_t length = strcspn(*at, " \t\n");
    if (length == 0 || length >= PATH_MAX) {
        return false;
    }
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    return true;
}

/* What a script's first line names. `env` stands for what it would find. */
static bool read_first_line(const char *path, char interpreter[static PATH_MAX])
{
    char line[PATH_MAX] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    const char *at = line + 2;
    if (strncmp(line, "#!", 2) != 0 || !next_word(&at, interpreter)) {
        return false;
    }
    while (strcmp(base_name(interpreter), "env") == 0 || interpreter[0] == '-' ||
           strchr(interpreter, '=') != NULL) {
        if (!next_word(&at, interpreter)) {
            return false;
        }
    }
    return true;
}

bool gmt_python_interpreter(const char *path, char interpreter[static PATH_MAX])
{
    char next[PATH_MAX];
    (void)snprintf(interpreter, PATH_MAX, "%s", path);
    for (int i = 0; i < MAX_SCRIPTS && !is_python_name(base_name(interpreter)); i++) {
        if (!read_first_line(interpreter, next)) {
            return false;
        }
        gmt_program_find(next, interpreter);
    }
    return is_python_name(base_name(interpreter));
}

/* What a program writes until it ends. One that has nothing to say for ANSWER_MS, or too much, is
 * killed. */
static void read_answer(pid_t child, int fd, char *answer, size_t size)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length < size - 1) {
        got = poll(&readable, 1, ANSWER_MS) == 1 ? read(fd, answer + length, size - 1 - length)
                                                 : -1;
        length += got > 0 ? (size_t)got : 0;
    }
    answer[length] = '\0';
    if (got != 0) {
        kill(child, SIGKILL);
    }
}

bool gmt_python_version(const char *interpreter, struct gmt_python_version *version)
{
    char name[PATH_MAX], option[] = "-V", answer[64] = "";
    char *const arguments[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ends[2];
    (void)snprintf(name, sizeof(name), "%s", interpreter);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    bool ready = posix_spawn_file_actions_init(&actions) == 0;
    bool asked =
        ready && posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn(&child, interpreter, &actions, NULL, arguments, environ) == 0;
    if (ready) {
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (asked) {
        read_answer(child, ends[0], answer, sizeof(answer));
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return sscanf(answer, "Python %d.%d.%d", &version->major, &version->minor, &version->micro) ==
           3;
}

static bool is_at_least(const struct gmt_python_version *version, const int least[static 3])
{
    if (version->major != least[0]) {
        return version->major > least[0];
    }
    return version->minor != least[1] ? version->minor > least[1] : version->micro >= least[2];
}

void gmt_launcher_name_python(const char *program)
{
    char interpreter[PATH_MAX];
    const char *wish = getenv("GMTRACE_PYTHON");
    if ((wish != NULL && strcmp(wish, "off") == 0) || getenv("PYTHONPERFSUPPORT") != NULL ||
        program[0] == '\0' || !gmt_python_interpreter(program, interpreter)) {
        return;
    }
    bool wanted = wish != NULL && strcmp(wish, "on") == 0;
    struct gmt_python_version version;
    bool known = gmt_python_version(interpreter, &version);
    /* A Python that is too old takes no notice of the variable: one that does not print its version can
     * have it if the user asks. */
    bool sets = known ? is_at_least(&version, wanted ? first_that_knows : first_harmless) : wanted;
    if (sets && setenv("PYTHONPERFSUPPORT", "1", 1) == 0) {
        gmt_say(stderr, "gmtrace: set PYTHONPERFSUPPORT=1, with which Python names its "
                        "functions, calls them slower and recurses less deep; --python off "
                        "leaves it\n");
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the interpreter behind a program, its version, and asks it for the names of functions. */
#include "preload/launcher/python.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/launcher/program.h"

#define MAX_SCRIPTS 4  /* the kernel follows no more */
#define FIRST_MINOR 12 /* that knows the variable */
/* 3.12 recurses to 748 levels with it, less than the 1000 that programs may count on; 3.13 to 4998. */
#define FIRST_HARMLESS_MINOR 13

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

/* Minor version in "3.12.1"; 0: not known, -1: Python 2. */
static int minor_of(const char *version)
{
    if (version[0] == '2') {
        return -1;
    }
    return strncmp(version, "3.", 2) == 0 && isdigit((unsigned char)version[2])
               ? (int)strtol(version + 2, NULL, 10)
               : 0;
}

/* An environment can have a copy of the interpreter, without a number in its name. */
static int minor_of_environment(const char *interpreter)
{
    char path[PATH_MAX + 32], line[256];
    int minor = 0;
    size_t folder = (size_t)(base_name(interpreter) - interpreter);
    (void)snprintf(path, sizeof(path), "%.*s../pyvenv.cfg", (int)folder, interpreter);
    FILE *file = fopen(path, "re");
    while (file != NULL && minor == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "version", 7) == 0) {
            const char *value = strchr(line, '=');
            minor = value != NULL ? minor_of(value + 1 + strspn(value + 1, " ")) : 0;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return minor;
}

int gmt_python_minor(const char *interpreter)
{
    char file[PATH_MAX];
    int minor = minor_of(base_name(interpreter) + strlen("python"));
    if (minor == 0 && realpath(interpreter, file) != NULL && is_python_name(base_name(file))) {
        minor = minor_of(base_name(file) + strlen("python"));
    }
    return minor != 0 ? minor : minor_of_environment(interpreter);
}

void gmt_launcher_name_python(const char *program)
{
    char interpreter[PATH_MAX];
    const char *wish = getenv("GMTRACE_PYTHON");
    if ((wish != NULL && strcmp(wish, "off") == 0) || getenv("PYTHONPERFSUPPORT") != NULL ||
        program[0] == '\0' || !gmt_python_interpreter(program, interpreter)) {
        return;
    }
    bool asked = wish != NULL && strcmp(wish, "on") == 0;
    int minor = gmt_python_minor(interpreter);
    /* A Python that is too old takes no notice of the variable: one whose version is not known, say a
     * chooser of versions, can have it if the user asks. */
    bool sets = asked ? minor == 0 || minor >= FIRST_MINOR : minor >= FIRST_HARMLESS_MINOR;
    if (sets && setenv("PYTHONPERFSUPPORT", "1", 1) == 0) {
        (void)fprintf(stderr, "gmtrace: set PYTHONPERFSUPPORT=1, with which Python names its "
                              "functions, calls them slower and recurses less deep; --python off "
                              "leaves it\n");
    }
}

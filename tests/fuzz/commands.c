/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of gmanalyze, called in this process. argp ends a process where a line is wrong: it is linked
 * through here (--wrap) and comes back instead. What is printed goes to two files of the folder, and is
 * searched for bytes that would reach a terminal as they were in a trace.
 */
#include <argp.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/command_table.h"
#include "analyzer/commands/commands.h"
#include "tests/fuzz/fuzz.h"

static jmp_buf refused;
static bool is_dispatching;

error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input);
void __wrap_argp_error(const struct argp_state *state, const char *format, ...);
_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input)
{
    if (__real_argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT, index, input) != 0) {
        longjmp(refused, 1);
    }
    return 0;
}

void __wrap_argp_error(const struct argp_state *state, const char *format, ...)
{
    va_list arguments;

    (void)state;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    longjmp(refused, 1);
}

/* A mistyped option ends the program before argp sees it. */
void __wrap_exit(int status)
{
    if (is_dispatching) {
        longjmp(refused, 1);
    }
    __real_exit(status);
}

/* ---- what is printed ------------------------------------------------------------------------- */

/* Length of the UTF-8 character at `text`, its code in *code; 0: it is none. */
static size_t character(const uint8_t *text, size_t bytes, uint32_t *code)
{
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc2 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf5 ? 4
                                     : 0;

    if (length == 0 || length > bytes) {
        return 0;
    }
    *code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (text[i] & 0x3f);
    }
    return length;
}

/* Controls of a terminal, and what turns the direction of text. */
static bool is_control(uint32_t code)
{
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static void require_printable(const char *path)
{
    size_t bytes, length;
    uint8_t *text = gmt_fuzz_read(path, &bytes);

    for (size_t i = 0; i < bytes; i += length) {
        uint32_t code = 0;

        length = character(text + i, bytes - i, &code);
        if (length == 0 || is_control(code)) {
            fprintf(stderr, "%s: byte %zu is 0x%02x, behind: %.*s\n", path, i, text[i],
                    (int)(i < 200 ? i : 200), (const char *)text + (i < 200 ? 0 : i - 200));
            GMT_FUZZ_REQUIRE(!"foreign text reaches a terminal");
        }
    }
    free(text);
}

static int redirect(int stream, const char *name)
{
    int saved = dup(stream),
        file = open(gmt_fuzz_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

    if (saved < 0 || file < 0 || dup2(file, stream) < 0) {
        exit(2);
    }
    close(file);
    return saved;
}

static void restore(int stream, int saved)
{
    (void)dup2(saved, stream);
    close(saved);
}

/* ---- a command ------------------------------------------------------------------------------- */

enum { MOST_WORDS = 64 };

static int dispatch(int argc, char **argv)
{
    gmt_command_function *command = argc > 1 ? gmt_command_find(argv[1]) : NULL;

    if (setjmp(refused) != 0) {
        is_dispatching = false;
        return GMT_EXIT_USAGE;
    }
    is_dispatching = true;
    int status = command == NULL ? gmt_commands[GMT_COMMAND_ANALYZE](argc, argv)
                                 : command(argc - 1, argv + 1);
    is_dispatching = false;
    return status;
}

int gmt_fuzz_command(const char *const *words, enum gmt_fuzz_shown shown)
{
    char *argv[MOST_WORDS + 2] = {strdup("gmanalyze")}, *copies[MOST_WORDS + 2];
    int argc = 1, status, out, error, here = open(".", O_PATH | O_CLOEXEC);

    for (; words[argc - 1] != NULL && argc < MOST_WORDS; argc++) {
        argv[argc] = strdup(words[argc - 1]);
    }
    memcpy(copies, argv, sizeof(copies)); /* argp changes their order */
    fflush(NULL);
    out = redirect(STDOUT_FILENO, "stdout");
    error = redirect(STDERR_FILENO, "stderr");
    if (chdir(gmt_fuzz_folder()) != 0) {
        exit(2);
    }
    status = dispatch(argc, argv);
    fflush(NULL);
    if (fchdir(here) != 0) {
        exit(2);
    }
    restore(STDOUT_FILENO, out);
    restore(STDERR_FILENO, error);
    close(here);
    for (int i = 0; i < argc; i++) {
        free(copies[i]);
    }
    if (shown >= GMT_FUZZ_MESSAGES) {
        require_printable(gmt_fuzz_path("stderr"));
    }
    if (shown >= GMT_FUZZ_TEXT) {
        require_printable(gmt_fuzz_path("stdout"));
    }
    return status;
}

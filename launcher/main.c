/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace: runs a program under libgmtrace.so. Options come from libtrace/record/options.def. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"

/* The C library looks it up by name, past this build's hidden visibility. */
__attribute__((visibility("default"))) const char *argp_program_version = "gmtrace " GMT_VERSION;

enum option_key {
    KEY_FIRST = 0x100,
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) KEY_##field,
#include "libtrace/record/options.def"
#undef GMT_OPTION
};

static const struct argp_option options[] = {
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) \
    {flag, (letter) != 0 ? (letter) : KEY_##field, metavar, 0, help " (" variable ")", 0},
#include "libtrace/record/options.def"
#undef GMT_OPTION
    {NULL, 'h', NULL, OPTION_HIDDEN, "", 0},
    {0},
};

static const char *variable_of(int key)
{
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) \
    if (key == ((letter) != 0 ? (letter) : KEY_##field)) { \
        return variable; \
    }
#include "libtrace/record/options.def"
#undef GMT_OPTION
    return NULL;
}

/* Is `value` one of the words of "a|b|c"? Any value fits a metavar that names no words. */
static int fits(const char *metavar, const char *value)
{
    size_t length = strlen(value);
    if (strchr(metavar, '|') == NULL) {
        char *end;
        if (strcmp(metavar, "MIB") != 0 && strcmp(metavar, "PERCENT") != 0 &&
            strcmp(metavar, "N") != 0) {
            return length != 0;
        }
        return strtod(value, &end) >= 0 && end != value && *end == '\0';
    }
    for (const char *at = metavar; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strcspn(at, "|") == length && strncmp(at, value, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Folders add up; those of the environment come last. */
static error_t put_variable(int key, const char *variable, const char *value)
{
    char list[4096];
    const char *before = getenv(variable);
    if (key == KEY_debug_dir && before != NULL && before[0] != '\0') {
        if ((size_t)snprintf(list, sizeof(list), "%s:%s", value, before) >= sizeof(list)) {
            return E2BIG;
        }
        value = list;
    }
    return setenv(variable, value, 1) != 0 ? errno : 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    const char *variable = variable_of(key);
    if (variable != NULL && value == NULL) {
        return setenv(variable, "off", 1) != 0 ? errno : 0;
    }
    if (variable != NULL) {
        for (size_t i = 0; options[i].name != NULL; i++) {
            if (options[i].key == key && !fits(options[i].arg, value)) {
                argp_error(state, "--%s takes %s, not '%s'", options[i].name, options[i].arg,
                           value);
                return EINVAL;
            }
        }
        return put_variable(key, variable, value);
    }
    switch (key) {
    case 'h': argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP); return 0;
    case ARGP_KEY_ARG:
        /* The program: everything from here on is its own. */
        state->next--;
        *(char ***)state->input = &state->argv[state->next];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name the program to run (or doctor, calibrate)");
        return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int calibrate(char *const argv[])
{
    char path[PATH_MAX];
    if (gmt_launcher_part("gmcalibrate", path, sizeof(path)) != 0) {
        gmt_say(stderr, "gmtrace: gmcalibrate is not installed beside gmtrace; build with "
                        "the CUDA compiler to have it\n");
        return GMT_EXIT_FAILED;
    }
    execv(path, argv);
    gmt_say(stderr, "gmtrace: cannot run %s: %s\n", path, strerror(errno));
    return GMT_EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "PROGRAM [ARGUMENT...]\ndoctor [--json] [PROGRAM]\ncalibrate [OPTION...]",
        .doc =
            "Record the memory traffic of a CUDA program.\v"
            "gmtrace returns the program's own exit status, 128+N if signal N ended it, 125 when "
            "gmtrace itself fails, 126 when PROGRAM cannot be run, 127 when it is not found.",
    };
    char **program = NULL;
    argp_err_exit_status = GMT_EXIT_FAILED;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &program) != 0 || program == NULL) {
        return GMT_EXIT_FAILED;
    }
    /* A program of that name is reached as ./doctor. */
    if (strcmp(program[0], "doctor") == 0) {
        return gmt_launcher_doctor(program);
    }
    if (strcmp(program[0], "calibrate") == 0) {
        return calibrate(program);
    }
    return gmt_launcher_run(program);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace: runs a program under libgmtrace.so. Options come from libtrace/record/options.def. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/option_check.h"
#include "libtrace/base/printable.h"
#include "libtrace/base/standard_output.h"
#include "libtrace/record/option_limits.h"
#include "libtrace/record/ring_limits.h"
#include "libtrace/settings/dump_on.h"
#include "libtrace/settings/labels.h"

/* The C library looks it up by name, past this build's hidden visibility. */
__attribute__((visibility("default"))) const char *argp_program_version = "gmtrace " GMT_VERSION;

enum option_key {
    KEY_FIRST = 0x100,
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) KEY_##field,
#include "libtrace/record/options.def"
#undef GMT_OPTION
};

static const struct argp_option options[] = {
#define GMT_OPTION_GROUP(title) {NULL, 0, NULL, 0, title, 0},
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

/* What a flag without a value sets its variable to: the other of on and off. */
static const char *value_of_flag(int key)
{
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) \
    if (key == ((letter) != 0 ? (letter) : KEY_##field)) { \
        return strcmp(standard, "off") == 0 ? "on" : "off"; \
    }
#include "libtrace/record/options.def"
#undef GMT_OPTION
    return NULL;
}

static const struct limits {
    int key;
    double least, most;
} limits[] = {
#define GMT_LIMIT(field, least, most) {KEY_##field, least, most},
    GMT_OPTION_LIMITS(GMT_LIMIT)
#undef GMT_LIMIT
};

/* NULL: the option takes no number. */
static const struct limits *limits_of(int key)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].key == key) {
            return &limits[i];
        }
    }
    return NULL;
}

/* A number within the limits of its option, or one of the words of the metavar "a|b|c"; a metavar that
 * names neither takes anything. */
static bool fits(int key, const char *metavar, const char *value)
{
    struct gmt_ring_limits ring;
    char step[GMT_SETTINGS_STEP_BYTES];
    if (key == KEY_ring) {
        return gmt_ring_limits_read(value, &ring) == 0;
    }
    if (key == KEY_dump_on) {
        return gmt_dump_on_read(value, step) == 0;
    }
    if (key == KEY_label) {
        return value[0] != '\0' && gmt_labels_check(value) == 0;
    }
    const struct limits *limit = limits_of(key);
    size_t length = strlen(value);
    if (limit != NULL) {
        char *end;
        double number = strtod(value, &end);
        end += key == KEY_overhead && *end == '%';
        if (end != value && *end == '\0') {
            return number >= limit->least && number <= limit->most;
        }
    }
    if (limit == NULL && strchr(metavar, '|') == NULL) {
        return length != 0;
    }
    for (const char *at = metavar; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        /* What stands there for a number is in capitals. */
        if (strcspn(at, "|") == length && strncmp(at, value, length) == 0 &&
            (limit == NULL || (*at >= 'a' && *at <= 'z'))) {
            return true;
        }
    }
    return false;
}

static _Noreturn void refuse(struct argp_state *state, const struct argp_option *option,
                             const char *value)
{
    const struct limits *limit = limits_of(option->key);
    const char *words = strchr(option->arg, '|');
    if (limit != NULL) {
        argp_error(state, "--%s takes a number from %.0f to %.0f%s%s, not '%s'", option->name,
                   limit->least, limit->most, words != NULL ? ", or " : "",
                   words != NULL ? words + 1 : "", value);
    } else {
        argp_error(state, "--%s takes %s, not '%s'", option->name, option->arg, value);
    }
    exit(GMT_EXIT_FAILED);
}

/* Folders and labels add up; those of the environment come last. */
static error_t put_variable(int key, const char *variable, const char *value)
{
    char list[4096];
    const char *before = getenv(variable);
    char between = key == KEY_debug_dir ? ':' : key == KEY_label ? ',' : '\0';
    if (between != '\0' && before != NULL && before[0] != '\0') {
        if ((size_t)snprintf(list, sizeof(list), "%s%c%s", value, between, before) >=
            sizeof(list)) {
            return E2BIG;
        }
        value = list;
    }
    return setenv(variable, value, 1) != 0 ? errno : 0;
}

/* `--report ./app`: the program was taken for the report's name. */
static void refuse_program_as_report(struct argp_state *state)
{
    const char *report = getenv("GMTRACE_REPORT");
    if (report != NULL && report[0] != '\0' && !gmt_launcher_is_report(report)) {
        argp_error(state, "--report '%s': name the report, then the program: --report page.html %s",
                   report, report);
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    const char *variable = variable_of(key);
    if (variable != NULL && value == NULL) {
        return setenv(variable, value_of_flag(key), 1) != 0 ? errno : 0;
    }
    if (variable != NULL) {
        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
            if (options[i].key == key && !fits(key, options[i].arg, value)) {
                refuse(state, &options[i], value);
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
        refuse_program_as_report(state);
        argp_error(state, "name the program to run (or try, apply, doctor, calibrate, dump, on, "
                          "off, status, top)");
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
    char name[] = "gmtrace calibrate";
    ((char **)argv)[0] = name;
    execv(path, argv);
    gmt_say(stderr, "gmtrace: cannot run %s: %s\n", path, strerror(errno));
    return GMT_EXIT_FAILED;
}

static int count_of(char *const argv[])
{
    int count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    return count;
}

static int dump(char *const argv[])
{
    return gmt_launcher_dump(count_of(argv), (char **)argv);
}

static int top(char *const argv[])
{
    return gmt_launcher_top(count_of(argv), (char **)argv);
}

/* Commands that take the rest of the line. */
static const struct {
    const char *name;
    int (*run)(char *const argv[]);
} commands[] = {
    {"try", gmt_launcher_try},
    {"apply", gmt_launcher_apply},
    {"doctor", gmt_launcher_doctor},
    {"calibrate", calibrate},
    {"dump", dump},
    {"on", gmt_launcher_switch},
    {"off", gmt_launcher_switch},
    {"status", gmt_launcher_status},
    {"top", top},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "PROGRAM [ARGUMENT...]\ntry [OPTION...] [RULE...] PROGRAM [ARGUMENT...]\n"
                "apply FILE PROGRAM [ARGUMENT...]\ndoctor [--json] [PROGRAM]\ncalibrate "
                "[OPTION...]\ndump PID [-o FILE]\non PID\noff PID\nstatus [PID]\ntop [OPTION...] "
                "[PID]\nhelp [COMMAND]",
    .doc = "Record the memory traffic of a CUDA program.\v"
           "Commands:\n"
           "  try        run a program with fixes applied, and measure what they gain\n"
           "  apply      run it with those that were proven, without recording\n"
           "  doctor     what can be recorded here, and how to fix the rest\n"
           "  calibrate  measure this device, for the prices of gmanalyze\n"
           "  dump       a trace of the last seconds of a program under --ring\n"
           "  on, off    switch the recording of a process that runs\n"
           "  status     how a process, or all of yours, are being recorded\n"
           "  top        what a process copies, launches and holds, once a second\n"
           "  help       this text, or that of a command\n"
           "A program that has one of these names needs its folder: ./doctor.\n\n"
           "Examples:\n"
           "  gmtrace ./app && gmanalyze trace.db\n"
           "  gmtrace --device sim ./app             # without a GPU\n"
           "  gmtrace --range train python train.py\n"
           "  gmtrace --ring 30s,256M ./app  # then: dump\n"
           "  mpirun -n 8 gmtrace -o trace-%r.db ./app\n\n"
           "gmtrace returns the program's own exit status, 128+N if signal N ended it, 125 when "
           "gmtrace itself fails, 126 when PROGRAM cannot be run, 127 when it is not found.",
};

static int help(char *const argv[])
{
    char name[] = "gmtrace", option[] = "--help";
    char *line[] = {argv[1], option, NULL};
    if (argv[1] == NULL) {
        argp_help(&argp, stdout, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK, name);
        return 0;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(line);
        }
    }
    gmt_say(
        stderr,
        "gmtrace: no command '%s' (try, apply, doctor, calibrate, dump, on, off, status, top)\n",
        argv[1]);
    return GMT_EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    char **program = NULL;
    argp_err_exit_status = GMT_EXIT_FAILED;
    gmt_standard_output_watch("gmtrace", GMT_EXIT_FAILED);
    if (gmt_option_check("gmtrace", options, true, argc, argv)) {
        return GMT_EXIT_FAILED;
    }
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &program) != 0 || program == NULL) {
        return GMT_EXIT_FAILED;
    }
    /* A program of that name needs its folder: ./doctor. */
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(program[0], commands[i].name) == 0) {
            return commands[i].run(program);
        }
    }
    if (strcmp(program[0], "help") == 0) {
        return help(program);
    }
    return gmt_launcher_run(program);
}

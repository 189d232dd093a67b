/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `gmtrace try`. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "launcher/try/try.h"
#include "libtrace/base/file.h"
#include "libtrace/base/nearest.h"
#include "libtrace/base/printable.h"

#define STANDARD_FOR_S 60.0

static const char usage[] =
    "Usage: gmtrace [--device sim] try [OPTION...] [RULE|FIX...] [--] PROGRAM [ARGUMENT...]";

static void print_help(void)
{
    gmt_say(stdout, "%s\n", usage);
    gmt_say(stdout, "Runs PROGRAM with and without fixes that need no change of it, in turns, and "
                    "prints what each gains, what it was applied to, and whether all that comes "
                    "back to the host is equal.\n");
    gmt_say(stdout, "  --turns N     so many pairs of runs; standard: until the interval is "
                    "narrow, or --for is used up\n");
    gmt_say(stdout, "  --for TIME    for all runs together, as 60s or 5m (standard: 60s)\n");
    gmt_say(stdout, "  --sweep       each setting with several values, of which the plan gets the "
                    "best\n");
    gmt_say(stdout, "  --trace FILE  a trace of PROGRAM: prints what gmanalyze predicts beside\n");
    gmt_say(stdout, "  -o, --output FILE  the plan for gmtrace apply (standard: try.plan)\n");
    gmt_say(stdout, "  --json        the report as JSON on standard output, in place of what "
                    "PROGRAM prints there\n");
    gmt_say(stdout, "  --results FILE  the same report as a file, for gmanalyze --tried (standard: "
                    "try.json, beside the plan)\n");
    gmt_say(stdout, "Fixes, and the rules whose findings they repair:\n");
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        const struct gmt_fix_row *row = &gmt_fixes[i];
        gmt_say(stdout, "  %s%s%s%s: %s\n", row->name, row->rules[0] != '\0' ? " (" : "",
                row->rules, row->rules[0] != '\0' ? ")" : "", row->what);
    }
}

static bool parse_time(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    double unit = strcmp(end, "m") == 0 ? 60 : strcmp(end, "h") == 0 ? 3600 : 1;
    bool good = end != text && (*end == '\0' || strcmp(end, "s") == 0 || unit > 1);
    *seconds *= unit;
    return good && *seconds > 0 && *seconds <= 1e6;
}

static bool parse_turns(const char *text, unsigned *turns)
{
    char *end;
    long value = strtol(text, &end, 10);
    *turns = (unsigned)value;
    return end != text && *end == '\0' && value >= 1 && value <= GMT_TRY_MOST_TURNS;
}

/* An option with a value: "--name value" or "--name=value". NULL: it is another, or has none. */
static const char *value_of(const char *name, char *const argv[], size_t *at)
{
    size_t length = strlen(name);
    if (strcmp(argv[*at], name) == 0 && argv[*at + 1] != NULL) {
        return argv[++*at];
    }
    return strncmp(argv[*at], name, length) == 0 && argv[*at][length] == '='
               ? argv[*at] + length + 1
               : NULL;
}

/* In capitals, as fixes have it. False: the word is none. */
static bool read_rule(const char *word, char rule[static 6])
{
    bool is = strlen(word) == 5 && strncasecmp(word, "GM", 2) == 0 &&
              strspn(word + 2, "0123456789") == 3;
    (void)snprintf(rule, 6, "GM%.3s", is ? word + 2 : "");
    return is;
}

/* Chooses the fixes of that name, or of that rule. False: the word is neither. */
static bool choose(const char *word, struct gmt_try_options *options)
{
    char rule[6];
    bool any = false, is_rule = read_rule(word, rule);
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        bool is_meant = strcmp(word, gmt_fixes[i].name) == 0 ||
                        (is_rule && strstr(gmt_fixes[i].rules, rule) != NULL);
        options->wanted[i] = options->wanted[i] || is_meant;
        any = any || is_meant;
    }
    return any;
}

/* A mistyped fix is taken for the program. True: it is said. */
static bool is_mistyped(const char *word)
{
    char path[PATH_MAX];
    const char *names[GMT_FIX_COUNT];
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        names[i] = gmt_fixes[i].name;
    }
    gmt_program_find(word, path);
    const char *meant = path[0] == '\0' ? gmt_nearest(word, names, GMT_FIX_COUNT) : NULL;
    if (meant != NULL) {
        gmt_say(stderr, "gmtrace: try: there is no fix and no program '%s'; did you mean: %s\n",
                word, meant);
    }
    return meant != NULL;
}

/* 1: an option, 0: none, -1: a wrong one, which is said. */
static int parse_option(char *const argv[], size_t *at, struct gmt_try_options *options)
{
    const char *word = argv[*at], *value;
    if (word[0] != '-' || word[1] == '\0') {
        return 0;
    }
    if (strcmp(word, "--json") == 0) {
        options->json = true;
        return 1;
    }
    if (strcmp(word, "--sweep") == 0) {
        options->sweep = true;
        return 1;
    }
    if ((value = value_of("--turns", argv, at)) != NULL) {
        if (!parse_turns(value, &options->turns)) {
            gmt_say(stderr, "gmtrace: --turns takes a number from 1 to %d, not '%s'\n",
                    GMT_TRY_MOST_TURNS, value);
            return -1;
        }
        return 1;
    }
    if ((value = value_of("--for", argv, at)) != NULL) {
        if (!parse_time(value, &options->for_s)) {
            gmt_say(stderr, "gmtrace: --for takes a time as 60s or 5m, not '%s'\n", value);
            return -1;
        }
        return 1;
    }
    if ((value = value_of("--trace", argv, at)) != NULL) {
        options->trace = value;
        return 1;
    }
    if ((value = value_of("--results", argv, at)) != NULL) {
        options->results = value;
        return 1;
    }
    if ((value = value_of("--output", argv, at)) != NULL ||
        (value = value_of("-o", argv, at)) != NULL) {
        options->output = value;
        return 1;
    }
    gmt_say(stderr, "gmtrace: try: '%s' is no option of it, or has no value\n", word);
    gmt_say(stderr, "%s\n", usage);
    return -1;
}

/* "app.json" beside "app.plan"; beside what is no file none is written. */
static void place_results(struct gmt_try_options *options)
{
    static const char ending[] = ".plan";
    struct stat info;
    size_t length = strlen(options->output);
    size_t stem = length >= sizeof(ending) &&
                          strcmp(options->output + length - (sizeof(ending) - 1), ending) == 0
                      ? length - (sizeof(ending) - 1)
                      : length;
    if (options->results == NULL && (stat(options->output, &info) != 0 || S_ISREG(info.st_mode)) &&
        snprintf(options->results_path, sizeof(options->results_path), "%.*s.json", (int)stem,
                 options->output) < (int)sizeof(options->results_path)) {
        options->results = options->results_path;
    }
}

/* False: it is said. The program is not to run first. */
static bool can_write(const char *path)
{
    int error = gmt_file_check(path);
    if (error == -EEXIST) {
        gmt_say(stderr, "gmtrace: '%s' is a trace, and is not replaced; name another file\n", path);
    } else if (error != 0) {
        gmt_say(stderr, "gmtrace: cannot write '%s': %s\n", path, strerror(-error));
    }
    return error == 0;
}

static bool check_outputs(const struct gmt_try_options *options)
{
    if (!can_write(options->output) || (options->results != NULL && !can_write(options->results))) {
        return false;
    }
    if (options->results != NULL && gmt_file_is_same(options->output, options->results)) {
        gmt_say(stderr, "gmtrace: '%s' cannot be both: the plan (-o) and the report (--results)\n",
                options->results);
        return false;
    }
    return true;
}

int gmt_try_parse(char *const argv[], struct gmt_try_options *options, int *status)
{
    bool any = false, ended = false;
    char rule[6];
    size_t at = 1;
    *status = GMT_EXIT_FAILED;
    *options = (struct gmt_try_options){.for_s = STANDARD_FOR_S, .output = "try.plan"};
    options->on_software = gmt_launcher_wants_software_device();
    for (; argv[at] != NULL && !ended; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            print_help();
            *status = 0;
            return -1;
        }
        if (strcmp(argv[at], "--") == 0) {
            ended = true;
            continue;
        }
        int is_option = parse_option(argv, &at, options);
        if (is_option < 0) {
            return -1;
        }
        if (is_option == 0 && choose(argv[at], options)) {
            any = true;
        } else if (is_option == 0 && read_rule(argv[at], rule)) {
            gmt_say(stderr, "gmtrace: no fix for %s can be tried (gmtrace try --help lists them)\n",
                    rule);
            return -1;
        } else if (is_option == 0) {
            break;
        }
    }
    options->program = &argv[at];
    place_results(options);
    for (unsigned i = 0; i < GMT_FIX_COUNT && !any; i++) {
        options->wanted[i] = true;
    }
    if (argv[at] == NULL) {
        gmt_say(stderr, "gmtrace: try: name the program to run\n");
        gmt_say(stderr, "%s\n", usage);
        return -1;
    }
    if (!ended && is_mistyped(argv[at])) {
        *status = GMT_EXIT_NOT_FOUND;
        return -1;
    }
    return check_outputs(options) ? 0 : -1;
}

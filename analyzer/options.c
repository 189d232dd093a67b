/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of gmanalyze. */
#include "analyzer/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/rule.h"

/* The C library looks it up by name, past this build's hidden visibility. */
__attribute__((visibility("default"))) const char *argp_program_version = "gmanalyze " GMT_VERSION;

enum {
    OPT_CALIBRATE = 256,
    OPT_FORMAT,
    OPT_RULE,
    OPT_SKIP_RULE,
    OPT_EXPLAIN,
    OPT_LIST_RULES,
    OPT_TOP,
    OPT_FAIL_ON,
    OPT_MODEL,
    OPT_STRICT,
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0,
     "Also write a report to FILE: .html, .json or .txt. May be given several times.", 0},
    {"format", OPT_FORMAT, "text|json|html", 0, "What goes to standard output (text)", 0},
    {"top", OPT_TOP, "N", 0, "Show the N largest findings in text (10; 0: all)", 0},
    {"rule", OPT_RULE, "ID", 0, "Run only this rule; may be repeated", 1},
    {"skip-rule", OPT_SKIP_RULE, "ID", 0, "Do not run this rule; may be repeated", 1},
    {"list-rules", OPT_LIST_RULES, NULL, 0, "List the rules and exit", 1},
    {"explain", OPT_EXPLAIN, "ID", 0, "Explain a rule and exit", 1},
    {"calibrate", OPT_CALIBRATE, "auto|now|never", 0,
     "Measure this GPU first: when there is no model of it and this is a terminal (auto), always, "
     "or never",
     2},
    {"model", OPT_MODEL, "FILE", 0, "Price with this device model", 2},
    {"fail-on", OPT_FAIL_ON, "never|high|medium|any", 0,
     "Exit with 1 when there is a finding of at least this severity (never)", 3},
    {"strict", OPT_STRICT, NULL, 0, "Exit with 4 when something could not be checked", 3},
    {0}};

/* Index of word among names, or -1. */
static int choice(const char *word, const char *const *names, int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(word, names[i]) == 0)
            return i;
    }
    return -1;
}

static void add_name(const char **list, size_t *count, const char *name, struct argp_state *state)
{
    if (*count == GMT_OPTIONS_MAX_LIST)
        argp_error(state, "more than %d of one kind: '%s'", GMT_OPTIONS_MAX_LIST, name);
    list[(*count)++] = name;
}

static void add_rule(const char **list, size_t *count, const char *name, struct argp_state *state)
{
    if (gmt_rule_find(name) == NULL)
        argp_error(state, "no rule '%s' (gmanalyze --list-rules)", name);
    add_name(list, count, name, state);
}

static void add_output(struct gmt_options *options, const char *path, struct argp_state *state)
{
    const char *dot = strrchr(path, '.');
    const struct gmt_writer *writer = dot != NULL ? gmt_writer_find_extension(dot + 1) : NULL;

    if (writer == NULL)
        argp_error(state, "'%s': the name must end in .html, .json or .txt", path);
    if (options->output_count == GMT_OPTIONS_MAX_LIST)
        argp_error(state, "too many outputs");
    options->outputs[options->output_count++] = (struct gmt_output){path, writer};
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    static const char *const calibrations[] = {"auto", "now", "never"};
    static const char *const severities[] = {"never", "high", "medium", "any"};
    struct gmt_options *options = state->input;
    char *end = NULL;
    int index;

    switch (key) {
    case 'o': add_output(options, argument, state); return 0;
    case OPT_FORMAT:
        options->writer = gmt_writer_find(argument);
        if (options->writer == NULL)
            argp_error(state, "--format: '%s' is none of text, json, html", argument);
        return 0;
    case OPT_TOP:
        options->top = (size_t)strtoul(argument, &end, 10);
        if (end == argument || *end != '\0' || argument[0] == '-')
            argp_error(state, "--top: '%s' is not a number", argument);
        return 0;
    case OPT_RULE: add_rule(options->only, &options->only_count, argument, state); return 0;
    case OPT_SKIP_RULE: add_rule(options->skip, &options->skip_count, argument, state); return 0;
    case OPT_LIST_RULES: options->list_rules = true; return 0;
    case OPT_EXPLAIN:
        if (gmt_rule_find(argument) == NULL)
            argp_error(state, "no rule '%s' (gmanalyze --list-rules)", argument);
        options->explain = argument;
        return 0;
    case OPT_CALIBRATE:
        index = choice(argument, calibrations, 3);
        if (index < 0)
            argp_error(state, "--calibrate: '%s' is none of auto, now, never", argument);
        options->calibrate = (enum gmt_calibrate)index;
        return 0;
    case OPT_MODEL: options->model_file = argument; return 0;
    case OPT_FAIL_ON:
        index = choice(argument, severities, 4);
        if (index < 0)
            argp_error(state, "--fail-on: '%s' is none of never, high, medium, any", argument);
        options->fail_on = (enum gmt_fail_on)index;
        return 0;
    case OPT_STRICT: options->strict = true; return 0;
    case ARGP_KEY_ARG: add_name(options->traces, &options->trace_count, argument, state); return 0;
    case ARGP_KEY_END:
        if (options->list_rules || options->explain != NULL)
            return 0;
        if (options->trace_count == 0)
            argp_error(state, "no trace given");
        if (options->trace_count > 1 &&
            (options->output_count > 0 || strcmp(options->writer->name, "text") != 0))
            argp_error(state, "-o, json and html take one trace at a time");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void gmt_options_parse(struct gmt_options *options, int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "TRACE.db...",
        .doc = "Find what moves bytes badly in a recorded CUDA program, and what each costs.\v"
               "Exit status: 0; 1 --fail-on found something; 2 usage; 3 a trace cannot be read; "
               "4 --strict and something could not be checked. Results go to standard output, "
               "everything else to standard error."};

    *options = (struct gmt_options){.writer = gmt_writer_find("text"), .top = 10};
    argp_err_exit_status = GMT_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, options);
}

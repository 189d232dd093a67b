/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of an analysis. */
#include "analyzer/commands/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/findings/rule.h"
#include "analyzer/run/rules.h"
#include "libtrace/base/printable.h"
#include "reports/several/several.h"

static void add_name(const char **list, size_t *count, const char *name, struct argp_state *state)
{
    if (*count == GMT_OPTIONS_MAX_LIST) {
        gmt_command_wrong(state, "more than %d of one kind: '%s'", GMT_OPTIONS_MAX_LIST, name);
    }
    list[(*count)++] = name;
}

static void wrong_rule(const char *name, struct argp_state *state)
{
    const char *near[3];
    size_t n = gmt_rules_near(name, near, sizeof(near) / sizeof(near[0]));
    char meant[256] = "";

    for (size_t i = 0, used = 0; i < n && used < sizeof(meant); i++) {
        used += (size_t)snprintf(meant + used, sizeof(meant) - used, "%s'%s'%s",
                                 i == 0 ? "; did you mean " : " or ", near[i],
                                 i + 1 == n ? "?" : "");
    }
    gmt_command_wrong(state, "no rule '%s'%s (gmanalyze --list-rules)", name, meant);
}

static void add_rule(const char **list, size_t *count, const char *name, struct argp_state *state)
{
    if (gmt_rule_find(name) == NULL) {
        wrong_rule(name, state);
    }
    add_name(list, count, name, state);
}

static void add_output(struct gmt_analyze_options *options, const char *path,
                       struct argp_state *state)
{
    /* SARIF goes by both endings. */
    static const char sarif[] = ".sarif.json";
    size_t length = strlen(path), ending = sizeof(sarif) - 1;
    const char *dot = strrchr(path, '.');
    const struct gmt_writer *writer = dot != NULL ? gmt_writer_find_extension(dot + 1) : NULL;

    if (length > ending && strcmp(path + length - ending, sarif) == 0) {
        writer = &gmt_writer_sarif;
    }

    if (writer == NULL) {
        gmt_command_wrong(state, "'%s': the name must end in " GMT_FORMAT_ENDINGS, path);
    }
    if (options->output_count == GMT_OPTIONS_MAX_LIST) {
        argp_error(state, "too many outputs");
    }
    options->outputs[options->output_count++] = (struct gmt_output){path, writer};
}

static void set_writer(struct gmt_analyze_options *options, int key, const char *name,
                       struct argp_state *state)
{
    (void)gmt_command_choice(state, key, name);
    options->writer = gmt_writer_find(name);
}

/* More than any report has. */
#define TOP_MOST 1000000000u

static void set_top(struct gmt_analyze_options *options, const char *text, struct argp_state *state)
{
    char *end = NULL;

    options->top = (size_t)strtoul(text, &end, 10);
    options->top_given = true;
    if (end == text || *end != '\0' || text[0] == '-') {
        gmt_command_wrong(state, "--top: '%s' is not a number", text);
    }
    if (options->top > TOP_MOST) {
        gmt_command_wrong(state, "--top: '%s' is too much; 0 shows all", text);
    }
}

/* "5%" or "5" */
static void set_regression(struct gmt_analyze_options *options, const char *text,
                           struct argp_state *state)
{
    char *end = NULL;
    double percent = strtod(text, &end);

    end += end != text && *end == '%';
    if (end == text || *end != '\0' || !(percent >= 0) || isinf(percent)) {
        gmt_command_wrong(state, "--max-regression: '%s' is no percentage", text);
    }
    options->max_regression = percent / 100;
}

static void set_kernel(struct gmt_analyze_options *options, const char *pattern,
                       struct argp_state *state)
{
    char why[256];
    int rc;

    if (options->kernel != NULL) {
        argp_error(state, "--kernel: given twice; join the expressions with |");
    }
    rc = regcomp(&options->kernel_pattern, pattern, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        regerror(rc, &options->kernel_pattern, why, sizeof(why));
        gmt_command_wrong(state, "--kernel: '%s': %s", pattern, why);
    }
    options->kernel = &options->kernel_pattern;
}

static void set_explain(struct gmt_analyze_options *options, const char *name,
                        struct argp_state *state)
{
    if (gmt_rule_find(name) == NULL) {
        wrong_rule(name, state);
    }
    options->explain = name;
}

/* What no single option decides. */
static void check_line(const struct gmt_analyze_options *options, struct argp_state *state)
{
    if (options->list_rules || options->explain != NULL) {
        return;
    }
    if (options->trace_count == 0) {
        argp_error(state, "no trace given");
    }
    if (options->command == GMT_COMMAND_DIFF && options->trace_count != 2) {
        argp_error(state, "name two traces");
    }
    if (options->trace_count == 1) {
        return;
    }
    if (options->memory_snapshot != NULL) {
        argp_error(state, "--memory-snapshot: name one trace, that of the same process");
    }
    if (options->tried != NULL && options->command != GMT_COMMAND_DIFF) {
        argp_error(state, "--tried: name one trace, that of the program it was tried on");
    }
    for (size_t i = 0; i < options->output_count; i++) {
        if (gmt_several_writer_find(options->outputs[i].writer->name) == NULL) {
            gmt_command_wrong(state,
                              "%s: several traces can be written as " GMT_SEVERAL_FORMAT_NAMES,
                              options->outputs[i].path);
        }
    }
    if (gmt_several_writer_find(options->writer->name) == NULL) {
        argp_error(state, "--format: several traces can be written as " GMT_SEVERAL_FORMAT_NAMES);
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct gmt_analyze_options *options = state->input;

    switch (key) {
    case 'o': add_output(options, argument, state); return 0;
    case GMT_KEY_format:
    case GMT_KEY_diff_format: set_writer(options, key, argument, state); return 0;
    case GMT_KEY_top:
    case GMT_KEY_fixes_top: set_top(options, argument, state); return 0;
    case GMT_KEY_editor_url: options->editor_url = argument; return 0;
    case GMT_KEY_source_root: options->source_root = argument; return 0;
    case GMT_KEY_rule: add_rule(options->only, &options->only_count, argument, state); return 0;
    case GMT_KEY_skip_rule:
        add_rule(options->skip, &options->skip_count, argument, state);
        return 0;
    case GMT_KEY_kernel: set_kernel(options, argument, state); return 0;
    case GMT_KEY_range: options->range = argument; return 0;
    case GMT_KEY_memory_snapshot: options->memory_snapshot = argument; return 0;
    case GMT_KEY_tried: options->tried = argument; return 0;
    case GMT_KEY_list_rules: options->list_rules = true; return 0;
    case GMT_KEY_explain: set_explain(options, argument, state); return 0;
    case GMT_KEY_calibrate:
        options->calibrate = (enum gmt_calibrate)gmt_command_choice(state, key, argument);
        return 0;
    case GMT_KEY_model: options->model_file = argument; return 0;
    case GMT_KEY_fail_on:
        options->fail_on = (enum gmt_fail_on)gmt_command_choice(state, key, argument);
        return 0;
    case GMT_KEY_budget: options->budget = argument; return 0;
    case GMT_KEY_baseline:
        add_name(options->baselines, &options->baseline_count, argument, state);
        return 0;
    case GMT_KEY_max_regression: set_regression(options, argument, state); return 0;
    case GMT_KEY_strict: options->strict = true; return 0;
    case GMT_KEY_long_names: options->long_names = true; return 0;
    case GMT_KEY_color:
        options->color = (enum gmt_color)gmt_command_choice(state, key, argument);
        return 0;
    case GMT_KEY_redact:
        options->redact = gmt_command_choice(state, key, argument) == 0 ? GMT_REDACT_PATHS
                                                                        : GMT_REDACT_NAMES;
        return 0;
    case ARGP_KEY_ARG: add_name(options->traces, &options->trace_count, argument, state); return 0;
    case ARGP_KEY_END: check_line(options, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static bool plain(const char *word)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "%+,-./:=@_";

    return word[0] != '\0' && word[strspn(word, allowed)] == '\0';
}

static void quote(FILE *out, const char *word)
{
    if (plain(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    }
    fputc('\'', out);
}

/* What a word shows of itself: of "--model=/a/b.json", "--model=b.json". */
static void quote_base(FILE *out, const char *word)
{
    const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
    const char *value = equals != NULL ? equals + 1 : word;

    fprintf(out, "%.*s", (int)(value - word), word);
    quote(out, gmt_redact_path(value));
}

/* A value that says nothing of the program: a number, a rule, a word that an option offers. */
static bool is_public_value(const char *value)
{
    return value[strspn(value, "0123456789.%")] == '\0' || gmt_rule_find(value) != NULL ||
           gmt_command_offers(value);
}

/* The option alone: its value names a file, a kernel, a range. */
static void quote_option(FILE *out, const char *word)
{
    bool flag = word[0] == '-' && word[1] != '\0';
    size_t length = flag && word[1] == '-' ? strcspn(word, "=") : 0;

    if (flag && word[1] != '-') {
        length = 2;
    }
    length = length < strlen(word) ? length : strlen(word);
    fprintf(out, "%.*s", (int)length, word);
    if (word[length] == '\0') {
        return;
    }
    const char *value = word + length + (word[length] == '=');
    fputs(word[length] == '=' ? "=" : "", out);
    if (is_public_value(value)) {
        quote(out, value);
    } else {
        fputs("...", out);
    }
}

static char *quoted(const char *program, int argc, char **argv, enum gmt_redact redact)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL) {
        return NULL;
    }
    fputs(program, out);
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        if (redact == GMT_REDACT_NAMES) {
            quote_option(out, argv[i]);
        } else if (redact == GMT_REDACT_PATHS) {
            quote_base(out, argv[i]);
        } else {
            quote(out, argv[i]);
        }
    }
    return fclose(out) == 0 ? text : NULL;
}

/* What --help says behind the options: the commands in a clause each, examples, the status. */
static void describe(char *text, size_t bytes)
{
    static const char rest[] =
        "\nExamples:\n"
        "  gmanalyze trace.db -o report.html     # the same as a page\n"
        "  gmanalyze diff before.db after.db\n"
        "  gmanalyze --fail-on high trace.db     # for CI: status 1\n"
        "  gmanalyze --explain GM102\n\n"
        "Exit status: 0; 1 a gate has failed: --fail-on, --budget, --baseline; 2 usage; 3 a trace "
        "cannot be read, or a report not written; 4 --strict and something could not be checked. "
        "Results go to standard output, everything else to standard error.";
    size_t used = (size_t)snprintf(
        text, bytes, "Commands, each with options of its own (gmanalyze help COMMAND):\n");

    for (size_t i = GMT_COMMAND_ANALYZE + 1; i < GMT_COMMANDS && used < bytes; i++) {
        const char *summary = gmt_command_words[i].summary;

        used += (size_t)snprintf(text + used, bytes - used, "  %-10s %.*s\n",
                                 gmt_command_words[i].name, (int)strcspn(summary, ".,;:"), summary);
    }
    if (used < bytes) {
        snprintf(text + used, bytes - used, "%s", rest);
    }
}

void gmt_options_parse(struct gmt_analyze_options *options, enum gmt_command_index command,
                       int argc, char **argv)
{
    char doc[2048];

    *options = (struct gmt_analyze_options){
        .writer = gmt_writer_find("text"), .top = 10, .command = command, .max_regression = 0.05};
    describe(doc, sizeof(doc));
    gmt_command_parse(command, parse_option, command == GMT_COMMAND_ANALYZE ? doc : NULL, argc,
                      argv, options);
    options->reproduce = quoted(command == GMT_COMMAND_DIFF ? "gmanalyze diff" : "gmanalyze", argc,
                                argv, options->redact);
}

bool gmt_options_can_write(const struct gmt_analyze_options *options)
{
    for (size_t i = 0; i < options->output_count; i++) {
        const char *path = options->outputs[i].path, *slash = strrchr(path, '/');
        char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
        struct stat there;
        bool taken = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
        bool can = folder != NULL && !taken && access(folder, W_OK | X_OK) == 0;

        if (!can) {
            gmt_say(stderr, "gmanalyze: %s: %s\n", path,
                    gmt_command_reason(taken            ? -EISDIR
                                       : folder != NULL ? -errno
                                                        : -ENOMEM));
        }
        free(folder);
        if (!can) {
            return false;
        }
    }
    return true;
}

void gmt_options_free(struct gmt_analyze_options *options)
{
    free(options->reproduce);
    if (options->kernel != NULL) {
        regfree(&options->kernel_pattern);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze lines: the source of kernels with what each line moved beside it. */
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/lines_write.h"

/* In the order of the words of --format. */
static void (*const writers[])(const struct gmt_lines_view *view) = {gmt_lines_text,
                                                                     gmt_lines_json};

struct lines_options {
    const char *trace;
    regex_t kernel;
    bool has_kernel;
    long top, context;
    int format;
};

static long count_of(struct argp_state *state, const char *option, const char *text)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < 0)
        argp_error(state, "--%s: '%s' is no count", option, text);
    return value;
}

static void set_kernel(struct lines_options *options, const char *pattern, struct argp_state *state)
{
    char why[256];
    int rc = options->has_kernel ? 0 : regcomp(&options->kernel, pattern, REG_EXTENDED | REG_NOSUB);

    if (options->has_kernel)
        argp_error(state, "--kernel: given twice; join the expressions with |");
    if (rc != 0) {
        regerror(rc, &options->kernel, why, sizeof(why));
        argp_error(state, "--kernel: '%s': %s", pattern, why);
    }
    options->has_kernel = true;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct lines_options *options = state->input;

    switch (key) {
    case GMT_KEY_lines_kernel: set_kernel(options, argument, state); return 0;
    case GMT_KEY_lines_top: options->top = count_of(state, "top", argument); return 0;
    case GMT_KEY_lines_context: options->context = count_of(state, "context", argument); return 0;
    case GMT_KEY_lines_format: options->format = gmt_command_choice(state, key, argument); return 0;
    case ARGP_KEY_ARG: gmt_command_take(state, &options->trace, argument); return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL)
            argp_error(state, "no trace given");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Leaves the kernels that are asked for; returns how many. */
static size_t select_kernels(const struct lines_options *options, struct gmt_kernel_lines *kernels,
                             size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const char *name = kernels[i].kernel != NULL ? kernels[i].kernel : "";

        if (!options->has_kernel || regexec(&options->kernel, name, 0, NULL, 0) == 0)
            kernels[kept++] = kernels[i];
    }
    return kept;
}

static int nothing(const struct lines_options *options, size_t counted)
{
    if (counted > 0)
        fprintf(stderr,
                "gmanalyze: lines: --kernel matches none of the %zu kernels of %s whose "
                "instructions were counted\n",
                counted, options->trace);
    else
        fprintf(stderr,
                "gmanalyze: lines: no instruction was counted in %s; record with gmtrace --device "
                "sim, which counts every one\n",
                options->trace);
    return GMT_EXIT_INCOMPLETE;
}

static int run(const struct lines_options *options, sqlite3 *db, struct gmt_arena *arena)
{
    struct gmt_lines_view view = {
        .db = db, .arena = arena, .context = options->context, .trace = options->trace};
    size_t counted = 0;
    int rc = gmt_kernel_lines_load(db, arena, &view.kernels, &counted);

    /* Tables that the trace does not have: it is of a version that counted no instruction. */
    if (rc != 0)
        counted = 0;
    view.kernel_count = select_kernels(options, view.kernels, counted);
    if (view.kernel_count == 0)
        return nothing(options, counted);
    view.shown = options->top > 0 && (size_t)options->top < view.kernel_count ? (size_t)options->top
                                                                              : view.kernel_count;
    writers[options->format](&view);
    if (arena->failed) {
        fprintf(stderr, "gmanalyze: lines: out of memory\n");
        return GMT_EXIT_UNREADABLE;
    }
    return fflush(stdout) == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

int gmt_command_lines(int argc, char **argv)
{
    static const char doc[] =
        "Counts are per launch, the mean of those that were counted. per request: 32-byte sectors "
        "of an access to global or local memory, passes through shared memory, and behind the "
        "slash the fewest that would do. excess: what was moved beyond that. Exit status: 0; 2 "
        "usage; 3 the trace cannot be read; 4 no instruction was counted in it.";
    struct lines_options options = {.top = 3, .context = 2};
    struct gmt_arena arena = {0};
    sqlite3 *db = NULL;

    gmt_command_parse(GMT_COMMAND_LINES, parse_option, doc, argc, argv, &options);
    int status = gmt_command_open(options.trace, &db);
    if (status == GMT_EXIT_OK)
        status = run(&options, db, &arena);
    if (options.has_kernel)
        regfree(&options.kernel);
    gmt_arena_free(&arena);
    sqlite3_close(db);
    return status;
}

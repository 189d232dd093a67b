/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze lines: the source of kernels with what each line moved beside it. */
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/lines_write.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "reports/writers.h"

/* In the order of the words of --format. */
static void (*const writers[])(const struct gmt_lines_view *view) = {gmt_lines_text,
                                                                     gmt_lines_json};

struct lines_options {
    const char *trace;
    regex_t kernel;
    bool has_kernel, local_sources;
    long top, context;
    int format;
    enum gmt_color color;
};

static long count_of(struct argp_state *state, const char *option, const char *text)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < 0) {
        gmt_command_wrong(state, "--%s: '%s' is no count", option, text);
    }
    return value;
}

static void set_kernel(struct lines_options *options, const char *pattern, struct argp_state *state)
{
    char why[256];
    int rc = options->has_kernel ? 0 : regcomp(&options->kernel, pattern, REG_EXTENDED | REG_NOSUB);

    if (options->has_kernel) {
        argp_error(state, "--kernel: given twice; join the expressions with |");
    }
    if (rc != 0) {
        regerror(rc, &options->kernel, why, sizeof(why));
        gmt_command_wrong(state, "--kernel: '%s': %s", pattern, why);
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
    case GMT_KEY_local_sources: options->local_sources = true; return 0;
    case GMT_KEY_color:
        options->color = (enum gmt_color)gmt_command_choice(state, key, argument);
        return 0;
    case GMT_KEY_lines_format: options->format = gmt_command_choice(state, key, argument); return 0;
    case ARGP_KEY_ARG: gmt_command_take(state, &options->trace, argument); return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL) {
            argp_error(state, "no trace given");
        }
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

        if (!options->has_kernel || regexec(&options->kernel, name, 0, NULL, 0) == 0) {
            kernels[kept++] = kernels[i];
        }
    }
    return kept;
}

static int nothing(const struct lines_options *options, size_t counted)
{
    if (counted > 0) {
        gmt_say(stderr,
                "gmanalyze: lines: --kernel matches none of the %zu kernels of %s whose "
                "instructions were counted\n",
                counted, options->trace);
    } else {
        gmt_say(stderr,
                "gmanalyze: lines: no instruction was counted in %s (gmanalyze shows why); gmtrace "
                "--collect deep and --device sim count every one\n",
                options->trace);
    }
    return GMT_EXIT_INCOMPLETE;
}

static bool has_instructions(sqlite3 *db)
{
    int64_t any = 0;

    return gmt_database_integer(db, "SELECT EXISTS (SELECT 1 FROM main.instruction)", 0, &any) ==
               0 &&
           any != 0;
}

/* GMT_EXIT_OK also without any: the trace may be of a version that counted none, and lack the tables. */
static int load(const struct lines_options *options, struct gmt_lines_view *view, size_t *counted)
{
    int rc = gmt_kernel_lines_load(view->db, view->arena, &view->kernels, counted);
    const char *why = "out of memory";

    if (rc == 0) {
        return GMT_EXIT_OK;
    }
    *counted = 0;
    if (rc != -ENOMEM) { /* before the next statement */
        why = gmt_arena_copy(view->arena, gmt_guard_reason(view->db));
    }
    if (!gmt_guard_noted(view->db) && !has_instructions(view->db)) {
        return GMT_EXIT_OK;
    }
    gmt_say(stderr, "gmanalyze: lines: %s: %s\n", options->trace,
            why != NULL ? why : "out of memory");
    return GMT_EXIT_UNREADABLE;
}

static int run(const struct lines_options *options, sqlite3 *db, struct gmt_arena *arena)
{
    struct gmt_lines_view view = {.db = db,
                                  .arena = arena,
                                  .local_sources = options->local_sources,
                                  .color = gmt_writer_wants_color(STDOUT_FILENO, options->color),
                                  .context = options->context,
                                  .trace = options->trace};
    size_t counted = 0;
    int status = load(options, &view, &counted);

    if (gmt_command_memory_short("lines")) {
        return GMT_EXIT_UNREADABLE;
    }
    if (status != GMT_EXIT_OK) {
        return status;
    }
    view.kernel_count = select_kernels(options, view.kernels, counted);
    if (view.kernel_count == 0) {
        return nothing(options, counted);
    }
    view.shown = options->top > 0 && (size_t)options->top < view.kernel_count ? (size_t)options->top
                                                                              : view.kernel_count;
    writers[options->format](&view);
    if (gmt_command_memory_short("lines")) {
        return GMT_EXIT_UNREADABLE;
    }
    return gmt_command_printed(GMT_EXIT_OK);
}

int gmt_command_lines(int argc, char **argv)
{
    static const char doc[] =
        "Counts are per launch, the mean of those that were counted. per request: 32-byte sectors "
        "of an access to global or local memory, passes through shared memory, and after the slash "
        "the ideal number. excess: bytes moved beyond the ideal. Exit status: 0; 2 "
        "usage; 3 the trace cannot be read; 4 no instruction was counted in it.";
    struct lines_options options = {.top = 3, .context = 2};
    struct gmt_arena arena = {0};
    sqlite3 *db = NULL;

    gmt_command_parse(GMT_COMMAND_LINES, parse_option, doc, argc, argv, &options);
    int status = gmt_command_open(options.trace, &db);
    if (status == GMT_EXIT_OK) {
        status = run(&options, db, &arena);
    }
    if (options.has_kernel) {
        regfree(&options.kernel);
    }
    gmt_arena_free(&arena);
    sqlite3_close(db);
    return status;
}

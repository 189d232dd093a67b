/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze export: a trace in a form that other tools read. */
#include "analyzer/commands/export/export.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/profile.h"
#include "analyzer/model/paths.h"
#include "libtrace/base/file.h"
#include "libtrace/base/printable.h"
#include "reports/writers.h"

/* In the order of the words of --to. */
enum { TO_NOTHING = -1, TO_PERFETTO, TO_CSV, TO_SPEEDSCOPE, TO_PPROF, TO_PARQUET };

struct export_options {
    const char *trace, *output, *run;
    char **arguments; /* all of them, in their order */
    int argument_count;
    int to;
};

static void check_parquet(const struct export_options *options, struct argp_state *state)
{
    if (options->output != NULL) {
        argp_error(state, "parquet takes its folder as first argument: DIR TRACE...");
    }
    if (options->argument_count < 2) {
        argp_error(state, "parquet needs a folder and at least one trace: DIR TRACE...");
    }
}

static void check_line(struct export_options *options, struct argp_state *state)
{
    if (options->to == TO_PARQUET) {
        check_parquet(options, state);
        return;
    }
    if (options->run != NULL) {
        argp_error(state, "--run is for --to parquet");
    }
    for (int i = 0; i < options->argument_count; i++) {
        gmt_command_take(state, &options->trace, options->arguments[i]);
    }
    if (options->trace == NULL) {
        argp_error(state, "no trace given");
    }
    if (options->to == TO_NOTHING) {
        argp_error(state, "--to is missing: perfetto, csv, speedscope, pprof or parquet");
    }
    if (options->to == TO_CSV && options->output == NULL) {
        argp_error(state, "csv needs a folder: -o DIR");
    }
    if (options->to != TO_CSV && options->output == NULL && isatty(STDOUT_FILENO)) {
        argp_error(state, "this output is not for a terminal: use -o FILE");
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct export_options *options = state->input;

    switch (key) {
    case 'o': options->output = strcmp(argument, "-") != 0 ? argument : NULL; return 0;
    case GMT_KEY_export_to: options->to = gmt_command_choice(state, key, argument); return 0;
    case GMT_KEY_export_run: options->run = argument; return 0;
    case ARGP_KEY_ARG: options->arguments[options->argument_count++] = argument; return 0;
    case ARGP_KEY_END: check_line(options, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* A profile has what the findings would save: the rules run, with the model that there is. */
static int export_profile(const struct export_options *options)
{
    int (*write)(void *, FILE *) = options->to == TO_PPROF ? gmt_profile_write_pprof
                                                           : gmt_profile_write_speedscope;
    struct gmt_analyze_options analysis = {.writer = &gmt_writer_text,
                                           .command = GMT_COMMAND_EXPORT,
                                           .calibrate = GMT_CALIBRATE_NEVER,
                                           .traces = {options->trace},
                                           .trace_count = 1};
    const char *output = options->output != NULL ? options->output : "standard output";
    struct gmt_trace_session session;
    struct gmt_profile profile = {0};
    int status = gmt_trace_session_open(&session, &analysis, options->trace);

    if (status == GMT_EXIT_OK && gmt_profile_fill(&profile, &session) != 0) {
        status = GMT_EXIT_UNREADABLE;
    }
    if (status == GMT_EXIT_OK) {
        int rc = options->output != NULL ? gmt_file_write(options->output, write, &profile)
                                         : write(&profile, stdout);

        if (gmt_command_printed(GMT_EXIT_OK) != GMT_EXIT_OK) {
            status = GMT_EXIT_UNREADABLE;
        } else if (rc == 0) {
            gmt_say(stderr, "gmanalyze: wrote %s, %zu stacks\n", output, profile.sample_count);
        } else {
            gmt_say(stderr, "gmanalyze: %s: %s\n", output, gmt_command_reason(rc));
            status = GMT_EXIT_UNREADABLE;
        }
    }
    gmt_profile_free(&profile);
    gmt_trace_session_close(&session);
    return status;
}

static int export_rows(const struct export_options *options)
{
    sqlite3 *db = NULL;
    int status = gmt_command_open(options->trace, &db);

    if (status == GMT_EXIT_OK && (options->to == TO_CSV ? gmt_export_csv : gmt_export_perfetto)(
                                     db, options->trace, options->output) != 0) {
        status = GMT_EXIT_UNREADABLE;
    }
    sqlite3_close(db);
    return status;
}

/* Becomes the program that writes Parquet. Returns only where that cannot be. */
static int export_parquet(const struct export_options *options)
{
    char program[PATH_MAX];
    char **line = calloc((size_t)options->argument_count + 4, sizeof(*line));
    int n = 0;

    if (line == NULL || gmt_path_program("gmtrace-parquet", program, sizeof(program)) == NULL) {
        gmt_say(stderr, "gmanalyze: %s\n",
                line == NULL ? strerror(ENOMEM)
                             : "libexec/gmtrace/gmtrace-parquet of this installation is missing");
        free(line);
        return GMT_EXIT_UNREADABLE;
    }
    line[n++] = program;
    static char run_flag[] = "--run";
    if (options->run != NULL) {
        line[n++] = run_flag;
        line[n++] = (char *)options->run;
    }
    memcpy(line + n, options->arguments, (size_t)options->argument_count * sizeof(*line));
    execv(program, line);
    gmt_say(stderr, "gmanalyze: %s: %s\n", program, strerror(errno));
    free(line);
    return GMT_EXIT_UNREADABLE;
}

int gmt_command_export(int argc, char **argv)
{
    static const char doc[] =
        "perfetto: events for ui.perfetto.dev: calls by thread, device work by stream, flows "
        "between them, memory over time, and on tracks of their own the times that each finding "
        "would shorten. csv: one file per view (RFC 4180); what is unknown is "
        "empty. speedscope, for speedscope.app, and pprof, for go tool pprof: device time, copied "
        "bytes, allocated bytes, predicted saving and calls by call stack; savings that overlap "
        "are not counted once there.";
    struct export_options options = {.to = TO_NOTHING,
                                     .arguments = calloc((size_t)argc + 1, sizeof(char *))};

    if (options.arguments == NULL) {
        gmt_say(stderr, "gmanalyze: %s\n", strerror(ENOMEM));
        return GMT_EXIT_UNREADABLE;
    }
    gmt_command_parse(GMT_COMMAND_EXPORT, parse_option, doc, argc, argv, &options);
    if (options.to == TO_PARQUET) {
        int status = export_parquet(&options);

        free(options.arguments);
        return status;
    }
    free(options.arguments);
    return options.to >= TO_SPEEDSCOPE ? export_profile(&options) : export_rows(&options);
}

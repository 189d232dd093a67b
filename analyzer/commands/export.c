/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze export: a trace in a form that other tools read. */
#include "analyzer/commands/export.h"

#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"

typedef int export_function(sqlite3 *db, const char *trace, const char *output);

/* In the order of the words of --to. */
static export_function *const targets[] = {gmt_export_perfetto, gmt_export_csv};
enum { TO_NOTHING = -1, TO_PERFETTO, TO_CSV };

struct export_options {
    const char *trace, *output;
    int to;
};

static void check_line(const struct export_options *options, struct argp_state *state)
{
    if (options->trace == NULL) {
        argp_error(state, "no trace given");
    }
    if (options->to == TO_NOTHING) {
        argp_error(state, "--to is missing: perfetto or csv");
    }
    if (options->to == TO_CSV && options->output == NULL) {
        argp_error(state, "csv needs a folder: -o DIR");
    }
    if (options->to == TO_PERFETTO && options->output == NULL && isatty(STDOUT_FILENO)) {
        argp_error(state, "this output is not for a terminal: use -o FILE");
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct export_options *options = state->input;

    switch (key) {
    case 'o': options->output = strcmp(argument, "-") != 0 ? argument : NULL; return 0;
    case GMT_KEY_export_to: options->to = gmt_command_choice(state, key, argument); return 0;
    case ARGP_KEY_ARG: gmt_command_take(state, &options->trace, argument); return 0;
    case ARGP_KEY_END: check_line(options, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int gmt_command_export(int argc, char **argv)
{
    static const char doc[] =
        "perfetto: events for ui.perfetto.dev: calls by thread, device work by stream, flows "
        "between them, memory over time. csv: one file per view (RFC 4180); what is unknown is "
        "empty.";
    struct export_options options = {.to = TO_NOTHING};
    sqlite3 *db = NULL;

    gmt_command_parse(GMT_COMMAND_EXPORT, parse_option, doc, argc, argv, &options);
    int status = gmt_command_open(options.trace, &db);
    if (status == GMT_EXIT_OK && targets[options.to](db, options.trace, options.output) != 0) {
        status = GMT_EXIT_UNREADABLE;
    }
    sqlite3_close(db);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze trend: which programs changed over the runs of many nights. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/trend_read.h"
#include "analyzer/trend/report/trend_write.h"
#include "analyzer/trend/traces.h"
#include "libtrace/base/printable.h"

/* In the order of the words of --format. */
static void (*const writers[])(const struct gmt_trend_view *view) = {gmt_trend_text,
                                                                     gmt_trend_json};
/* In the order of the words of --fail-on. */
enum fail_on { FAIL_NEVER, FAIL_WORSE, FAIL_ANY };

struct trend_options {
    const char **paths;
    size_t path_count;
    const char *since, *model;
    int format, fail_on;
    size_t top;
    struct gmt_arena *arena;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct trend_options *options = state->input;
    const char **path;
    char *end = NULL;

    switch (key) {
    case GMT_KEY_trend_format: options->format = gmt_command_choice(state, key, argument); return 0;
    case GMT_KEY_trend_fail_on:
        options->fail_on = gmt_command_choice(state, key, argument);
        return 0;
    case GMT_KEY_trend_since:
        if (argument[0] == '\0') {
            gmt_command_wrong(state, "--since takes a day or a commit");
        }
        options->since = argument;
        return 0;
    case GMT_KEY_trend_model: options->model = argument; return 0;
    case GMT_KEY_trend_top:
        options->top = strtoul(argument, &end, 10);
        if (end == argument || *end != '\0' || argument[0] == '-') {
            gmt_command_wrong(state, "--top: '%s' is no count", argument);
        }
        return 0;
    case ARGP_KEY_ARG:
        path = GMT_PUSH(options->arena, options->paths, options->path_count);
        if (path == NULL) {
            return ENOMEM;
        }
        *path = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->path_count == 0) {
            argp_error(state, "no folder and no trace given");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Says what is wrong with a folder. 0 stays 0. */
static int complain(const char *subject, int rc, const char *no_entry)
{
    if (rc != 0) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", subject,
                rc == -ENOENT ? no_entry : gmt_command_reason(rc));
    }
    return rc;
}

static int look(struct gmt_trend_view *view, const struct trend_options *options)
{
    struct gmt_trend_run *runs = NULL;
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < options->path_count && rc == 0; i++) {
        rc = complain(options->paths[i],
                      gmt_trend_list(&runs, &count, options->paths[i], view->arena),
                      access(options->paths[i], F_OK) != 0
                          ? strerror(ENOENT)
                          : "there is no trace: no file whose name ends in .db");
    }
    if (rc != 0) {
        return rc;
    }
    rc = gmt_trend_read(runs, count, options->model, view->arena);
    if (rc == 0) {
        rc = gmt_trend_fill(&view->trend, runs, count, view->arena);
    }
    if (rc == 0 && view->since != NULL) {
        rc = gmt_trend_since(&view->trend, view->since);
        return complain("--since", rc, "no day, as 2026-11-28, and no run has such a commit");
    }
    return complain(options->paths[0], rc, strerror(ENOENT));
}

static bool has_failed(const struct gmt_trend *trend, enum fail_on fail_on)
{
    for (size_t i = 0; i < trend->change_count; i++) {
        if (fail_on == FAIL_ANY || (fail_on == FAIL_WORSE && trend->changes[i].is_worse)) {
            return true;
        }
    }
    return false;
}

int gmt_command_trend(int argc, char **argv)
{
    static const char doc[] =
        "Every NAME.db in DIR and in the folders inside of it is the trace of one run of one of "
        "many programs. Runs of a program are put in order of time, and a test says where its "
        "times, calls, bytes, memory and findings changed, at a stated rate of false alarms. The "
        "commit is what gmtrace "
        "--label commit=NAME gave. Exits with 1 after --fail-on, with 3 when no trace could be "
        "read.";
    struct gmt_arena arena = {0};
    struct trend_options options = {.top = 10, .arena = &arena};

    gmt_command_parse(GMT_COMMAND_TREND, parse_option, doc, argc, argv, &options);
    struct gmt_trend_view view = {.since = options.since, .top = options.top, .arena = &arena};
    int status = look(&view, &options) == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
    if (status == GMT_EXIT_OK) {
        writers[options.format](&view);
        status = gmt_command_memory_short(options.paths[0]) || view.trend.compared == 0
                     ? GMT_EXIT_UNREADABLE
                 : has_failed(&view.trend, (enum fail_on)options.fail_on) ? GMT_EXIT_GATE
                                                                          : GMT_EXIT_OK;
    }
    gmt_arena_free(&arena);
    return gmt_command_printed(status);
}

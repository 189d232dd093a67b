/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze fleet: the traces of all ranks of a job, and which of them is odd. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/export/export_ranks.h"
#include "analyzer/commands/trace_session.h"
#include "analyzer/fleet/chosen.h"
#include "analyzer/fleet/folder.h"
#include "analyzer/fleet/folder_parquet.h"
#include "analyzer/fleet/handed/contents.h"
#include "analyzer/fleet/handed/flows.h"
#include "analyzer/fleet/presence.h"
#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/printable.h"

/* In the order of the words of --format. */
static void (*const writers[])(const struct gmt_fleet_view *view) = {gmt_fleet_text,
                                                                     gmt_fleet_json};

struct fleet_options {
    const char *folder, *against;
    const char *timeline, *ranks; /* a file; which ranks it has, NULL: the odd ones */
    int format;
    size_t top;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct fleet_options *options = state->input;
    char *end = NULL;

    switch (key) {
    case GMT_KEY_fleet_format: options->format = gmt_command_choice(state, key, argument); return 0;
    case GMT_KEY_fleet_against: options->against = argument; return 0;
    case GMT_KEY_fleet_timeline:
        options->timeline = argument;
        if (strcmp(argument, "-") == 0) {
            argp_error(state, "--timeline needs a file: standard output has the answer");
        }
        return 0;
    case GMT_KEY_fleet_ranks: options->ranks = argument; return 0;
    case GMT_KEY_fleet_top:
        options->top = strtoul(argument, &end, 10);
        if (end == argument || *end != '\0' || argument[0] == '-') {
            gmt_command_wrong(state, "--top: '%s' is no count", argument);
        }
        return 0;
    case ARGP_KEY_ARG:
        if (options->folder != NULL) {
            gmt_command_wrong(state, "one folder at a time: '%s'", argument);
        }
        options->folder = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->folder == NULL) {
            argp_error(state, "no folder given");
        }
        if (options->ranks != NULL && options->timeline == NULL) {
            argp_error(state, "--ranks says what --timeline shows, which is not given");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Says what is wrong with a folder. 0 stays 0. */
static int complain(const char *folder, int rc)
{
    if (rc != 0 && rc != -ECANCELED) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", folder,
                rc == -ENODATA ? "there is no trace in it: no file whose name ends in .db"
                               : gmt_command_reason(rc));
    }
    return rc;
}

/* What this rank alone has, others may still be compared by. */
static void read_contents(struct gmt_fleet_rank *rank, struct gmt_trace_session *session,
                          struct gmt_arena *arena)
{
    struct gmt_analysis analysis = {
        .timeline = &session->timeline, .model = &session->model, .report = &session->report};

    if (gmt_fleet_contents_read(rank, &analysis, arena) != 0 ||
        gmt_fleet_flows_read(rank, &session->timeline, arena) != 0) {
        rank->content_count = rank->flow_count = rank->exported_count = 0;
        rank->sharing = (struct gmt_fleet_sharing){0};
        rank->remark = "what it copied cannot be compared with other ranks: gmanalyze says why";
    }
}

/* As `gmanalyze TRACE` would, without a word: in a process of its own. */
static void analyse(struct gmt_fleet_rank *rank, struct gmt_arena *arena)
{
    struct gmt_analyze_options options = {.writer = &gmt_writer_text,
                                          .command = GMT_COMMAND_FLEET,
                                          .calibrate = GMT_CALIBRATE_NEVER,
                                          .traces = {rank->trace},
                                          .trace_count = 1};
    struct gmt_trace_session session;

    rank->has_findings = gmt_trace_session_open(&session, &options, rank->trace) == GMT_EXIT_OK;
    if (!rank->has_findings) {
        rank->remark = "its findings are not known: gmanalyze says why";
    }
    for (size_t i = 0; rank->has_findings && i < session.report.finding_count; i++) {
        const struct gmt_finding *finding = &session.report.findings[i];

        if (finding->severity == GMT_SEVERITY_NOTE) {
            continue;
        }
        struct gmt_fleet_finding *added = GMT_PUSH(arena, rank->findings, rank->finding_count);
        if (added == NULL) {
            break;
        }
        added->fingerprint = gmt_arena_copy(arena, finding->fingerprint);
        added->rule = gmt_arena_copy(arena, finding->rule);
        added->title = gmt_arena_copy(arena, finding->title);
        added->place = gmt_arena_copy(arena, finding->place.label);
        added->saves_ns = finding->saving.best_ns;
        added->is_modelled = session.timeline.simulated;
    }
    if (rank->has_findings) {
        read_contents(rank, &session, arena);
    }
    gmt_trace_session_close(&session);
}

static int look(struct gmt_fleet_view *view, struct gmt_arena *arena)
{
    int rc = gmt_fleet_read_folder(&view->fleet, view->folder, analyse, arena);

    if (rc == 0) {
        rc = gmt_fleet_clocks_fill(&view->clocks, &view->fleet, GMT_FLEET_CLOCK_ALARMS, arena);
    }
    if (rc == 0) {
        rc = gmt_fleet_waits_fill(&view->waits, &view->fleet, &view->clocks, arena);
    }
    if (rc == 0) {
        rc = gmt_fleet_staged_fill(&view->staged, &view->fleet, &view->clocks, arena);
    }
    if (rc == 0) {
        rc = gmt_fleet_direct_fill(&view->direct, &view->fleet, arena);
    }
    if (rc == 0) {
        rc = gmt_fleet_detect(&view->result, &view->fleet, &view->clocks, arena);
    }
    if (rc == 0) {
        gmt_fleet_remark_ends(&view->fleet, arena);
        gmt_fleet_remark_short(&view->fleet, &view->result, arena);
    }
    if (rc == 0) {
        rc = gmt_fleet_job_fill(&view->job, &view->fleet, arena);
    }
    if (rc == 0) {
        rc = gmt_fleet_imbalance_find(&view->memory, &view->fleet);
    }
    if (rc == 0) {
        rc = gmt_common_findings_find(&view->common, &view->fleet, arena);
    }
    return complain(view->folder, rc == 0 && arena->failed ? -ENOMEM : rc);
}

static int look_back(struct gmt_fleet_view *view, struct gmt_arena *arena)
{
    struct gmt_fleet before;
    struct gmt_fleet_result result;
    int rc = gmt_fleet_read_folder(&before, view->against, NULL, arena);

    if (rc == 0) {
        rc = gmt_fleet_detect(&result, &before, NULL, arena);
    }
    if (rc == 0) {
        rc = gmt_fleet_against(&view->changes, &before, &result, &view->fleet, &view->result);
    }
    return complain(view->against, rc == 0 && arena->failed ? -ENOMEM : rc);
}

/* The folder's files have rows of steps, but no calls with a time for each. */
static int refuse_parquet(const struct fleet_options *options)
{
    if (options->timeline == NULL || !gmt_fleet_is_parquet(options->folder)) {
        return GMT_EXIT_OK;
    }
    gmt_say(stderr, "gmanalyze: %s: --timeline reads traces, and this folder has Parquet files\n",
            options->folder);
    return GMT_EXIT_UNREADABLE;
}

static int write_timeline(const struct gmt_fleet_view *view, const struct fleet_options *options,
                          struct gmt_arena *arena)
{
    struct gmt_fleet_chosen chosen;
    char why[4096];
    int rc = options->ranks != NULL
                 ? gmt_fleet_choose(&chosen, &view->fleet, options->ranks, arena, why, sizeof(why))
                 : gmt_fleet_choose_odd(&chosen, &view->fleet, &view->result, &view->waits, arena);

    if (rc == 0) {
        return gmt_export_ranks(&view->fleet, &view->clocks, &chosen, options->timeline);
    }
    gmt_say(stderr, "gmanalyze: %s: %s\n", options->folder,
            rc == -EINVAL ? why : gmt_command_reason(rc));
    return rc == -EINVAL ? GMT_EXIT_USAGE : GMT_EXIT_UNREADABLE;
}

int gmt_command_fleet(int argc, char **argv)
{
    static const char doc[] =
        "Every NAME.db in DIR is the trace of one rank. Compared are their sums over steps, which "
        "gmtrace --aggregate records; of a whole trace they are made when it is read. A rank is "
        "odd where what the others differ by among "
        "themselves does not explain what it differs by. Exits with 3 when no rank could be "
        "compared.";
    struct fleet_options options = {.top = 10};
    struct gmt_arena arena = {0};

    gmt_command_parse(GMT_COMMAND_FLEET, parse_option, doc, argc, argv, &options);
    if (refuse_parquet(&options) != GMT_EXIT_OK) {
        return GMT_EXIT_UNREADABLE;
    }
    struct gmt_fleet_view view = {
        .folder = options.folder, .against = options.against, .top = options.top};
    int rc = look(&view, &arena);
    if (rc == 0 && view.against != NULL) {
        rc = look_back(&view, &arena);
    }
    int status = rc == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
    if (status == GMT_EXIT_OK) {
        writers[options.format](&view);
        status = gmt_command_memory_short(options.folder) || view.result.compared == 0
                     ? GMT_EXIT_UNREADABLE
                     : GMT_EXIT_OK;
    }
    if (rc == 0 && options.timeline != NULL) {
        (void)fflush(stdout); /* whoever waits for the file has the answer to read */
        int written = write_timeline(&view, &options, &arena);

        status = status == GMT_EXIT_OK ? written : status;
    }
    gmt_arena_free(&arena);
    return gmt_command_printed(status);
}

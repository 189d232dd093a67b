/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace, finds the model of its GPU, and runs the rules over it. */
#include "analyzer/commands/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/named_ranges.h"
#include "analyzer/open.h"
#include "analyzer/redact.h"

static void complain(const char *subject, const char *message)
{
    fprintf(stderr, "gmanalyze: %s: %s\n", subject, message);
}

/* The model of the trace's GPU; measures it first where that is asked for or allowed. */
static int find_model(const struct gmt_options *options, const struct gmt_timeline *timeline,
                      struct gmt_model *model)
{
    char message[512] = "";
    bool now = options->calibrate == GMT_CALIBRATE_NOW;
    int rc;

    if (timeline->simulated) {
        if (now)
            fprintf(stderr, "gmanalyze: not calibrated: the software device has no times\n");
        return 0;
    }
    if (!now) {
        rc = gmt_model_find(model, timeline, options->model_file, false, message, sizeof(message));
        if (rc != 0) {
            complain(options->model_file, message);
            return rc;
        }
        if (options->calibrate == GMT_CALIBRATE_NEVER || options->model_file != NULL ||
            model->provenance == GMT_MODEL_CALIBRATED || !isatty(STDERR_FILENO) ||
            !gmt_calibrate_possible(timeline->device.uuid))
            return 0;
        gmt_model_free(model);
    }
    fprintf(stderr, "gmanalyze: calibrating this GPU (about 10 s, kept for later)\n");
    /* A trace of another machine: what is here may be a board of the same name. */
    const char *uuid = gmt_calibrate_possible(timeline->device.uuid) ? timeline->device.uuid : NULL;
    rc = gmt_calibrate_run(uuid, message, sizeof(message));
    if (rc != 0)
        fprintf(stderr, "gmanalyze: not calibrated: %s\n", message);
    if (rc != 0 && now)
        return rc;
    return gmt_model_find(model, timeline, options->model_file, rc == 0, message, sizeof(message));
}

/* What a report shows that is not out of the trace. */
static void redact_beside(struct gmt_arena *arena, struct gmt_model *model,
                          struct gmt_report *report)
{
    report->trace_path = gmt_redact_path(report->trace_path);
    if (model->origin != NULL)
        model->origin = gmt_redact_path(model->origin);
    if (model->json != NULL)
        model->json = gmt_redact_text(arena, model->json);
}

int gmt_session_open(struct gmt_session *session, const struct gmt_options *options,
                     const char *path)
{
    struct gmt_rule_filter filter = {options->only, options->skip, options->only_count,
                                     options->skip_count, options->kernel};
    char message[512] = "";

    *session = (struct gmt_session){.model = {.provenance = GMT_MODEL_NONE}};
    session->report = (struct gmt_report){.arena = &session->arena, .trace_path = path};
    if (gmt_open_trace(path, &session->db, message, sizeof(message)) != 0) {
        /* The message names the file. */
        fprintf(stderr, "gmanalyze: %s\n", message);
        return GMT_EXIT_UNREADABLE;
    }
    if (gmt_redact_trace(session->db, options->redact) != 0) {
        complain(path, sqlite3_errmsg(session->db));
        return GMT_EXIT_UNREADABLE;
    }
    int limit = options->range != NULL
                    ? gmt_range_limit(session->db, options->range, message, sizeof(message))
                    : 0;
    session->report.range_limit = options->redact == GMT_REDACT_NAMES && options->range != NULL
                                      ? "(redacted)"
                                      : options->range;
    if (limit != 0) {
        /* Better no report than one over the whole run under a range's name. */
        complain(path, limit == -ENOENT ? message : sqlite3_errmsg(session->db));
        return GMT_EXIT_UNREADABLE;
    }
    if (gmt_timeline_load(&session->timeline, session->db, message, sizeof(message)) != 0) {
        complain(path, message);
        return GMT_EXIT_UNREADABLE;
    }
    if (find_model(options, &session->timeline, &session->model) != 0)
        return GMT_EXIT_UNREADABLE;
    if (options->redact != GMT_REDACT_NOTHING)
        redact_beside(&session->arena, &session->model, &session->report);
    int rc = gmt_analyze(&session->timeline, &session->model, &filter, &session->report);
    if (rc != 0) {
        complain(path, strerror(-rc));
        return GMT_EXIT_UNREADABLE;
    }
    return GMT_EXIT_OK;
}

void gmt_session_close(struct gmt_session *session)
{
    gmt_timeline_free(&session->timeline);
    gmt_model_free(&session->model);
    gmt_arena_free(&session->arena);
    sqlite3_close(session->db);
}

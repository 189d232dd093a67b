/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace, finds the model of its GPU, and runs the rules over it. */
#include "analyzer/commands/trace_session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/findings/kernel_filter.h"
#include "analyzer/redact/redact.h"
#include "analyzer/trace/losses.h"
#include "analyzer/trace/named_ranges.h"
#include "analyzer/trace/open.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/steps/steps_derive.h"

static void complain(const char *subject, const char *message)
{
    gmt_say(stderr, "gmanalyze: %s: %s\n", subject, message);
}

/* The model of the trace's GPU; measures it first where that is asked for or allowed. */
static int find_model(const struct gmt_analyze_options *options,
                      const struct gmt_timeline *timeline, struct gmt_model *model)
{
    char message[512] = "";
    bool now = options->calibrate == GMT_CALIBRATE_NOW;
    int rc;

    if (timeline->simulated) {
        if (now) {
            gmt_say(stderr, "gmanalyze: not calibrated: the software device has no times\n");
        }
        rc = gmt_model_find_shipped(model, timeline, options->model_file, message, sizeof(message));
        if (rc != 0) {
            complain(options->model_file, message);
        }
        return rc;
    }
    if (!now) {
        rc = gmt_model_find(model, timeline, options->model_file, false, message, sizeof(message));
        if (rc != 0) {
            complain(options->model_file, message);
            return rc;
        }
        if (options->calibrate == GMT_CALIBRATE_NEVER || options->model_file != NULL ||
            model->provenance == GMT_MODEL_CALIBRATED || !isatty(STDERR_FILENO) ||
            !gmt_calibrate_possible(timeline->device.uuid)) {
            return 0;
        }
        gmt_model_free(model);
    }
    gmt_say(stderr, "gmanalyze: calibrating this GPU (about 10 s, kept for later)\n");
    /* A trace of another machine: the GPU here may be another device of the same name. */
    const char *uuid = gmt_calibrate_possible(timeline->device.uuid) ? timeline->device.uuid : NULL;
    rc = gmt_calibrate_run(uuid, message, sizeof(message));
    if (rc != 0) {
        gmt_say(stderr, "gmanalyze: not calibrated: %s\n", message);
    }
    if (rc != 0 && now) {
        return rc;
    }
    return gmt_model_find(model, timeline, options->model_file, rc == 0, message, sizeof(message));
}

/* The model is chosen by what a redacted timeline does not show. */
static int find_model_redacted(const struct gmt_analyze_options *options,
                               struct gmt_trace_session *session)
{
    struct gmt_timeline *timeline = &session->timeline;
    char *shown = timeline->device.uuid;

    timeline->device.uuid = gmt_redact_true_uuid(session->db, &session->arena);
    int rc = find_model(options, timeline, &session->model);
    timeline->device.uuid = shown;
    return rc;
}

/* "trace 2": a name that says nothing but the order on the command line. */
static const char *number_of(struct gmt_trace_session *session,
                             const struct gmt_analyze_options *options, const char *path)
{
    for (size_t i = 0; i < options->trace_count && options->trace_count > 1; i++) {
        if (options->traces[i] == path) {
            return gmt_arena_text(&session->arena, "trace %zu", i + 1);
        }
    }
    for (size_t i = 0; i < options->baseline_count; i++) {
        if (options->baselines[i] == path) {
            return gmt_arena_text(&session->arena, "baseline %zu", i + 1);
        }
    }
    return "trace";
}

/* What a report shows that is not out of the trace. */
static void redact_beside(struct gmt_trace_session *session,
                          const struct gmt_analyze_options *options, const char *path)
{
    struct gmt_model *model = &session->model;

    session->report.trace_path = options->redact == GMT_REDACT_NAMES
                                     ? number_of(session, options, path)
                                     : gmt_redact_path(path);
    /* Model files are named after the device. */
    if (model->origin != NULL && strcmp(model->origin, GMT_MODEL_OF_TRACE) != 0) {
        model->origin = "a file";
    }
    if (model->json != NULL) {
        model->json = gmt_redact_model(&session->arena, model->json);
    }
    gmt_redact_model_names(&session->arena, &model->device_name, &model->created);
}

static int load_snapshot(struct gmt_trace_session *session,
                         const struct gmt_analyze_options *options)
{
    const char *path = options->memory_snapshot;
    char message[512] = "";
    int rc = gmt_snapshot_load(&session->snapshot, path, message, sizeof(message));

    if (rc != 0) {
        complain(path, message);
        return rc;
    }
    session->snapshot.path = options->redact == GMT_REDACT_NOTHING ? path : gmt_redact_path(path);
    gmt_redact_snapshot(&session->snapshot, options->redact);
    return 0;
}

/* What fixes gained on this program; a result of another one is no result. */
static int load_tried(struct gmt_trace_session *session, const struct gmt_analyze_options *options)
{
    char message[512] = "";
    int rc = gmt_tried_read(&session->tried, options->tried, &session->arena, message,
                            sizeof(message));

    if (rc == 0) {
        rc = gmt_tried_fits(&session->tried, session->db, &session->arena, message,
                            sizeof(message));
    }
    if (rc != 0) {
        complain(options->tried, message);
    } else if (options->redact != GMT_REDACT_NOTHING) {
        session->tried.results.file = gmt_redact_path(options->tried);
    }
    return rc;
}

/* Where only some kernels are reported on, those are known at the end. */
static int begin_page(void *context, const struct gmt_report *report)
{
    struct gmt_trace_session *session = context;

    return gmt_page_begin(&session->page, session->payload, &session->timeline, report,
                          session->beside, session->beside != NULL ? &session->basis.worker : NULL);
}

static void close_beside(struct gmt_trace_session *session)
{
    if (session->beside != NULL) {
        gmt_trace_close_beside(session->db, session->beside);
        session->beside = NULL;
    }
}

int gmt_trace_session_page(struct gmt_trace_session *session, const char *reproduce)
{
    int rc = session->page == NULL ? begin_page(session, &session->report) : 0;

    if (rc == 0) {
        rc = gmt_page_finish(session->page, &session->model, reproduce);
        close_beside(session);
    }
    return rc;
}

int gmt_trace_session_open(struct gmt_trace_session *session,
                           const struct gmt_analyze_options *options, const char *path)
{
    return gmt_trace_session_open_page(session, options, path, NULL);
}

int gmt_trace_session_open_page(struct gmt_trace_session *session,
                                const struct gmt_analyze_options *options, const char *path,
                                struct gmt_payload *payload)
{
    struct gmt_rule_filter filter = {
        .only = options->only,
        .skip = options->skip,
        .only_count = options->only_count,
        .skip_count = options->skip_count,
        .kernels = options->kernel,
        .long_names = options->long_names,
        .begin_beside = payload != NULL && options->kernel == NULL ? begin_page : NULL,
        .context = session};
    char message[512] = "";

    *session = (struct gmt_trace_session){.model = {.provenance = GMT_MODEL_NONE},
                                          .payload = payload};
    session->report = (struct gmt_report){.arena = &session->arena, .trace_path = path};
    /* Views of ours are before the tables of the first connection only. */
    bool plain = options->redact == GMT_REDACT_NOTHING && options->range == NULL;
    session->error = gmt_open_trace_beside(path, &session->db, plain ? &session->beside : NULL,
                                           message, sizeof(message));
    if (session->error != 0) {
        /* The message names the file. */
        gmt_say(stderr, "gmanalyze: %s\n", message);
        return GMT_EXIT_UNREADABLE;
    }
    if (gmt_redact_trace(session->db, options->redact, message, sizeof(message)) != 0) {
        complain(path, message);
        return GMT_EXIT_UNREADABLE;
    }
    struct gmt_lost_calls lost = gmt_lost_calls(session->db);
    if (lost.all && session->beside != NULL &&
        gmt_open_check(session->db, message, sizeof(message)) != 0) {
        complain(path, message);
        return GMT_EXIT_UNREADABLE;
    }
    session->has_only_steps = gmt_steps_only(session->db);
    if (session->has_only_steps) {
        complain(path,
                 "holds sums over steps and no calls (gmtrace --aggregate), which no rule can "
                 "check; gmanalyze steps, sql and export --to parquet read it");
        return GMT_EXIT_UNREADABLE;
    }
    if (lost.all) {
        complain(path,
                 gmt_arena_text(&session->arena, "holds no call of the program: %s", lost.text));
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
        complain(path, limit == -ENOENT ? message : gmt_guard_reason(session->db));
        return GMT_EXIT_UNREADABLE;
    }
    session->error = gmt_timeline_load_beside(&session->timeline, session->db, session->beside,
                                              message, sizeof(message));
    if (session->error != 0) {
        complain(path, message);
        return GMT_EXIT_UNREADABLE;
    }
    /* Of several traces, one may well lack a kernel of the others. */
    bool is_only = options->command == GMT_COMMAND_ANALYZE && options->trace_count == 1 &&
                   options->traces[0] == path;
    if (options->kernel != NULL && is_only &&
        gmt_kernels_match(&session->timeline, options->kernel, message, sizeof(message)) != 0) {
        /* A report about nothing would read as one that found nothing. */
        complain(path, message);
        return GMT_EXIT_UNREADABLE;
    }
    if (find_model_redacted(options, session) != 0) {
        return GMT_EXIT_UNREADABLE;
    }
    if (options->redact != GMT_REDACT_NOTHING) {
        redact_beside(session, options, path);
    }
    if (options->memory_snapshot != NULL && is_only) {
        if (load_snapshot(session, options) != 0) {
            return GMT_EXIT_UNREADABLE;
        }
        filter.snapshot = &session->snapshot;
    }
    if (options->tried != NULL && path == options->traces[0]) {
        if (load_tried(session, options) != 0) {
            return GMT_EXIT_UNREADABLE;
        }
        filter.tried = &session->tried;
    }
    if (session->beside != NULL) {
        gmt_host_basis_begin(&session->basis, &session->timeline, session->beside);
        filter.basis = &session->basis;
    }
    int rc = gmt_analyze(&session->timeline, &session->model, &filter, &session->report);
    session->error = rc;
    if (rc != 0) {
        complain(path, rc != -ENOMEM && gmt_guard_noted(session->db) ? gmt_guard_reason(session->db)
                                                                     : gmt_command_reason(rc));
        return GMT_EXIT_UNREADABLE;
    }
    /* A rule goes on without what it cannot read; a report that lacks it without a word would be wrong. */
    if (gmt_guard_noted(session->db)) {
        complain(path, gmt_guard_reason(session->db));
        return GMT_EXIT_UNREADABLE;
    }
    return gmt_command_memory_short(path) ? GMT_EXIT_UNREADABLE : GMT_EXIT_OK;
}

void gmt_trace_session_close(struct gmt_trace_session *session)
{
    gmt_page_free(session->page);
    gmt_host_basis_free(&session->basis);
    gmt_timeline_free(&session->timeline);
    gmt_snapshot_free(&session->snapshot);
    gmt_model_free(&session->model);
    gmt_arena_free(&session->arena);
    close_beside(session);
    sqlite3_close(session->db);
}

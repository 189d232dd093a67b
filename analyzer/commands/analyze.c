/* SPDX-License-Identifier: Apache-2.0 */
/* What gmanalyze does without a command's name: reads traces, runs the rules over each and writes
 * reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/analysis.h"
#include "analyzer/commands/commands.h"
#include "analyzer/commands/rule_list.h"
#include "analyzer/open.h"
#include "analyzer/options.h"
#include "analyzer/page.h"
#include "reports/source_path.h"
#include "reports/writers.h"

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

static bool wants_page(const struct gmt_options *options)
{
    bool wanted = options->writer->wants_page;

    for (size_t i = 0; i < options->output_count; i++)
        wanted |= options->outputs[i].writer->wants_page;
    return wanted;
}

static int write_outputs(const struct gmt_options *options, const struct gmt_report *report)
{
    char *found = options->source_root == NULL ? gmt_source_root_find() : NULL;
    const char *root = found != NULL ? found : options->source_root;
    struct gmt_writer_options style = {
        .top = options->top, .color = gmt_writer_wants_color(STDOUT_FILENO), .source_root = root};
    int rc = gmt_writer_write(options->writer, report, &style, stdout);

    if (rc == 0 && fflush(stdout) != 0)
        rc = -errno;
    if (rc != 0)
        complain("standard output", strerror(-rc));
    for (size_t i = 0; i < options->output_count; i++) {
        const struct gmt_output *output = &options->outputs[i];
        struct gmt_writer_options plain = {.top = 0, .source_root = root};
        int result = gmt_writer_write_file(output->writer, report, &plain, output->path);

        if (result == 0) {
            fprintf(stderr, "gmanalyze: wrote %s\n", output->path);
            continue;
        }
        complain(output->path, strerror(-result));
        rc = result;
    }
    free(found);
    return rc;
}

static bool gate_failed(const struct gmt_options *options, const struct gmt_report *report)
{
    static const enum gmt_severity limits[] = {[GMT_FAIL_HIGH] = GMT_SEVERITY_HIGH,
                                               [GMT_FAIL_MEDIUM] = GMT_SEVERITY_MEDIUM,
                                               [GMT_FAIL_ANY] = GMT_SEVERITY_LOW};

    for (size_t i = 0; options->fail_on != GMT_FAIL_NEVER && i < report->finding_count; i++) {
        if (report->findings[i].severity >= limits[options->fail_on])
            return true;
    }
    return false;
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

static int analyze_trace(const struct gmt_options *options, const char *path)
{
    struct gmt_arena arena = {0};
    struct gmt_timeline timeline = {0};
    struct gmt_model model = {.provenance = GMT_MODEL_NONE};
    struct gmt_report report = {.arena = &arena, .trace_path = path};
    struct gmt_rule_filter filter = {options->only, options->skip, options->only_count,
                                     options->skip_count, options->kernel};
    struct gmt_payload page = {0};
    sqlite3 *db = NULL;
    char message[512] = "";
    int status = GMT_EXIT_UNREADABLE;

    if (gmt_open_trace(path, &db, message, sizeof(message)) != 0) {
        /* The message names the file. */
        fprintf(stderr, "gmanalyze: %s\n", message);
        goto out;
    }
    if (gmt_redact_trace(db, options->redact) != 0) {
        complain(path, sqlite3_errmsg(db));
        goto out;
    }
    if (gmt_timeline_load(&timeline, db, message, sizeof(message)) != 0) {
        complain(path, message);
        goto out;
    }
    if (find_model(options, &timeline, &model) != 0)
        goto out;
    if (options->redact != GMT_REDACT_NOTHING)
        redact_beside(&arena, &model, &report);
    int rc = gmt_analyze(&timeline, &model, &filter, &report);
    if (rc == 0 && wants_page(options)) {
        rc = gmt_page_fill(&page, &timeline, &model, &report, options->reproduce);
        report.page = &page;
    }
    if (rc != 0) {
        complain(path, strerror(-rc));
        goto out;
    }
    if (write_outputs(options, &report) != 0)
        goto out;
    status = GMT_EXIT_OK;
    if (options->strict && report.incomplete)
        status = GMT_EXIT_INCOMPLETE;
    if (gate_failed(options, &report))
        status = GMT_EXIT_GATE;
out:
    gmt_payload_free(&page);
    gmt_timeline_free(&timeline);
    gmt_model_free(&model);
    gmt_arena_free(&arena);
    sqlite3_close(db);
    return status;
}

/* Unreadable input outweighs a failed gate, that outweighs gaps. */
static int worse(int a, int b)
{
    static const int rank[] = {[GMT_EXIT_OK] = 0,
                               [GMT_EXIT_INCOMPLETE] = 1,
                               [GMT_EXIT_GATE] = 2,
                               [GMT_EXIT_UNREADABLE] = 3};

    return rank[a] >= rank[b] ? a : b;
}

static int analyze_traces(const struct gmt_options *options)
{
    int status = GMT_EXIT_OK;

    for (size_t i = 0; i < options->trace_count; i++)
        status = worse(status, analyze_trace(options, options->traces[i]));
    return status;
}

int gmt_command_analyze(int argc, char **argv)
{
    struct gmt_options options;
    int status;

    gmt_options_parse(&options, argc, argv);
    if (options.list_rules)
        status = gmt_rule_list(strcmp(options.writer->name, "json") == 0);
    else if (options.explain != NULL)
        status = gmt_rule_explain(options.explain);
    else
        status = analyze_traces(&options);
    gmt_options_free(&options);
    return status;
}

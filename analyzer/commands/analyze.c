/* SPDX-License-Identifier: Apache-2.0 */
/* What gmanalyze does without a command's name: reads traces, runs the rules over each and writes
 * reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/options.h"
#include "analyzer/commands/rule_list.h"
#include "analyzer/commands/several_output.h"
#include "analyzer/commands/steps/steps_show.h"
#include "analyzer/commands/trace_session.h"
#include "analyzer/compare/budget.h"
#include "analyzer/compare/compare.h"
#include "analyzer/compare/gates.h"
#include "analyzer/compare/ranks.h"
#include "libtrace/base/printable.h"
#include "libtrace/base/source_path.h"
#include "libtrace/store/db/guard.h"
#include "reports/json/json_values.h"
#include "reports/text/text.h"
#include "reports/writers.h"

static void complain(const char *subject, const char *message)
{
    gmt_say(stderr, "gmanalyze: %s: %s\n", subject, message);
}

/* What traces are held to: read before the first of them, so that a mistake in it costs no time. */
struct gmt_given {
    struct gmt_arena arena;
    struct gmt_budget budget;
    struct gmt_summary runs[GMT_OPTIONS_MAX_LIST], baseline;
    size_t run_count;
};

static int read_baseline(const struct gmt_analyze_options *options, struct gmt_given *given)
{
    for (size_t i = 0; i < options->baseline_count; i++) {
        struct gmt_trace_session session;
        int status = gmt_trace_session_open(&session, options, options->baselines[i]);

        if (status == GMT_EXIT_OK) {
            gmt_summary_fill(&given->runs[i], &session.report, &given->arena);
            gmt_noise_fill(&given->runs[i]);
        }
        gmt_trace_session_close(&session);
        if (status != GMT_EXIT_OK) {
            return status;
        }
        given->run_count++;
    }
    if (given->run_count > 0) {
        struct gmt_summary *runs[GMT_OPTIONS_MAX_LIST];

        for (size_t i = 0; i < given->run_count; i++) {
            runs[i] = &given->runs[i];
        }
        gmt_summaries_time_alike(runs, given->run_count);
        gmt_summaries_join(&given->baseline, given->runs, given->run_count);
    }
    return GMT_EXIT_OK;
}

static int read_given(const struct gmt_analyze_options *options, struct gmt_given *given)
{
    char message[512] = "";

    if (options->budget != NULL && gmt_budget_read(&given->budget, options->budget, &given->arena,
                                                   message, sizeof(message)) != 0) {
        complain(options->budget, message);
        return GMT_EXIT_USAGE;
    }
    return read_baseline(options, given);
}

static bool wants_page(const struct gmt_analyze_options *options)
{
    bool wanted = options->writer->wants_page;

    for (size_t i = 0; i < options->output_count; i++) {
        wanted |= options->outputs[i].writer->wants_page;
    }
    return wanted;
}

static int write_outputs(const struct gmt_analyze_options *options, const struct gmt_report *report)
{
    char *found = options->source_root == NULL ? gmt_source_root_find() : NULL;
    const char *root = found != NULL ? found : options->source_root;
    struct gmt_writer_options style = {
        .top = options->top,
        .lines = options->top_given ? 0 : GMT_TEXT_LINES,
        .color = gmt_writer_wants_color(STDOUT_FILENO, options->color),
        .columns = gmt_writer_columns(STDOUT_FILENO),
        .source_root = root};
    int rc = 0;

    /* Files first: whoever reads standard output may stop reading, which ends the process. */
    for (size_t i = 0; i < options->output_count; i++) {
        const struct gmt_output *output = &options->outputs[i];
        struct gmt_writer_options plain = {.top = 0, .source_root = root};
        int result = gmt_writer_write_file(output->writer, report, &plain, output->path);

        if (result == 0) {
            gmt_say(stderr, "gmanalyze: wrote %s\n", output->path);
            continue;
        }
        complain(output->path, gmt_command_reason(result));
        rc = result;
    }
    int result = gmt_writer_write(options->writer, report, &style, stdout);
    if (gmt_command_printed(GMT_EXIT_OK) != GMT_EXIT_OK) {
        result = -EIO;
    } else if (result != 0) {
        complain("standard output", gmt_command_reason(result));
    }
    free(found);
    return result != 0 ? result : rc;
}

static bool severity_gate_failed(const struct gmt_analyze_options *options,
                                 const struct gmt_report *report)
{
    static const enum gmt_severity limits[] = {[GMT_FAIL_HIGH] = GMT_SEVERITY_HIGH,
                                               [GMT_FAIL_MEDIUM] = GMT_SEVERITY_MEDIUM,
                                               [GMT_FAIL_ANY] = GMT_SEVERITY_LOW};

    for (size_t i = 0; options->fail_on != GMT_FAIL_NEVER && i < report->finding_count; i++) {
        if (report->findings[i].severity >= limits[options->fail_on]) {
            return true;
        }
    }
    return false;
}

/* Evaluates the requested gates; those that do not hold are printed on standard error. */
static int check_gates(const struct gmt_analyze_options *options, const struct gmt_given *given,
                       const struct gmt_report *report, const char *path)
{
    struct gmt_gates gates = {.arena = report->arena};
    struct gmt_summary summary, baseline = given->baseline;
    struct gmt_comparison comparison;

    gmt_summary_fill(&summary, report, report->arena);
    gmt_noise_fill(&summary);
    gmt_budget_check(&given->budget, &summary, &gates);
    if (given->run_count > 0) {
        /* What several runs have shown is nearer than what others have. */
        memcpy(summary.noise, baseline.noise, sizeof(summary.noise));
        gmt_summaries_time_alike((struct gmt_summary *[]){&baseline, &summary}, 2);
        gmt_compare(&comparison, &baseline, &summary, report->arena);
        if (comparison.warning != NULL) {
            complain(path, comparison.warning);
        }
        gmt_gates_baseline(&gates, &comparison, options->max_regression);
    }
    gmt_gates_print(&gates, path, stderr);
    if (gmt_gates_failed(&gates) || severity_gate_failed(options, report)) {
        return GMT_EXIT_GATE;
    }
    return options->strict && gmt_gates_unknown(&gates) ? GMT_EXIT_INCOMPLETE : GMT_EXIT_OK;
}

/* What is left of several traces when each has been analysed. */
struct gmt_together {
    struct gmt_arena arena;
    struct gmt_summary traces[GMT_OPTIONS_MAX_LIST];
    size_t count;
};

static void keep(struct gmt_together *together, const struct gmt_report *report)
{
    gmt_summary_fill(&together->traces[together->count++], report, &together->arena);
}

/* together: where to leave it for a report over all; NULL: it has one of its own. */
static int analyze_trace(const struct gmt_analyze_options *options, const struct gmt_given *given,
                         const char *path, struct gmt_together *together)
{
    struct gmt_trace_session session;
    struct gmt_payload page = {0};
    bool paged = together == NULL && wants_page(options);
    int status = gmt_trace_session_open_page(&session, options, path, paged ? &page : NULL);
    int rc = 0;

    /* The one question that can be answered; a report in another form, or a gate, cannot be had. */
    if (session.has_only_steps && together == NULL && options->output_count == 0 &&
        strcmp(options->writer->name, "text") == 0 && options->budget == NULL &&
        given->run_count == 0) {
        status = gmt_steps_show(session.db);
        goto out;
    }
    if (status != GMT_EXIT_OK) {
        goto out;
    }
    if (paged) {
        rc = gmt_trace_session_page(&session, options->reproduce);
        if (rc == 0 && options->editor_url != NULL &&
            json_object_set_new(page.head, "editor_url", gmt_json_text(options->editor_url)) != 0) {
            rc = -ENOMEM;
        }
        session.report.page = &page;
    }
    bool damaged = gmt_guard_noted(session.db);
    if (rc != 0 || damaged) {
        complain(path, damaged ? gmt_guard_reason(session.db) : gmt_command_reason(rc));
        status = GMT_EXIT_UNREADABLE;
        goto out;
    }
    if (together != NULL) {
        keep(together, &session.report);
    } else {
        rc = write_outputs(options, &session.report);
    }
    /* Printed last: readers look at the end of a log. */
    status = check_gates(options, given, &session.report, path);
    if (status == GMT_EXIT_OK && options->strict && session.report.incomplete) {
        status = GMT_EXIT_INCOMPLETE;
    }
    if (rc != 0) {
        status = GMT_EXIT_UNREADABLE;
    }
out:
    gmt_trace_session_close(&session);
    gmt_payload_free(&page);
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

static int write_together(const struct gmt_analyze_options *options, struct gmt_together *together)
{
    struct gmt_ranks ranks;
    struct gmt_several several = {.ranks = &ranks, .reproduce = options->reproduce};

    gmt_ranks_fill(&ranks, together->traces, together->count, &together->arena);
    return gmt_several_output(options, &several) == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

static int analyze_traces(const struct gmt_analyze_options *options)
{
    struct gmt_given given = {0};
    struct gmt_together several = {0}, *together = options->trace_count > 1 ? &several : NULL;
    int status = read_given(options, &given);

    for (size_t i = 0; status != GMT_EXIT_USAGE && i < options->trace_count; i++) {
        status = worse(status, analyze_trace(options, &given, options->traces[i], together));
    }
    if (several.count > 0) {
        status = worse(status, write_together(options, &several));
    }
    gmt_arena_free(&several.arena);
    gmt_arena_free(&given.arena);
    return status;
}

int gmt_command_analyze(int argc, char **argv)
{
    struct gmt_analyze_options options;
    int status;

    gmt_options_parse(&options, GMT_COMMAND_ANALYZE, argc, argv);
    if (options.list_rules) {
        status = gmt_rule_list(strcmp(options.writer->name, "json") == 0);
    } else if (options.explain != NULL) {
        status = gmt_rule_explain(options.explain);
    } else {
        status = gmt_options_can_write(&options) ? analyze_traces(&options) : GMT_EXIT_UNREADABLE;
    }
    gmt_options_free(&options);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses the traces of a trend, one process each, and takes of each what is followed over the nights. */
#include "analyzer/commands/trend_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/base/exit_codes.h"
#include "analyzer/base/process_each.h"
#include "analyzer/commands/trace_session.h"
#include "analyzer/trace/query.h"
#include "analyzer/trend/traces.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/progress.h"
#include "libtrace/settings/labels.h"

struct trend_reading {
    struct gmt_trend_run *runs;
    const char *model;
    struct gmt_arena *arena;
};

/* ---- one trace, in a process of its own ------------------------------------------------------- */

/* Behind the first word of a quoted command line. */
static const char *behind_first(const char *command)
{
    bool is_quoted = false;

    while (*command != '\0' && (is_quoted || *command != ' ')) {
        is_quoted = is_quoted != (*command == '\'');
        command++;
    }
    return command;
}

/* Takes out what a workspace of its own makes different each night. */
static void leave_out(char *text, const char *folder)
{
    size_t length = strlen(folder);

    if (length < 2) {
        return;
    }
    for (char *at = text; (at = strstr(at, folder)) != NULL;) {
        if (at[length] == '/') {
            memmove(at, at + length + 1, strlen(at + length + 1) + 1);
        } else {
            at++;
        }
    }
}

/* "train --size 4": what it was started as, without its folder; paths in the working directory are relative. */
static const char *program_of(const struct gmt_report *report, const char *cwd,
                              struct gmt_arena *arena)
{
    char *command = gmt_arena_copy(arena, report->command != NULL ? report->command : "");

    if (command == NULL) {
        return NULL;
    }
    size_t first = (size_t)(behind_first(command) - command);
    const char *rest = command + first;
    const char *name = first > 0 ? gmt_arena_text(arena, "%.*s", (int)first, command) : report->exe;
    char *arguments = gmt_arena_copy(arena, rest);

    if (arguments == NULL || name == NULL) {
        return name;
    }
    leave_out(arguments, cwd != NULL ? cwd : "");
    return gmt_arena_text(arena, "%s%s", gmt_base_name(name), arguments);
}

static const char *label_of(const char *labels, const char *key, struct gmt_arena *arena)
{
    size_t length;
    const char *at = labels != NULL ? gmt_label_find(labels, key, &length) : NULL;

    return at != NULL ? gmt_arena_text(arena, "%.*s", (int)length, at) : NULL;
}

/* What a report does not have. */
static int read_process(struct gmt_trend_run *run, struct gmt_trace_session *session,
                        struct gmt_arena *arena)
{
    static const char sql[] =
        "SELECT realtime_ns, tool_version, cwd, (SELECT value FROM meta WHERE key = 'labels'), "
        "(SELECT value FROM meta WHERE key = 'run') FROM process ORDER BY id LIMIT 1";
    struct gmt_query query;
    const char *labels = NULL, *cwd = NULL;
    int rc = gmt_query_open(&query, session->db, sql);

    if (rc == 0 && gmt_query_next(&query)) {
        run->start_ns = gmt_query_known(&query, 0);
        run->tool = gmt_arena_copy(arena, gmt_query_text_here(&query, 1));
        cwd = gmt_arena_copy(arena, gmt_query_text_here(&query, 2));
        labels = gmt_arena_copy(arena, gmt_query_text_here(&query, 3));
        run->job = gmt_arena_copy(arena, gmt_query_text_here(&query, 4));
    }
    rc = gmt_query_close(&query, rc);
    run->start_ns = run->start_ns > 0 ? run->start_ns : 0;
    run->commit = label_of(labels, "commit", arena);
    run->program = label_of(labels, "program", arena);
    if (run->program == NULL) {
        run->program = program_of(&session->report, cwd, arena);
    }
    return rc;
}

static void take_findings(struct gmt_trend_run *run, const struct gmt_summary *s,
                          struct gmt_arena *arena)
{
    for (size_t i = 0; i < s->finding_count; i++) {
        const struct gmt_finding *f = &s->findings[i];
        struct gmt_trend_finding *kept = GMT_PUSH(arena, run->findings, run->finding_count);

        if (kept == NULL) {
            return;
        }
        *kept = (struct gmt_trend_finding){.fingerprint = f->fingerprint,
                                           .rule = f->rule,
                                           .headline = f->headline,
                                           .place = f->place.label,
                                           .gain_ns = f->saving.best_ns};
    }
    for (size_t i = 0; i < s->rule_count; i++) {
        const char **kept = s->rules[i].outcome == GMT_OUTCOME_COULD_NOT_CHECK
                                ? GMT_PUSH(arena, run->unchecked, run->unchecked_count)
                                : NULL;

        if (kept != NULL) {
            *kept = s->rules[i].id;
        }
    }
}

static void take_values(struct gmt_trend_run *run, const struct gmt_report *report,
                        const struct gmt_summary *s)
{
    double calls = 0;

    for (size_t i = 0; i < report->call_count; i++) {
        calls += report->calls[i].calls;
    }
#define GMT_TREND_MEASURE(NAME, name, kind, side, share, value, what) \
    run->values[GMT_TREND_##NAME] = (value);
#include "analyzer/trend/measures.def"
#undef GMT_TREND_MEASURE
}

/* What an analysis has complained about, on what stands for standard error here: its first line. */
static const char *complaint(int errors, const char *trace, struct gmt_arena *arena)
{
    char text[4096];
    static const char program[] = "gmanalyze: ";
    ssize_t got = pread(errors, text, sizeof(text) - 1, 0);
    size_t length = strlen(trace);
    char *at = text;

    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(at, program, sizeof(program) - 1) == 0) {
        at += sizeof(program) - 1;
    }
    if (strncmp(at, trace, length) == 0 && strncmp(at + length, ": ", 2) == 0) {
        at += length + 2;
    }
    return gmt_arena_copy(arena, at[0] != '\0' ? at : "it could not be read");
}

static int read_run(const char *trace, const char *model, int errors, FILE *to)
{
    static struct gmt_analyze_options options;
    struct gmt_arena arena = {0};
    struct gmt_trend_run run = {.trace = trace};
    struct gmt_trace_session session;
    struct gmt_summary summary;

    options.command = GMT_COMMAND_TREND;
    options.calibrate = GMT_CALIBRATE_NEVER;
    options.model_file = model;
    int status = gmt_trace_session_open(&session, &options, trace);
    if (status == GMT_EXIT_OK) {
        const struct gmt_report *report = &session.report;

        gmt_summary_fill(&summary, report, &arena);
        run.exe = report->exe;
        run.rank = report->rank;
        run.host = report->hostname;
        run.device = report->device_name;
        run.driver = report->driver_version;
        take_values(&run, report, &summary);
        take_findings(&run, &summary, &arena);
        status = read_process(&run, &session, &arena) == 0 && !arena.failed ? GMT_EXIT_OK
                                                                            : GMT_EXIT_UNREADABLE;
    }
    if (status != GMT_EXIT_OK) {
        run = (struct gmt_trend_run){.trace = trace, .trouble = complaint(errors, trace, &arena)};
    }
    int rc = gmt_trend_run_send(&run, to);
    gmt_trace_session_close(&session);
    gmt_arena_free(&arena);
    return rc == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

/* What would go to standard error becomes the run's trouble. */
static int answer(void *context, size_t i, FILE *to)
{
    const struct trend_reading *reading = context;
    if (reading->runs[i].trouble != NULL) {
        gmt_progress_end();
        return gmt_trend_run_send(&reading->runs[i], to) == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
    }
    int errors = memfd_create("errors", MFD_CLOEXEC);
    if (errors < 0 || dup2(errors, STDERR_FILENO) < 0) {
        return GMT_EXIT_UNREADABLE;
    }
    gmt_progress_end(); /* of the parent, which goes on with it */
    if (ftruncate(errors, 0) != 0 || lseek(errors, 0, SEEK_SET) != 0) {
        return GMT_EXIT_UNREADABLE;
    }
    return read_run(reading->runs[i].trace, reading->model, errors, to);
}

/* ---- all of them ------------------------------------------------------------------------------ */

static int take(void *context, size_t i, FILE *from)
{
    const struct trend_reading *reading = context;
    int rc = gmt_trend_run_receive(&reading->runs[i], from, reading->arena);

    gmt_progress_add(1);
    return rc;
}

static int fail(void *context, size_t i, int signal)
{
    const struct trend_reading *reading = context;
    struct gmt_trend_run *run = &reading->runs[i];

    *run = (struct gmt_trend_run){.trace = run->trace};
    run->trouble = signal != 0 ? gmt_arena_text(reading->arena, "reading it ended with: %s",
                                                strsignal(signal))
                               : "it could not be read";
    return 0;
}

int gmt_trend_read(struct gmt_trend_run *runs, size_t count, const char *model,
                   struct gmt_arena *arena)
{
    struct trend_reading reading = {runs, model, arena};
    const struct gmt_process_each each = {&reading, answer, take, fail};

    gmt_progress_begin("reading traces", (double)count);
    int rc = gmt_process_each(count, &each);
    gmt_progress_end();
    return rc;
}

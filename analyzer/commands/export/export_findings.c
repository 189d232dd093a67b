/* SPDX-License-Identifier: Apache-2.0 */
/* Findings among trace events: a process of their own, a track for each, and on it the times that it would shorten. */
#include "analyzer/commands/export/export_findings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/commands/commands.h"
#include "analyzer/commands/trace_session.h"
#include "libtrace/base/memory_short.h"
#include "libtrace/base/printable.h"
#include "reports/model/words.h"
#include "reports/writers.h"

/* Of a finding, the longest times; a page shows as many. */
enum { MOST_SPANS = 1000 };

/* From which length on a time is shown. 0 or -ENOMEM. */
static int least_length(const struct gmt_finding *finding, int64_t *least_ns)
{
    size_t n = finding->claim_count;
    int64_t *lengths = n > MOST_SPANS ? malloc(n * sizeof(*lengths)) : NULL;

    *least_ns = INT64_MIN;
    if (n <= MOST_SPANS) {
        return 0;
    }
    if (lengths == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        lengths[i] = finding->claims[i].end_ns - finding->claims[i].begin_ns;
    }
    *least_ns = gmt_sort_select(lengths, n, n - MOST_SPANS);
    free(lengths);
    return 0;
}

static void put_text(struct gmt_events *events, const char *key, const char *text)
{
    if (text != NULL) {
        fprintf(events->out, ",\"%s\":", key);
        gmt_events_text(events, text);
    }
}

/* What there is to read where the event is selected; then the event is complete. */
static void put_rest(struct gmt_events *events, const struct gmt_finding *finding)
{
    put_text(events, "name", finding->action != NULL ? finding->action : finding->title);
    put_text(events, "cat", "finding");
    fputs(",\"args\":{\"rule\":", events->out);
    gmt_events_text(events, finding->rule);
    put_text(events, "severity", gmt_severity_name(finding->severity));
    put_text(events, "where", finding->place.label);
    put_text(events, "seen", finding->headline);
    put_text(events, "fix", finding->fix);
    if (isfinite(finding->saving.best_ns)) {
        fprintf(events->out, ",\"saving_ns\":%.0f,\"saving_basis\":", finding->saving.best_ns);
        gmt_events_text(events, gmt_confidence_name(finding->confidence));
    }
    fputc('}', events->out);
    gmt_events_close(events);
}

/* "2. GM102 pageable-transfer, main.cu:179" */
static void name_track(struct gmt_events *events, struct gmt_arena *arena,
                       const struct gmt_finding *finding, int64_t tid)
{
    gmt_events_name(events, "thread_name", GMT_EXPORT_FINDINGS_PID, tid,
                    gmt_arena_text(arena, "%" PRId64 ". %s %s, %s", tid, finding->rule,
                                   finding->slug, finding->place.label));
    gmt_events_place(events, "thread_sort_index", GMT_EXPORT_FINDINGS_PID, tid, tid);
}

/* A finding of no known time is a mark at the beginning. */
static void put_mark(struct gmt_events *events, const struct gmt_finding *finding, int64_t tid)
{
    gmt_events_open(events, 'i', GMT_EXPORT_FINDINGS_PID, tid, events->origin_ns);
    fputs(",\"s\":\"t\"", events->out);
    put_rest(events, finding);
}

static int put_spans(struct gmt_events *events, const struct gmt_finding *finding, int64_t tid)
{
    int64_t least_ns;
    size_t shown = 0;
    int rc = least_length(finding, &least_ns);

    for (size_t i = 0; rc == 0 && i < finding->claim_count && shown < MOST_SPANS; i++) {
        const struct gmt_interval *claim = &finding->claims[i];

        if (claim->end_ns - claim->begin_ns < least_ns) {
            continue;
        }
        gmt_events_open(events, 'X', GMT_EXPORT_FINDINGS_PID, tid, claim->begin_ns);
        gmt_events_time(events, "dur", claim->end_ns - claim->begin_ns);
        put_rest(events, finding);
        shown++;
    }
    return rc;
}

static int put_findings(struct gmt_events *events, struct gmt_report *report, bool timed)
{
    int rc = 0;

    if (report->finding_count > 0) {
        gmt_events_name(events, "process_name", GMT_EXPORT_FINDINGS_PID, 0, "gmtrace: findings");
        gmt_events_place(events, "process_sort_index", GMT_EXPORT_FINDINGS_PID, 0, 0);
    }
    for (size_t i = 0; rc == 0 && i < report->finding_count; i++) {
        const struct gmt_finding *finding = &report->findings[i];
        int64_t tid = (int64_t)i + 1;

        name_track(events, report->arena, finding, tid);
        if (timed && finding->claim_count > 0) {
            rc = put_spans(events, finding, tid);
        } else {
            put_mark(events, finding, tid);
        }
    }
    return rc;
}

/* With more of it there would be findings. */
static bool lacked_memory(const struct gmt_trace_session *session)
{
    return session->error == -ENOMEM || gmt_memory_short() ||
           (session->db != NULL && (sqlite3_errcode(session->db) & 0xff) == SQLITE_NOMEM);
}

int gmt_export_findings(struct gmt_events *events, const char *trace)
{
    struct gmt_analyze_options options = {.writer = &gmt_writer_text,
                                          .command = GMT_COMMAND_EXPORT,
                                          .calibrate = GMT_CALIBRATE_NEVER,
                                          .traces = {trace},
                                          .trace_count = 1};
    struct gmt_trace_session session;
    int rc = 0;

    if (gmt_trace_session_open(&session, &options, trace) == GMT_EXIT_OK) {
        /* What work would take elsewhere lies at no time of the run. */
        rc = put_findings(events, &session.report, !session.timeline.simulated);
    } else if (lacked_memory(&session)) {
        rc = -ENOMEM;
    } else {
        gmt_say(stderr, "gmanalyze: %s: exported without findings\n", trace);
    }
    gmt_trace_session_close(&session);
    return rc;
}

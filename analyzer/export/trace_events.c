/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of the trace event format (JSON object form), as ui.perfetto.dev and chrome://tracing read it. */
#include "analyzer/export/trace_events.h"

#include <inttypes.h>
#include <stdlib.h>

#include "libtrace/base/format.h"

void gmt_events_text(struct gmt_events *events, const char *text)
{
    char *clean = text != NULL ? gmt_clean_copy(text) : NULL;

    if (clean == NULL) {
        fputs("null", events->out);
        return;
    }
    fputc('"', events->out);
    for (const char *at = clean; *at != '\0'; at++) {
        /* Control characters are gone already. */
        if (*at == '"' || *at == '\\') {
            fputc('\\', events->out);
        }
        fputc(*at, events->out);
    }
    fputc('"', events->out);
    free(clean);
}

void gmt_events_time(struct gmt_events *events, const char *key, int64_t ns)
{
    uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

    fprintf(events->out, ",\"%s\":%s%" PRIu64 ".%03" PRIu64, key, ns < 0 ? "-" : "",
            magnitude / 1000, magnitude % 1000);
}

void gmt_events_open(struct gmt_events *events, char phase, int pid, int64_t tid, int64_t at_ns)
{
    int64_t since_ns;

    /* Clocks of a damaged trace may be anything. */
    if (__builtin_sub_overflow(at_ns, events->origin_ns, &since_ns)) {
        since_ns = at_ns < 0 ? INT64_MIN : INT64_MAX;
    }
    fprintf(events->out, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%" PRId64, events->begun ? "," : "",
            phase, pid, tid);
    gmt_events_time(events, "ts", since_ns);
    events->begun = true;
}

void gmt_events_close(struct gmt_events *events)
{
    fputc('}', events->out);
}

static void open_metadata(struct gmt_events *events, const char *what, int pid, int64_t tid)
{
    fprintf(events->out,
            "%s\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRId64 ",\"name\":\"%s\",\"args\":{",
            events->begun ? "," : "", pid, tid, what);
    events->begun = true;
}

void gmt_events_name(struct gmt_events *events, const char *what, int pid, int64_t tid,
                     const char *name)
{
    open_metadata(events, what, pid, tid);
    fputs("\"name\":", events->out);
    gmt_events_text(events, name != NULL ? name : "");
    fputs("}}", events->out);
}

void gmt_events_place(struct gmt_events *events, const char *what, int pid, int64_t tid,
                      int64_t place)
{
    open_metadata(events, what, pid, tid);
    fprintf(events->out, "\"sort_index\":%" PRId64 "}}", place);
}

/* Whether the lane takes the event; closes what has ended. */
static bool fits(struct gmt_lane *lane, bool nest, int64_t begin_ns, int64_t end_ns)
{
    while (lane->open > 0 && lane->ends_ns[lane->open - 1] <= begin_ns) {
        lane->open--;
    }
    return lane->open == 0 ||
           (nest && lane->open < GMT_LANE_DEPTH && end_ns <= lane->ends_ns[lane->open - 1]);
}

int gmt_lanes_take(struct gmt_lanes *lanes, int64_t begin_ns, int64_t end_ns)
{
    int at = 0;

    while (at < lanes->count && !fits(&lanes->lane[at], lanes->nest, begin_ns, end_ns)) {
        at++;
    }
    if (at == GMT_LANES) {
        at = GMT_LANES - 1;
        lanes->lane[at].open = 0;
    }
    if (at == lanes->count) {
        lanes->count++;
    }
    struct gmt_lane *lane = &lanes->lane[at];
    lane->ends_ns[lane->open++] = end_ns;
    return at;
}

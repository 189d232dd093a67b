/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of the trace event format (JSON object form), as ui.perfetto.dev and chrome://tracing read it. */
#include "analyzer/export/trace_events.h"

#include <inttypes.h>
#include <stdlib.h>

#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"

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

int64_t gmt_events_common(const struct gmt_events_clock *clock, int64_t at_ns)
{
    double since_ns = (double)at_ns - (double)clock->middle_ns;

    return gmt_add_clamped(gmt_add_clamped(at_ns, clock->shift_ns),
                           gmt_integer_clamped(clock->drift * since_ns));
}

void gmt_events_open(struct gmt_events *events, char phase, int pid, int64_t tid, int64_t at_ns)
{
    /* Clocks of a damaged trace may be anything. */
    int64_t since_ns = gmt_sub_clamped(gmt_events_common(&events->clock, at_ns), events->origin_ns);

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

void gmt_events_open_slice(struct gmt_events *events, const struct gmt_events_slice *slice)
{
    int64_t length_ns = gmt_sub_clamped(gmt_events_common(&events->clock, slice->end_ns),
                                        gmt_events_common(&events->clock, slice->begin_ns));

    gmt_events_open(events, 'X', slice->pid, slice->tid, slice->begin_ns);
    /* A call cannot end before it begins, except in a damaged trace; nor can it take longer than 64 bits say. */
    gmt_events_time(events, "dur", length_ns > 0 && length_ns < INT64_MAX ? length_ns : 0);
    fputs(",\"name\":", events->out);
    gmt_events_text(events, slice->name != NULL ? slice->name : "unknown");
    fputs(",\"cat\":", events->out);
    gmt_events_text(events, slice->category != NULL ? slice->category : "unknown");
    fputs(",\"args\":{", events->out);
}

void gmt_events_close_slice(struct gmt_events *events)
{
    fputc('}', events->out);
    gmt_events_close(events);
}

void gmt_events_flow(struct gmt_events *events, char phase, const struct gmt_events_slice *slice,
                     const char *what, int64_t id)
{
    gmt_events_open(events, phase, slice->pid, slice->tid, slice->begin_ns);
    fprintf(events->out, ",\"id\":%" PRId64 ",\"name\":\"%s\",\"cat\":\"%s\"%s", id, what, what,
            phase == 'f' ? ",\"bp\":\"e\"" : "");
    gmt_events_close(events);
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

void gmt_lanes_place(struct gmt_lanes *lanes, struct gmt_events *events,
                     struct gmt_events_slice *slice, const char *name, int64_t place)
{
    int known = lanes->count, lane = gmt_lanes_take(lanes, slice->begin_ns, slice->end_ns);

    slice->tid = gmt_add_clamped(slice->tid, (int64_t)lane * GMT_LANE_TIDS);
    if (lane == known) {
        gmt_events_name(events, "thread_name", slice->pid, slice->tid, name);
        gmt_events_place(events, "thread_sort_index", slice->pid, slice->tid,
                         gmt_add_clamped(gmt_mul_clamped(place, GMT_LANES), lane));
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of the trace event format (JSON object form), as ui.perfetto.dev and chrome://tracing read it. */
#ifndef GMT_ANALYZER_EXPORT_TRACE_EVENTS_H
#define GMT_ANALYZER_EXPORT_TRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Times are ns of the trace; the format has microseconds, from origin_ns here. */
struct gmt_events {
    FILE *out;
    int64_t origin_ns;
    bool begun; /* an event was written: the next one follows a comma */
};

/* A string of JSON, valid whatever text holds; NULL: null. */
void gmt_events_text(struct gmt_events *events, const char *text);
/* "ph", "pid", "tid" and "ts" of an event, whose object stays open. */
void gmt_events_open(struct gmt_events *events, char phase, int pid, int64_t tid, int64_t at_ns);
void gmt_events_close(struct gmt_events *events);
/* "key": ns in microseconds, to the nanosecond. */
void gmt_events_time(struct gmt_events *events, const char *key, int64_t ns);
/* process_name, thread_name: what a process or thread is called; and where it stands among others. */
void gmt_events_name(struct gmt_events *events, const char *what, int pid, int64_t tid,
                     const char *name);
void gmt_events_place(struct gmt_events *events, const char *what, int pid, int64_t tid,
                      int64_t place);

/*
 * Complete events of one thread must lie within each other or apart: what overlaps otherwise goes to a
 * further lane. Events come in the order of their beginnings.
 */
enum { GMT_LANES = 64, GMT_LANE_DEPTH = 72 };
struct gmt_lane {
    int64_t ends_ns[GMT_LANE_DEPTH]; /* of what is open, outermost first */
    int open;
};
struct gmt_lanes {
    struct gmt_lane lane[GMT_LANES];
    int count;
    bool nest; /* what lies within an event goes to its lane; else to a further one, too */
};
/* The lane for an event; the last one takes what fits nowhere. */
int gmt_lanes_take(struct gmt_lanes *lanes, int64_t begin_ns, int64_t end_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of the trace event format (JSON object form), as ui.perfetto.dev and chrome://tracing read it. */
#ifndef GMT_ANALYZER_EXPORT_TRACE_EVENTS_H
#define GMT_ANALYZER_EXPORT_TRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What takes times of a trace to a clock that several traces have. 0: nothing has to. */
struct gmt_events_clock {
    int64_t shift_ns;  /* to be added, at middle_ns */
    int64_t middle_ns; /* on the clock of the trace */
    double drift;      /* by which the shift grows, per ns */
};

/* Times are ns of the trace; the format has microseconds, from origin_ns of that common clock here. */
struct gmt_events {
    FILE *out;
    struct gmt_events_clock clock;
    int64_t origin_ns;
    bool begun; /* an event was written: the next one follows a comma */
};

/* The time on the common clock, which origin_ns is of; what exceeds 64 bits is the limit. */
int64_t gmt_events_common(const struct gmt_events_clock *clock, int64_t at_ns);

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

/* An event with beginning and length. */
struct gmt_events_slice {
    int pid;
    int64_t tid, begin_ns, end_ns; /* one that ends before it begins has no length */
    const char *name, *category;   /* NULL: "unknown" */
};
/* Its arguments stay open: members of an object. */
void gmt_events_open_slice(struct gmt_events *events, const struct gmt_events_slice *slice);
void gmt_events_close_slice(struct gmt_events *events);
/* An arrow that begins ('s') in the slice, passes ('t') or ends ('f') there. One id and `what`: one arrow. */
void gmt_events_flow(struct gmt_events *events, char phase, const struct gmt_events_slice *slice,
                     const char *what, int64_t id);

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

/* Tids of lane n of a track are this many times n further on. */
enum { GMT_LANE_TIDS = 1 << 24 };
/*
 * Takes a lane and makes slice->tid, that of the track, its tid. A lane that is used first gets the track's name, and stands at
 * `place` among the tracks of its process.
 */
void gmt_lanes_place(struct gmt_lanes *lanes, struct gmt_events *events,
                     struct gmt_events_slice *slice, const char *name, int64_t place);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a trace as trace events. */
#ifndef GMT_ANALYZER_COMMANDS_EXPORT_ROWS_H
#define GMT_ANALYZER_COMMANDS_EXPORT_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/export/trace_events.h"

/* One trace of a file. Whoever fills it in owns all that it points to. */
struct gmt_export_rows {
    sqlite3 *db;
    const char *trace;         /* its file, for complaints */
    struct gmt_events *events; /* where to, with the trace's clock */
    const char *label;         /* before the names of its processes; NULL: none */
    int first_pid; /* of the traced process, whose own number is in its name; behind it those of its devices */
    int last_device; /* what no device can be called belongs to the process */
    int number;      /* different for each trace of a file, below 2048; 0: it is the only one */
    /* What came of it: 0 at first. */
    int64_t count;            /* events with a beginning and a length */
    int arguments;            /* of the event that is open */
    bool complained, damaged; /* the latter: a row had something else than an integer */
};

/* Everything of the trace begins then or later, on its own clock. 0 or -EIO, complained about. */
int gmt_export_rows_origin(struct gmt_export_rows *p, int64_t *origin_ns);

/* Calls and ranges, device work, memory. 0 or negative errno, complained about where `complained` says so. */
int gmt_export_rows_write(struct gmt_export_rows *p);

#endif

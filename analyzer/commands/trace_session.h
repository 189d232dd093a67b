/* SPDX-License-Identifier: Apache-2.0 */
/* One trace, opened and analysed: what every command that reports on traces starts from. */
#ifndef GMT_ANALYZER_COMMANDS_TRACE_SESSION_H
#define GMT_ANALYZER_COMMANDS_TRACE_SESSION_H

#include <sqlite3.h>
#include <stdbool.h>

#include "analyzer/commands/options.h"
#include "analyzer/page/page.h"
#include "analyzer/run/analysis.h"

struct gmt_trace_session {
    struct gmt_arena arena;
    struct gmt_timeline timeline;
    struct gmt_model model;
    struct gmt_report report;           /* points into all the others */
    struct gmt_torch_snapshot snapshot; /* of --memory-snapshot; empty without */
    struct gmt_tried_file tried;        /* of --tried; empty without */
    sqlite3 *db;
    int error; /* negative errno where it could not be read or analysed, as far as that is known; 0 */
    bool has_only_steps; /* of gmtrace --aggregate: there is nothing to be analysed */
    sqlite3 *beside; /* to the same file, until it is analysed and the page is filled; NULL: none */
    struct gmt_host_basis basis; /* with `beside`: begun */
    struct gmt_payload *payload; /* NULL: nobody wants a page */
    struct gmt_page *page;       /* the payload's, begun; NULL: not yet */
};

/*
 * Reads the trace and runs the rules that the options name. An exit code; when it is not
 * GMT_EXIT_OK, standard error has the reason. Close it in either case.
 */
int gmt_trace_session_open(struct gmt_trace_session *session,
                           const struct gmt_analyze_options *options, const char *path);
/* The same, and begins to fill the page meanwhile where it can; gmt_trace_session_page does the rest. */
int gmt_trace_session_open_page(struct gmt_trace_session *session,
                                const struct gmt_analyze_options *options, const char *path,
                                struct gmt_payload *payload);
/* 0 or a negative errno, as gmt_page_fill. The payload is to be freed after the session. */
int gmt_trace_session_page(struct gmt_trace_session *session, const char *reproduce);
void gmt_trace_session_close(struct gmt_trace_session *session);

#endif

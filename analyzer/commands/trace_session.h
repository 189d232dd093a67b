/* SPDX-License-Identifier: Apache-2.0 */
/* One trace, opened and analysed: what every command that reports on traces starts from. */
#ifndef GMT_ANALYZER_COMMANDS_TRACE_SESSION_H
#define GMT_ANALYZER_COMMANDS_TRACE_SESSION_H

#include <sqlite3.h>

#include "analyzer/commands/options.h"
#include "analyzer/run/analysis.h"

struct gmt_trace_session {
    struct gmt_arena arena;
    struct gmt_timeline timeline;
    struct gmt_model model;
    struct gmt_report report; /* points into all the others */
    sqlite3 *db;
};

/*
 * Reads the trace and runs the rules that the options name. An exit code; when it is not
 * GMT_EXIT_OK, standard error has the reason. Close it in either case.
 */
int gmt_trace_session_open(struct gmt_trace_session *session,
                           const struct gmt_analyze_options *options, const char *path);
void gmt_trace_session_close(struct gmt_trace_session *session);

#endif

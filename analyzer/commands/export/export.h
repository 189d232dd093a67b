/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace can be exported to. Each target writes one form of it. */
#ifndef GMT_ANALYZER_COMMANDS_EXPORT_H
#define GMT_ANALYZER_COMMANDS_EXPORT_H

#include <sqlite3.h>
#include <stdio.h>

/* One file of trace events, for ui.perfetto.dev and chrome://tracing. output NULL: standard output. All
 * return 0 or negative errno, and have complained. */
int gmt_export_perfetto(sqlite3 *db, const char *trace, const char *output);

/* One file per view, in the folder `output`, which is made if it is not there. */
int gmt_export_csv(sqlite3 *db, const char *trace, const char *output);

/* The result of a statement as CSV, names of columns first. Counts rows. Negative errno: -EIO also for
 * what SQLite says. */
int gmt_csv_rows(sqlite3_stmt *statement, FILE *out, long *rows);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace for analysis: waits for a recorder at work, finishes what a killed one left. */
#ifndef GMT_ANALYZER_TRACE_OPEN_H
#define GMT_ANALYZER_TRACE_OPEN_H

#include <sqlite3.h>
#include <stddef.h>

/* 0 and *db (sqlite3_close); else negative errno and one line in message. Speaks on stderr while it
 * waits, and says what it has finished. */
int gmt_open_trace(const char *path, sqlite3 **db, char *message, size_t bytes);

/* For whoever opens many traces. */
struct gmt_open_how {
    unsigned flags; /* GMT_TRACE_SUMS or 0 */
    sqlite3 *model; /* gmt_own_schema, the caller's; NULL: each makes its own */
};
int gmt_open_trace_how(const char *path, const struct gmt_open_how *how, sqlite3 **db,
                       char *message, size_t bytes);

/*
 * gmt_open_trace; for a large file also a second connection to it (gmt_trace_open_beside), for gmt_timeline_load_beside: which values its rows
 * have is not checked then. Else *beside is NULL.
 */
int gmt_open_trace_beside(const char *path, sqlite3 **db, sqlite3 **beside, char *message,
                          size_t bytes);

/* Checks all values that statements compare, or count with, without looking at their types (gmt_own_schema_values). 0; or negative
 * errno, and why. */
int gmt_open_check(sqlite3 *db, char *why, size_t bytes);

/* What is in a trace that was made of a spool, for people. */
struct gmt_recovered {
    char text[400];
};
struct gmt_recovered gmt_recovered_count(sqlite3 *db);

#endif

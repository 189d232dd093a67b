/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a finished trace.db for reading and says in one line what is wrong with one that is not. The file
 * may be anybody's: nothing in it is executed (guard.h, own_schema.h), and the views are this version's.
 */
#ifndef GMT_STORE_FINISHED_READER_H
#define GMT_STORE_FINISHED_READER_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/db/own_schema.h"

/* Open also a trace whose recording was never finished (meta complete = 0): its rows are right but
 * not joined, symbolized or indexed. */
#define GMT_TRACE_ALLOW_INCOMPLETE 0x1u
/* Only sums over steps are to be read: of a trace that has nothing else, other tables are not looked at, and there are no views. */
#define GMT_TRACE_SUMS 0x2u

/* Open `path` read-only. On success *db is the caller's (sqlite3_close) and 0 is returned. On
 * failure *db is NULL, `message` holds one line without a newline that says what to do, and the
 * result distinguishes the cases:
 *   -ENOENT           no such file, no leftover spool beside it either
 *   -EISDIR           a directory (or another thing that is not a regular file: -EINVAL)
 *   -EACCES           no permission to read it
 *   -ENODATA          an empty file
 *   -EBADMSG          truncated or damaged, or with a schema that no gmtrace writes
 *   -EMEDIUMTYPE      something else than a gmtrace trace
 *   -EPROTONOSUPPORT  written by a newer gmtrace
 *   -EINPROGRESS      the traced program is still being recorded
 *   -EAGAIN           not finished: its recorder was killed; gmt_recording_recover finishes it
 *   other             as the system said */
int gmt_trace_open(const char *path, unsigned flags, sqlite3 **db, char *message,
                   size_t message_bytes);

/* The same with a schema that the caller has (gmt_own_schema), for many traces one after another; NULL: there is none yet. */
int gmt_trace_open_by(const char *path, unsigned flags, sqlite3 *model, sqlite3 **db, char *message,
                      size_t message_bytes);

/* What of the trace is read by whoever opened it with these flags. */
enum gmt_schema_part gmt_trace_part(sqlite3 *db, unsigned flags);

/* Bytes of the file by its number of pages; 0: not known. */
int64_t gmt_trace_bytes(sqlite3 *db);

/* A second connection to the file that gmt_trace_open has opened as `db`, with the same views, for another thread. Both see the same
 * rows until gmt_trace_close_beside. NULL: there can be none. */
sqlite3 *gmt_trace_open_beside(sqlite3 *db);
void gmt_trace_close_beside(sqlite3 *db, sqlite3 *beside);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a file that somebody else may have made: SQLite's defences, limits on memory, time and
 * what a statement may do. Everything that opens a trace goes through here, and nothing of a trace is
 * executed.
 */
#ifndef GMT_STORE_DB_GUARD_H
#define GMT_STORE_DB_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Settings that hold for reading and for writing: call it before the first statement. 0 or -EIO. */
int gmt_guard_configure(sqlite3 *db);

/*
 * For reading a file of so many bytes: no value may be longer than the file and a little, the time of the
 * processor is limited in proportion to it, and statements may read, and make TEMP objects. All files that
 * a process reads share one allowance of time.
 */
int gmt_guard_reading(sqlite3 *db, int64_t file_bytes);

/* The same of a file that has its allowance already, for a second connection to it. */
int gmt_guard_reading_beside(sqlite3 *db, int64_t file_bytes);

/*
 * For changing a file in place: its rows, and its schema where an earlier version made it; statements can
 * do nothing else. What SQLite does is limited in proportion to the file. It is its instructions that
 * count, since the process may need time for other files.
 */
int gmt_guard_writing(sqlite3 *db, int64_t file_bytes);

/* What reading all those files may take, of memory of any kind: in proportion to them. */
int64_t gmt_guard_memory_bytes(void);
/* The same of files of so many bytes in all. */
int64_t gmt_guard_memory_of(int64_t file_bytes);

/* Processor time (ns) that reading files of so many bytes may take. */
int64_t gmt_guard_time_of(int64_t file_bytes);

/* What is left of the processor time for all those files. */
int64_t gmt_guard_left_ns(void);

/* SQLite may take what it needs, until the next file is read: for writing a trace of our own. */
void gmt_guard_lift_memory(void);

/* That it was not enough, in words that go on after the file's name. */
const char *gmt_guard_memory_reason(void);

/* The same of time. */
const char *gmt_guard_time_reason(void);

/*
 * Whether a table of those files can have so many rows. If not, its pages are linked several times, and that
 * is the reason of the failure.
 */
bool gmt_guard_plausible_rows(sqlite3 *db, int64_t rows);

/* From here on statements may read and nothing else: for a statement that the user brings. */
void gmt_guard_seal(sqlite3 *db);

/* No text of a trace but source files is longer. Beyond it names would be copied for each row that has
 * them. */
#define GMT_TEXT_MOST_BYTES 1048576
#define GMT_TEXT_MOST_WORDS "1 MB"

/* Keeps "is damaged: table.column WHAT" as the reason of a failure: of a column of the statement's present
 * row. */
void gmt_guard_note_value(sqlite3_stmt *statement, int column, const char *what);

/* The same of a column that an expression has looked at. */
void gmt_guard_note_column(sqlite3 *db, const char *table, const char *column, const char *what);

/* Keeps a reason that another thread has kept for a connection of its own, where nothing is kept yet. */
void gmt_guard_note_reason(sqlite3 *db, const char *reason);

/* Keeps why the last statement failed, where nothing is kept yet: whoever reads on may not look at it. */
void gmt_guard_note_failure(sqlite3 *db);

/* Whether this thread has kept a reason for this connection. */
bool gmt_guard_noted(sqlite3 *db);

/* Why the last statement failed, in words that go on after the file's name; gmt_database_error gives the
 * number. */
const char *gmt_guard_reason(sqlite3 *db);

#endif

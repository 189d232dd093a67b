/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This version's schema as a database of its own, and what it says of a trace: that the trace's tables
 * are plain ones, and the views, which are always made of our text and never of the trace's.
 */
#ifndef GMT_STORE_DB_OWN_SCHEMA_H
#define GMT_STORE_DB_OWN_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/* Which tables of a trace are to be read. */
enum gmt_schema_part {
    GMT_SCHEMA_WHOLE,
    GMT_SCHEMA_SUMS, /* of a trace of sums over steps: step, step_..., and what they are of */
};

/* Whether a table of this name is of that part. */
bool gmt_own_schema_reads(enum gmt_schema_part part, const char *table);

/* An empty database in memory with every table and view of this version; the caller's (sqlite3_close).
 * 0 or negative errno. */
int gmt_own_schema(sqlite3 **model);

/*
 * Whether reading the tables of `db` computes nothing that the file says: no virtual table, no generated
 * column, no index over expressions or over a part, no name of a table-valued pragma, which it
 * would hide, and every name of ours is of the kind that it is here.
 * (Triggers are switched off, guard.h.) 0; else -EBADMSG with the reason in `why`, which continues a
 * sentence that begins with the file's name, or the error of reading.
 */
int gmt_own_schema_check(sqlite3 *db, sqlite3 *model, char *why, size_t why_bytes);

/*
 * Whether the texts that many rows share (names, paths) are of a length that can be copied for each of
 * them. 0; else -EBADMSG with the reason in `why`, as above.
 */
int gmt_own_schema_texts(sqlite3 *db, sqlite3 *model, enum gmt_schema_part part, char *why,
                         size_t why_bytes);

/*
 * Whether what SQL alone looks at, in sums and conditions, are numbers where numbers belong, and words
 * that our schema or the file's own knows: it would take a text for 0, and leave rows out without a word. 0; else
 * -EBADMSG, the reason is kept (gmt_guard_reason), or the error of reading.
 */
int gmt_own_schema_values(sqlite3 *db, sqlite3 *model, enum gmt_schema_part part);

/* The condition in parentheses of the next CHECK in a table's text of ours, which *text moves beyond; NULL:
 * there is none. */
const char *gmt_own_schema_constraint(const char **text, int *length);

/*
 * Makes every view of this version for this connection only (TEMP), where it hides one of the same name
 * in the file. A table that lacks columns of this version, since an earlier one wrote it, is hidden by a
 * view that has them as NULL. Views over tables that the trace lacks are made too; using one says what is
 * missing. Of a part there are no views but those of its tables that lack columns. Whoever replaces a table by a TEMP view
 * drops ours first. 0 or negative errno.
 */
int gmt_own_schema_views(sqlite3 *db, sqlite3 *model, enum gmt_schema_part part);

/* Whether the trace's own table has the column, or NULL: whether it has the table. Traces of earlier versions
 * lack some. */
bool gmt_trace_has_column(sqlite3 *db, const char *table, const char *column);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the text of the program's source files in the trace, so that a report can show the lines it
 * names on a machine that has neither the program nor its sources.
 *
 * Only files that a counted instruction or a frame of the user's own code names, and no headers of
 * the system or of the toolkit. The option `source` leaves all of them out.
 */
#ifndef GMT_STORE_SYMBOLS_SOURCES_H
#define GMT_STORE_SYMBOLS_SOURCES_H

#include <sqlite3.h>
#include <stdint.h>

#define GMT_SOURCE_FILE_BYTES ((int64_t)1 << 20) /* of one file: generated code can be endless    */
#define GMT_SOURCE_TOTAL_BYTES \
    ((int64_t)16 << 20) /* of all: beside a trace of a run they are small */
#define GMT_SOURCE_BUDGET_NS \
    UINT64_C(2000000000) /* a dead network share must not hold a trace up */

/* Fill in table source_file. Call it after the frames have got their names. A file that cannot be
 * kept gets a row that says why; that is no error. The caller owns the transaction. Returns 0 or the
 * negative errno of the database. */
int gmt_sources_embed(sqlite3 *db, uint64_t budget_ns);

/* Open a source file for reading without blocking. Compilers leave ".." in names of files, behind
 * folders that only the machine that built the program had: where there is no such file, the path is
 * tried without them. A descriptor, or -1 and errno. */
int gmt_sources_open_file(const char *path);

#endif

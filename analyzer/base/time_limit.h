/* SPDX-License-Identifier: Apache-2.0 */
/* Ends what SQLite would not end by itself. */
#ifndef GMT_ANALYZER_BASE_TIME_LIMIT_H
#define GMT_ANALYZER_BASE_TIME_LIMIT_H

#include <sqlite3.h>
#include <stdint.h>

/*
 * Interrupts the statements of this connection when the processor time of libtrace/store/db/guard.h is over:
 * SQLite asks a progress handler between its instructions, and count(*) is one, which walks all pages of a
 * table; a page may be linked many times. Of several connections, the latest. Where the process goes on for
 * as long again, since a loop of ours has no end, it ends with one line and status 3. The limit ends when
 * the connection is closed.
 */
void gmt_time_limit(sqlite3 *db);

/*
 * Ends this process with one line, which names `path`, and status 3 when it has taken `ns` more of processor
 * time: for what is no trace yet. Until gmt_time_limit_process_end.
 */
void gmt_time_limit_process(const char *path, int64_t ns);
void gmt_time_limit_process_end(void);

#endif

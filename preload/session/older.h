/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an earlier run left under the name of a trace: the trace, its journal, its spool. They are moved to
 * `<path>.old`, by one process at a time: by the one that has the lock of the older spool, or, where there
 * is none, by the one that has made its own. A file that holds something and is no trace stays. run: what the
 * launcher calls its run; NULL: there is none.
 */
#ifndef GMT_PRELOAD_SESSION_OLDER_H
#define GMT_PRELOAD_SESSION_OLDER_H

#include <limits.h>
#include <stdbool.h>

/* What would have to be moved or replaced, and holds something that is no trace: `path`, or `<path>.old`. found gets its
 * name. Files of this run are not looked at: another name is chosen. */
bool gmt_older_is_foreign(const char *path, const char *run, char found[static PATH_MAX]);

/* An older spool, with its trace. False: the name is taken by this run, or by somebody who is at work on
 * it, or what is there cannot be moved. */
bool gmt_older_spool_move(const char *path, const char *run);

/* An older trace without a spool; the caller has made `<path>.spool`. False: it belongs to this run, or
 * cannot be moved. */
bool gmt_older_trace_move(const char *path, const char *run);

#endif

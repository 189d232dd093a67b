/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an earlier run left under the name of a trace: the trace, its journal, its spool. They are moved to
 * `<path>.old`, by one process at a time: by the one that has the lock of the older spool, or, where there
 * is none, by the one that has made its own. run: what the launcher calls its run; NULL: there is none.
 */
#ifndef GMT_PRELOAD_SESSION_OLDER_H
#define GMT_PRELOAD_SESSION_OLDER_H

#include <stdbool.h>

/* An older spool, with its trace. False: the name is taken by this run, or by somebody who is at work on
 * it, or what is there cannot be moved. */
bool gmt_older_spool_move(const char *path, const char *run);

/* An older trace without a spool; the caller has made `<path>.spool`. False: it belongs to this run, or
 * cannot be moved. */
bool gmt_older_trace_move(const char *path, const char *run);

#endif

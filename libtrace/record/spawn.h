/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a helper process that the application cannot notice. */
#ifndef GMT_RECORD_SPAWN_H
#define GMT_RECORD_SPAWN_H

/* Run `path` with `argv` in a session of its own, its parent gone: nothing of it is seen by the
 * application's wait(), no SIGCHLD is sent, no atfork handler runs, no page is copied. It inherits no
 * descriptor (0, 1, 2 are /dev/null), no signal mask, none of the application's loader settings
 * (LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH) and no GMTRACE_* variable. Returns 0 or negative errno, also when
 * `path` cannot be executed. */
int gmt_spawn_detached(const char *path, char *const argv[]);

#endif

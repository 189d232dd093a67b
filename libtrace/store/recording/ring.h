/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings that keep their last seconds only (option --ring; docs/always-on.md).
 *
 * The chunks of the spool stay where they are until all that is in them is older than the limit of time, or
 * until the oldest are given up for the limit of size. What is left of chunks that are given up, since it
 * still holds (memory that is not freed, contexts, streams, graphs, names, stacks), goes into one chunk of
 * the recorder's own, the base, which takes the name `chunk-<ring_base - 1>` in one step. So a spool always
 * holds whole what a dump needs, also when its recorder was killed.
 *
 * A dump reads a spool, changes nothing in it, and makes a new trace. While it reads, it holds a shared lock
 * on byte 1 of `lock`; the recorder gives chunks up under an exclusive one.
 */
#ifndef GMT_STORE_RECORDING_RING_H
#define GMT_STORE_RECORDING_RING_H

#include <limits.h>
#include <stdbool.h>

#include "libtrace/record/layout.h"

/* Does a recording with this control page keep its last seconds only? */
bool gmt_ring_is_on(const struct gmt_control *control);

/*
 * Make `new_file`, which must not exist, of the last seconds of a spool of this user and this boot, whether
 * or not its process lives. cause: what asked for it, as the trace says it. 0; -ENOENT: there is no such
 * spool; -ENODATA: it keeps all of the recording, not its last seconds; -EPERM or -EREMOTE: it is not of this
 * user or boot; -EEXIST: the file is there; -EBUSY: another process is making it; else as
 * gmt_recording_run.
 */
int gmt_ring_dump(const char *spool_directory, const char *new_file, const char *cause);

/* The same under the first name that is free of `trace-1.db`, `trace-2.db`, ... beside `output` ("trace.db"),
 * which `file` gets. */
int gmt_ring_dump_beside(const char *spool_directory, const char *output, const char *cause,
                         char file[static PATH_MAX]);

#endif

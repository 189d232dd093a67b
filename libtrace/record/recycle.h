/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full chunks that stay mapped and are written again once their records are in the trace.
 *
 * A new chunk of 4 MiB costs some 3 ms of page faults, a zeroed old one 40 us. The writer marks a full chunk
 * GMT_CHUNK_KEPT and keeps its mapping; the recorder, done with it, renames `chunk-<n>` to `free-<n>`
 * instead of removing it; the writer, in need of one, zeroes the oldest of these and gives it the next
 * index and name. Between the two renames nobody but the writer looks at it. What is killed in the middle
 * leaves a file that holds nothing, and that goes with the spool.
 *
 * Only on file systems that write in place: on others a page that was allocated once may find the disk full
 * when it is written again, which is a SIGBUS.
 */
#ifndef GMT_RECORD_RECYCLE_H
#define GMT_RECORD_RECYCLE_H

#include <stdbool.h>

#include "libtrace/record/layout.h"

/* For a spool that has just been made. */
void gmt_recycle_start(const char *directory);

bool gmt_recycle_is_on(void);

/* Close a full chunk and keep it. False: it is still the caller's, and not closed. */
bool gmt_recycle_keep(struct gmt_chunk_header *chunk);

/* One that was given back, under the next index and empty; NULL: there is none. */
struct gmt_chunk_header *gmt_recycle_take(const char *directory, struct gmt_control *control);

/* Where there is no room for a new chunk: remove one that was given back. False: there is none. */
bool gmt_recycle_drop(const char *directory, struct gmt_control *control);

/* In a forked child: they are the parent's. */
void gmt_recycle_reset(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at work on a spool. `folder` is a descriptor of its folder (spool_folder.h) everywhere. */
#ifndef GMT_RECORD_SPOOL_LOCK_H
#define GMT_RECORD_SPOOL_LOCK_H

#include <stdbool.h>

/* Open a regular file of the folder, close-on-exec; a link is not followed (-ELOOP), and what is no regular
 * file refused (-EBADMSG). Returns the descriptor or negative errno. */
int gmt_spool_file_open(int folder, const char *name, int flags);

/* Take the lock that whoever drains the spool holds, or moves it. Returns a descriptor that holds it (close
 * it to release), -EBUSY if another has it, or negative errno (-ENOENT: it has just been removed). On file
 * systems without locks the descriptor is returned all the same. */
int gmt_spool_lock(int folder);

/* 1: someone holds the lock, 0: nobody does, or negative errno (-ENOENT: no spool). */
int gmt_spool_lock_held(int folder);

/* Does another process hold the lock of the spool's writer, on `control`? */
bool gmt_spool_is_written(int folder);

#endif

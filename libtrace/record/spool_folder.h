/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a spool, through a descriptor: somebody else may have put a link in its place. */
#ifndef GMT_RECORD_SPOOL_FOLDER_H
#define GMT_RECORD_SPOOL_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* Where the spool lies when its file system has no shared mappings: `<output>.spool` is then a link to
 * this, with the process id and a time. */
#define GMT_SPOOL_SHARED_PREFIX "/dev/shm/gmtrace-"

/* Open it for openat() and the like. Links are not followed, but for one of this user that leads to
 * GMT_SPOOL_SHARED_PREFIX. Returns a descriptor or negative errno: -ELOOP for any other link, -ENOTDIR. */
int gmt_spool_folder_open(const char *path);

/* Does this path, or a link that is there, lead to the folder? */
bool gmt_spool_folder_is_at(int folder, const char *path);

/* Does the folder belong to the user that this process acts as? */
bool gmt_spool_folder_is_own(int folder);

/* Size of all files in it. */
int64_t gmt_spool_folder_bytes(int folder);

/* Remove the files whose names are wanted; how many there were. */
uint64_t gmt_spool_folder_unlink(int folder, bool (*is_wanted)(const char *name));

/* Remove what a spool may hold, and its folder, which is open as `folder`, with the link to it. Other files
 * stay, and then the folder does. */
void gmt_spool_folder_remove(int folder, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the files of a spool: opening, recognizing, removing them, and the drainer's lock. */
#ifndef GMT_STORE_SPOOL_FILES_H
#define GMT_STORE_SPOOL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

/* Open `<directory>/<name>` close-on-exec. Returns the descriptor or negative errno. */
int gmt_spool_file_open(const char *directory, const char *name, int flags);

/* Map `<directory>/control` and check it; errors as gmt_spool_reader_open. What was opened or mapped
 * on the way is the caller's also after an error (*fd < 0, *control unchanged: not). */
int gmt_spool_control_map(const char *directory, struct gmt_control **control, int *fd);

/* True for "chunk-<n>". */
bool gmt_spool_chunk_index(const char *name, uint32_t *index);

/* Returns 0 and the size the file had (0 when it was gone already) or negative errno. */
int gmt_spool_chunk_unlink(const char *directory, uint32_t index, uint64_t *bytes);

/* Rename chunk <n> to "free-<n>"; false: it could not be. */
bool gmt_spool_chunk_give_back(const char *directory, uint32_t index);

/* Remove the chunks that were given back, where their room is needed; the writer makes new ones. */
void gmt_spool_free_remove(const char *directory, struct gmt_control *control);

/* Take the lock that whoever drains the spool holds. Returns a descriptor that holds it (close it to
 * release), -EBUSY if another has it, or negative errno. On file systems without locks the
 * descriptor is returned all the same. */
int gmt_spool_lock(const char *directory);

/* 1: someone holds the lock, 0: nobody does, or negative errno (-ENOENT: no spool). */
int gmt_spool_lock_held(const char *directory);

#endif

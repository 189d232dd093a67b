/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the files of a spool: opening, recognizing, removing them. */
#ifndef GMT_STORE_SPOOL_SPOOL_FILES_H
#define GMT_STORE_SPOOL_SPOOL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/spool_lock.h"

/* `folder` is a descriptor of the spool's folder (record/spool_folder.h) everywhere. */

/* Map `control` and check it; errors as gmt_spool_reader_open. as_copy: what is changed in it stays in
 * this process. What was opened or mapped on the way is the caller's also after an error (*fd < 0,
 * *control unchanged: not). */
int gmt_spool_control_map(int folder, bool as_copy, struct gmt_control **control, int *fd);

/* The same as a copy, made by reading: somebody may cut the file short meanwhile. */
int gmt_spool_control_read(int folder, struct gmt_control *control);

/* True for "chunk-<n>". */
bool gmt_spool_chunk_index(const char *name, uint32_t *index);

/* How many of the chunks 0..`made`-1 are there. */
uint64_t gmt_spool_chunks_present(int folder, uint64_t made);

/* Returns 0 and the size the file had (0 when it was gone already) or negative errno. */
int gmt_spool_chunk_unlink(int folder, uint32_t index, uint64_t *bytes);

/* Rename chunk <n> to "free-<n>"; false: it could not be. */
bool gmt_spool_chunk_give_back(int folder, uint32_t index);

/* Remove the chunks that were given back, where their room is needed; the writer makes new ones. */
void gmt_spool_free_remove(int folder, struct gmt_control *control);

/* Remove what processes of this user left in the folder of `output` that were killed while they gave a spool
 * its name (record/spool_claim.h), a minute ago or longer. */
void gmt_spool_leftovers_remove(const char *output);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The code of counted kernels, out of a spool: its file of cubins, or records of a spool before version 16. */
#ifndef GMT_STORE_SASS_CUBIN_IMAGES_H
#define GMT_STORE_SASS_CUBIN_IMAGES_H

#include <sqlite3.h>
#include <stdint.h>

/* Makes rows of `cubin` of what the records said (ingest_cubin). Of the file only what an instruction of the
 * trace names is taken, and nothing twice. The records and the file may be anybody's: a file that is no
 * regular one, or not that of the folder's owner, is not read. What could not be had is a row of `loss` that
 * says why. `folder` is the spool's, open, -1: there is none. Once, inside a transaction. 0 or negative errno,
 * of the trace only. */
int gmt_cubin_images_make(sqlite3 *db, int folder);

/* A loss of that kind, about this cubin, unless there is one that says why. 0 or negative errno. */
int gmt_cubin_note_loss(sqlite3 *db, const char *kind, int64_t crc, const char *why);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Chunk files of a spool: made so that writing to their mapping can never kill the program. */
#ifndef GMT_RECORD_CHUNK_H
#define GMT_RECORD_CHUNK_H

#include <stddef.h>

#include "libtrace/record/layout.h"

/* A thread's first, second and further chunks: programs have many idle threads, and making a file
 * costs the busy ones some 100 us. */
#define GMT_CHUNK_FIRST_BYTES ((size_t)64 << 10)
#define GMT_CHUNK_SECOND_BYTES ((size_t)512 << 10)
#define GMT_CHUNK_BYTES ((size_t)4 << 20)

/* Create, allocate and map the next chunk file of a spool, whose folder is open as `folder`; disk blocks
 * are allocated before it is mapped (a hole would raise SIGBUS on a full disk) and RLIMIT_FSIZE is honoured
 * before the kernel enforces it with SIGXFSZ. Returns 0 and the mapped header, or negative errno; -ENOBUFS:
 * control->bytes_limit is reached. */
int gmt_chunk_create(int folder, struct gmt_control *control, size_t bytes,
                     struct gmt_chunk_header **header);

/* Fill the header of an empty chunk; from then on the reader reads it. */
void gmt_chunk_begin(struct gmt_chunk_header *header, struct gmt_control *control, uint32_t index,
                     size_t bytes);

/* Nothing will be added: note it for the reader, and unmap. */
void gmt_chunk_close(struct gmt_chunk_header *header);

/* Create, allocate and map any file of a spool, in `folder` (AT_FDCWD: the working folder). It is its
 * owner's alone, and carries no right to write: only the descriptor that makes it can. So a clean-up that
 * truncates files does not reach it, which would kill whoever writes to the mapping (SIGBUS); it takes
 * root, or somebody who means to. `fd_out` may be NULL: the descriptor is closed then. */
int gmt_spool_file_create(int folder, const char *name, size_t bytes, void **mapping, int *fd_out);

#endif

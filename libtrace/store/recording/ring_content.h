/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the records of chunks, all in memory: what a dump is made of, and what is left of chunks. */
#ifndef GMT_STORE_RECORDING_RING_CONTENT_H
#define GMT_STORE_RECORDING_RING_CONTENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What becomes of a record. */
enum gmt_ring_verdict {
    GMT_RING_DROPPED = 0,
    GMT_RING_HOLDS,   /* older than the window, but what it says holds in it  */
    GMT_RING_IN,      /* of the window                                        */
    GMT_RING_OUTSIDE, /* just before: only there to be joined with device work */
};

struct gmt_ring_record {
    const void *data; /* slots * GMT_SLOT_BYTES bytes */
    uint8_t type, slots;
    uint8_t verdict; /* enum gmt_ring_verdict */
};

struct gmt_ring_content {
    struct gmt_ring_record
        *records; /* in the order of the chunks that were added, then of each chunk */
    size_t count, capacity;
    struct gmt_ring_piece {
        void *bytes;
        size_t length;
    } * pieces; /* a copy of each chunk */
    size_t piece_count, piece_capacity;
    uint64_t corrupt; /* chunks that could be read in part only */
};

/* Zero-initialization is one without records. */
void gmt_ring_content_free(struct gmt_ring_content *content);

/* Add what has been committed in a chunk. owner: whose it must be. 0, also where there is no chunk of that index (any more), or
 * -ENOMEM, -EMFILE, -ENFILE, -EIO. */
int gmt_ring_content_add(struct gmt_ring_content *content, int folder, uint32_t index, uid_t owner);

/* Add all chunks of a spool: the base first, then by their numbers. base: 1 + its index, 0: there is none. */
int gmt_ring_content_add_all(struct gmt_ring_content *content, int folder, uint32_t base,
                             uid_t owner);

/* Write the records of verdict GMT_RING_HOLDS into the chunk of that index, which is made or replaced in one
 * step. *bytes: its size. 0 or negative errno; then nothing has changed. */
int gmt_ring_content_write(const struct gmt_ring_content *content, int folder, uint32_t index,
                           uint32_t pid, uint64_t *bytes);

/* Make or replace a file of the spool in one step. 0 or negative errno; then nothing has changed. */
int gmt_ring_write_file(int folder, const char *name, const void *bytes, size_t count);

#endif

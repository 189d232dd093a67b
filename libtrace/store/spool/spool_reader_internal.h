/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the spool reader share: the chunks of a spool, and copies of what was read of them. */
#ifndef GMT_STORE_SPOOL_SPOOL_READER_INTERNAL_H
#define GMT_STORE_SPOOL_SPOOL_READER_INTERNAL_H

#include "libtrace/store/spool/spool_reader.h"

struct gmt_chunk_copy {
    uint32_t index;
    enum gmt_chunk_status status;
    bool changed;   /* offset or status differ from what is stored                            */
    bool counted;   /* in control->chunks_read                                                */
    bool seen;      /* there was a file                                                       */
    bool closed;    /* read before the scan of this pass: what was found then is all there is */
    uint8_t *copy;  /* of the file; NULL: not opened (not created fully yet, or given back)   */
    uint64_t bytes; /* of the file when it was opened                                         */
    uint64_t known; /* what lies between offset and here has been read, whole records         */
    uint64_t offset;
    int fd;        /* -1: opened again when it is needed */
    unsigned idle; /* passes without a record */
};

struct gmt_spool_reader {
    int folder;
    bool as_copy; /* nothing of the spool is changed */
    uid_t owner;  /* of the chunks that are read; (uid_t)-1: of any */
    struct gmt_control *control;
    int control_fd;
    struct gmt_chunk_copy *chunks;
    size_t count, capacity;
    size_t at; /* chunk of this pass                                                     */
    bool writer_gone;
    uint32_t chunks_seen;
    unsigned passes;
    unsigned open_files, open_most; /* between passes                                   */
    int shortage; /* of descriptors or memory in this pass, 0 or negative errno: a chunk that was left out for
                   * it has not come to its end */
    uint64_t corrupt, truncated;
};

/* The file of a chunk, opened when it is needed. False: it cannot be. */
bool gmt_chunk_copy_open(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk);
void gmt_chunk_copy_close(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk);

/* Close the file, and give back the copy. */
void gmt_chunk_copy_forget(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk);

/* How many bytes came from `at` on into the copy: fewer than wanted where the file has become shorter. */
uint64_t gmt_chunk_copy_read(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk,
                             uint64_t at, uint64_t bytes);

/* Read what has been committed since. False: the file ends before the next record does. */
bool gmt_chunk_copy_refill(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk);

const struct gmt_chunk_header *gmt_chunk_copy_header(const struct gmt_chunk_copy *chunk);

/* Bytes of the chunk that may be read. */
uint64_t gmt_chunk_copy_readable(const struct gmt_chunk_copy *chunk);
uint32_t gmt_chunk_copy_word(const struct gmt_chunk_copy *chunk, uint64_t offset);

#endif

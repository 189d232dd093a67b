/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the committed records of a spool (record/layout.h), while it is being written or afterwards.
 *
 * Work goes in passes: gmt_spool_reader_begin_pass looks for new chunks, then gmt_spool_reader_next
 * yields what has been committed in each chunk since the last pass. Nothing in a chunk is trusted:
 * a commit word that is neither 0 nor valid, or a record that reaches beyond its file, stops that
 * chunk and is reported as a loss. Files are used up by gmt_spool_reader_release, which the caller
 * calls when the rows made of the records are safe.
 */
#ifndef GMT_STORE_SPOOL_SPOOL_READER_H
#define GMT_STORE_SPOOL_SPOOL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libtrace/record/layout.h"

struct gmt_spool_record {
    const void *data; /* slots * GMT_SLOT_BYTES bytes; valid until gmt_spool_reader_release     */
    unsigned type;    /* GMT_COMMIT_TYPE, not necessarily a known one                           */
    unsigned slots;
    uint32_t chunk;
};

enum gmt_chunk_status {
    GMT_CHUNK_READING = 0,
    GMT_CHUNK_FINISHED = 1, /* all read, nothing more will come                                   */
    GMT_CHUNK_STOPPED = 2,  /* unreadable from here on (counted); finished when the writer is     */
};

/* How far one chunk has been read: what has to be stored to go on later. */
struct gmt_chunk_position {
    uint32_t chunk;
    uint64_t offset; /* bytes from the start of the file                                       */
    enum gmt_chunk_status status;
};

struct gmt_spool_reader;

/* Open `<directory>/control`. Returns 0; -ENOENT: no spool; -ENODATA: a control file that was never
 * filled in; -EBADMSG: not a spool; -EILSEQ: other byte order; -EPROTONOSUPPORT: other version. */
int gmt_spool_reader_open(const char *directory, struct gmt_spool_reader **out);

/* The same for a folder that is open already, which stays the caller's. as_copy: the spool is left as it
 * is; owner: the chunks of anybody else are not read ((uid_t)-1: of all). */
int gmt_spool_reader_open_at(int folder, bool as_copy, uid_t owner, struct gmt_spool_reader **out);
void gmt_spool_reader_close(struct gmt_spool_reader *reader);

/* The mapped control page, and the descriptor of its file. Both belong to the reader. */
struct gmt_control *gmt_spool_reader_control(struct gmt_spool_reader *reader);
int gmt_spool_reader_control_fd(const struct gmt_spool_reader *reader);

/* Before the first pass: this chunk has been read up to here already. */
int gmt_spool_reader_resume(struct gmt_spool_reader *reader,
                            const struct gmt_chunk_position *position);

/* Begin a pass. `writer_gone`: nobody will write any more, so what is read to its end is finished
 * even if its writer did not close it. Returns 0 or negative errno. */
int gmt_spool_reader_begin_pass(struct gmt_spool_reader *reader, bool writer_gone);

/* The next committed record of this pass; false when there is none. */
bool gmt_spool_reader_next(struct gmt_spool_reader *reader, struct gmt_spool_record *record);

/* Why chunks were left out of this pass, though they are there: -EMFILE, -ENFILE, -ENOMEM; 0: none was. */
int gmt_spool_reader_shortage(const struct gmt_spool_reader *reader);

/* Chunks whose position has changed since the last gmt_spool_reader_release, one per call: start
 * with *cursor = 0. */
bool gmt_spool_reader_changed(const struct gmt_spool_reader *reader, size_t *cursor,
                              struct gmt_chunk_position *position);

/* Chunks found unreadable or shorter than they should be since the last call. */
void gmt_spool_reader_take_losses(struct gmt_spool_reader *reader, uint64_t *corrupt,
                                  uint64_t *truncated);

/* Chunks that were made, and whose files were not there any more when they were to be read. Their writer
 * has ended. */
uint64_t gmt_spool_reader_missing(const struct gmt_spool_reader *reader);

/* The positions are stored: unlink finished chunks and give their bytes back to the writer. */
void gmt_spool_reader_release(struct gmt_spool_reader *reader);

/* For who leaves chunks where they are when they are read: give back the copies of what is. */
void gmt_spool_reader_rest(struct gmt_spool_reader *reader);

/* The chunks that there are, one per call: start with *cursor = 0. *is_read: to the end, nothing more will come. */
bool gmt_spool_reader_chunk(const struct gmt_spool_reader *reader, size_t *cursor, uint32_t *index,
                            uint64_t *bytes, bool *is_read);

/* Unlink a chunk that is read to its end, and give its bytes back to the writer. */
void gmt_spool_reader_give_up(struct gmt_spool_reader *reader, uint32_t index);

/* Unlink everything of a spool that is ours, and the directory (or the link to it). */
void gmt_spool_remove(const char *directory);

#endif

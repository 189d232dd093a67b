/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a spool's chunks: their files are read, and of what was read only whole records are believed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libtrace/store/spool/spool_files.h"
#include "libtrace/store/spool/spool_reader_internal.h"

#define READ_BYTES ((uint64_t)64 << 10) /* at a time; more than any record */

void gmt_chunk_copy_close(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    if (chunk->fd >= 0) {
        close(chunk->fd);
        chunk->fd = -1;
        reader->open_files--;
    }
}

bool gmt_chunk_copy_open(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    char name[32];
    if (chunk->fd < 0) {
        (void)snprintf(name, sizeof(name), "chunk-%u", chunk->index);
        chunk->fd = gmt_spool_file_open(reader->folder, name, O_RDONLY);
        reader->open_files += chunk->fd >= 0;
        if (chunk->fd == -EMFILE || chunk->fd == -ENFILE || chunk->fd == -ENOMEM) {
            reader->shortage = chunk->fd;
        }
    }
    return chunk->fd >= 0;
}

void gmt_chunk_copy_forget(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    gmt_chunk_copy_close(reader, chunk);
    if (chunk->copy != NULL) {
        munmap(chunk->copy, chunk->bytes);
        chunk->copy = NULL;
    }
}

/* Not mapped: somebody may truncate the file, and reading a mapping beyond its end kills. */
uint64_t gmt_chunk_copy_read(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk,
                             uint64_t at, uint64_t bytes)
{
    uint64_t done = 0;
    while (done < bytes && gmt_chunk_copy_open(reader, chunk)) {
        ssize_t got = pread(chunk->fd, chunk->copy + at + done, bytes - done, (off_t)(at + done));
        if (got <= 0 && (got == 0 || errno != EINTR)) {
            break;
        }
        done += got > 0 ? (uint64_t)got : 0;
    }
    if (reader->open_files > reader->open_most) {
        gmt_chunk_copy_close(reader, chunk);
    }
    return done;
}

const struct gmt_chunk_header *gmt_chunk_copy_header(const struct gmt_chunk_copy *chunk)
{
    return (const void *)chunk->copy;
}

uint64_t gmt_chunk_copy_readable(const struct gmt_chunk_copy *chunk)
{
    return gmt_chunk_copy_header(chunk)->bytes < chunk->bytes ? gmt_chunk_copy_header(chunk)->bytes
                                                              : chunk->bytes;
}

uint32_t gmt_chunk_copy_word(const struct gmt_chunk_copy *chunk, uint64_t offset)
{
    uint32_t word;
    memcpy(&word, chunk->copy + offset, sizeof(word));
    return word;
}

/* The end of the records of the copy that lie before `end`, whole ones; a commit word that is none counts
 * as a record of one slot. */
static uint64_t whole_records(const struct gmt_chunk_copy *chunk, uint64_t end)
{
    uint64_t at = chunk->offset;
    while (at + GMT_SLOT_BYTES <= end) {
        uint32_t word = gmt_chunk_copy_word(chunk, at);
        uint64_t slots = GMT_COMMIT_VALID(word) ? GMT_COMMIT_SLOTS(word) : 1;
        if (word == 0 || slots * GMT_SLOT_BYTES > end - at) {
            break;
        }
        at += slots * GMT_SLOT_BYTES;
        if (!GMT_COMMIT_VALID(word)) {
            break;
        }
    }
    return at;
}

/* The records are read once more after their commit words: those came after all else. */
bool gmt_chunk_copy_refill(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    const uint64_t at = chunk->offset, left = gmt_chunk_copy_readable(chunk) - at;
    uint64_t got = gmt_chunk_copy_read(reader, chunk, at, GMT_SLOT_BYTES);
    if (got < GMT_SLOT_BYTES || gmt_chunk_copy_word(chunk, at) == 0) {
        return got == GMT_SLOT_BYTES;
    }
    got = gmt_chunk_copy_read(reader, chunk, at, left < READ_BYTES ? left : READ_BYTES);
    uint64_t end = whole_records(chunk, at + got);
    got = end > at ? gmt_chunk_copy_read(reader, chunk, at, end - at) : got;
    chunk->known = whole_records(chunk, at + got < end ? at + got : end);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the chunks of a spool; see spool_reader.h for the contract. */
#include "libtrace/store/spool_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/store/spool_files.h"

/* A directory is also searched without a sign of new chunks every so many passes. */
#define SEARCH_EVERY 32u

struct chunk {
    uint32_t index;
    enum gmt_chunk_status status;
    bool changed;   /* offset or status differ from what is stored                            */
    bool closed;    /* read before the scan of this pass: what was found then is all there is */
    uint8_t *map;   /* NULL: not mapped (not created fully yet, or given back)                */
    uint64_t bytes; /* usable bytes of the mapping                                            */
    uint64_t offset;
};

struct gmt_spool_reader {
    char directory[PATH_MAX];
    struct gmt_control *control;
    int control_fd;
    struct chunk *chunks;
    size_t count, capacity;
    size_t at; /* chunk of this pass                                                     */
    bool writer_gone;
    uint32_t chunks_seen;
    unsigned passes;
    uint64_t corrupt, truncated;
};

int gmt_spool_reader_open(const char *directory, struct gmt_spool_reader **out)
{
    *out = NULL;
    struct gmt_spool_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        return -ENOMEM;
    }
    reader->control_fd = -1;
    int error = -ENAMETOOLONG;
    if (strlen(directory) < sizeof(reader->directory)) {
        memcpy(reader->directory, directory, strlen(directory) + 1);
        error = gmt_spool_control_map(directory, &reader->control, &reader->control_fd);
    }
    if (error != 0) {
        gmt_spool_reader_close(reader);
        return error;
    }
    *out = reader;
    return 0;
}

static void unmap_chunk(struct chunk *chunk)
{
    if (chunk->map != NULL) {
        munmap(chunk->map, chunk->bytes);
        chunk->map = NULL;
    }
}

void gmt_spool_reader_close(struct gmt_spool_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    for (size_t i = 0; i < reader->count; i++) {
        unmap_chunk(&reader->chunks[i]);
    }
    free(reader->chunks);
    if (reader->control != NULL) {
        munmap(reader->control, sizeof(*reader->control));
    }
    if (reader->control_fd >= 0) {
        close(reader->control_fd);
    }
    free(reader);
}

struct gmt_control *gmt_spool_reader_control(struct gmt_spool_reader *reader)
{
    return reader->control;
}

int gmt_spool_reader_control_fd(const struct gmt_spool_reader *reader)
{
    return reader->control_fd;
}

static struct chunk *find_chunk(struct gmt_spool_reader *reader, uint32_t index)
{
    for (size_t i = reader->count; i-- > 0;) {
        if (reader->chunks[i].index == index) {
            return &reader->chunks[i];
        }
    }
    return NULL;
}

static struct chunk *add_chunk(struct gmt_spool_reader *reader, uint32_t index)
{
    if (reader->count == reader->capacity) {
        size_t capacity = reader->capacity != 0 ? 2 * reader->capacity : 64;
        struct chunk *chunks = realloc(reader->chunks, capacity * sizeof(*chunks));
        if (chunks == NULL) {
            return NULL;
        }
        reader->chunks = chunks;
        reader->capacity = capacity;
    }
    struct chunk *chunk = &reader->chunks[reader->count++];
    *chunk = (struct chunk){.index = index, .offset = sizeof(struct gmt_chunk_header)};
    return chunk;
}

int gmt_spool_reader_resume(struct gmt_spool_reader *reader,
                            const struct gmt_chunk_position *position)
{
    struct chunk *chunk = find_chunk(reader, position->chunk);
    if (chunk == NULL) {
        chunk = add_chunk(reader, position->chunk);
    }
    if (chunk == NULL) {
        return -ENOMEM;
    }
    chunk->offset = position->offset;
    chunk->status = position->status;
    return 0;
}

static int compare_chunks(const void *a, const void *b)
{
    const struct chunk *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

/* Look for chunk files that are not known yet. */
static int search(struct gmt_spool_reader *reader)
{
    DIR *directory = opendir(reader->directory);
    if (directory == NULL) {
        return -errno;
    }
    int error = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        uint32_t index;
        if (!gmt_spool_chunk_index(entry->d_name, &index)) {
            continue;
        }
        struct chunk *chunk = find_chunk(reader, index);
        if (chunk == NULL && add_chunk(reader, index) == NULL) {
            error = -ENOMEM;
            break;
        }
    }
    closedir(directory);
    if (reader->count > 1) {
        qsort(reader->chunks, reader->count, sizeof(*reader->chunks), compare_chunks);
    }
    return error;
}

static void stop(struct gmt_spool_reader *reader, struct chunk *chunk, uint64_t *counter)
{
    if (chunk->status == GMT_CHUNK_READING) {
        ++*counter;
    }
    chunk->status = reader->writer_gone || chunk->closed ? GMT_CHUNK_FINISHED : GMT_CHUNK_STOPPED;
    chunk->changed = true;
}

/* Map a chunk if it is there and its header complete. A chunk that is still being made stays
 * unmapped until the next pass; one whose maker died in the middle is finished. */
static void map_chunk(struct gmt_spool_reader *reader, struct chunk *chunk)
{
    struct stat info = {0};
    void *map = MAP_FAILED;
    char name[32];
    (void)snprintf(name, sizeof(name), "chunk-%u", chunk->index);
    int fd = gmt_spool_file_open(reader->directory, name, O_RDONLY);
    if (fd >= 0 && fstat(fd, &info) == 0 &&
        info.st_size >= (off_t)sizeof(struct gmt_chunk_header)) {
        map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (map == MAP_FAILED) {
        if (reader->writer_gone) {
            chunk->status = GMT_CHUNK_FINISHED;
            chunk->changed = true;
        }
        return;
    }
    const struct gmt_chunk_header *header = map;
    uint64_t magic = __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE);
    chunk->map = map;
    chunk->bytes = (uint64_t)info.st_size;
    if (magic == 0) {
        unmap_chunk(chunk);
        if (reader->writer_gone) {
            chunk->status = GMT_CHUNK_FINISHED;
            chunk->changed = true;
        }
    } else if (magic != GMT_CHUNK_MAGIC || header->version < GMT_SPOOL_OLDEST_VERSION ||
               header->version > GMT_SPOOL_VERSION || chunk->offset < sizeof(*header) ||
               chunk->offset % GMT_SLOT_BYTES != 0) {
        stop(reader, chunk, &reader->corrupt);
    }
}

/* Bytes of the chunk that may be read; a file can shrink under us only by someone's hand. */
static uint64_t readable_bytes(const struct chunk *chunk)
{
    const struct gmt_chunk_header *header = (const void *)chunk->map;
    return header->bytes < chunk->bytes ? header->bytes : chunk->bytes;
}

static void enter_chunk(struct gmt_spool_reader *reader, struct chunk *chunk)
{
    if (chunk->status == GMT_CHUNK_FINISHED) {
        return;
    }
    if (chunk->map == NULL) {
        map_chunk(reader, chunk);
    }
    if (chunk->map != NULL) {
        const struct gmt_chunk_header *header = (const void *)chunk->map;
        chunk->closed = __atomic_load_n(&header->closed, __ATOMIC_ACQUIRE) != GMT_CHUNK_OPEN;
    }
    if (chunk->status == GMT_CHUNK_STOPPED && (chunk->closed || reader->writer_gone)) {
        chunk->status = GMT_CHUNK_FINISHED;
        chunk->changed = true;
    }
}

int gmt_spool_reader_begin_pass(struct gmt_spool_reader *reader, bool writer_gone)
{
    uint32_t made = __atomic_load_n(&reader->control->chunk_count, __ATOMIC_ACQUIRE);
    int error = 0;
    /* One more search after the last change: the counter is raised before the file exists. */
    if (writer_gone || made != reader->chunks_seen || reader->passes % SEARCH_EVERY < 2) {
        error = search(reader);
    }
    reader->passes = made != reader->chunks_seen ? 0 : reader->passes + 1;
    reader->chunks_seen = made;
    reader->writer_gone = writer_gone;
    reader->at = 0;
    if (reader->count > 0) {
        enter_chunk(reader, &reader->chunks[0]);
    }
    return error;
}

/* Read one record of `chunk`; false at its present end. */
static bool read_record(struct gmt_spool_reader *reader, struct chunk *chunk,
                        struct gmt_spool_record *record)
{
    if (chunk->map == NULL || chunk->status != GMT_CHUNK_READING) {
        return false;
    }
    uint64_t end = readable_bytes(chunk);
    bool cut = chunk->bytes < ((const struct gmt_chunk_header *)(const void *)chunk->map)->bytes;
    uint32_t word = 0;
    if (chunk->offset + GMT_SLOT_BYTES <= end) {
        word = __atomic_load_n((const uint32_t *)(const void *)(chunk->map + chunk->offset),
                               __ATOMIC_ACQUIRE);
    } else if (cut) {
        stop(reader, chunk, &reader->truncated);
        return false;
    }
    if (word == 0) {
        if (chunk->closed || reader->writer_gone) {
            chunk->status = GMT_CHUNK_FINISHED;
            chunk->changed = true;
        }
        return false;
    }
    uint64_t bytes = (uint64_t)GMT_COMMIT_SLOTS(word) * GMT_SLOT_BYTES;
    if (!GMT_COMMIT_VALID(word) || chunk->offset + bytes > end) {
        stop(reader, chunk, cut && GMT_COMMIT_VALID(word) ? &reader->truncated : &reader->corrupt);
        return false;
    }
    *record = (struct gmt_spool_record){
        .data = chunk->map + chunk->offset,
        .type = GMT_COMMIT_TYPE(word),
        .slots = GMT_COMMIT_SLOTS(word),
        .chunk = chunk->index,
    };
    chunk->offset += bytes;
    chunk->changed = true;
    return true;
}

bool gmt_spool_reader_next(struct gmt_spool_reader *reader, struct gmt_spool_record *record)
{
    while (reader->at < reader->count) {
        if (read_record(reader, &reader->chunks[reader->at], record)) {
            return true;
        }
        if (++reader->at < reader->count) {
            enter_chunk(reader, &reader->chunks[reader->at]);
        }
    }
    return false;
}

bool gmt_spool_reader_changed(const struct gmt_spool_reader *reader, size_t *cursor,
                              struct gmt_chunk_position *position)
{
    while (*cursor < reader->count) {
        const struct chunk *chunk = &reader->chunks[(*cursor)++];
        if (chunk->changed) {
            *position = (struct gmt_chunk_position){chunk->index, chunk->offset, chunk->status};
            return true;
        }
    }
    return false;
}

void gmt_spool_reader_take_losses(struct gmt_spool_reader *reader, uint64_t *corrupt,
                                  uint64_t *truncated)
{
    *corrupt = reader->corrupt;
    *truncated = reader->truncated;
    reader->corrupt = 0;
    reader->truncated = 0;
}

/* True when the file is gone: removed, or given back to the writer, which has it still mapped. */
static bool discard_chunk(struct gmt_spool_reader *reader, struct chunk *chunk)
{
    uint64_t bytes = 0;
    bool is_kept = false;
    if (chunk->map != NULL) {
        const struct gmt_chunk_header *header = (const void *)chunk->map;
        bytes = header->magic == GMT_CHUNK_MAGIC ? header->bytes : chunk->bytes;
        is_kept = header->magic == GMT_CHUNK_MAGIC && header->closed == GMT_CHUNK_KEPT;
    }
    unmap_chunk(chunk);
    if (is_kept && !reader->writer_gone &&
        gmt_spool_chunk_give_back(reader->directory, chunk->index)) {
        return true;
    }
    uint64_t file_bytes;
    if (gmt_spool_chunk_unlink(reader->directory, chunk->index, &file_bytes) != 0) {
        return false;
    }
    bytes = bytes != 0 ? bytes : file_bytes;
    uint64_t *used = &reader->control->bytes_in_use;
    if (bytes <= __atomic_load_n(used, __ATOMIC_RELAXED)) {
        __atomic_fetch_sub(used, bytes, __ATOMIC_RELAXED);
    }
    return true;
}

void gmt_spool_reader_release(struct gmt_spool_reader *reader)
{
    size_t kept = 0, at = reader->at;
    for (size_t i = 0; i < reader->count; i++) {
        struct chunk *chunk = &reader->chunks[i];
        chunk->changed = false;
        if (chunk->status == GMT_CHUNK_FINISHED && discard_chunk(reader, chunk)) {
            at -= i < reader->at;
            continue;
        }
        reader->chunks[kept++] = *chunk;
    }
    reader->count = kept;
    reader->at = at;
}

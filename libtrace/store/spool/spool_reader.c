/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the chunks of a spool; see spool_reader.h for the contract. */
#include "libtrace/store/spool/spool_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/store/spool/spool_files.h"
#include "libtrace/store/spool/spool_reader_internal.h"

/* A directory is also searched without a sign of new chunks every so many passes. */
#define SEARCH_EVERY 32u
#define OPEN_MOST 200u /* files that stay open between passes */
/* Chunks to which nothing comes any more are asked less often whether they are closed. */
#define IDLE_PASSES 8u
#define PAGE_BYTES ((uint64_t)64 << 10) /* a multiple of the pages of all machines */

/* A part of what this process may open; SQLite and others need descriptors, too. */
static unsigned open_most(void)
{
    struct rlimit limit;
    bool is_low = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < OPEN_MOST;
    return is_low ? (unsigned)(limit.rlim_cur / 4) : OPEN_MOST;
}

int gmt_spool_reader_open_at(int folder, bool as_copy, uid_t owner, struct gmt_spool_reader **out)
{
    *out = NULL;
    struct gmt_spool_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        return -ENOMEM;
    }
    reader->control_fd = -1;
    reader->as_copy = as_copy;
    reader->owner = owner;
    reader->open_most = open_most();
    reader->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    int error = reader->folder < 0
                    ? -errno
                    : gmt_spool_control_map(folder, as_copy, &reader->control, &reader->control_fd);
    if (error != 0) {
        gmt_spool_reader_close(reader);
        return error;
    }
    *out = reader;
    return 0;
}

int gmt_spool_reader_open(const char *directory, struct gmt_spool_reader **out)
{
    int folder = gmt_spool_folder_open(directory);
    *out = NULL;
    if (folder < 0) {
        return folder;
    }
    int error = gmt_spool_reader_open_at(folder, false, (uid_t)-1, out);
    close(folder);
    return error;
}

void gmt_spool_reader_close(struct gmt_spool_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    for (size_t i = 0; i < reader->count; i++) {
        gmt_chunk_copy_forget(reader, &reader->chunks[i]);
    }
    free(reader->chunks);
    if (reader->control != NULL) {
        munmap(reader->control, sizeof(*reader->control));
    }
    if (reader->control_fd >= 0) {
        close(reader->control_fd);
    }
    if (reader->folder >= 0) {
        close(reader->folder);
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

static struct gmt_chunk_copy *find_chunk(struct gmt_spool_reader *reader, uint32_t index)
{
    for (size_t i = reader->count; i-- > 0;) {
        if (reader->chunks[i].index == index) {
            return &reader->chunks[i];
        }
    }
    return NULL;
}

static struct gmt_chunk_copy *add_chunk(struct gmt_spool_reader *reader, uint32_t index)
{
    if (reader->count == reader->capacity) {
        size_t capacity = reader->capacity != 0 ? 2 * reader->capacity : 64;
        struct gmt_chunk_copy *chunks = realloc(reader->chunks, capacity * sizeof(*chunks));
        if (chunks == NULL) {
            return NULL;
        }
        reader->chunks = chunks;
        reader->capacity = capacity;
    }
    struct gmt_chunk_copy *chunk = &reader->chunks[reader->count++];
    *chunk = (struct gmt_chunk_copy){
        .index = index, .offset = sizeof(struct gmt_chunk_header), .fd = -1};
    return chunk;
}

int gmt_spool_reader_resume(struct gmt_spool_reader *reader,
                            const struct gmt_chunk_position *position)
{
    struct gmt_chunk_copy *chunk = find_chunk(reader, position->chunk);
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
    const struct gmt_chunk_copy *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

/* Look for chunk files that are not known yet. */
static int search(struct gmt_spool_reader *reader)
{
    int fd = openat(reader->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL) {
        int failure = -errno;
        if (fd >= 0) {
            close(fd);
        }
        return failure;
    }
    int error = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        uint32_t index;
        if (!gmt_spool_chunk_index(entry->d_name, &index)) {
            continue;
        }
        struct gmt_chunk_copy *chunk = find_chunk(reader, index);
        if (chunk == NULL && add_chunk(reader, index) == NULL) {
            error = -ENOMEM;
            break;
        }
        if (chunk != NULL && chunk->status != GMT_CHUNK_READING) {
            chunk->seen = true; /* it is not opened again */
        }
    }
    closedir(directory);
    if (reader->count > 1) {
        qsort(reader->chunks, reader->count, sizeof(*reader->chunks), compare_chunks);
    }
    return error;
}

static void stop(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk, uint64_t *counter)
{
    if (chunk->status == GMT_CHUNK_READING) {
        ++*counter;
    }
    chunk->status = reader->writer_gone || chunk->closed ? GMT_CHUNK_FINISHED : GMT_CHUNK_STOPPED;
    chunk->changed = true;
}

/* Read to its end, in order: is all there that its maker allocated? */
static void finish(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    struct stat info;
    if (chunk->status == GMT_CHUNK_READING && chunk->copy != NULL &&
        gmt_chunk_copy_open(reader, chunk) && fstat(chunk->fd, &info) == 0 &&
        (uint64_t)info.st_size < gmt_chunk_copy_header(chunk)->bytes) {
        reader->truncated++;
    }
    gmt_chunk_copy_close(reader, chunk);
    chunk->status = GMT_CHUNK_FINISHED;
    chunk->changed = true;
}

/* Open a chunk if it is there and its header complete. A chunk that is still being made is looked at again
 * in the next pass; one whose maker died in the middle is finished. */
static void open_chunk(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    struct stat info = {0};
    const uint64_t header_bytes = sizeof(struct gmt_chunk_header);
    void *copy = MAP_FAILED;
    bool is_open = gmt_chunk_copy_open(reader, chunk) && fstat(chunk->fd, &info) == 0;
    chunk->seen = chunk->seen || is_open;
    if (is_open && reader->owner != (uid_t)-1 && info.st_uid != reader->owner) {
        gmt_chunk_copy_close(reader, chunk);
        stop(reader, chunk, &reader->corrupt);
        return;
    }
    if (is_open && info.st_size >= (off_t)header_bytes) {
        copy = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        reader->shortage = copy == MAP_FAILED ? -errno : reader->shortage;
    }
    if (copy == MAP_FAILED) {
        gmt_chunk_copy_close(reader, chunk);
        if (reader->writer_gone && reader->shortage == 0) {
            chunk->status = GMT_CHUNK_FINISHED;
            chunk->changed = true;
        }
        return;
    }
    chunk->copy = copy;
    chunk->bytes = (uint64_t)info.st_size;
    chunk->known = chunk->offset;
    const struct gmt_chunk_header *header = gmt_chunk_copy_header(chunk);
    if (gmt_chunk_copy_read(reader, chunk, 0, header_bytes) < header_bytes || header->magic == 0) {
        gmt_chunk_copy_forget(reader, chunk);
        if (reader->writer_gone && reader->shortage == 0) {
            chunk->status = GMT_CHUNK_FINISHED;
            chunk->changed = true;
        }
        return;
    }
    /* What was filled in before the magic number is there now. */
    (void)gmt_chunk_copy_read(reader, chunk, 0, header_bytes);
    if (header->magic != GMT_CHUNK_MAGIC || header->version < GMT_SPOOL_OLDEST_VERSION ||
        header->version > GMT_SPOOL_VERSION || chunk->offset < header_bytes ||
        chunk->offset % GMT_SLOT_BYTES != 0) {
        stop(reader, chunk, &reader->corrupt);
    }
}

static void enter_chunk(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    if (chunk->status == GMT_CHUNK_FINISHED) {
        return;
    }
    if (chunk->copy == NULL) {
        open_chunk(reader, chunk);
    }
    bool asks = chunk->idle < IDLE_PASSES || chunk->idle % IDLE_PASSES == 0 || reader->writer_gone;
    if (chunk->copy != NULL && chunk->status != GMT_CHUNK_FINISHED && !chunk->closed && asks) {
        (void)gmt_chunk_copy_read(reader, chunk, offsetof(struct gmt_chunk_header, closed),
                                  sizeof(uint32_t));
        chunk->closed = gmt_chunk_copy_header(chunk)->closed != GMT_CHUNK_OPEN;
    }
    chunk->idle++;
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
    reader->shortage = 0;
    reader->at = 0;
    if (reader->count > 0) {
        enter_chunk(reader, &reader->chunks[0]);
    }
    return error;
}

/* Read one record of `chunk`; false at its present end. */
static bool read_record(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk,
                        struct gmt_spool_record *record)
{
    if (chunk->copy == NULL || chunk->status != GMT_CHUNK_READING) {
        return false;
    }
    uint64_t end = gmt_chunk_copy_readable(chunk);
    bool is_there = true;
    bool room = chunk->offset <= end && end - chunk->offset >= GMT_SLOT_BYTES;
    bool cut = chunk->bytes < gmt_chunk_copy_header(chunk)->bytes;
    if (room && chunk->offset >= chunk->known) {
        is_there = gmt_chunk_copy_refill(reader, chunk);
        if (!is_there && reader->shortage != 0) {
            return false;
        }
    }
    if (!is_there || (!room && cut)) {
        stop(reader, chunk, &reader->truncated);
        return false;
    }
    uint32_t word = room ? gmt_chunk_copy_word(chunk, chunk->offset) : 0;
    if (word == 0) {
        if (chunk->closed || reader->writer_gone) {
            finish(reader, chunk);
        }
        return false;
    }
    uint64_t bytes = (uint64_t)GMT_COMMIT_SLOTS(word) * GMT_SLOT_BYTES;
    if (!GMT_COMMIT_VALID(word) || bytes > end - chunk->offset) {
        stop(reader, chunk, cut && GMT_COMMIT_VALID(word) ? &reader->truncated : &reader->corrupt);
        return false;
    }
    if (chunk->offset + bytes > chunk->known && reader->shortage != 0) {
        return false;
    }
    if (chunk->offset + bytes > chunk->known) { /* the file has become shorter while it was read */
        stop(reader, chunk, &reader->truncated);
        return false;
    }
    *record = (struct gmt_spool_record){
        .data = chunk->copy + chunk->offset,
        .type = GMT_COMMIT_TYPE(word),
        .slots = GMT_COMMIT_SLOTS(word),
        .chunk = chunk->index,
    };
    chunk->offset += bytes;
    chunk->changed = true;
    chunk->idle = 0;
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

int gmt_spool_reader_shortage(const struct gmt_spool_reader *reader)
{
    return reader->shortage;
}

bool gmt_spool_reader_changed(const struct gmt_spool_reader *reader, size_t *cursor,
                              struct gmt_chunk_position *position)
{
    while (*cursor < reader->count) {
        const struct gmt_chunk_copy *chunk = &reader->chunks[(*cursor)++];
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

uint64_t gmt_spool_reader_missing(const struct gmt_spool_reader *reader)
{
    uint64_t made = __atomic_load_n(&reader->control->chunks_made, __ATOMIC_RELAXED);
    uint64_t read = __atomic_load_n(&reader->control->chunks_read, __ATOMIC_RELAXED);
    for (size_t i = 0; i < reader->count; i++) {
        read += reader->chunks[i].seen && !reader->chunks[i].counted;
    }
    return made > read ? made - read : 0;
}

/* True when the file is gone: removed, or given back to the writer, which has it still mapped. */
static bool discard_chunk(struct gmt_spool_reader *reader, struct gmt_chunk_copy *chunk)
{
    uint64_t bytes = 0;
    bool is_kept = false;
    if (chunk->copy != NULL) {
        const struct gmt_chunk_header *header = gmt_chunk_copy_header(chunk);
        bytes = header->magic == GMT_CHUNK_MAGIC ? header->bytes : chunk->bytes;
        is_kept = header->magic == GMT_CHUNK_MAGIC && header->closed == GMT_CHUNK_KEPT;
    }
    gmt_chunk_copy_forget(reader, chunk);
    if (reader->as_copy) {
        return false;
    }
    /* Before the file is away: whoever finds that the trace is, knows how much was in it. */
    if (chunk->seen && !chunk->counted) {
        chunk->counted = true;
        __atomic_fetch_add(&reader->control->chunks_read, 1, __ATOMIC_RELAXED);
    }
    if (is_kept && !reader->writer_gone &&
        gmt_spool_chunk_give_back(reader->folder, chunk->index)) {
        return true;
    }
    uint64_t file_bytes;
    if (gmt_spool_chunk_unlink(reader->folder, chunk->index, &file_bytes) != 0) {
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
        struct gmt_chunk_copy *chunk = &reader->chunks[i];
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

void gmt_spool_reader_rest(struct gmt_spool_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        struct gmt_chunk_copy *chunk = &reader->chunks[i];
        uint64_t read = chunk->offset & ~(PAGE_BYTES - 1);
        chunk->changed = false;
        if (chunk->status == GMT_CHUNK_FINISHED) {
            gmt_chunk_copy_forget(reader, chunk);
        } else if (chunk->copy != NULL && read > PAGE_BYTES) { /* all but the header's page */
            (void)madvise(chunk->copy + PAGE_BYTES, read - PAGE_BYTES, MADV_DONTNEED);
        }
    }
}

bool gmt_spool_reader_chunk(const struct gmt_spool_reader *reader, size_t *cursor, uint32_t *index,
                            uint64_t *bytes, bool *is_read)
{
    if (*cursor >= reader->count) {
        return false;
    }
    const struct gmt_chunk_copy *chunk = &reader->chunks[(*cursor)++];
    *index = chunk->index;
    *bytes = chunk->bytes;
    *is_read = chunk->status == GMT_CHUNK_FINISHED;
    return true;
}

void gmt_spool_reader_give_up(struct gmt_spool_reader *reader, uint32_t index)
{
    struct gmt_chunk_copy *chunk = find_chunk(reader, index);
    if (chunk != NULL && chunk->status == GMT_CHUNK_FINISHED && discard_chunk(reader, chunk)) {
        size_t at = (size_t)(chunk - reader->chunks);
        reader->count--;
        memmove(chunk, chunk + 1, (reader->count - at) * sizeof(*chunk));
    }
}

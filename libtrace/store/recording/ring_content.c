/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole chunks, and writes the base. */
#include "libtrace/store/recording/ring_content.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/spool_lock.h"
#include "libtrace/store/spool/spool_files.h"

#define NEW_FILE "base" /* the base, or another file, until it has its name */

void gmt_ring_content_free(struct gmt_ring_content *content)
{
    for (size_t i = 0; i < content->piece_count; i++) {
        free(content->pieces[i].bytes);
    }
    free(content->pieces);
    free(content->records);
    *content = (struct gmt_ring_content){0};
}

/* Room for one more. 0 or -ENOMEM. */
static int grow(void **items, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity) {
        return 0;
    }
    size_t more = *capacity != 0 ? 2 * *capacity : 256;
    void *grown = realloc(*items, more * item_bytes);
    if (grown == NULL) {
        return -ENOMEM;
    }
    *items = grown;
    *capacity = more;
    return 0;
}

static size_t read_whole(int fd, uint8_t *to, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(fd, to + done, bytes - done, (off_t)done);
        if (got <= 0 && (got == 0 || errno != EINTR)) {
            break;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
    uint32_t word;
    memcpy(&word, bytes + at, sizeof(word));
    return word;
}

/* Where the committed records end. *is_corrupt: something else than records follows. */
static size_t end_of_records(const uint8_t *bytes, size_t length, bool *is_corrupt)
{
    size_t at = sizeof(struct gmt_chunk_header);
    *is_corrupt = false;
    while (length - at >= GMT_SLOT_BYTES) {
        uint32_t word = word_at(bytes, at);
        size_t record_bytes = (size_t)GMT_COMMIT_SLOTS(word) * GMT_SLOT_BYTES;
        if (word == 0) {
            break;
        }
        if (!GMT_COMMIT_VALID(word) || record_bytes > length - at) {
            *is_corrupt = true;
            break;
        }
        at += record_bytes;
    }
    return at;
}

static bool is_chunk(const uint8_t *bytes, size_t length)
{
    struct gmt_chunk_header header;
    if (length < sizeof(header)) {
        return false;
    }
    memcpy(&header, bytes, sizeof(header));
    return header.magic == GMT_CHUNK_MAGIC && header.version >= GMT_SPOOL_OLDEST_VERSION &&
           header.version <= GMT_SPOOL_VERSION;
}

static int note_records(struct gmt_ring_content *content, const uint8_t *bytes, size_t end)
{
    for (size_t at = sizeof(struct gmt_chunk_header); at < end;) {
        uint32_t word = word_at(bytes, at);
        int error = grow((void **)&content->records, content->count, &content->capacity,
                         sizeof(*content->records));
        if (error != 0) {
            return error;
        }
        content->records[content->count++] = (struct gmt_ring_record){
            .data = bytes + at,
            .type = (uint8_t)GMT_COMMIT_TYPE(word),
            .slots = (uint8_t)GMT_COMMIT_SLOTS(word),
        };
        at += (size_t)GMT_COMMIT_SLOTS(word) * GMT_SLOT_BYTES;
    }
    return 0;
}

/* The records are read once more after their commit words, which came after all else. */
static int read_chunk(struct gmt_ring_content *content, int fd, size_t length)
{
    int error = grow((void **)&content->pieces, content->piece_count, &content->piece_capacity,
                     sizeof(*content->pieces));
    uint8_t *bytes = error == 0 ? malloc(length) : NULL;
    if (bytes == NULL) {
        return -ENOMEM;
    }
    content->pieces[content->piece_count++] = (struct gmt_ring_piece){bytes, length};
    bool is_corrupt, is_changed;
    size_t got = read_whole(fd, bytes, length);
    if (!is_chunk(bytes, got)) {
        content->corrupt += got >= sizeof(struct gmt_chunk_header) && word_at(bytes, 0) != 0;
        return 0;
    }
    size_t end = end_of_records(bytes, got, &is_corrupt);
    if (read_whole(fd, bytes, end) < end || end_of_records(bytes, end, &is_changed) != end) {
        is_corrupt = true; /* it was changed meanwhile: by nobody of ours */
        end = sizeof(struct gmt_chunk_header);
    }
    content->corrupt += is_corrupt;
    return note_records(content, bytes, end);
}

int gmt_ring_content_add(struct gmt_ring_content *content, int folder, uint32_t index, uid_t owner)
{
    char name[32];
    struct stat info;
    (void)snprintf(name, sizeof(name), "chunk-%u", index);
    int fd = gmt_spool_file_open(folder, name, O_RDONLY);
    if (fd == -ENOENT) {
        return 0;
    }
    if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -EIO) {
        return fd;
    }
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_uid != owner) {
        content->corrupt++;
        if (fd >= 0) {
            close(fd);
        }
        return 0;
    }
    bool is_made = info.st_size >= (off_t)sizeof(struct gmt_chunk_header);
    int error = is_made ? read_chunk(content, fd, (size_t)info.st_size) : 0;
    close(fd);
    return error;
}

static int compare_indexes(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The numbers of all chunks, ascending. */
static int list(int folder, uint32_t **indexes, size_t *count)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    const struct dirent *entry;
    size_t capacity = 0;
    if (entries == NULL) {
        error = -errno;
        if (again >= 0) {
            close(again);
        }
        return error;
    }
    while (error == 0 && (entry = readdir(entries)) != NULL) {
        uint32_t index;
        if (gmt_spool_chunk_index(entry->d_name, &index) &&
            (error = grow((void **)indexes, *count, &capacity, sizeof(**indexes))) == 0) {
            (*indexes)[(*count)++] = index;
        }
    }
    (void)closedir(entries);
    if (*count > 1) {
        qsort(*indexes, *count, sizeof(**indexes), compare_indexes);
    }
    return error;
}

int gmt_ring_content_add_all(struct gmt_ring_content *content, int folder, uint32_t base,
                             uid_t owner)
{
    uint32_t *indexes = NULL;
    size_t count = 0;
    int error = list(folder, &indexes, &count);
    if (error == 0 && base != 0) {
        error = gmt_ring_content_add(content, folder, base - 1, owner);
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        if (base == 0 || indexes[i] != base - 1) {
            error = gmt_ring_content_add(content, folder, indexes[i], owner);
        }
    }
    free(indexes);
    return error;
}

/* The file as it will be: a chunk that nothing will be added to. */
static uint8_t *compose(const struct gmt_ring_content *content, uint32_t index, uint32_t pid,
                        uint64_t *bytes)
{
    uint64_t at = sizeof(struct gmt_chunk_header);
    for (size_t i = 0; i < content->count; i++) {
        bool holds = content->records[i].verdict == GMT_RING_HOLDS;
        at += holds ? (uint64_t)content->records[i].slots * GMT_SLOT_BYTES : 0;
    }
    *bytes = at;
    uint8_t *file = malloc(at);
    if (file == NULL) {
        return NULL;
    }
    const struct gmt_chunk_header header = {.magic = GMT_CHUNK_MAGIC,
                                            .version = GMT_SPOOL_VERSION,
                                            .index = index,
                                            .bytes = at,
                                            .pid = pid,
                                            .closed = GMT_CHUNK_CLOSED};
    memcpy(file, &header, sizeof(header));
    at = sizeof(header);
    for (size_t i = 0; i < content->count; i++) {
        const struct gmt_ring_record *record = &content->records[i];
        if (record->verdict == GMT_RING_HOLDS) {
            memcpy(file + at, record->data, (size_t)record->slots * GMT_SLOT_BYTES);
            at += (uint64_t)record->slots * GMT_SLOT_BYTES;
        }
    }
    return file;
}

static int write_whole(int fd, const uint8_t *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = write(fd, from + done, bytes - done);
        if (put <= 0 && (put == 0 || errno != EINTR)) {
            return put == 0 ? -EIO : -errno;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

int gmt_ring_write_file(int folder, const char *name, const void *bytes, size_t count)
{
    (void)unlinkat(folder, NEW_FILE, 0); /* of an attempt that was killed */
    int fd = openat(folder, NEW_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = fd < 0 ? -errno : write_whole(fd, bytes, count);
    if (fd >= 0 && close(fd) != 0 && error == 0) {
        error = -errno;
    }
    if (error == 0 && renameat(folder, NEW_FILE, folder, name) != 0) {
        error = -errno;
    }
    if (error != 0 && fd >= 0) {
        (void)unlinkat(folder, NEW_FILE, 0);
    }
    return error;
}

int gmt_ring_content_write(const struct gmt_ring_content *content, int folder, uint32_t index,
                           uint32_t pid, uint64_t *bytes)
{
    char name[32];
    uint8_t *file = compose(content, index, pid, bytes);
    if (file == NULL) {
        return -ENOMEM;
    }
    (void)snprintf(name, sizeof(name), "chunk-%u", index);
    int error = gmt_ring_write_file(folder, name, file, *bytes);
    free(file);
    return error;
}

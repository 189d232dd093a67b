/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps full chunks in the order in which they were filled, and takes back the oldest. */
#include "libtrace/record/recycle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/record/scratch.h"
#include "libtrace/threads/mutex.h"

/* The recorder gives back after its transactions of half a second: a copy every 4 us fills so many. Their
 * pages count as memory of the program, if not as its own. */
#define KEPT_MOST 4u
#define XFS_MAGIC 0x58465342

static struct {
    struct gmt_mutex mutex;
    bool on;
    unsigned count;
    struct gmt_chunk_header *chunk[KEPT_MOST]; /* oldest first */
} kept = {.mutex = GMT_MUTEX(FULL_CHUNKS)};

void gmt_recycle_start(const char *directory)
{
    struct statfs info;
    kept.on = statfs(directory, &info) == 0 &&
              (info.f_type == TMPFS_MAGIC || info.f_type == EXT4_SUPER_MAGIC ||
               info.f_type == XFS_MAGIC);
}

bool gmt_recycle_is_on(void)
{
    return kept.on;
}

bool gmt_recycle_keep(struct gmt_chunk_header *chunk)
{
    bool room = false;
    if (!kept.on || chunk->bytes != GMT_CHUNK_BYTES || !gmt_mutex_try(&kept.mutex)) {
        return false;
    }
    if (kept.count < KEPT_MOST) {
        kept.chunk[kept.count++] = chunk;
        room = true;
        __atomic_store_n(&chunk->closed, GMT_CHUNK_KEPT, __ATOMIC_RELEASE);
    }
    gmt_mutex_unlock(&kept.mutex);
    return room;
}

/* `chunk-<n>` becomes `free-<n>` in one step: whoever looks for the former first misses neither. What
 * cannot be looked at is taken to be there. */
static bool exists(const char *directory, const char *kind, uint32_t index, char *path)
{
    (void)snprintf(path, GMT_SPOOL_PATH_BYTES, "%s/%s-%u", directory, kind, index);
    return faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0 || errno != ENOENT;
}

/* The oldest one that the recorder is done with; it may have removed it, which ends the matter. Nobody
 * waits for another thread here: a handler of a signal may be what interrupted it. */
static struct gmt_chunk_header *take_oldest(const char *directory, char *path, bool *is_free)
{
    struct gmt_chunk_header *chunk = NULL;
    if (!gmt_mutex_try(&kept.mutex)) {
        return NULL;
    }
    for (unsigned i = 0; i < kept.count && chunk == NULL; i++) {
        if (!exists(directory, "chunk", kept.chunk[i]->index, path)) {
            chunk = kept.chunk[i];
            kept.count--;
            memmove(&kept.chunk[i], &kept.chunk[i + 1],
                    (kept.count - i) * sizeof(struct gmt_chunk_header *));
            *is_free = exists(directory, "free", chunk->index, path);
        }
    }
    gmt_mutex_unlock(&kept.mutex);
    return chunk;
}

/* Whoever removes the file says that its bytes are free again: the recorder may do so, too. */
static void remove_free(const char *path, struct gmt_control *control)
{
    if (unlink(path) == 0) {
        __atomic_fetch_sub(&control->bytes_in_use, GMT_CHUNK_BYTES, __ATOMIC_RELAXED);
    }
}

static struct gmt_chunk_header *take(const char *directory, struct gmt_control *control, char *path,
                                     char *next)
{
    bool is_free = false;
    struct gmt_chunk_header *chunk = take_oldest(directory, path, &is_free);
    if (chunk == NULL) {
        return NULL;
    }
    const size_t bytes = GMT_CHUNK_BYTES;
    if (is_free) {
        memset(chunk, 0, bytes);
        uint32_t index = __atomic_fetch_add(&control->chunk_count, 1, __ATOMIC_RELAXED);
        (void)snprintf(next, GMT_SPOOL_PATH_BYTES, "%s/chunk-%u", directory, index);
        if (rename(path, next) == 0) {
            gmt_chunk_begin(chunk, control, index, bytes);
            return chunk;
        }
        remove_free(path, control);
    }
    (void)munmap(chunk, bytes);
    return NULL;
}

struct gmt_chunk_header *gmt_recycle_take(const char *directory, struct gmt_control *control)
{
    char *path = gmt_scratch_take(2 * GMT_SPOOL_PATH_BYTES);
    if (path == NULL) {
        return NULL;
    }
    struct gmt_chunk_header *chunk = take(directory, control, path, path + GMT_SPOOL_PATH_BYTES);
    gmt_scratch_give(path, 2 * GMT_SPOOL_PATH_BYTES);
    return chunk;
}

bool gmt_recycle_drop(const char *directory, struct gmt_control *control)
{
    bool is_free = false;
    char *path = gmt_scratch_take(GMT_SPOOL_PATH_BYTES);
    if (path == NULL) {
        return false;
    }
    struct gmt_chunk_header *chunk = take_oldest(directory, path, &is_free);
    if (chunk != NULL && is_free) {
        remove_free(path, control);
    }
    gmt_scratch_give(path, GMT_SPOOL_PATH_BYTES);
    if (chunk != NULL) {
        (void)munmap(chunk, GMT_CHUNK_BYTES);
    }
    return chunk != NULL;
}

void gmt_recycle_reset(void)
{
    gmt_mutex_renew(&kept.mutex);
    for (unsigned i = 0; i < kept.count; i++) {
        (void)munmap(kept.chunk[i], GMT_CHUNK_BYTES);
    }
    kept.on = false;
    kept.count = 0;
}

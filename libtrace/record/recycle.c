/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps full chunks in the order in which they were filled, and takes back the oldest. */
#include "libtrace/record/recycle.h"

#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"

/* The recorder gives back after its transactions of half a second: a copy every 4 us fills so many. Their
 * pages count as memory of the program, if not as its own. */
#define KEPT_MOST 4u
#define XFS_MAGIC 0x58465342

static struct {
    pthread_mutex_t mutex;
    bool on;
    unsigned count;
    struct gmt_chunk_header *chunk[KEPT_MOST]; /* oldest first */
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

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
    if (!kept.on || chunk->bytes != GMT_CHUNK_BYTES) {
        return false;
    }
    pthread_mutex_lock(&kept.mutex);
    if (kept.count < KEPT_MOST) {
        kept.chunk[kept.count++] = chunk;
        room = true;
        __atomic_store_n(&chunk->closed, GMT_CHUNK_KEPT, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&kept.mutex);
    return room;
}

/* `chunk-<n>` becomes `free-<n>` in one step: whoever looks for the former first misses neither. */
static bool exists(const char *directory, const char *kind, uint32_t index, char *path)
{
    (void)snprintf(path, PATH_MAX + 32, "%s/%s-%u", directory, kind, index);
    return access(path, F_OK) == 0;
}

/* The oldest one, if the recorder is done with it; it may have removed it, which ends the matter. */
static struct gmt_chunk_header *take_oldest(const char *directory, char *path, bool *is_free)
{
    struct gmt_chunk_header *chunk = NULL;
    pthread_mutex_lock(&kept.mutex);
    if (kept.count > 0 && !exists(directory, "chunk", kept.chunk[0]->index, path)) {
        chunk = kept.chunk[0];
        kept.count--;
        memmove(&kept.chunk[0], &kept.chunk[1], kept.count * sizeof(struct gmt_chunk_header *));
        *is_free = exists(directory, "free", chunk->index, path);
    }
    pthread_mutex_unlock(&kept.mutex);
    return chunk;
}

struct gmt_chunk_header *gmt_recycle_take(const char *directory, struct gmt_control *control)
{
    char path[PATH_MAX + 32], next[PATH_MAX + 32];
    bool is_free = false;
    struct gmt_chunk_header *chunk = take_oldest(directory, path, &is_free);
    if (chunk == NULL) {
        return NULL;
    }
    const size_t bytes = GMT_CHUNK_BYTES;
    if (is_free) {
        memset(chunk, 0, bytes);
        uint32_t index = __atomic_fetch_add(&control->chunk_count, 1, __ATOMIC_RELAXED);
        (void)snprintf(next, sizeof(next), "%s/chunk-%u", directory, index);
        if (rename(path, next) == 0) {
            gmt_chunk_begin(chunk, control, index, bytes);
            return chunk;
        }
        (void)unlink(path);
        __atomic_fetch_sub(&control->bytes_in_use, bytes, __ATOMIC_RELAXED);
    }
    (void)munmap(chunk, bytes);
    return NULL;
}

void gmt_recycle_reset(void)
{
    pthread_mutex_init(&kept.mutex, NULL);
    kept.on = false;
    kept.count = 0;
}

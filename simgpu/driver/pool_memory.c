/* SPDX-License-Identifier: Apache-2.0 */
/* What a memory pool holds: its account, and memory from the file of one that may be shared. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simgpu/driver/pool.h"

bool sim_mempool_take(struct sim_mempool *pool, size_t bytes)
{
    if (pool->most != 0 && bytes > pool->most - pool->used) {
        return false;
    }
    pool->used += bytes;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    return true;
}

/* A destroyed pool goes with its last allocation. */
void sim_mempool_give(struct sim_mempool *pool, size_t bytes)
{
    pool->used -= bytes;
    if (pool->is_destroyed && pool->used == 0) {
        sim_mempool_free(pool);
    }
}

void sim_mempool_free(struct sim_mempool *pool)
{
    if (pool->is_shareable) {
        close(pool->file);
    }
    free(pool);
}

bool sim_mempool_reaches(const struct sim_mempool *pool, CUdevice device)
{
    return (atomic_load(&pool->access) >> device & 1) != 0;
}

struct sim_mempool *sim_mempool_of(CUmemoryPool handle)
{
    return sim_object_is(handle, SIM_POOL) ? (struct sim_mempool *)handle : NULL;
}

struct sim_mempool *sim_mempool_new(CUdevice device, size_t most)
{
    struct sim_mempool *pool = sim_object_new(SIM_POOL, sizeof *pool, NULL);
    if (pool != NULL) {
        pool->device = device;
        pool->access = 1u << device;
        pool->most = most;
        pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
    }
    return pool;
}

CUdevice sim_mempool_device(const struct sim_mempool *pool)
{
    return pool->device;
}

bool sim_mempool_is_shareable(const struct sim_mempool *pool)
{
    return pool->is_shareable;
}

void *sim_mempool_map(const struct sim_mempool *pool, size_t bytes, size_t offset)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pool->file, (off_t)offset);
    return start != MAP_FAILED ? start : NULL;
}

void *sim_mempool_obtain(struct sim_mempool *pool, size_t bytes, size_t *mapped_bytes,
                         size_t *offset)
{
    size_t rounded = (bytes + SIM_POOL_PAGE - 1) & ~(SIM_POOL_PAGE - 1);
    pthread_mutex_lock(&sim_registry.lock);
    *offset = pool->next_offset;
    bool fits = ftruncate(pool->file, (off_t)(*offset + rounded)) == 0;
    pool->next_offset += fits ? rounded : 0;
    pthread_mutex_unlock(&sim_registry.lock);
    *mapped_bytes = rounded;
    return fits ? sim_mempool_map(pool, rounded, *offset) : NULL;
}

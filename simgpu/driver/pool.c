/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: what was allocated from each, and which devices may touch it. Nothing is kept back. */
#include <limits.h>
#include <string.h>

#include "simgpu/driver/late.h"
#include "simgpu/driver/pool.h"

static struct sim_mempool *default_pools[SIM_MAX_DEVICES];
static struct sim_mempool *current_pools[SIM_MAX_DEVICES]; /* NULL = the default one */

CUresult sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    if (pool == NULL || poolProps == NULL ||
        poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    bool is_host = poolProps->location.type == CU_MEM_LOCATION_TYPE_HOST;
    if ((!is_host && poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE) ||
        (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE &&
         (is_host || poolProps->handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))) {
        return CUDA_ERROR_NOT_SUPPORTED; /* of a NUMA node; shared other than by a descriptor */
    }
    if (!is_host && !sim_device_valid(poolProps->location.id)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    struct sim_mempool *made = sim_mempool_new(is_host ? 0 : poolProps->location.id,
                                               poolProps->maxSize);
    *pool = (CUmemoryPool)made;
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->is_host = is_host;
    made->access = is_host ? UINT_MAX : made->access;
    if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE && !sim_mempool_make_shareable(made)) {
        (void)sim_cuMemPoolDestroy(*pool);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
    struct sim_mempool *gone = sim_mempool_of(pool);
    struct sim_range range;
    if (gone == NULL || gone->is_default) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&sim_registry.lock);
    bool is = sim_tree_remove(&sim_registry.objects, (uintptr_t)gone, &range);
    if (is) {
        if (current_pools[gone->device] == gone) {
            current_pools[gone->device] = NULL;
        }
        gone->is_destroyed = true;
        if (gone->used == 0) {
            sim_mempool_free(gone);
        }
    }
    pthread_mutex_unlock(&sim_registry.lock);
    return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- attributes ---- */

static int *reuse_of(struct sim_mempool *pool, CUmemPool_attribute attribute)
{
    int index = (int)attribute - (int)CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
    return index >= 0 && index < 3 ? &pool->reuse[index] : NULL;
}

/* High-water marks can be set to zero only, and start again from what is in use. */
static CUresult set_number(struct sim_mempool *pool, CUmemPool_attribute attribute,
                           cuuint64_t value)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->release_threshold = value; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (value != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        pool->used_high = pool->used;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get_number(const struct sim_mempool *pool, CUmemPool_attribute attribute,
                           cuuint64_t *value)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *value = pool->release_threshold; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *value = pool->used; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *value = pool->used_high; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct sim_mempool *found = sim_mempool_of(pool);
    if (value == NULL || found == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&sim_registry.lock);
    int *reuse = reuse_of(found, attr);
    if (reuse != NULL) {
        memcpy(reuse, value, sizeof *reuse);
    } else {
        cuuint64_t number;
        memcpy(&number, value, sizeof number);
        result = set_number(found, attr, number);
    }
    pthread_mutex_unlock(&sim_registry.lock);
    return result;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct sim_mempool *found = sim_mempool_of(pool);
    if (value == NULL || found == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&sim_registry.lock);
    const int *reuse = reuse_of(found, attr);
    cuuint64_t number = 0;
    if (reuse != NULL) {
        memcpy(value, reuse, sizeof *reuse);
    } else {
        result = get_number(found, attr, &number);
        if (result == CUDA_SUCCESS) {
            memcpy(value, &number, sizeof number);
        }
    }
    pthread_mutex_unlock(&sim_registry.lock);
    return result;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep; /* freed memory is never kept */
    return sim_mempool_of(pool) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- access ---- */

CUresult sim_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    struct sim_mempool *found = sim_mempool_of(pool);
    if (found == NULL || (map == NULL && count != 0)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned access = atomic_load(&found->access);
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            !sim_device_valid(map[i].location.id)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        unsigned bit = 1u << map[i].location.id;
        if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
            access |= bit;
        } else if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE &&
                   map[i].location.id != found->device) {
            access &= ~bit;
        } else {
            return CUDA_ERROR_INVALID_VALUE; /* the pool's own device always has access */
        }
    }
    atomic_store(&found->access, access);
    sim_map_changed();
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                                CUmemLocation *location)
{
    const struct sim_mempool *pool = sim_mempool_of(memPool);
    if (flags == NULL || pool == NULL || location == NULL ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device_valid(location->id)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = sim_mempool_reaches(pool, location->id) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                     : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* ---- the pools of devices ---- */

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    if (pool_out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&making);
    if (default_pools[dev] == NULL) {
        default_pools[dev] = sim_mempool_new(dev, 0);
        if (default_pools[dev] != NULL) {
            default_pools[dev]->is_default = true;
        }
    }
    *pool_out = (CUmemoryPool)default_pools[dev];
    pthread_mutex_unlock(&making);
    return *pool_out != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    if (pool != NULL && sim_device_valid(dev)) {
        pthread_mutex_lock(&sim_registry.lock);
        struct sim_mempool *current = current_pools[dev];
        pthread_mutex_unlock(&sim_registry.lock);
        if (current != NULL) {
            *pool = (CUmemoryPool)current;
            return CUDA_SUCCESS;
        }
    }
    return sim_cuDeviceGetDefaultMemPool(pool, dev);
}

CUresult sim_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    struct sim_mempool *found = sim_mempool_of(pool);
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (found == NULL || found->device != dev || found->is_host || found->is_imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&sim_registry.lock);
    current_pools[dev] = found;
    pthread_mutex_unlock(&sim_registry.lock);
    return CUDA_SUCCESS;
}

static CUresult location_check(const CUmemLocation *location, CUmemAllocationType type)
{
    return location == NULL || type != CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_ERROR_INVALID_VALUE
           : location->type != CU_MEM_LOCATION_TYPE_DEVICE           ? CUDA_ERROR_NOT_SUPPORTED
                                                                     : CUDA_SUCCESS;
}

CUresult sim_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                    CUmemAllocationType type)
{
    CUresult result = location_check(location, type);
    return result != CUDA_SUCCESS ? result : sim_cuDeviceGetDefaultMemPool(pool_out, location->id);
}

CUresult sim_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult result = location_check(location, type);
    return result != CUDA_SUCCESS ? result : sim_cuDeviceGetMemPool(pool, location->id);
}

CUresult sim_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult result = location_check(location, type);
    return result != CUDA_SUCCESS ? result : sim_cuDeviceSetMemPool(location->id, pool);
}

/* ---- allocations in stream order: made and freed at once, refused inside a capture ---- */

static CUresult allocate_on(CUstream handle, size_t bytes, CUmemoryPool pool, CUdeviceptr *dptr)
{
    struct sim_stream *stream;
    void *start;
    CUresult result = dptr == NULL ? CUDA_ERROR_INVALID_VALUE : sim_stream_of(handle, &stream);
    if (result == CUDA_SUCCESS && stream->capture != NULL) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (result == CUDA_SUCCESS && pool == NULL) {
        result = sim_cuDeviceGetMemPool(&pool, stream->context->device);
    }
    if (result == CUDA_SUCCESS) {
        struct sim_mempool *found = sim_mempool_of(pool);
        result = found == NULL || found->is_imported
                     ? CUDA_ERROR_INVALID_VALUE
                     : sim_heap_allocate(found->is_host ? SIM_MEM_PINNED : SIM_MEM_DEVICE, bytes, 0,
                                         false, found, &start);
    }
    if (result == CUDA_SUCCESS) {
        *dptr = (CUdeviceptr)start;
        result = sim_order_on() ? sim_late_allocated(stream, (uintptr_t)start, bytes) : result;
    }
    return result;
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate_on(hStream, bytesize, NULL, dptr);
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                     CUstream hStream)
{
    return pool == NULL ? CUDA_ERROR_INVALID_VALUE : allocate_on(hStream, bytesize, pool, dptr);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct sim_stream *stream;
    struct sim_range range;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS || dptr == 0) {
        return result;
    }
    bool of_host = sim_heap_find((uintptr_t)dptr, &range) && range.pool != NULL &&
                   range.kind == SIM_MEM_PINNED;
    unsigned kinds = of_host ? SIM_MEM_PINNED : SIM_MEM_DEVICE;
    if (stream->capture == NULL && sim_order_on()) {
        return sim_heap_find((uintptr_t)dptr, &range) && range.start == (uintptr_t)dptr &&
                       (range.kind & kinds) != 0
                   ? sim_late_free(stream, &range, kinds)
                   : CUDA_ERROR_INVALID_VALUE;
    }
    return stream->capture != NULL ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                   : sim_heap_free((uintptr_t)dptr, kinds);
}

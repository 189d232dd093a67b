/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools that are shared with other processes. The memory of such a pool lies in a file without a
 * name, whose descriptor is what is exported; an exported pointer says where in that file its allocation
 * lies.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simgpu/driver/pool.h"

#define MAGIC UINT64_C(0x6c6f6f705f6d6973) /* sim_pool */

/* The first page of the file. */
struct header {
    uint64_t magic;
    CUdevice device;
};

/* What CUmemPoolPtrExportData holds. */
struct exported {
    uint64_t magic;
    uint64_t file; /* which pool it is of */
    uint64_t offset;
    uint64_t bytes;
};
_Static_assert(sizeof(struct exported) <= sizeof(CUmemPoolPtrExportData), "it has room for that");

static uint64_t identity_of(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

bool sim_mempool_make_shareable(struct sim_mempool *pool)
{
    struct header header = {.magic = MAGIC, .device = pool->device};
    int file = memfd_create("simgpu_pool", MFD_CLOEXEC);
    if (file < 0 || write(file, &header, sizeof header) != (ssize_t)sizeof header) {
        if (file >= 0) {
            close(file);
        }
        return false;
    }
    pool->file = file;
    pool->next_offset = SIM_POOL_PAGE;
    pool->is_shareable = true;
    return true;
}

CUresult sim_cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                              CUmemAllocationHandleType handleType,
                                              unsigned long long flags)
{
    const struct sim_mempool *found = sim_mempool_of(pool);
    if (handle_out == NULL || found == NULL || !found->is_shareable || found->is_imported ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int file = fcntl(found->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    memcpy(handle_out, &file, sizeof file);
    return CUDA_SUCCESS;
}

/* The descriptor stays the caller's. */
CUresult sim_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                CUmemAllocationHandleType handleType,
                                                unsigned long long flags)
{
    int file = (int)(intptr_t)handle;
    struct header header = {0};
    if (pool_out == NULL || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0 ||
        pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header || header.magic != MAGIC ||
        !sim_device_valid(header.device)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    struct sim_mempool *made = sim_mempool_new(header.device, 0);
    if (made == NULL) {
        close(own);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->file = own;
    made->is_shareable = made->is_imported = true;
    *pool_out = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    struct sim_range range;
    if (shareData_out == NULL || !sim_heap_find((uintptr_t)ptr, &range) || range.start != ptr ||
        range.pool == NULL || !range.pool->is_shareable || range.pool->is_imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct exported data = {.magic = MAGIC,
                            .file = identity_of(range.pool->file),
                            .offset = range.pool_offset,
                            .bytes = range.bytes};
    memset(shareData_out, 0, sizeof *shareData_out);
    memcpy(shareData_out, &data, sizeof data);
    return CUDA_SUCCESS;
}

/* The data may come from anybody: what lies outside of the file would raise a signal. */
static bool is_inside(const struct sim_mempool *pool, const struct exported *data)
{
    struct stat status;
    return data->magic == MAGIC && fstat(pool->file, &status) == 0 &&
           data->file == (uint64_t)status.st_ino && data->offset >= SIM_POOL_PAGE &&
           data->offset % SIM_POOL_PAGE == 0 && data->bytes != 0 &&
           data->offset <= (uint64_t)status.st_size &&
           data->bytes <= (uint64_t)status.st_size - data->offset;
}

CUresult sim_cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
                                    CUmemPoolPtrExportData *shareData)
{
    struct sim_mempool *found = sim_mempool_of(pool);
    struct exported data;
    if (ptr_out == NULL || shareData == NULL || found == NULL || !found->is_imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(&data, shareData, sizeof data);
    if (!is_inside(found, &data)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_range range = {.bytes = data.bytes,
                              .kind = SIM_MEM_DEVICE,
                              .device = found->device,
                              .context = sim_current(),
                              .pool = found,
                              .mapped_bytes = (data.bytes + SIM_POOL_PAGE - 1) &
                                              ~(SIM_POOL_PAGE - 1)};
    if (range.context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    void *start = sim_mempool_map(found, range.mapped_bytes, data.offset);
    if (start == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    range.start = (uintptr_t)start;
    pthread_mutex_lock(&sim_registry.lock);
    (void)sim_mempool_take(found, range.bytes); /* without a limit: always */
    pthread_mutex_unlock(&sim_registry.lock);
    if (!sim_heap_adopt(&range)) {
        pthread_mutex_lock(&sim_registry.lock);
        sim_mempool_give(found, range.bytes);
        pthread_mutex_unlock(&sim_registry.lock);
        munmap(start, range.mapped_bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *ptr_out = (CUdeviceptr)start;
    return CUDA_SUCCESS;
}

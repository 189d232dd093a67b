/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, page-locking, memory pools and pointer queries of the software device. */
#include "simgpu/driver/driver.h"

#include <stdlib.h>
#include <string.h>

struct sim_pool {
    CUdevice device;
    cuuint64_t release_threshold;
};

static CUresult allocate(enum sim_kind kind, size_t bytes, unsigned flags, CUdeviceptr *out)
{
    void *start;
    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_capture_safe();
    if (result == CUDA_SUCCESS) {
        result = sim_memory_new(kind, bytes, flags, false, &start);
    }
    if (result == CUDA_SUCCESS) {
        *out = (CUdeviceptr)start;
    }
    return result;
}

CUresult sim_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return allocate(SIM_MEM_DEVICE, bytesize, 0, dptr);
}

CUresult sim_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    void *start;
    CUresult result = sim_memory_new(SIM_MEM_DEVICE, bytesize, 0, true, &start);
    if (result == CUDA_SUCCESS) {
        *dptr = (CUdeviceptr_v1)(uintptr_t)start;
    }
    return result;
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                size_t Height, unsigned int ElementSizeBytes)
{
    if (pPitch == NULL || WidthInBytes == 0 || Height == 0 ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    size_t pitch = (WidthInBytes + 511) & ~(size_t)511;
    CUresult result = allocate(SIM_MEM_DEVICE, pitch * Height, 0, dptr);
    if (result == CUDA_SUCCESS) {
        *pPitch = pitch;
    }
    return result;
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return allocate(SIM_MEM_MANAGED, bytesize, flags, dptr);
}

/* Allocations in stream order are made at once; inside a capture they are refused. */
static CUresult allocate_on(CUstream stream, size_t bytes, CUdeviceptr *dptr)
{
    struct sim_stream *found;
    CUresult result = sim_stream_of(stream, &found);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return found->capture != NULL ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                  : allocate(SIM_MEM_DEVICE, bytes, 0, dptr);
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate_on(hStream, bytesize, dptr);
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                     CUstream hStream)
{
    return sim_object_is(pool, SIM_POOL) ? allocate_on(hStream, bytesize, dptr)
                                         : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return sim_memory_new(SIM_MEM_PINNED, bytesize, 0, false, pp);
}

CUresult sim_cuMemAllocHost(void **pp, unsigned int bytesize)
{
    return sim_cuMemAllocHost_v2(pp, bytesize);
}

CUresult sim_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return Flags > 7 ? CUDA_ERROR_INVALID_VALUE
                     : sim_memory_new(SIM_MEM_PINNED, bytesize, Flags, false, pp);
}

CUresult sim_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    return sim_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT
                                 : sim_memory_register(p, bytesize, Flags);
}

CUresult sim_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return sim_cuMemHostRegister_v2(p, bytesize, Flags);
}

CUresult sim_cuMemHostUnregister(void *p)
{
    return sim_memory_delete((uintptr_t)p, SIM_MEM_REGISTERED);
}

CUresult sim_cuMemFree_v2(CUdeviceptr dptr)
{
    CUresult result = sim_capture_safe();
    if (result != CUDA_SUCCESS || dptr == 0) {
        return result;
    }
    return sim_memory_delete((uintptr_t)dptr, SIM_ANY_DEVICE_MEMORY);
}

CUresult sim_cuMemFree(CUdeviceptr_v1 dptr)
{
    return sim_cuMemFree_v2(dptr);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS || dptr == 0) {
        return result;
    }
    return sim_memory_delete((uintptr_t)dptr, SIM_MEM_DEVICE);
}

CUresult sim_cuMemFreeHost(void *p)
{
    return p == NULL ? CUDA_SUCCESS : sim_memory_delete((uintptr_t)p, SIM_MEM_PINNED);
}

/* Either pointer may be NULL, as the driver allows. */
CUresult sim_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (free_bytes != NULL) {
        *free_bytes = sim_memory_limit() - sim_memory_used();
    }
    if (total != NULL) {
        *total = sim_memory_limit();
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo(unsigned int *free_bytes, unsigned int *total)
{
    size_t wide_free, wide_total;
    CUresult result = sim_cuMemGetInfo_v2(&wide_free, &wide_total);
    if (result == CUDA_SUCCESS && free_bytes != NULL) {
        *free_bytes = (unsigned)(wide_free < UINT32_MAX ? wide_free : UINT32_MAX);
    }
    if (result == CUDA_SUCCESS && total != NULL) {
        *total = (unsigned)(wide_total < UINT32_MAX ? wide_total : UINT32_MAX);
    }
    return result;
}

CUresult sim_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct sim_range range;
    if (!sim_memory_find((uintptr_t)dptr, &range)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    if (pbase != NULL) {
        *pbase = (CUdeviceptr)range.start;
    }
    if (psize != NULL) {
        *psize = range.bytes;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr)
{
    CUdeviceptr base;
    size_t size;
    CUresult result = sim_cuMemGetAddressRange_v2(&base, &size, dptr);
    if (result == CUDA_SUCCESS && pbase != NULL) {
        *pbase = (CUdeviceptr_v1)base;
    }
    if (result == CUDA_SUCCESS && psize != NULL) {
        *psize = (unsigned)size;
    }
    return result;
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct sim_range range;
    if (pdptr == NULL || Flags != 0 || !sim_memory_find((uintptr_t)p, &range) ||
        (range.kind & SIM_ANY_HOST_MEMORY) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pdptr = (CUdeviceptr)p;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    struct sim_range range;
    if (pFlags == NULL || !sim_memory_find((uintptr_t)p, &range) || range.kind != SIM_MEM_PINNED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pFlags = range.flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct sim_range range;
    if (data == NULL || !sim_memory_find((uintptr_t)ptr, &range)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    bool host = (range.kind & SIM_ANY_HOST_MEMORY) != 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = (CUcontext)range.context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = ptr; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (range.kind == SIM_MEM_DEVICE) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *(void **)data = (void *)ptr;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = range.kind == SIM_MEM_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = range.context != NULL ? range.context->device : 0;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = range.start; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = range.bytes; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(bool *)data = true; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)data = range.start; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                    void **data, CUdeviceptr ptr)
{
    if (attributes == NULL || data == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_range range;
    bool known = sim_memory_find((uintptr_t)ptr, &range);
    for (unsigned i = 0; known && i < numAttributes; i++) {
        (void)sim_cuPointerGetAttribute(data[i], attributes[i], ptr);
    }
    return CUDA_SUCCESS;
}

static CUresult prefetch(CUdeviceptr ptr, size_t count, CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS && (count == 0 || !sim_memory_covers((uintptr_t)ptr, count))) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

CUresult sim_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                CUstream hStream)
{
    return dstDevice != CU_DEVICE_CPU && !sim_device_valid(dstDevice)
               ? CUDA_ERROR_INVALID_DEVICE
               : prefetch(devPtr, count, hStream);
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                   unsigned int flags, CUstream hStream)
{
    return flags != 0 || location.type == CU_MEM_LOCATION_TYPE_INVALID
               ? CUDA_ERROR_INVALID_VALUE
               : prefetch(devPtr, count, hStream);
}

CUresult sim_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    (void)device;
    return advice == 0 || !sim_memory_covers((uintptr_t)devPtr, count) ? CUDA_ERROR_INVALID_VALUE
                                                                       : CUDA_SUCCESS;
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                            CUmemLocation location)
{
    return sim_cuMemAdvise(devPtr, count, advice, location.id);
}

/* ---- pools ---- */

static struct sim_pool *default_pools[SIM_MAX_DEVICES];
static struct sim_pool *current_pools[SIM_MAX_DEVICES];

CUresult sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    if (pool == NULL || poolProps == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_pool *made = sim_object_new(SIM_POOL, sizeof *made);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->device = poolProps->location.id;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
    return sim_object_delete(pool, SIM_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    if (value == NULL || !sim_object_is(pool, SIM_POOL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        ((struct sim_pool *)pool)->release_threshold = *(cuuint64_t *)value;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    if (value == NULL || !sim_object_is(pool, SIM_POOL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (attr) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *(cuuint64_t *)value = ((struct sim_pool *)pool)->release_threshold;
        break;
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: *(int *)value = 1; break;
    default: *(cuuint64_t *)value = sim_memory_used(); break;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    return sim_object_is(pool, SIM_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    if (pool_out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    CUmemPoolProps props = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev}};
    CUmemoryPool made;
    if (__atomic_load_n(&default_pools[dev], __ATOMIC_ACQUIRE) == NULL &&
        sim_cuMemPoolCreate(&made, &props) == CUDA_SUCCESS) {
        struct sim_pool *none = NULL;
        if (!__atomic_compare_exchange_n(&default_pools[dev], &none, (struct sim_pool *)made, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            (void)sim_cuMemPoolDestroy(made);
        }
    }
    *pool_out = (CUmemoryPool)__atomic_load_n(&default_pools[dev], __ATOMIC_ACQUIRE);
    return *pool_out != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    if (pool != NULL && sim_device_valid(dev) && current_pools[dev] != NULL) {
        *pool = (CUmemoryPool)current_pools[dev];
        return CUDA_SUCCESS;
    }
    return sim_cuDeviceGetDefaultMemPool(pool, dev);
}

CUresult sim_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    if (!sim_device_valid(dev) || !sim_object_is(pool, SIM_POOL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    current_pools[dev] = (struct sim_pool *)pool;
    return CUDA_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, page-locking, memory pools and pointer queries of the stand-in driver. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

struct fake_pool {
    CUdevice device;
    cuuint64_t release_threshold;
};

static CUresult allocate(enum fake_kind kind, size_t bytes, unsigned flags, CUdeviceptr *out)
{
    void *start;
    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = fake_capture_safe();
    if (result == CUDA_SUCCESS) {
        result = fake_memory_new(kind, bytes, flags, false, &start);
    }
    if (result == CUDA_SUCCESS) {
        *out = (CUdeviceptr)start;
    }
    return result;
}

CUresult fake_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return allocate(FAKE_MEM_DEVICE, bytesize, 0, dptr);
}

CUresult fake_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    void *start;
    CUresult result = fake_memory_new(FAKE_MEM_DEVICE, bytesize, 0, true, &start);
    if (result == CUDA_SUCCESS) {
        *dptr = (CUdeviceptr_v1)(uintptr_t)start;
    }
    return result;
}

CUresult fake_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                 size_t Height, unsigned int ElementSizeBytes)
{
    if (pPitch == NULL || WidthInBytes == 0 || Height == 0 ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    size_t pitch = (WidthInBytes + 511) & ~(size_t)511;
    CUresult result = allocate(FAKE_MEM_DEVICE, pitch * Height, 0, dptr);
    if (result == CUDA_SUCCESS) {
        *pPitch = pitch;
    }
    return result;
}

CUresult fake_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return allocate(FAKE_MEM_MANAGED, bytesize, flags, dptr);
}

/* Allocations in stream order are made at once; inside a capture they are refused. */
static CUresult allocate_on(CUstream stream, size_t bytes, CUdeviceptr *dptr)
{
    struct fake_stream *found;
    CUresult result = fake_stream_of(stream, &found);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return found->capture != NULL ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                  : allocate(FAKE_MEM_DEVICE, bytes, 0, dptr);
}

CUresult fake_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate_on(hStream, bytesize, dptr);
}

CUresult fake_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                      CUstream hStream)
{
    return fake_object_is(pool, FAKE_POOL) ? allocate_on(hStream, bytesize, dptr)
                                           : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return fake_memory_new(FAKE_MEM_PINNED, bytesize, 0, false, pp);
}

CUresult fake_cuMemAllocHost(void **pp, unsigned int bytesize)
{
    return fake_cuMemAllocHost_v2(pp, bytesize);
}

CUresult fake_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return Flags > 7 ? CUDA_ERROR_INVALID_VALUE
                     : fake_memory_new(FAKE_MEM_PINNED, bytesize, Flags, false, pp);
}

CUresult fake_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    return fake_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT
                                  : fake_memory_register(p, bytesize, Flags);
}

CUresult fake_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return fake_cuMemHostRegister_v2(p, bytesize, Flags);
}

CUresult fake_cuMemHostUnregister(void *p)
{
    return fake_memory_delete((uintptr_t)p, FAKE_MEM_REGISTERED);
}

CUresult fake_cuMemFree_v2(CUdeviceptr dptr)
{
    CUresult result = fake_capture_safe();
    if (result != CUDA_SUCCESS || dptr == 0) {
        return result;
    }
    return fake_memory_delete((uintptr_t)dptr, FAKE_ANY_DEVICE_MEMORY);
}

CUresult fake_cuMemFree(CUdeviceptr_v1 dptr)
{
    return fake_cuMemFree_v2(dptr);
}

CUresult fake_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct fake_stream *stream;
    CUresult result = fake_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS || dptr == 0) {
        return result;
    }
    return fake_memory_delete((uintptr_t)dptr, FAKE_MEM_DEVICE);
}

CUresult fake_cuMemFreeHost(void *p)
{
    return p == NULL ? CUDA_SUCCESS : fake_memory_delete((uintptr_t)p, FAKE_MEM_PINNED);
}

/* Either pointer may be NULL, as the driver allows. */
CUresult fake_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    if (fake_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (free_bytes != NULL) {
        *free_bytes = fake_memory_limit() - fake_memory_used();
    }
    if (total != NULL) {
        *total = fake_memory_limit();
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuMemGetInfo(unsigned int *free_bytes, unsigned int *total)
{
    size_t wide_free, wide_total;
    CUresult result = fake_cuMemGetInfo_v2(&wide_free, &wide_total);
    if (result == CUDA_SUCCESS && free_bytes != NULL) {
        *free_bytes = (unsigned)(wide_free < UINT32_MAX ? wide_free : UINT32_MAX);
    }
    if (result == CUDA_SUCCESS && total != NULL) {
        *total = (unsigned)(wide_total < UINT32_MAX ? wide_total : UINT32_MAX);
    }
    return result;
}

CUresult fake_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct fake_range range;
    if (!fake_memory_find((uintptr_t)dptr, &range)) {
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

CUresult fake_cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr)
{
    CUdeviceptr base;
    size_t size;
    CUresult result = fake_cuMemGetAddressRange_v2(&base, &size, dptr);
    if (result == CUDA_SUCCESS && pbase != NULL) {
        *pbase = (CUdeviceptr_v1)base;
    }
    if (result == CUDA_SUCCESS && psize != NULL) {
        *psize = (unsigned)size;
    }
    return result;
}

CUresult fake_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct fake_range range;
    if (pdptr == NULL || Flags != 0 || !fake_memory_find((uintptr_t)p, &range) ||
        (range.kind & FAKE_ANY_HOST_MEMORY) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pdptr = (CUdeviceptr)p;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    struct fake_range range;
    if (pFlags == NULL || !fake_memory_find((uintptr_t)p, &range) ||
        range.kind != FAKE_MEM_PINNED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pFlags = range.flags;
    return CUDA_SUCCESS;
}

CUresult fake_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct fake_range range;
    if (data == NULL || !fake_memory_find((uintptr_t)ptr, &range)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    bool host = (range.kind & FAKE_ANY_HOST_MEMORY) != 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = (CUcontext)range.context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = ptr; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (range.kind == FAKE_MEM_DEVICE) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *(void **)data = (void *)ptr;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = range.kind == FAKE_MEM_MANAGED; break;
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

CUresult fake_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                     void **data, CUdeviceptr ptr)
{
    if (attributes == NULL || data == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct fake_range range;
    bool known = fake_memory_find((uintptr_t)ptr, &range);
    for (unsigned i = 0; known && i < numAttributes; i++) {
        (void)fake_cuPointerGetAttribute(data[i], attributes[i], ptr);
    }
    return CUDA_SUCCESS;
}

static CUresult prefetch(CUdeviceptr ptr, size_t count, CUstream hStream)
{
    struct fake_stream *stream;
    CUresult result = fake_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS && (count == 0 || !fake_memory_covers((uintptr_t)ptr, count))) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

CUresult fake_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                 CUstream hStream)
{
    return dstDevice != CU_DEVICE_CPU && !fake_device_valid(dstDevice)
               ? CUDA_ERROR_INVALID_DEVICE
               : prefetch(devPtr, count, hStream);
}

CUresult fake_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                    unsigned int flags, CUstream hStream)
{
    return flags != 0 || location.type == CU_MEM_LOCATION_TYPE_INVALID
               ? CUDA_ERROR_INVALID_VALUE
               : prefetch(devPtr, count, hStream);
}

CUresult fake_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    (void)device;
    return advice == 0 || !fake_memory_covers((uintptr_t)devPtr, count) ? CUDA_ERROR_INVALID_VALUE
                                                                        : CUDA_SUCCESS;
}

CUresult fake_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                             CUmemLocation location)
{
    return fake_cuMemAdvise(devPtr, count, advice, location.id);
}

/* ---- pools ---- */

static struct fake_pool *default_pools[FAKE_MAX_DEVICES];
static struct fake_pool *current_pools[FAKE_MAX_DEVICES];

CUresult fake_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    if (pool == NULL || poolProps == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct fake_pool *made = fake_object_new(FAKE_POOL, sizeof *made);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->device = poolProps->location.id;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemPoolDestroy(CUmemoryPool pool)
{
    return fake_object_delete(pool, FAKE_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    if (value == NULL || !fake_object_is(pool, FAKE_POOL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        ((struct fake_pool *)pool)->release_threshold = *(cuuint64_t *)value;
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    if (value == NULL || !fake_object_is(pool, FAKE_POOL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (attr) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *(cuuint64_t *)value = ((struct fake_pool *)pool)->release_threshold;
        break;
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: *(int *)value = 1; break;
    default: *(cuuint64_t *)value = fake_memory_used(); break;
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    return fake_object_is(pool, FAKE_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    if (pool_out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!fake_device_valid(dev)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    CUmemPoolProps props = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev}};
    CUmemoryPool made;
    if (__atomic_load_n(&default_pools[dev], __ATOMIC_ACQUIRE) == NULL &&
        fake_cuMemPoolCreate(&made, &props) == CUDA_SUCCESS) {
        struct fake_pool *none = NULL;
        if (!__atomic_compare_exchange_n(&default_pools[dev], &none, (struct fake_pool *)made,
                                         false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            (void)fake_cuMemPoolDestroy(made);
        }
    }
    *pool_out = (CUmemoryPool)__atomic_load_n(&default_pools[dev], __ATOMIC_ACQUIRE);
    return *pool_out != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    if (pool != NULL && fake_device_valid(dev) && current_pools[dev] != NULL) {
        *pool = (CUmemoryPool)current_pools[dev];
        return CUDA_SUCCESS;
    }
    return fake_cuDeviceGetDefaultMemPool(pool, dev);
}

CUresult fake_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    if (!fake_device_valid(dev) || !fake_object_is(pool, FAKE_POOL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    current_pools[dev] = (struct fake_pool *)pool;
    return CUDA_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, page-locking, and what the device says of its memory. */
#include "simgpu/driver/driver.h"
#include "simgpu/order/order.h"

#define PITCH_ALIGNMENT ((size_t)512)

/* What frees waits for all work, and says what went wrong in it. */
static CUresult wait_for_all(void)
{
    struct sim_context *context = sim_current();
    sim_order_drain();
    return context != NULL ? sim_fault(context, true) : CUDA_SUCCESS;
}

static CUresult allocate(enum sim_kind kind, size_t bytes, unsigned flags, CUdeviceptr *out)
{
    void *start;
    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_capture_safe();
    if (result == CUDA_SUCCESS) {
        result = sim_heap_allocate(kind, bytes, flags, false, NULL, &start);
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
    if (dptr == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_heap_allocate(SIM_MEM_DEVICE, bytesize, 0, true, NULL, &start);
    if (result == CUDA_SUCCESS) {
        *dptr = (CUdeviceptr_v1)(uintptr_t)start;
    }
    return result;
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                size_t Height, unsigned int ElementSizeBytes)
{
    size_t bytes;
    if (pPitch == NULL || WidthInBytes == 0 || Height == 0 || WidthInBytes > INT32_MAX ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    size_t pitch = (WidthInBytes + PITCH_ALIGNMENT - 1) & ~(PITCH_ALIGNMENT - 1);
    if (__builtin_mul_overflow(pitch, Height, &bytes)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = allocate(SIM_MEM_DEVICE, bytes, 0, dptr);
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

CUresult sim_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return sim_heap_allocate(SIM_MEM_PINNED, bytesize, 0, false, NULL, pp);
}

CUresult sim_cuMemAllocHost(void **pp, unsigned int bytesize)
{
    return sim_cuMemAllocHost_v2(pp, bytesize);
}

CUresult sim_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                           CU_MEMHOSTALLOC_WRITECOMBINED;
    return (Flags & ~known) != 0
               ? CUDA_ERROR_INVALID_VALUE
               : sim_heap_allocate(SIM_MEM_PINNED, bytesize, Flags, false, NULL, pp);
}

CUresult sim_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    return (Flags & ~known) != 0 ? CUDA_ERROR_INVALID_VALUE : sim_heap_register(p, bytesize, Flags);
}

CUresult sim_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return sim_cuMemHostRegister_v2(p, bytesize, Flags);
}

CUresult sim_cuMemHostUnregister(void *p)
{
    CUresult result = wait_for_all();
    return result != CUDA_SUCCESS ? result : sim_heap_free((uintptr_t)p, SIM_MEM_REGISTERED);
}

CUresult sim_cuMemFree_v2(CUdeviceptr dptr)
{
    CUresult result = sim_capture_safe();
    if (result != CUDA_SUCCESS || dptr == 0) {
        return result;
    }
    result = wait_for_all();
    return result != CUDA_SUCCESS
               ? result
               : sim_heap_free((uintptr_t)dptr, SIM_MEM_DEVICE | SIM_MEM_MANAGED);
}

CUresult sim_cuMemFree(CUdeviceptr_v1 dptr)
{
    return sim_cuMemFree_v2(dptr);
}

CUresult sim_cuMemFreeHost(void *p)
{
    if (p == NULL) {
        return CUDA_SUCCESS;
    }
    CUresult result = wait_for_all();
    return result != CUDA_SUCCESS ? result : sim_heap_free((uintptr_t)p, SIM_MEM_PINNED);
}

/* Either pointer may be NULL, as the driver allows. */
CUresult sim_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    struct sim_context *context = sim_current();
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    size_t limit = sim_heap_limit(), used = sim_heap_used(context->device);
    if (free_bytes != NULL) {
        *free_bytes = used < limit ? limit - used : 0;
    }
    if (total != NULL) {
        *total = limit;
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
    if (!sim_heap_find((uintptr_t)dptr, &range)) {
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

/* With unified addressing all page-locked memory is mapped, at its own address. */
CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct sim_range range;
    if (pdptr == NULL || Flags != 0 || !sim_heap_find((uintptr_t)p, &range) ||
        (range.kind & SIM_ANY_HOST_MEMORY) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pdptr = (CUdeviceptr)p;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    struct sim_range range;
    if (pFlags == NULL || !sim_heap_find((uintptr_t)p, &range) || range.kind != SIM_MEM_PINNED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pFlags = range.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Allocating memory, and saying what a pointer points to. */
#include "simgpu/runtime/runtime.h"

#include <string.h>

/* An empty allocation is granted as NULL, without asking the driver, which refuses it. */
static bool is_empty(void **pointer, size_t bytes)
{
    if (bytes == 0) {
        *pointer = NULL;
    }
    return bytes == 0;
}

cudaError_t sim_cudaMalloc(void **devPtr, size_t size)
{
    if (devPtr == NULL) {
        return cudaErrorInvalidValue;
    }
    return is_empty(devPtr, size)
               ? cudaSuccess
               : sim_rt_error(SIM_CU->cuMemAlloc_v2((CUdeviceptr *)devPtr, size));
}

cudaError_t sim_cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    if (pHost == NULL) {
        return cudaErrorInvalidValue;
    }
    return is_empty(pHost, size) ? cudaSuccess
                                 : sim_rt_error(SIM_CU->cuMemHostAlloc(pHost, size, flags));
}

/* As cudaHostAlloc, also in that the memory is mapped and portable: contexts are unified. */
cudaError_t sim_cudaMallocHost(void **ptr, size_t size)
{
    return sim_cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t sim_cudaFreeHost(void *ptr)
{
    return ptr == NULL ? cudaSuccess : sim_rt_error(SIM_CU->cuMemFreeHost(ptr));
}

cudaError_t sim_cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    if (devPtr == NULL || size == 0) {
        return cudaErrorInvalidValue;
    }
    return sim_rt_error(SIM_CU->cuMemAllocManaged((CUdeviceptr *)devPtr, size, flags));
}

cudaError_t sim_cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    if (devPtr == NULL) {
        return cudaErrorInvalidValue;
    }
    return is_empty(devPtr, size)
               ? cudaSuccess
               : sim_rt_error(SIM_CU->cuMemAllocAsync((CUdeviceptr *)devPtr, size, hStream));
}

cudaError_t sim_cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                        cudaStream_t stream)
{
    if (ptr == NULL) {
        return cudaErrorInvalidValue;
    }
    return is_empty(ptr, size) ? cudaSuccess
                               : sim_rt_error(SIM_CU->cuMemAllocFromPoolAsync(
                                     (CUdeviceptr *)ptr, size, memPool, stream));
}

/* ---- pitched -------------------------------------------------------------------------------- */

#define WIDEST_ELEMENT_BYTES 16u /* rows then suit accesses of every width */

cudaError_t sim_cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    if (devPtr == NULL || pitch == NULL) {
        return cudaErrorInvalidValue;
    }
    if (width == 0 || height == 0) {
        *devPtr = NULL;
        *pitch = 0;
        return cudaSuccess;
    }
    return sim_rt_error(SIM_CU->cuMemAllocPitch_v2((CUdeviceptr *)devPtr, pitch, width, height,
                                                   WIDEST_ELEMENT_BYTES));
}

cudaError_t sim_cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows;
    if (pitchedDevPtr == NULL || __builtin_mul_overflow(extent.height, extent.depth, &rows)) {
        return cudaErrorInvalidValue;
    }
    struct cudaPitchedPtr made = {.xsize = extent.width, .ysize = extent.height};
    cudaError_t error = sim_cudaMallocPitch(&made.ptr, &made.pitch, extent.width, rows);
    if (error == cudaSuccess) {
        *pitchedDevPtr = made;
    }
    return error;
}

/* ---- what is there -------------------------------------------------------------------------- */

cudaError_t sim_cudaMemGetInfo(size_t *free, size_t *total)
{
    size_t is_free = 0;
    size_t in_all = 0;
    cudaError_t error = sim_rt_error(SIM_CU->cuMemGetInfo_v2(&is_free, &in_all));
    if (error == cudaSuccess && free != NULL) {
        *free = is_free;
    }
    if (error == cudaSuccess && total != NULL) {
        *total = in_all;
    }
    return error;
}

static enum cudaMemoryType memory_type(unsigned driver_type, bool managed)
{
    return managed                               ? cudaMemoryTypeManaged
           : driver_type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
           : driver_type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                                 : cudaMemoryTypeUnregistered;
}

/* The driver leaves zeros for what it does not know; such a pointer is ordinary host memory. */
cudaError_t sim_cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    unsigned type = 0;
    int ordinal = cudaInvalidDeviceId;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    unsigned managed = 0; /* the driver writes a bool or an int: both fit */
    CUpointer_attribute asked[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
    };
    void *answers[] = {&type, &ordinal, &device_pointer, &host_pointer, &managed};
    if (attributes == NULL) {
        return cudaErrorInvalidValue;
    }
    cudaError_t error = sim_rt_error(SIM_CU->cuPointerGetAttributes(
        sizeof asked / sizeof asked[0], asked, answers, (CUdeviceptr)ptr));
    if (error != cudaSuccess) {
        return error;
    }
    attributes->type = memory_type(type, managed != 0);
    bool unknown = attributes->type == cudaMemoryTypeUnregistered;
    attributes->device = unknown ? cudaInvalidDeviceId : ordinal;
    attributes->devicePointer = unknown ? NULL : (void *)device_pointer;
    attributes->hostPointer = unknown ? (void *)ptr : host_pointer;
    return cudaSuccess;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A driver whose copies to the device do what the test wants while they are under way: never end, for one. */
#define __CUDA_API_VERSION_INTERNAL /* the types of all versions */
#include <cuda.h>

#include <stdlib.h>
#include <string.h>

void (*leave_during)(void); /* called within each copy to the device, if it is set */

CUresult cuInit(unsigned flags)
{
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* One context, current in every thread. */
CUresult cuCtxGetCurrent(CUcontext *context)
{
    static char only;
    *context = (CUcontext)(void *)&only;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    *address = (CUdeviceptr)malloc(bytes);
    return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    free((void *)address); // NOLINT
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
    memcpy((void *)dst, src, bytes); // NOLINT
    if (leave_during != NULL) {
        leave_during();
    }
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
    memcpy(dst, (const void *)src, bytes); // NOLINT
    return CUDA_SUCCESS;
}

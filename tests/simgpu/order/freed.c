/* SPDX-License-Identifier: Apache-2.0 */
/* Names freed memory in calls of all kinds (freed.h). */
#include "freed.h"

#include "harness.h"

#define BYTES 8

/* Two rows of four bytes from or to freed memory. */
static CUresult copy_rows(CUdeviceptr gone, void *own, bool is_source)
{
    CUDA_MEMCPY2D copy = {.srcPitch = 4, .dstPitch = 4, .WidthInBytes = 4, .Height = 2};
    copy.srcMemoryType = is_source ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = is_source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = is_source ? gone : 0;
    copy.srcHost = is_source ? NULL : own;
    copy.dstDevice = is_source ? 0 : gone;
    copy.dstHost = is_source ? own : NULL;
    return cuMemcpy2D(&copy);
}

static CUresult copy_box(CUdeviceptr gone, void *own)
{
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = own,
                                .srcPitch = BYTES,
                                .srcHeight = 1,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = gone,
                                .dstPitch = BYTES,
                                .dstHeight = 1,
                                .WidthInBytes = BYTES,
                                .Height = 1,
                                .Depth = 1};
    return cuMemcpy3D(&copy);
}

static CUresult ask_or_set(unsigned kind, CUdeviceptr gone, CUstream stream)
{
    unsigned type;
    CUdeviceptr base;
    size_t bytes;
    switch (kind) {
    case 0: return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, gone);
    case 1:
        return cuMemGetAddressRange(&base, &bytes, gone + BYTES) == CUDA_ERROR_NOT_FOUND
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_ERROR_UNKNOWN;
    case 2: return cuMemFree(gone);
    case 3: return cuMemsetD8(gone, 1, BYTES);
    case 4: return cuMemsetD32Async(gone, 1, BYTES / 4, stream);
    default: return cuMemsetD2D8(gone, 4, 1, 4, 2);
    }
}

static CUresult copy(unsigned kind, CUdeviceptr gone, void *own, CUstream stream)
{
    CUdeviceptr own_device = (CUdeviceptr)own;
    switch (kind) {
    case 6: return cuMemcpyHtoD(gone, own, BYTES);
    case 7: return cuMemcpyDtoHAsync(own, gone, BYTES, stream);
    case 8: return cuMemcpyDtoD(gone, own_device, BYTES);
    case 9: return cuMemcpyDtoD(own_device, gone, BYTES);
    case 10: return cuMemcpyDtoDAsync(gone, own_device, BYTES, stream);
    case 11: return copy_rows(gone, own, true);
    case 12: return copy_rows(gone, own, false);
    default: return copy_box(gone, own);
    }
}

void freed_name(unsigned kind, CUdeviceptr gone, void *own, CUstream stream)
{
    CUresult result = kind < 6 ? ask_or_set(kind, gone, stream) : copy(kind, gone, own, stream);
    if (result != CUDA_ERROR_INVALID_VALUE) {
        harness_fail("call %u, which names freed memory, returns %d", kind, (int)result);
    }
}

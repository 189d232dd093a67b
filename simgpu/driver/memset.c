/* SPDX-License-Identifier: Apache-2.0 */
/* Memsets: three element sizes, linear and pitched, blocking and not. */
#include "simgpu/driver/late.h"

/* Not even the ones without Async wait for the device. */
static CUresult set(CUdeviceptr dst, size_t pitch, unsigned element_bytes, unsigned value,
                    size_t width, size_t height, CUstream stream, bool strict)
{
    size_t row, span;
    CUresult safe = strict ? sim_capture_safe() : CUDA_SUCCESS;
    if (safe != CUDA_SUCCESS || width == 0 || height == 0) {
        return safe;
    }
    if (dst % element_bytes != 0 || (height > 1 && pitch % element_bytes != 0) ||
        __builtin_mul_overflow(width, element_bytes, &row) || (height > 1 && pitch < row) ||
        __builtin_mul_overflow(height - 1, pitch, &span) ||
        __builtin_add_overflow(span, row, &span) || !sim_heap_covers((uintptr_t)dst, span)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_node node = {.kind = SIM_NODE_SET,
                            .set = {.dst = (char *)dst,
                                    .pitch = pitch,
                                    .width = width,
                                    .height = height,
                                    .element_bytes = element_bytes,
                                    .value = value}};
    return sim_submit(stream, &node, strict && sim_order_on()); /* waits for memory of the host */
}

#define MEMSETS(bits, type) \
    CUresult sim_cuMemsetD##bits##_v2(CUdeviceptr dstDevice, type value, size_t N) \
    { \
        return set(dstDevice, 0, (bits) / 8, value, N, 1, NULL, true); \
    } \
    CUresult sim_cuMemsetD##bits(CUdeviceptr_v1 dstDevice, type value, unsigned int N) \
    { \
        return set(dstDevice, 0, (bits) / 8, value, N, 1, NULL, true); \
    } \
    CUresult sim_cuMemsetD##bits##Async(CUdeviceptr dstDevice, type value, size_t N, \
                                        CUstream hStream) \
    { \
        return set(dstDevice, 0, (bits) / 8, value, N, 1, hStream, false); \
    } \
    CUresult sim_cuMemsetD2D##bits##_v2(CUdeviceptr dstDevice, size_t dstPitch, type value, \
                                        size_t Width, size_t Height) \
    { \
        return set(dstDevice, dstPitch, (bits) / 8, value, Width, Height, NULL, true); \
    } \
    CUresult sim_cuMemsetD2D##bits##Async(CUdeviceptr dstDevice, size_t dstPitch, type value, \
                                          size_t Width, size_t Height, CUstream hStream) \
    { \
        return set(dstDevice, dstPitch, (bits) / 8, value, Width, Height, hStream, false); \
    }

MEMSETS(8, unsigned char)
MEMSETS(16, unsigned short)
MEMSETS(32, unsigned int)

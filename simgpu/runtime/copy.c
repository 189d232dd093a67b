/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of linear and of pitched memory, each made by the driver call that its kind asks for. */
#include "simgpu/runtime/runtime.h"

#include <string.h>

cudaError_t sim_copy_ends(enum cudaMemcpyKind kind, CUmemorytype *src, CUmemorytype *dst)
{
    static const struct {
        CUmemorytype src, dst;
    } ends[] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };
    if ((unsigned)kind >= sizeof ends / sizeof ends[0]) {
        return cudaErrorInvalidMemcpyDirection;
    }
    *src = ends[kind].src;
    *dst = ends[kind].dst;
    return cudaSuccess;
}

/* ---- pitched: two-dimensional --------------------------------------------------------------- */

/* Leaves WidthInBytes at 0 if there is nothing to do. */
static cudaError_t plan(CUDA_MEMCPY2D *copy, void *dst, size_t dpitch, const void *src,
                        size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    memset(copy, 0, sizeof *copy);
    cudaError_t error = sim_copy_ends(kind, &copy->srcMemoryType, &copy->dstMemoryType);
    if (error != cudaSuccess || width == 0 || height == 0) {
        return error;
    }
    if (width > dpitch || width > spitch) {
        return cudaErrorInvalidPitchValue;
    }
    if (dst == NULL || src == NULL) {
        return cudaErrorInvalidValue;
    }
    copy->srcHost = src;
    copy->srcDevice = (CUdeviceptr)src;
    copy->srcPitch = spitch;
    copy->dstHost = dst;
    copy->dstDevice = (CUdeviceptr)dst;
    copy->dstPitch = dpitch;
    copy->WidthInBytes = width;
    copy->Height = height;
    return cudaSuccess;
}

cudaError_t sim_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy;
    cudaError_t error = plan(&copy, dst, dpitch, src, spitch, width, height, kind);
    return error != cudaSuccess || copy.WidthInBytes == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemcpy2DUnaligned_v2(&copy));
}

cudaError_t sim_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                  size_t width, size_t height, enum cudaMemcpyKind kind,
                                  cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    cudaError_t error = plan(&copy, dst, dpitch, src, spitch, width, height, kind);
    return error != cudaSuccess || copy.WidthInBytes == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemcpy2DAsync_v2(&copy, stream));
}

/* ---- linear: host to host has no linear driver call ----------------------------------------- */

static cudaError_t check(const void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    CUmemorytype from, to;
    cudaError_t error = sim_copy_ends(kind, &from, &to);
    return error == cudaSuccess && count != 0 && (dst == NULL || src == NULL)
               ? cudaErrorInvalidValue
               : error;
}

cudaError_t sim_cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    CUdeviceptr to = (CUdeviceptr)dst;
    CUdeviceptr from = (CUdeviceptr)src;
    cudaError_t error = check(dst, src, count, kind);
    if (error != cudaSuccess || count == 0) {
        return error;
    }
    switch (kind) {
    case cudaMemcpyHostToDevice: return sim_rt_error(SIM_CU->cuMemcpyHtoD_v2(to, src, count));
    case cudaMemcpyDeviceToHost: return sim_rt_error(SIM_CU->cuMemcpyDtoH_v2(dst, from, count));
    case cudaMemcpyDeviceToDevice: return sim_rt_error(SIM_CU->cuMemcpyDtoD_v2(to, from, count));
    case cudaMemcpyHostToHost: return sim_cudaMemcpy2D(dst, count, src, count, count, 1, kind);
    default: return sim_rt_error(SIM_CU->cuMemcpy(to, from, count));
    }
}

cudaError_t sim_cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                                cudaStream_t stream)
{
    CUdeviceptr to = (CUdeviceptr)dst;
    CUdeviceptr from = (CUdeviceptr)src;
    cudaError_t error = check(dst, src, count, kind);
    if (error != cudaSuccess || count == 0) {
        return error;
    }
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return sim_rt_error(SIM_CU->cuMemcpyHtoDAsync_v2(to, src, count, stream));
    case cudaMemcpyDeviceToHost:
        return sim_rt_error(SIM_CU->cuMemcpyDtoHAsync_v2(dst, from, count, stream));
    case cudaMemcpyDeviceToDevice:
        return sim_rt_error(SIM_CU->cuMemcpyDtoDAsync_v2(to, from, count, stream));
    case cudaMemcpyHostToHost:
        return sim_cudaMemcpy2DAsync(dst, count, src, count, count, 1, kind, stream);
    default: return sim_rt_error(SIM_CU->cuMemcpyAsync(to, from, count, stream));
    }
}

/* ---- between devices ------------------------------------------------------------------------ */

static cudaError_t contexts(int dst_device, int src_device, CUcontext *dst, CUcontext *src)
{
    cudaError_t error = sim_primary(dst_device, dst);
    return error != cudaSuccess ? error : sim_primary(src_device, src);
}

cudaError_t sim_cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
                               size_t count)
{
    CUcontext to, from;
    cudaError_t error = contexts(dstDevice, srcDevice, &to, &from);
    return error != cudaSuccess || count == 0
               ? error
               : sim_rt_error(
                     SIM_CU->cuMemcpyPeer((CUdeviceptr)dst, to, (CUdeviceptr)src, from, count));
}

cudaError_t sim_cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                    size_t count, cudaStream_t stream)
{
    CUcontext to, from;
    cudaError_t error = contexts(dstDevice, srcDevice, &to, &from);
    return error != cudaSuccess || count == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemcpyPeerAsync((CUdeviceptr)dst, to, (CUdeviceptr)src,
                                                        from, count, stream));
}

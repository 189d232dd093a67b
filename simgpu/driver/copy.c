/* SPDX-License-Identifier: Apache-2.0 */
/* Linear copies: what lies at both ends is checked, then they are one node each. */
#include "simgpu/driver/copy_box.h"

enum end { END_DEVICE, END_HOST, END_ANY };

/*
 * True if the copy may begin there. Device memory must be known and long enough; a host pointer need
 * not be known, but one into page-locked memory must not leave it either.
 */
static bool end_ok(const void *start, size_t bytes, enum end end, bool *known)
{
    struct sim_range range;
    *known = sim_heap_find((uintptr_t)start, &range);
    if (!*known) {
        return end != END_DEVICE && start != NULL;
    }
    bool fits = bytes <= range.bytes - ((uintptr_t)start - range.start) ||
                sim_heap_covers((uintptr_t)start, bytes);
    if (!fits && end != END_DEVICE && range.kind == SIM_MEM_REGISTERED) {
        *known = false; /* part of a buffer is page-locked, the rest pageable */
        return true;
    }
    return fits;
}

static CUresult copy(void *dst, enum end dst_end, const void *src, enum end src_end, size_t bytes,
                     CUstream stream, bool blocking)
{
    struct sim_node node = {
        .kind = SIM_NODE_COPY,
        .copy = {.dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1}};
    if (bytes != 0 && (!end_ok(dst, bytes, dst_end, &node.copy.dst_known) ||
                       !end_ok(src, bytes, src_end, &node.copy.src_known))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return sim_submit(stream, &node, blocking);
}

static CUresult htod(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream, bool blocking)
{
    return copy((void *)dst, END_DEVICE, src, END_HOST, bytes, stream, blocking);
}

static CUresult dtoh(void *dst, CUdeviceptr src, size_t bytes, CUstream stream, bool blocking)
{
    return copy(dst, END_HOST, (const void *)src, END_DEVICE, bytes, stream, blocking);
}

static CUresult dtod(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream, bool blocking)
{
    return copy((void *)dst, END_DEVICE, (const void *)src, END_DEVICE, bytes, stream, blocking);
}

CUresult sim_copy_any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream,
                      bool blocking)
{
    return copy((void *)dst, END_ANY, (const void *)src, END_ANY, bytes, stream, blocking);
}

CUresult sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return sim_copy_any(dst, src, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return sim_copy_any(dst, src, ByteCount, hStream, false);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return htod(dstDevice, srcHost, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyHtoD(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount)
{
    return htod(dstDevice, srcHost, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                  CUstream hStream)
{
    return htod(dstDevice, srcHost, ByteCount, hStream, false);
}

CUresult sim_cuMemcpyHtoDAsync(CUdeviceptr_v1 dstDevice, const void *srcHost,
                               unsigned int ByteCount, CUstream hStream)
{
    return htod(dstDevice, srcHost, ByteCount, hStream, false);
}

CUresult sim_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return dtoh(dstHost, srcDevice, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyDtoH(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
    return dtoh(dstHost, srcDevice, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                  CUstream hStream)
{
    return dtoh(dstHost, srcDevice, ByteCount, hStream, false);
}

CUresult sim_cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount,
                               CUstream hStream)
{
    return dtoh(dstHost, srcDevice, ByteCount, hStream, false);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return dtod(dstDevice, srcDevice, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyDtoD(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice,
                          unsigned int ByteCount)
{
    return dtod(dstDevice, srcDevice, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                  CUstream hStream)
{
    return dtod(dstDevice, srcDevice, ByteCount, hStream, false);
}

CUresult sim_cuMemcpyDtoDAsync(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice,
                               unsigned int ByteCount, CUstream hStream)
{
    return dtod(dstDevice, srcDevice, ByteCount, hStream, false);
}

/* Asynchronous with respect to the host, both of them. */
static CUresult peer(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                     size_t bytes, CUstream stream)
{
    if (!sim_object_is(dst_context, SIM_CONTEXT) || !sim_object_is(src_context, SIM_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return dtod(dst, src, bytes, stream, false);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                          CUcontext srcContext, size_t ByteCount)
{
    return peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                               CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
    return peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and memsets of the software device: each becomes one struct sim_copy or sim_set. */
#include "simgpu/driver/driver.h"

/* The blocking entry points of a thread that captures in a strict mode are refused. */
static CUresult run(CUstream stream, bool blocking, const struct sim_node *node)
{
    CUresult result = blocking ? sim_capture_safe() : CUDA_SUCCESS;
    return result != CUDA_SUCCESS ? result : sim_submit(stream, node);
}

static CUresult copy_1d(void *dst, const void *src, size_t bytes, CUstream stream, bool blocking)
{
    struct sim_node node = {
        .kind = SIM_NODE_COPY,
        .copy = {.dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1}};
    return run(stream, blocking, &node);
}

/* One end of a linear copy: device memory must be known as such, host memory must not be NULL. */
static bool device_ok(CUdeviceptr address, size_t bytes)
{
    return sim_memory_covers((uintptr_t)address, bytes);
}

static CUresult htod(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream, bool blocking)
{
    if (bytes != 0 && (src == NULL || !device_ok(dst, bytes))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return copy_1d((void *)dst, src, bytes, stream, blocking);
}

static CUresult dtoh(void *dst, CUdeviceptr src, size_t bytes, CUstream stream, bool blocking)
{
    if (bytes != 0 && (dst == NULL || !device_ok(src, bytes))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return copy_1d(dst, (const void *)src, bytes, stream, blocking);
}

static CUresult dtod(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream, bool blocking)
{
    if (!device_ok(dst, bytes) || !device_ok(src, bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return copy_1d((void *)dst, (const void *)src, bytes, stream, blocking);
}

static CUresult any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream, bool blocking)
{
    if (bytes != 0 && (dst == 0 || src == 0)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return copy_1d((void *)dst, (const void *)src, bytes, stream, blocking);
}

CUresult sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return any(dst, src, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return any(dst, src, ByteCount, hStream, false);
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

static CUresult peer(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                     size_t bytes, CUstream stream)
{
    if (!sim_object_is(dst_context, SIM_CONTEXT) || !sim_object_is(src_context, SIM_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return dtod(dst, src, bytes, stream, false); /* asynchronous with respect to the host */
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

/* ---- pitched copies ---- */

/* One side of a 2-D or 3-D copy as the driver's structs describe it. */
struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x_bytes, y, z, pitch, height;
};

/* Where the side's first byte lies, and its strides; NULL if the description is not valid. */
static char *locate(const struct side *side, size_t width, size_t height, size_t depth,
                    size_t *pitch, size_t *slice)
{
    const char *base = NULL;
    size_t rows = side->height;
    *pitch = side->pitch;
    if (side->type == CU_MEMORYTYPE_HOST) {
        base = side->host;
    } else if (side->type == CU_MEMORYTYPE_DEVICE || side->type == CU_MEMORYTYPE_UNIFIED) {
        base = (const char *)side->device;
    } else if (side->type == CU_MEMORYTYPE_ARRAY && sim_object_is(side->array, SIM_ARRAY)) {
        const struct sim_array *array = (const struct sim_array *)side->array;
        base = array->data;
        *pitch = array->row_bytes;
        rows = array->shape.Height != 0 ? array->shape.Height : 1;
    }
    if (*pitch == 0) {
        *pitch = width + side->x_bytes;
    }
    if (rows == 0) {
        rows = height + side->y;
    }
    *slice = *pitch * rows;
    if (base == NULL || *pitch < width + side->x_bytes) {
        return NULL;
    }
    const char *first = base + side->z * *slice + side->y * *pitch + side->x_bytes;
    size_t span = (depth - 1) * *slice + (height - 1) * *pitch + width;
    if (side->type == CU_MEMORYTYPE_DEVICE && !sim_memory_covers((uintptr_t)first, span)) {
        return NULL;
    }
    return (char *)(uintptr_t)first;
}

static CUresult copy_box(const struct side *dst, const struct side *src, size_t width,
                         size_t height, size_t depth, CUstream stream, bool blocking)
{
    struct sim_node node = {.kind = SIM_NODE_COPY,
                            .copy = {.width = width, .height = height, .depth = depth}};
    struct sim_copy *copy = &node.copy;
    if (width == 0 || height == 0 || depth == 0) {
        return CUDA_SUCCESS;
    }
    copy->dst = locate(dst, width, height, depth, &copy->dst_pitch, &copy->dst_slice);
    copy->src = locate(src, width, height, depth, &copy->src_pitch, &copy->src_slice);
    if (copy->dst == NULL || copy->src == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return run(stream, blocking, &node);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool blocking)
{
    if (c == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct side dst = {.type = c->dstMemoryType,
                       .host = c->dstHost,
                       .device = c->dstDevice,
                       .array = c->dstArray,
                       .x_bytes = c->dstXInBytes,
                       .y = c->dstY,
                       .pitch = c->dstPitch};
    struct side src = {.type = c->srcMemoryType,
                       .host = c->srcHost,
                       .device = c->srcDevice,
                       .array = c->srcArray,
                       .x_bytes = c->srcXInBytes,
                       .y = c->srcY,
                       .pitch = c->srcPitch};
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, 1, stream, blocking);
}

CUresult sim_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, true);
}

CUresult sim_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, true);
}

CUresult sim_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(pCopy, hStream, false);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name these members alike. */
#define SIDES_3D(c) \
    struct side dst = {.type = (c)->dstMemoryType, \
                       .host = (c)->dstHost, \
                       .device = (c)->dstDevice, \
                       .array = (c)->dstArray, \
                       .x_bytes = (c)->dstXInBytes, \
                       .y = (c)->dstY, \
                       .z = (c)->dstZ, \
                       .pitch = (c)->dstPitch, \
                       .height = (c)->dstHeight}; \
    struct side src = {.type = (c)->srcMemoryType, \
                       .host = (c)->srcHost, \
                       .device = (c)->srcDevice, \
                       .array = (c)->srcArray, \
                       .x_bytes = (c)->srcXInBytes, \
                       .y = (c)->srcY, \
                       .z = (c)->srcZ, \
                       .pitch = (c)->srcPitch, \
                       .height = (c)->srcHeight}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool blocking)
{
    if (c == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    SIDES_3D(c);
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream, blocking);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream)
{
    if (c == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    SIDES_3D(c);
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream, false);
}

CUresult sim_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    return copy_3d(pCopy, NULL, true);
}

CUresult sim_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return copy_3d(pCopy, hStream, false);
}

CUresult sim_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    return copy_3d_peer(pCopy, NULL);
}

CUresult sim_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return copy_3d_peer(pCopy, hStream);
}

/* ---- batches ---- */

static CUresult batch(CUdeviceptr *dsts, CUdeviceptr *srcs, const size_t *sizes, size_t count,
                      const CUmemcpyAttributes *attributes, const size_t *indices,
                      size_t attribute_count, size_t *failed, CUstream stream)
{
    if (dsts == NULL || srcs == NULL || sizes == NULL || count == 0 || attributes == NULL ||
        indices == NULL || attribute_count == 0 || attribute_count > count || indices[0] != 0 ||
        (stream == NULL && !sim_thread.per_thread) || stream == CU_STREAM_LEGACY) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        CUresult result = any(dsts[i], srcs[i], sizes[i], stream, false);
        if (result != CUDA_SUCCESS) {
            if (failed != NULL) {
                *failed = i;
            }
            return result;
        }
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                size_t *failIdx, CUstream hStream)
{
    return batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream);
}

CUresult sim_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                   size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                                   size_t numAttrs, CUstream hStream)
{
    return batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream);
}

static struct side operand(const CUmemcpy3DOperand *operand)
{
    struct side side = {0};
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        side.type = CU_MEMORYTYPE_ARRAY;
        side.array = operand->op.array.array;
        if (sim_object_is(side.array, SIM_ARRAY)) {
            side.x_bytes = operand->op.array.offset.x *
                           ((const struct sim_array *)side.array)->element_bytes;
        }
        side.y = operand->op.array.offset.y;
        side.z = operand->op.array.offset.z;
    } else {
        side.type = CU_MEMORYTYPE_UNIFIED;
        side.device = operand->op.ptr.ptr;
        side.pitch = operand->op.ptr.rowLength;
        side.height = operand->op.ptr.layerHeight;
    }
    return side;
}

static CUresult batch_3d(size_t count, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                         CUstream stream)
{
    if (count == 0 || ops == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        struct side dst = operand(&ops[i].dst), src = operand(&ops[i].src);
        CUresult result = copy_box(&dst, &src, ops[i].extent.width, ops[i].extent.height,
                                   ops[i].extent.depth, stream, false);
        if (result != CUDA_SUCCESS) {
            if (failed != NULL) {
                *failed = i;
            }
            return result;
        }
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                  unsigned long long flags, CUstream hStream)
{
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : batch_3d(numOps, opList, failIdx, hStream);
}

CUresult sim_cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                                     unsigned long long flags, CUstream hStream)
{
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : batch_3d(numOps, opList, NULL, hStream);
}

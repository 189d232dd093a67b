/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between pitched boxes in two and three dimensions, from and to host, device and arrays. */
#include "simgpu/driver/copy_box.h"

#define MAX_PITCH ((size_t)INT32_MAX)

/* Overflow-checked: true if it fits. */
static bool multiply(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static bool add(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* An array's box must lie inside it, and its pitch is its own. */
static bool array_ok(const struct sim_side *side, size_t width, size_t height, size_t depth)
{
    const struct sim_array *array = (const struct sim_array *)side->array;
    size_t rows = array->shape.Height != 0 ? array->shape.Height : 1;
    size_t slices = array->shape.Depth != 0 ? array->shape.Depth : 1;
    return side->x_bytes <= array->row_bytes && width <= array->row_bytes - side->x_bytes &&
           side->y <= rows && height <= rows - side->y && side->z <= slices &&
           depth <= slices - side->z;
}

struct placed {
    char *first;
    size_t pitch, slice;
    bool known;
};

/* First byte, strides and known-ness of a side; false if the description is not valid. */
static bool place(const struct sim_side *side, size_t width, size_t height, size_t depth,
                  struct placed *out)
{
    const char *base = NULL;
    size_t rows = side->height, row_end;
    out->pitch = side->pitch;
    out->known = false;
    if (side->type == CU_MEMORYTYPE_HOST) {
        base = side->host;
    } else if (side->type == CU_MEMORYTYPE_DEVICE || side->type == CU_MEMORYTYPE_UNIFIED) {
        base = (const char *)side->device;
    } else if (side->type == CU_MEMORYTYPE_ARRAY && sim_object_is(side->array, SIM_ARRAY) &&
               array_ok(side, width, height, depth)) {
        const struct sim_array *array = (const struct sim_array *)side->array;
        base = array->data;
        out->pitch = array->row_bytes;
        rows = array->shape.Height != 0 ? array->shape.Height : 1;
    }
    if (base == NULL || !add(width, side->x_bytes, &row_end)) {
        return false;
    }
    out->pitch = out->pitch != 0 ? out->pitch : row_end;
    if (rows == 0 && !add(height, side->y, &rows)) {
        return false;
    }
    size_t from_z, from_y, offset, last_z, last_y, bytes;
    if (out->pitch < row_end || out->pitch > MAX_PITCH ||
        !multiply(out->pitch, rows, &out->slice) || !multiply(side->z, out->slice, &from_z) ||
        !multiply(side->y, out->pitch, &from_y) || !add(from_z, from_y, &offset) ||
        !add(offset, side->x_bytes, &offset) || !multiply(depth - 1, out->slice, &last_z) ||
        !multiply(height - 1, out->pitch, &last_y) || !add(last_z, last_y, &bytes) ||
        !add(bytes, width, &bytes)) {
        return false;
    }
    out->first = (char *)(uintptr_t)base + offset;
    struct sim_range range;
    out->known = side->type != CU_MEMORYTYPE_ARRAY && side->type != CU_MEMORYTYPE_HOST &&
                 sim_heap_find((uintptr_t)out->first, &range);
    return side->type == CU_MEMORYTYPE_DEVICE || out->known
               ? sim_heap_covers((uintptr_t)out->first, bytes)
               : true;
}

CUresult sim_copy_box(const struct sim_side *dst, const struct sim_side *src, size_t width,
                      size_t height, size_t depth, CUstream stream, bool blocking)
{
    struct placed to, from;
    if (width == 0 || height == 0 || depth == 0) {
        return CUDA_SUCCESS;
    }
    if (!place(dst, width, height, depth, &to) || !place(src, width, height, depth, &from)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_node node = {.kind = SIM_NODE_COPY,
                            .copy = {.dst = to.first,
                                     .src = from.first,
                                     .dst_pitch = to.pitch,
                                     .dst_slice = to.slice,
                                     .src_pitch = from.pitch,
                                     .src_slice = from.slice,
                                     .width = width,
                                     .height = height,
                                     .depth = depth,
                                     .dst_is_array = dst->type == CU_MEMORYTYPE_ARRAY,
                                     .src_is_array = src->type == CU_MEMORYTYPE_ARRAY,
                                     .dst_known = to.known,
                                     .src_known = from.known}};
    return sim_submit(stream, &node, blocking);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool blocking)
{
    if (c == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_side dst = {.type = c->dstMemoryType,
                           .host = c->dstHost,
                           .device = c->dstDevice,
                           .array = c->dstArray,
                           .x_bytes = c->dstXInBytes,
                           .y = c->dstY,
                           .pitch = c->dstPitch};
    struct sim_side src = {.type = c->srcMemoryType,
                           .host = c->srcHost,
                           .device = c->srcDevice,
                           .array = c->srcArray,
                           .x_bytes = c->srcXInBytes,
                           .y = c->srcY,
                           .pitch = c->srcPitch};
    return sim_copy_box(&dst, &src, c->WidthInBytes, c->Height, 1, stream, blocking);
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
    struct sim_side dst = {.type = (c)->dstMemoryType, \
                           .host = (c)->dstHost, \
                           .device = (c)->dstDevice, \
                           .array = (c)->dstArray, \
                           .x_bytes = (c)->dstXInBytes, \
                           .y = (c)->dstY, \
                           .z = (c)->dstZ, \
                           .pitch = (c)->dstPitch, \
                           .height = (c)->dstHeight}; \
    struct sim_side src = {.type = (c)->srcMemoryType, \
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
    if (c == NULL || c->srcLOD != 0 || c->dstLOD != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    SIDES_3D(c);
    return sim_copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream, blocking);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream)
{
    if (c == NULL || c->srcLOD != 0 || c->dstLOD != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_object_is(c->dstContext, SIM_CONTEXT) || !sim_object_is(c->srcContext, SIM_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    SIDES_3D(c);
    return sim_copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream, false);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Three-dimensional copies and copies to and from arrays: all of them are boxes of bytes. */
#include "simgpu/runtime/runtime.h"

#include <string.h>

/* One end of a copy: an array, or pitched memory; the position with x in bytes. */
struct sim_end {
    cudaArray_const_t array;
    void *pointer;
    size_t pitch, rows; /* of pitched memory: bytes per row, rows per slice */
    size_t x, y, z;
};

struct sim_box {
    struct sim_end src, dst;
    size_t width, height, depth; /* width in bytes */
};

static struct sim_end array_end(cudaArray_const_t array, size_t x, size_t y)
{
    return (struct sim_end){.array = array, .x = x, .y = y};
}

static struct sim_end memory_end(const void *pointer, size_t pitch)
{
    return (struct sim_end){.pointer = (void *)pointer, .pitch = pitch};
}

static cudaError_t check_end(const struct sim_end *end, const struct sim_box *box)
{
    if ((end->array == NULL) == (end->pointer == NULL)) {
        return cudaErrorInvalidValue; /* both or neither */
    }
    bool one_row = box->height <= 1 && box->depth <= 1;
    bool too_wide = end->x > end->pitch || box->width > end->pitch - end->x;
    return end->pointer != NULL && !one_row && too_wide ? cudaErrorInvalidPitchValue : cudaSuccess;
}

#define FILL(copy, side, end, type) \
    do { \
        (copy)->side##XInBytes = (end)->x; \
        (copy)->side##Y = (end)->y; \
        (copy)->side##Z = (end)->z; \
        (copy)->side##MemoryType = (end)->array != NULL ? CU_MEMORYTYPE_ARRAY : (type); \
        (copy)->side##Host = (end)->pointer; \
        (copy)->side##Device = (CUdeviceptr)(end)->pointer; \
        (copy)->side##Array = (CUarray)(end)->array; \
        (copy)->side##Pitch = (end)->pitch; \
        (copy)->side##Height = (end)->rows; \
    } while (0)

/* The structure for copies between contexts; with none named it is the one for copies within. */
static cudaError_t plan(CUDA_MEMCPY3D_PEER *copy, const struct sim_box *box,
                        enum cudaMemcpyKind kind)
{
    CUmemorytype from, to;
    memset(copy, 0, sizeof *copy);
    cudaError_t error = sim_copy_ends(kind, &from, &to);
    if (error != cudaSuccess || box->width == 0 || box->height == 0 || box->depth == 0) {
        return error;
    }
    error = check_end(&box->src, box);
    if (error == cudaSuccess) {
        error = check_end(&box->dst, box);
    }
    FILL(copy, src, &box->src, from);
    FILL(copy, dst, &box->dst, to);
    copy->WidthInBytes = box->width;
    copy->Height = box->height;
    copy->Depth = box->depth;
    return error;
}

_Static_assert(sizeof(CUDA_MEMCPY3D_PEER) == sizeof(CUDA_MEMCPY3D), "one lies over the other");
_Static_assert(offsetof(CUDA_MEMCPY3D_PEER, srcContext) == offsetof(CUDA_MEMCPY3D, reserved0) &&
                   offsetof(CUDA_MEMCPY3D_PEER, dstContext) == offsetof(CUDA_MEMCPY3D, reserved1),
               "without contexts they are the same");

static cudaError_t copy_box(const struct sim_box *box, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D_PEER copy;
    cudaError_t error = plan(&copy, box, kind);
    return error != cudaSuccess || copy.WidthInBytes == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemcpy3D_v2((const CUDA_MEMCPY3D *)&copy));
}

static cudaError_t copy_box_async(const struct sim_box *box, enum cudaMemcpyKind kind,
                                  cudaStream_t stream)
{
    CUDA_MEMCPY3D_PEER copy;
    cudaError_t error = plan(&copy, box, kind);
    return error != cudaSuccess || copy.WidthInBytes == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemcpy3DAsync_v2((const CUDA_MEMCPY3D *)&copy, stream));
}

/* ---- three-dimensional ---------------------------------------------------------------------- */

/* Extents count elements of the array that takes part, else bytes; positions each end's own. */
static cudaError_t box_of(struct sim_box *box, cudaArray_t src_array, struct cudaPos src_pos,
                          struct cudaPitchedPtr src, cudaArray_t dst_array, struct cudaPos dst_pos,
                          struct cudaPitchedPtr dst, struct cudaExtent extent)
{
    size_t src_element = 1;
    size_t dst_element = 1;
    size_t row;
    cudaError_t error = src_array != NULL ? sim_array_bytes(src_array, &src_element, &row)
                                          : cudaSuccess;
    if (error == cudaSuccess && dst_array != NULL) {
        error = sim_array_bytes(dst_array, &dst_element, &row);
    }
    if (error == cudaSuccess && src_array != NULL && dst_array != NULL &&
        src_element != dst_element) {
        error = cudaErrorInvalidValue;
    }
    size_t element = src_array != NULL ? src_element : dst_element;
    *box = (struct sim_box){
        .src = {src_array, src.ptr, src.pitch, src.ysize, src_pos.x * src_element, src_pos.y,
                src_pos.z},
        .dst = {dst_array, dst.ptr, dst.pitch, dst.ysize, dst_pos.x * dst_element, dst_pos.y,
                dst_pos.z},
        .height = extent.height,
        .depth = extent.depth,
    };
    if (__builtin_mul_overflow(extent.width, element, &box->width)) {
        error = cudaErrorInvalidValue;
    }
    return error;
}

static cudaError_t box_of_parameters(struct sim_box *box, const struct cudaMemcpy3DParms *p)
{
    return p == NULL ? cudaErrorInvalidValue
                     : box_of(box, p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos,
                              p->dstPtr, p->extent);
}

cudaError_t sim_cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    struct sim_box box;
    cudaError_t error = box_of_parameters(&box, p);
    return error != cudaSuccess ? error : copy_box(&box, p->kind);
}

cudaError_t sim_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    struct sim_box box;
    cudaError_t error = box_of_parameters(&box, p);
    return error != cudaSuccess ? error : copy_box_async(&box, p->kind, stream);
}

static cudaError_t plan_peer(CUDA_MEMCPY3D_PEER *copy, const struct cudaMemcpy3DPeerParms *p)
{
    struct sim_box box;
    cudaError_t error = p == NULL ? cudaErrorInvalidValue
                                  : box_of(&box, p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                           p->dstPos, p->dstPtr, p->extent);
    if (error == cudaSuccess) {
        error = plan(copy, &box, cudaMemcpyDefault);
    }
    if (error == cudaSuccess) {
        error = sim_primary(p->srcDevice, &copy->srcContext);
    }
    return error != cudaSuccess ? error : sim_primary(p->dstDevice, &copy->dstContext);
}

cudaError_t sim_cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    CUDA_MEMCPY3D_PEER copy;
    cudaError_t error = plan_peer(&copy, p);
    return error != cudaSuccess || copy.WidthInBytes == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemcpy3DPeer(&copy));
}

cudaError_t sim_cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D_PEER copy;
    cudaError_t error = plan_peer(&copy, p);
    return error != cudaSuccess || copy.WidthInBytes == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemcpy3DPeerAsync(&copy, stream));
}

/* ---- two-dimensional, an array at one end or both ------------------------------------------- */

static struct sim_box flat(struct sim_end dst, struct sim_end src, size_t width, size_t height)
{
    return (struct sim_box){.src = src, .dst = dst, .width = width, .height = height, .depth = 1};
}

cudaError_t sim_cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                    const void *src, size_t spitch, size_t width, size_t height,
                                    enum cudaMemcpyKind kind)
{
    struct sim_box box = flat(array_end(dst, wOffset, hOffset), memory_end(src, spitch), width,
                              height);
    return copy_box(&box, kind);
}

cudaError_t sim_cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                         const void *src, size_t spitch, size_t width,
                                         size_t height, enum cudaMemcpyKind kind,
                                         cudaStream_t stream)
{
    struct sim_box box = flat(array_end(dst, wOffset, hOffset), memory_end(src, spitch), width,
                              height);
    return copy_box_async(&box, kind, stream);
}

cudaError_t sim_cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src,
                                      size_t wOffset, size_t hOffset, size_t width, size_t height,
                                      enum cudaMemcpyKind kind)
{
    struct sim_box box = flat(memory_end(dst, dpitch), array_end(src, wOffset, hOffset), width,
                              height);
    return copy_box(&box, kind);
}

cudaError_t sim_cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
                                           size_t wOffset, size_t hOffset, size_t width,
                                           size_t height, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    struct sim_box box = flat(memory_end(dst, dpitch), array_end(src, wOffset, hOffset), width,
                              height);
    return copy_box_async(&box, kind, stream);
}

cudaError_t sim_cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                         cudaArray_const_t src, size_t wOffsetSrc,
                                         size_t hOffsetSrc, size_t width, size_t height,
                                         enum cudaMemcpyKind kind)
{
    struct sim_box box = flat(array_end(dst, wOffsetDst, hOffsetDst),
                              array_end(src, wOffsetSrc, hOffsetSrc), width, height);
    return copy_box(&box, kind);
}

/* ---- bytes that run on from row to row ------------------------------------------------------ */

struct sim_copy_run {
    struct sim_end dst, src;
    size_t count;
    enum cudaMemcpyKind kind;
    bool async;
    cudaStream_t stream;
};

/* Bytes to the end of the row; memory is one long row. */
static cudaError_t row_of(const struct sim_end *end, size_t count, size_t *row_bytes)
{
    size_t element;
    *row_bytes = count;
    return end->array == NULL ? cudaSuccess : sim_array_bytes(end->array, &element, row_bytes);
}

static void advance(struct sim_end *end, size_t bytes, size_t row_bytes)
{
    if (end->array == NULL) {
        end->pointer = (char *)end->pointer + bytes;
        return;
    }
    end->y += (end->x + bytes) / row_bytes;
    end->x = (end->x + bytes) % row_bytes;
}

/* The largest box that starts where both ends stand: whole rows, or what is left of one. */
static struct sim_box next_box(const struct sim_copy_run *run, size_t dst_row, size_t src_row)
{
    size_t row = dst_row < src_row ? dst_row : src_row;
    bool same_rows = dst_row == src_row || run->dst.array == NULL || run->src.array == NULL;
    struct sim_box box = flat(run->dst, run->src, run->count, 1);
    if (run->dst.x == 0 && run->src.x == 0 && same_rows && run->count >= row) {
        box.width = row;
        box.height = run->count / row;
    } else {
        size_t dst_left = run->dst.array != NULL ? dst_row - run->dst.x : run->count;
        size_t src_left = run->src.array != NULL ? src_row - run->src.x : run->count;
        size_t left = dst_left < src_left ? dst_left : src_left;
        box.width = left < run->count ? left : run->count;
    }
    box.dst.pitch = box.src.pitch = box.width;
    return box;
}

static cudaError_t copy_run(struct sim_copy_run run)
{
    size_t dst_row, src_row;
    cudaError_t error = row_of(&run.dst, run.count, &dst_row);
    if (error == cudaSuccess) {
        error = row_of(&run.src, run.count, &src_row);
    }
    if (error == cudaSuccess && run.count != 0 && (run.dst.x >= dst_row || run.src.x >= src_row)) {
        error = cudaErrorInvalidValue;
    }
    while (error == cudaSuccess && run.count != 0) {
        struct sim_box box = next_box(&run, dst_row, src_row);
        error = run.async ? copy_box_async(&box, run.kind, run.stream) : copy_box(&box, run.kind);
        size_t bytes = box.width * box.height;
        advance(&run.dst, bytes, dst_row);
        advance(&run.src, bytes, src_row);
        run.count -= bytes;
    }
    return error;
}

cudaError_t sim_cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                  size_t count, enum cudaMemcpyKind kind)
{
    return copy_run((struct sim_copy_run){.dst = array_end(dst, wOffset, hOffset),
                                          .src = memory_end(src, count),
                                          .count = count,
                                          .kind = kind});
}

cudaError_t sim_cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                       const void *src, size_t count, enum cudaMemcpyKind kind,
                                       cudaStream_t stream)
{
    return copy_run((struct sim_copy_run){.dst = array_end(dst, wOffset, hOffset),
                                          .src = memory_end(src, count),
                                          .count = count,
                                          .kind = kind,
                                          .async = true,
                                          .stream = stream});
}

cudaError_t sim_cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset,
                                    size_t hOffset, size_t count, enum cudaMemcpyKind kind)
{
    return copy_run((struct sim_copy_run){.dst = memory_end(dst, count),
                                          .src = array_end(src, wOffset, hOffset),
                                          .count = count,
                                          .kind = kind});
}

cudaError_t sim_cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset,
                                         size_t hOffset, size_t count, enum cudaMemcpyKind kind,
                                         cudaStream_t stream)
{
    return copy_run((struct sim_copy_run){.dst = memory_end(dst, count),
                                          .src = array_end(src, wOffset, hOffset),
                                          .count = count,
                                          .kind = kind,
                                          .async = true,
                                          .stream = stream});
}

cudaError_t sim_cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                       cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                       size_t count, enum cudaMemcpyKind kind)
{
    return copy_run((struct sim_copy_run){.dst = array_end(dst, wOffsetDst, hOffsetDst),
                                          .src = array_end(src, wOffsetSrc, hOffsetSrc),
                                          .count = count,
                                          .kind = kind});
}

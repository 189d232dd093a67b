/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that bring results to the host, or show that it has them: looked at by `gmtrace try` only (calls.h). */
#include <cuda.h>
#include <stdint.h>

#include "libtrace/threads/cancellation.h"
#include "preload/apply/calls.h"
#include "preload/apply/copy.h"
#include "preload/apply/state.h"

static void *real[GMT_HOOK_COUNT];

/* The function, which makes the real call, and does AFTER where it succeeded. */
#define WATCH(SYMBOL, PARAMETERS, ARGUMENTS, AFTER) \
    static CUresult watch_##SYMBOL PARAMETERS \
    { \
        CUresult result = ((CUresult(*) PARAMETERS)real[GMT_HOOK_##SYMBOL])ARGUMENTS; \
        if (result == CUDA_SUCCESS && !gmt_apply_is_forked()) { \
            struct gmt_cancellation of_program = gmt_cancellation_hold(); \
            AFTER; \
            gmt_cancellation_allow(of_program); \
        } \
        return result; \
    }

/* ---- waits, and memory that goes ---------------------------------------------------------------- */

#define OWN CU_STREAM_PER_THREAD
#define LEGACY CU_STREAM_LEGACY
WATCH(cuStreamSynchronize, (CUstream stream), (stream),
      gmt_downloads_waited(stream != NULL ? stream : LEGACY))
WATCH(cuStreamSynchronize_ptsz, (CUstream stream), (stream),
      gmt_downloads_waited(stream != NULL ? stream : OWN))
WATCH(cuCtxSynchronize, (void), (), gmt_downloads_waited(NULL))

/* The function, which does BEFORE, and makes the real call. */
#define END(SYMBOL, TYPE, BEFORE) \
    static CUresult watch_##SYMBOL(TYPE ending) \
    { \
        struct gmt_cancellation of_program = gmt_cancellation_hold(); \
        BEFORE; \
        gmt_cancellation_allow(of_program); \
        return ((CUresult(*)(TYPE))real[GMT_HOOK_##SYMBOL])(ending); \
    }
END(cuMemFreeHost, void *, gmt_downloads_freed((uint64_t)(uintptr_t)ending))
END(cuMemHostUnregister, void *, gmt_downloads_freed((uint64_t)(uintptr_t)ending))
END(cuStreamDestroy, CUstream, gmt_downloads_stream_ends(ending))
END(cuStreamDestroy_v2, CUstream, gmt_downloads_stream_ends(ending))
END(cuCtxDestroy, CUcontext, gmt_downloads_freed(0))
END(cuCtxDestroy_v2, CUcontext, gmt_downloads_freed(0))
END(cuDevicePrimaryCtxReset, CUdevice, gmt_downloads_freed(0))
END(cuDevicePrimaryCtxReset_v2, CUdevice, gmt_downloads_freed(0))
END(cuDevicePrimaryCtxRelease, CUdevice, gmt_downloads_freed(0))
END(cuDevicePrimaryCtxRelease_v2, CUdevice, gmt_downloads_freed(0))

/* ---- copies of rows, boxes and arrays ---------------------------------------------------------- */

static bool is_host(CUmemorytype type, CUdeviceptr address)
{
    unsigned found = 0;
    return type == CU_MEMORYTYPE_HOST ||
           (type == CU_MEMORYTYPE_UNIFIED &&
            (gmt_copy_is_pageable(address) ||
             (gmt_apply_driver.cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                     address) == CUDA_SUCCESS &&
              found == CU_MEMORYTYPE_HOST)));
}

/* Where a copy of rows or of a box goes to, and from what kind of memory. */
struct destination {
    CUmemorytype from, to;
    CUdeviceptr address;
    size_t x, y, z, pitch, height;
    size_t width, rows, depth; /* of the copy */
};

/* A box whose layers do not follow each other row by row has no digest, nor has what comes out of an array. */
static void note_rows(const struct destination *of)
{
    bool is_one = of->depth <= 1 || (of->y == 0 && of->height == of->rows);
    struct gmt_hash_range range = {
        .start = (const void *)(uintptr_t)(of->address + (of->z * of->height + of->y) * of->pitch +
                                           of->x),
        .width = of->width,
        .rows = of->rows * of->depth,
        .pitch = of->pitch,
    };
    if (range.width == 0 || range.rows == 0 || !is_host(of->to, of->address)) {
        return;
    }
    if (is_one && of->from != CU_MEMORYTYPE_ARRAY &&
        (range.rows == 1 || range.pitch >= range.width)) {
        gmt_downloads_note_rows(&range);
    } else {
        gmt_downloads_unchecked((uint64_t)range.width * range.rows);
    }
}

#define HOST_OR_DEVICE \
    copy->dstMemoryType == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)copy->dstHost \
                                              : copy->dstDevice
#define ROWS_2D \
    note_rows(&(struct destination){copy->srcMemoryType, copy->dstMemoryType, HOST_OR_DEVICE, \
                                    copy->dstXInBytes, copy->dstY, 0, copy->dstPitch, 0, \
                                    copy->WidthInBytes, copy->Height, 1})
#define ROWS_3D \
    note_rows(&(struct destination){copy->srcMemoryType, copy->dstMemoryType, HOST_OR_DEVICE, \
                                    copy->dstXInBytes, copy->dstY, copy->dstZ, copy->dstPitch, \
                                    copy->dstHeight, copy->WidthInBytes, copy->Height, \
                                    copy->Depth})
#define COPY_2D(SYMBOL) WATCH(SYMBOL, (const CUDA_MEMCPY2D *copy), (copy), ROWS_2D)
#define COPY_2D_ASYNC(SYMBOL) \
    WATCH(SYMBOL, (const CUDA_MEMCPY2D *copy, CUstream stream), (copy, stream), ROWS_2D)
#define COPY_3D(SYMBOL, TYPE) WATCH(SYMBOL, (const TYPE *copy), (copy), ROWS_3D)
#define COPY_3D_ASYNC(SYMBOL, TYPE) \
    WATCH(SYMBOL, (const TYPE *copy, CUstream stream), (copy, stream), ROWS_3D)
COPY_2D(cuMemcpy2D_v2)
COPY_2D(cuMemcpy2D_v2_ptds)
COPY_2D(cuMemcpy2DUnaligned_v2)
COPY_2D(cuMemcpy2DUnaligned_v2_ptds)
COPY_2D_ASYNC(cuMemcpy2DAsync_v2)
COPY_2D_ASYNC(cuMemcpy2DAsync_v2_ptsz)
COPY_3D(cuMemcpy3D_v2, CUDA_MEMCPY3D)
COPY_3D(cuMemcpy3D_v2_ptds, CUDA_MEMCPY3D)
COPY_3D_ASYNC(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D)
COPY_3D_ASYNC(cuMemcpy3DAsync_v2_ptsz, CUDA_MEMCPY3D)
COPY_3D(cuMemcpy3DPeer, CUDA_MEMCPY3D_PEER)
COPY_3D(cuMemcpy3DPeer_ptds, CUDA_MEMCPY3D_PEER)
COPY_3D_ASYNC(cuMemcpy3DPeerAsync, CUDA_MEMCPY3D_PEER)
COPY_3D_ASYNC(cuMemcpy3DPeerAsync_ptsz, CUDA_MEMCPY3D_PEER)

#define FROM_ARRAY(SYMBOL) \
    WATCH(SYMBOL, (void *dst, CUarray src, size_t offset, size_t bytes), \
          (dst, src, offset, bytes), gmt_downloads_unchecked(bytes))
#define FROM_ARRAY_ASYNC(SYMBOL) \
    WATCH(SYMBOL, (void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream), \
          (dst, src, offset, bytes, stream), gmt_downloads_unchecked(bytes))
FROM_ARRAY(cuMemcpyAtoH_v2)
FROM_ARRAY(cuMemcpyAtoH_v2_ptds)
FROM_ARRAY_ASYNC(cuMemcpyAtoHAsync_v2)
FROM_ARRAY_ASYNC(cuMemcpyAtoHAsync_v2_ptsz)

/* ---- ways that are not followed ----------------------------------------------------------------- */

WATCH(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags),
      (address, bytes, flags), gmt_apply_note_unseen(GMT_UNSEEN_MANAGED))
WATCH(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream),
      gmt_apply_note_unseen(GMT_UNSEEN_GRAPH))
WATCH(cuGraphLaunch_ptsz, (CUgraphExec exec, CUstream stream), (exec, stream),
      gmt_apply_note_unseen(GMT_UNSEEN_GRAPH))
#define BATCH_12080 \
    (CUdeviceptr * dsts, CUdeviceptr * srcs, size_t * sizes, size_t count, \
     CUmemcpyAttributes * attributes, size_t * first, size_t attribute_count, size_t * failed, \
     CUstream stream), \
        (dsts, srcs, sizes, count, attributes, first, attribute_count, failed, stream)
#define BATCH_13000 \
    (const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes, size_t count, \
     CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count, CUstream stream), \
        (dsts, srcs, sizes, count, attributes, first, attribute_count, stream)
#define WATCH_BATCH(SYMBOL, SIGNATURE) \
    WATCH_EXPANDED(SYMBOL, SIGNATURE, gmt_apply_note_unseen(GMT_UNSEEN_BATCH))
#define WATCH_EXPANDED(SYMBOL, ...) WATCH(SYMBOL, __VA_ARGS__)
WATCH_BATCH(cuMemcpyBatchAsync, BATCH_12080)
WATCH_BATCH(cuMemcpyBatchAsync_ptsz, BATCH_12080)
WATCH_BATCH(cuMemcpyBatchAsync_v2, BATCH_13000)
WATCH_BATCH(cuMemcpyBatchAsync_v2_ptsz, BATCH_13000)
#define BOXES_12080 \
    (size_t count, CUDA_MEMCPY3D_BATCH_OP * ops, size_t * failed, unsigned long long flags, \
     CUstream stream), \
        (count, ops, failed, flags, stream)
#define BOXES_13000 \
    (size_t count, CUDA_MEMCPY3D_BATCH_OP * ops, unsigned long long flags, CUstream stream), \
        (count, ops, flags, stream)
WATCH_BATCH(cuMemcpy3DBatchAsync, BOXES_12080)
WATCH_BATCH(cuMemcpy3DBatchAsync_ptsz, BOXES_12080)
WATCH_BATCH(cuMemcpy3DBatchAsync_v2, BOXES_13000)
WATCH_BATCH(cuMemcpy3DBatchAsync_v2_ptsz, BOXES_13000)

/* ---- the list ----------------------------------------------------------------------------------- */

#define WATCHED(SYMBOL) \
    { \
        GMT_HOOK_##SYMBOL, (void *)watch_##SYMBOL \
    }
static const struct {
    enum gmt_hook_id id;
    void *function;
} watched[] = {
    WATCHED(cuStreamSynchronize),
    WATCHED(cuStreamSynchronize_ptsz),
    WATCHED(cuCtxSynchronize),
    WATCHED(cuMemFreeHost),
    WATCHED(cuMemHostUnregister),
    WATCHED(cuStreamDestroy),
    WATCHED(cuStreamDestroy_v2),
    WATCHED(cuCtxDestroy),
    WATCHED(cuCtxDestroy_v2),
    WATCHED(cuDevicePrimaryCtxReset),
    WATCHED(cuDevicePrimaryCtxReset_v2),
    WATCHED(cuDevicePrimaryCtxRelease),
    WATCHED(cuDevicePrimaryCtxRelease_v2),
    WATCHED(cuMemcpy2D_v2),
    WATCHED(cuMemcpy2D_v2_ptds),
    WATCHED(cuMemcpy2DUnaligned_v2),
    WATCHED(cuMemcpy2DUnaligned_v2_ptds),
    WATCHED(cuMemcpy2DAsync_v2),
    WATCHED(cuMemcpy2DAsync_v2_ptsz),
    WATCHED(cuMemcpy3D_v2),
    WATCHED(cuMemcpy3D_v2_ptds),
    WATCHED(cuMemcpy3DAsync_v2),
    WATCHED(cuMemcpy3DAsync_v2_ptsz),
    WATCHED(cuMemcpy3DPeer),
    WATCHED(cuMemcpy3DPeer_ptds),
    WATCHED(cuMemcpy3DPeerAsync),
    WATCHED(cuMemcpy3DPeerAsync_ptsz),
    WATCHED(cuMemcpyAtoH_v2),
    WATCHED(cuMemcpyAtoH_v2_ptds),
    WATCHED(cuMemcpyAtoHAsync_v2),
    WATCHED(cuMemcpyAtoHAsync_v2_ptsz),
    WATCHED(cuMemAllocManaged),
    WATCHED(cuGraphLaunch),
    WATCHED(cuGraphLaunch_ptsz),
    WATCHED(cuMemcpyBatchAsync),
    WATCHED(cuMemcpyBatchAsync_ptsz),
    WATCHED(cuMemcpyBatchAsync_v2),
    WATCHED(cuMemcpyBatchAsync_v2_ptsz),
    WATCHED(cuMemcpy3DBatchAsync),
    WATCHED(cuMemcpy3DBatchAsync_ptsz),
    WATCHED(cuMemcpy3DBatchAsync_v2),
    WATCHED(cuMemcpy3DBatchAsync_v2_ptsz),
};

void gmt_apply_install_watch(void)
{
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        gmt_apply_replace(watched[i].id, watched[i].function, &real[watched[i].id]);
    }
}

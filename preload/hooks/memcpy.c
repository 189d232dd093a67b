/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: copies of one piece (1-D, peer, arrays); copies of rows are in memcpy_rows.c. */
#include "preload/hooks/transfer.h"

static void record_1d(struct gmt_hook_call *call, enum gmt_direction direction, uint64_t dst,
                      uint64_t src, uint64_t bytes)
{
    struct gmt_transfer transfer = {.dst = dst, .src = src, .direction = (uint8_t)direction};
    gmt_transfer_record(call, &transfer, bytes);
}

/* One side is a CUDA array: its handle stands for the address. */
static void record_array(struct gmt_hook_call *call, enum gmt_direction direction,
                         bool dst_is_array, uint64_t dst, bool src_is_array, uint64_t src,
                         uint64_t bytes)
{
    struct gmt_transfer transfer = {
        .dst = dst,
        .src = src,
        .direction = (uint8_t)direction,
        .dst_class = dst_is_array ? GMT_MEM_ARRAY : GMT_MEM_UNKNOWN,
        .src_class = src_is_array ? GMT_MEM_ARRAY : GMT_MEM_UNKNOWN,
    };
    gmt_transfer_record(call, &transfer, bytes);
}

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))
#define BOTH GMT_CALL_PER_THREAD
#define WAITS GMT_CALL_BLOCKING

#define COPY(SYMBOL, DIRECTION, DST, SRC, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (DST dst, SRC src, size_t bytes), (dst, src, bytes), NULL, FLAGS, \
                    (void)0, record_1d(&call, DIRECTION, ADDRESS(dst), ADDRESS(src), bytes))
#define COPY_ASYNC(SYMBOL, DIRECTION, DST, SRC, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (DST dst, SRC src, size_t bytes, CUstream stream), \
                    (dst, src, bytes, stream), stream, FLAGS, (void)0, \
                    record_1d(&call, DIRECTION, ADDRESS(dst), ADDRESS(src), bytes))

COPY(cuMemcpyHtoD_v2, GMT_DIR_H2D, CUdeviceptr, const void *, WAITS)
COPY(cuMemcpyHtoD_v2_ptds, GMT_DIR_H2D, CUdeviceptr, const void *, WAITS | BOTH)
COPY(cuMemcpyDtoH_v2, GMT_DIR_D2H, void *, CUdeviceptr, WAITS)
COPY(cuMemcpyDtoH_v2_ptds, GMT_DIR_D2H, void *, CUdeviceptr, WAITS | BOTH)
COPY(cuMemcpyDtoD_v2, GMT_DIR_D2D, CUdeviceptr, CUdeviceptr, 0)
COPY(cuMemcpyDtoD_v2_ptds, GMT_DIR_D2D, CUdeviceptr, CUdeviceptr, BOTH)
COPY(cuMemcpy, GMT_DIR_UNKNOWN, CUdeviceptr, CUdeviceptr, WAITS)
COPY(cuMemcpy_ptds, GMT_DIR_UNKNOWN, CUdeviceptr, CUdeviceptr, WAITS | BOTH)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, GMT_DIR_H2D, CUdeviceptr, const void *, 0)
COPY_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, GMT_DIR_H2D, CUdeviceptr, const void *, BOTH)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, GMT_DIR_D2H, void *, CUdeviceptr, 0)
COPY_ASYNC(cuMemcpyDtoHAsync_v2_ptsz, GMT_DIR_D2H, void *, CUdeviceptr, BOTH)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, GMT_DIR_D2D, CUdeviceptr, CUdeviceptr, 0)
COPY_ASYNC(cuMemcpyDtoDAsync_v2_ptsz, GMT_DIR_D2D, CUdeviceptr, CUdeviceptr, BOTH)
COPY_ASYNC(cuMemcpyAsync, GMT_DIR_UNKNOWN, CUdeviceptr, CUdeviceptr, 0)
COPY_ASYNC(cuMemcpyAsync_ptsz, GMT_DIR_UNKNOWN, CUdeviceptr, CUdeviceptr, BOTH)

#define PEER(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, \
                    (CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, \
                     CUcontext src_context, size_t bytes), \
                    (dst, dst_context, src, src_context, bytes), NULL, FLAGS, (void)0, \
                    record_1d(&call, GMT_DIR_PEER, dst, src, bytes))
#define PEER_ASYNC(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, \
                    (CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, \
                     CUcontext src_context, size_t bytes, CUstream stream), \
                    (dst, dst_context, src, src_context, bytes, stream), stream, FLAGS, (void)0, \
                    record_1d(&call, GMT_DIR_PEER, dst, src, bytes))

PEER(cuMemcpyPeer, 0)
PEER(cuMemcpyPeer_ptds, BOTH)
PEER_ASYNC(cuMemcpyPeerAsync, 0)
PEER_ASYNC(cuMemcpyPeerAsync_ptsz, BOTH)

#define ARRAY_ARRAY(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, (CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes), \
        (dst, dst_offset, src, src_offset, bytes), NULL, FLAGS, (void)0, \
        record_array(&call, GMT_DIR_D2D, true, ADDRESS(dst), true, ADDRESS(src), bytes))
#define FROM_ARRAY(SYMBOL, DIRECTION, DST, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, (DST dst, CUarray src, size_t src_offset, size_t bytes), \
        (dst, src, src_offset, bytes), NULL, FLAGS, (void)0, \
        record_array(&call, DIRECTION, false, ADDRESS(dst), true, ADDRESS(src), bytes))
#define TO_ARRAY(SYMBOL, DIRECTION, SRC, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, (CUarray dst, size_t dst_offset, SRC src, size_t bytes), \
        (dst, dst_offset, src, bytes), NULL, FLAGS, (void)0, \
        record_array(&call, DIRECTION, true, ADDRESS(dst), false, ADDRESS(src), bytes))

ARRAY_ARRAY(cuMemcpyAtoA_v2, 0)
ARRAY_ARRAY(cuMemcpyAtoA_v2_ptds, BOTH)
FROM_ARRAY(cuMemcpyAtoD_v2, GMT_DIR_D2D, CUdeviceptr, 0)
FROM_ARRAY(cuMemcpyAtoD_v2_ptds, GMT_DIR_D2D, CUdeviceptr, BOTH)
FROM_ARRAY(cuMemcpyAtoH_v2, GMT_DIR_D2H, void *, WAITS)
FROM_ARRAY(cuMemcpyAtoH_v2_ptds, GMT_DIR_D2H, void *, WAITS | BOTH)
TO_ARRAY(cuMemcpyDtoA_v2, GMT_DIR_D2D, CUdeviceptr, 0)
TO_ARRAY(cuMemcpyDtoA_v2_ptds, GMT_DIR_D2D, CUdeviceptr, BOTH)
TO_ARRAY(cuMemcpyHtoA_v2, GMT_DIR_H2D, const void *, WAITS)
TO_ARRAY(cuMemcpyHtoA_v2_ptds, GMT_DIR_H2D, const void *, WAITS | BOTH)

#define FROM_ARRAY_ASYNC(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, (void *dst, CUarray src, size_t src_offset, size_t bytes, CUstream stream), \
        (dst, src, src_offset, bytes, stream), stream, FLAGS, (void)0, \
        record_array(&call, GMT_DIR_D2H, false, ADDRESS(dst), true, ADDRESS(src), bytes))
#define TO_ARRAY_ASYNC(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, (CUarray dst, size_t dst_offset, const void *src, size_t bytes, CUstream stream), \
        (dst, dst_offset, src, bytes, stream), stream, FLAGS, (void)0, \
        record_array(&call, GMT_DIR_H2D, true, ADDRESS(dst), false, ADDRESS(src), bytes))

FROM_ARRAY_ASYNC(cuMemcpyAtoHAsync_v2, 0)
FROM_ARRAY_ASYNC(cuMemcpyAtoHAsync_v2_ptsz, BOTH)
TO_ARRAY_ASYNC(cuMemcpyHtoAAsync_v2, 0)
TO_ARRAY_ASYNC(cuMemcpyHtoAAsync_v2_ptsz, BOTH)

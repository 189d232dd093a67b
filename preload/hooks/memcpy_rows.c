/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: copies described by a structure (2-D, 3-D, 3-D between devices). */
#include "preload/hooks/transfer.h"

/* Address, or array handle, of the first byte copied on one side. */
struct copy_side {
    uint64_t address;
    bool is_array;
    bool is_host;
    bool is_device;
};

static struct copy_side side_of(CUmemorytype type, const void *host, CUdeviceptr device,
                                CUarray array, uint64_t offset)
{
    struct copy_side side = {.is_array = type == CU_MEMORYTYPE_ARRAY,
                             .is_host = type == CU_MEMORYTYPE_HOST,
                             .is_device = type == CU_MEMORYTYPE_DEVICE ||
                                          type == CU_MEMORYTYPE_ARRAY};
    side.address = side.is_array  ? (uint64_t)(uintptr_t)array
                   : side.is_host ? (uint64_t)(uintptr_t)host + offset
                                  : device + offset; /* unified addresses are given as device */
    return side;
}

static enum gmt_direction direction_of(const struct copy_side *dst, const struct copy_side *src)
{
    return src->is_host && dst->is_device     ? GMT_DIR_H2D
           : src->is_device && dst->is_host   ? GMT_DIR_D2H
           : src->is_device && dst->is_device ? GMT_DIR_D2D
           : src->is_host && dst->is_host     ? GMT_DIR_H2H
                                              : GMT_DIR_UNKNOWN;
}

static struct gmt_transfer describe(enum gmt_direction direction, const struct copy_side *dst,
                                    const struct copy_side *src, const struct gmt_transfer *shape)
{
    struct gmt_transfer transfer = *shape;
    transfer.dst = dst->address;
    transfer.src = src->address;
    transfer.direction = (uint8_t)direction;
    transfer.dst_class = dst->is_array ? GMT_MEM_ARRAY : GMT_MEM_UNKNOWN;
    transfer.src_class = src->is_array ? GMT_MEM_ARRAY : GMT_MEM_UNKNOWN;
    return transfer;
}

static void record(struct gmt_hook_call *call, struct gmt_transfer transfer)
{
    gmt_transfer_record(call, &transfer, transfer.width * transfer.height * transfer.depth);
}

static void record_2d(struct gmt_hook_call *call, const CUDA_MEMCPY2D *copy)
{
    if (copy == NULL) {
        gmt_hook_call_record(GMT_REC_CALL, call, 0);
        return;
    }
    struct copy_side dst = side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice,
                                   copy->dstArray, copy->dstY * copy->dstPitch + copy->dstXInBytes);
    struct copy_side src = side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                                   copy->srcArray, copy->srcY * copy->srcPitch + copy->srcXInBytes);
    struct gmt_transfer shape = {
        .dst_pitch = dst.is_array ? 0 : copy->dstPitch,
        .src_pitch = src.is_array ? 0 : copy->srcPitch,
        .width = copy->WidthInBytes,
        .height = (uint32_t)copy->Height,
        .depth = 1,
    };
    record(call, describe(direction_of(&dst, &src), &dst, &src, &shape));
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name these members alike. */
#define DESCRIBE_3D(COPY, IS_PEER, OUT) \
    do { \
        uint64_t dst_offset = ((COPY)->dstZ * (COPY)->dstHeight + (COPY)->dstY) * \
                                  (COPY)->dstPitch + \
                              (COPY)->dstXInBytes; \
        uint64_t src_offset = ((COPY)->srcZ * (COPY)->srcHeight + (COPY)->srcY) * \
                                  (COPY)->srcPitch + \
                              (COPY)->srcXInBytes; \
        struct copy_side dst = side_of((COPY)->dstMemoryType, (COPY)->dstHost, (COPY)->dstDevice, \
                                       (COPY)->dstArray, dst_offset); \
        struct copy_side src = side_of((COPY)->srcMemoryType, (COPY)->srcHost, (COPY)->srcDevice, \
                                       (COPY)->srcArray, src_offset); \
        struct gmt_transfer shape = { \
            .dst_pitch = dst.is_array ? 0 : (COPY)->dstPitch, \
            .src_pitch = src.is_array ? 0 : (COPY)->srcPitch, \
            .width = (COPY)->WidthInBytes, \
            .height = (uint32_t)(COPY)->Height, \
            .depth = (uint32_t)(COPY)->Depth, \
        }; \
        (OUT) = describe((IS_PEER) ? GMT_DIR_PEER : direction_of(&dst, &src), &dst, &src, &shape); \
    } while (0)

struct gmt_transfer gmt_transfer_of_box(const CUDA_MEMCPY3D *copy)
{
    struct gmt_transfer transfer;
    DESCRIBE_3D(copy, false, transfer);
    return transfer;
}

#define RECORD_3D(FUNCTION, COPY, IS_PEER) \
    static void FUNCTION(struct gmt_hook_call *call, const COPY *copy) \
    { \
        struct gmt_transfer transfer; \
        if (copy == NULL) { \
            gmt_hook_call_record(GMT_REC_CALL, call, 0); \
            return; \
        } \
        DESCRIBE_3D(copy, IS_PEER, transfer); \
        record(call, transfer); \
    }
RECORD_3D(record_3d, CUDA_MEMCPY3D, false)
RECORD_3D(record_3d_peer, CUDA_MEMCPY3D_PEER, true)

#define COPY_2D(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (const CUDA_MEMCPY2D *copy), (copy), NULL, \
                    (FLAGS) | GMT_CALL_BLOCKING, (void)0, record_2d(&call, copy))
#define COPY_2D_ASYNC(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (const CUDA_MEMCPY2D *copy, CUstream stream), (copy, stream), stream, \
                    FLAGS, (void)0, record_2d(&call, copy))
#define COPY_3D(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (const CUDA_MEMCPY3D *copy), (copy), NULL, \
                    (FLAGS) | GMT_CALL_BLOCKING, (void)0, record_3d(&call, copy))
#define COPY_3D_ASYNC(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (const CUDA_MEMCPY3D *copy, CUstream stream), (copy, stream), stream, \
                    FLAGS, (void)0, record_3d(&call, copy))
#define COPY_3D_PEER(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (const CUDA_MEMCPY3D_PEER *copy), (copy), NULL, \
                    (FLAGS) | GMT_CALL_BLOCKING, (void)0, record_3d_peer(&call, copy))
#define COPY_3D_PEER_ASYNC(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream), (copy, stream), \
                    stream, FLAGS, (void)0, record_3d_peer(&call, copy))
COPY_2D(cuMemcpy2D_v2, 0)
COPY_2D(cuMemcpy2D_v2_ptds, GMT_CALL_PER_THREAD)
COPY_2D(cuMemcpy2DUnaligned_v2, 0)
COPY_2D(cuMemcpy2DUnaligned_v2_ptds, GMT_CALL_PER_THREAD)
COPY_2D_ASYNC(cuMemcpy2DAsync_v2, 0)
COPY_2D_ASYNC(cuMemcpy2DAsync_v2_ptsz, GMT_CALL_PER_THREAD)
COPY_3D(cuMemcpy3D_v2, 0)
COPY_3D(cuMemcpy3D_v2_ptds, GMT_CALL_PER_THREAD)
COPY_3D_ASYNC(cuMemcpy3DAsync_v2, 0)
COPY_3D_ASYNC(cuMemcpy3DAsync_v2_ptsz, GMT_CALL_PER_THREAD)
COPY_3D_PEER(cuMemcpy3DPeer, 0)
COPY_3D_PEER(cuMemcpy3DPeer_ptds, GMT_CALL_PER_THREAD)
COPY_3D_PEER_ASYNC(cuMemcpy3DPeerAsync, 0)
COPY_3D_PEER_ASYNC(cuMemcpy3DPeerAsync_ptsz, GMT_CALL_PER_THREAD)

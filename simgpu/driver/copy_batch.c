/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies: one call, many copies, in the order given. */
#include "simgpu/driver/copy_box.h"

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
        CUresult result = sim_copy_any(dsts[i], srcs[i], sizes[i], stream, false);
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

static struct sim_side operand(const CUmemcpy3DOperand *operand)
{
    struct sim_side side = {0};
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
        struct sim_side dst = operand(&ops[i].dst), src = operand(&ops[i].src);
        CUresult result = sim_copy_box(&dst, &src, ops[i].extent.width, ops[i].extent.height,
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

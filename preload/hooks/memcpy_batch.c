/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: batches of copies. A batch is one call and many copies: one record each, identified by index. */
#include "preload/driver/resolve.h"
#include "preload/hooks/array.h"
#include "preload/hooks/transfer.h"

static void record_batch(struct gmt_hook_call *call, const CUdeviceptr *dsts,
                         const CUdeviceptr *srcs, const size_t *sizes, size_t count)
{
    if (call->result != CUDA_SUCCESS || dsts == NULL || srcs == NULL || sizes == NULL) {
        gmt_hook_call_record(GMT_REC_CALL, call, 0);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct gmt_transfer transfer = {.dst = dsts[i], .src = srcs[i], .batch = (uint32_t)i};
        gmt_transfer_record(call, &transfer, sizes[i]);
    }
}

#define BOTH GMT_CALL_PER_THREAD

#define BATCH_12080(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, \
        (CUdeviceptr * dsts, CUdeviceptr * srcs, size_t * sizes, size_t count, \
         CUmemcpyAttributes * attributes, size_t * indexes, size_t attribute_count, \
         size_t * failed, CUstream stream), \
        (dsts, srcs, sizes, count, attributes, indexes, attribute_count, failed, stream), stream, \
        FLAGS, (void)0, record_batch(&call, dsts, srcs, sizes, count))
#define BATCH_13000(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, \
                    (CUdeviceptr * dsts, CUdeviceptr * srcs, size_t * sizes, size_t count, \
                     CUmemcpyAttributes * attributes, size_t * indexes, size_t attribute_count, \
                     CUstream stream), \
                    (dsts, srcs, sizes, count, attributes, indexes, attribute_count, stream), \
                    stream, FLAGS, (void)0, record_batch(&call, dsts, srcs, sizes, count))

BATCH_12080(cuMemcpyBatchAsync, 0)
BATCH_12080(cuMemcpyBatchAsync_ptsz, BOTH)
BATCH_13000(cuMemcpyBatchAsync_v2, 0)
BATCH_13000(cuMemcpyBatchAsync_v2_ptsz, BOTH)

/* ---- boxes ------------------------------------------------------------------------------------ */

/* Extents count elements: those of the array if one side is one, else bytes. 0: not known. */
static uint64_t element_bytes(const CUmemcpy3DOperand *operand)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {0};
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        return 1;
    }
    if (gmt_driver.cuArray3DGetDescriptor_v2 == NULL ||
        gmt_driver.cuArray3DGetDescriptor_v2(&shape, operand->op.array.array) != CUDA_SUCCESS) {
        return 0;
    }
    return gmt_array_channel_bytes(shape.Format) * shape.NumChannels;
}

static uint64_t address_of(const CUmemcpy3DOperand *operand)
{
    return operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY
               ? (uint64_t)(uintptr_t)operand->op.array.array
               : operand->op.ptr.ptr;
}

static uint64_t pitch_of(const CUmemcpy3DOperand *operand, uint64_t width, uint64_t element)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        return 0;
    }
    return (operand->op.ptr.rowLength != 0 ? operand->op.ptr.rowLength : width) * element;
}

static uint8_t class_of(const CUmemcpy3DOperand *operand)
{
    return operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? GMT_MEM_ARRAY : GMT_MEM_UNKNOWN;
}

static void record_box(struct gmt_hook_call *call, const CUDA_MEMCPY3D_BATCH_OP *op, uint32_t index)
{
    bool from_array = op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
    uint64_t element = element_bytes(from_array ? &op->src : &op->dst);
    struct gmt_transfer transfer = {
        .dst = address_of(&op->dst),
        .src = address_of(&op->src),
        .dst_class = class_of(&op->dst),
        .src_class = class_of(&op->src),
        .dst_pitch = pitch_of(&op->dst, op->extent.width, element),
        .src_pitch = pitch_of(&op->src, op->extent.width, element),
        .width = op->extent.width * element,
        .height = (uint32_t)op->extent.height,
        .depth = (uint32_t)op->extent.depth,
        .batch = index,
    };
    if (element == 0) {
        gmt_spool_loss("size not known", "copy of an array whose format has no element size", 1);
    }
    gmt_transfer_record(call, &transfer, transfer.width * op->extent.height * op->extent.depth);
}

static void record_boxes(struct gmt_hook_call *call, const CUDA_MEMCPY3D_BATCH_OP *ops,
                         size_t count)
{
    if (call->result != CUDA_SUCCESS || ops == NULL) {
        gmt_hook_call_record(GMT_REC_CALL, call, 0);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        record_box(call, &ops[i], (uint32_t)i);
    }
}

#define BOXES_12080(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK(SYMBOL, \
                    (size_t count, CUDA_MEMCPY3D_BATCH_OP * ops, size_t * failed, \
                     unsigned long long flags, CUstream stream), \
                    (count, ops, failed, flags, stream), stream, FLAGS, (void)0, \
                    record_boxes(&call, ops, count))
#define BOXES_13000(SYMBOL, FLAGS) \
    GMT_DEFINE_HOOK( \
        SYMBOL, \
        (size_t count, CUDA_MEMCPY3D_BATCH_OP * ops, unsigned long long flags, CUstream stream), \
        (count, ops, flags, stream), stream, FLAGS, (void)0, record_boxes(&call, ops, count))
BOXES_12080(cuMemcpy3DBatchAsync, 0)
BOXES_12080(cuMemcpy3DBatchAsync_ptsz, BOTH)
BOXES_13000(cuMemcpy3DBatchAsync_v2, 0)
BOXES_13000(cuMemcpy3DBatchAsync_v2_ptsz, BOTH)

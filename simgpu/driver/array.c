/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA arrays, stored row by row, and the linear copies to and from them. */
#include <stdlib.h>

#include "simgpu/driver/driver.h"
#include "simgpu/order/order.h"

static size_t format_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

static size_t array_bytes(const struct sim_array *array)
{
    size_t rows = array->shape.Height != 0 ? array->shape.Height : 1;
    size_t slices = array->shape.Depth != 0 ? array->shape.Depth : 1;
    return array->row_bytes * rows * slices;
}

/* A depth wants a height; the bytes must be a number. */
static bool size_ok(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    size_t bytes = format_bytes(shape->Format) * shape->NumChannels;
    return (shape->Depth == 0 || shape->Height != 0) &&
           !__builtin_mul_overflow(bytes, shape->Width, &bytes) &&
           !__builtin_mul_overflow(bytes, shape->Height != 0 ? shape->Height : 1, &bytes) &&
           !__builtin_mul_overflow(bytes, shape->Depth != 0 ? shape->Depth : 1, &bytes);
}

CUresult sim_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    const CUDA_ARRAY3D_DESCRIPTOR *shape = pAllocateArray;
    if (pHandle == NULL || shape == NULL || shape->Width == 0 || format_bytes(shape->Format) == 0 ||
        (shape->NumChannels != 1 && shape->NumChannels != 2 && shape->NumChannels != 4)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!size_ok(shape)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (shape->Flags != 0) { /* layers, cube maps, surfaces: of textures */
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (sim_current() == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct sim_array *array = sim_object_new(SIM_ARRAY, sizeof *array, sim_current());
    if (array == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    array->shape = *shape;
    array->element_bytes = format_bytes(shape->Format) * shape->NumChannels;
    array->row_bytes = array->element_bytes * shape->Width;
    array->data = calloc(1, array_bytes(array));
    if (array->data == NULL) {
        sim_object_delete(array, SIM_ARRAY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pHandle = (CUarray)array;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (pAllocateArray == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = pAllocateArray->Width,
                                     .Height = pAllocateArray->Height,
                                     .Format = pAllocateArray->Format,
                                     .NumChannels = pAllocateArray->NumChannels};
    return sim_cuArray3DCreate_v2(pHandle, &shape);
}

CUresult sim_cuArrayDestroy(CUarray hArray)
{
    sim_order_drain();
    sim_work_stop();
    bool is = sim_object_is(hArray, SIM_ARRAY);
    if (is) {
        free(((struct sim_array *)hArray)->data);
        sim_object_delete(hArray, SIM_ARRAY);
    }
    sim_work_resume();
    return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    if (pArrayDescriptor == NULL || !sim_object_is(hArray, SIM_ARRAY)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *pArrayDescriptor = ((struct sim_array *)hArray)->shape;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    if (pArrayDescriptor == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_cuArray3DGetDescriptor_v2(&shape, hArray);
    if (result == CUDA_SUCCESS) {
        *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = shape.Width,
                                                    .Height = shape.Height,
                                                    .Format = shape.Format,
                                                    .NumChannels = shape.NumChannels};
    }
    return result;
}

/* ---- linear copies: `offset` is in bytes from the array's first element ---- */

static char *inside(CUarray handle, size_t offset, size_t bytes)
{
    if (!sim_object_is(handle, SIM_ARRAY)) {
        return NULL;
    }
    const struct sim_array *array = (const struct sim_array *)handle;
    size_t total = array_bytes(array);
    return offset > total || bytes > total - offset ? NULL : array->data + offset;
}

static CUresult move(void *dst, const void *src, size_t bytes, CUstream stream, bool blocking)
{
    if (dst == NULL || src == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_node node = {
        .kind = SIM_NODE_COPY,
        .copy = {.dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1}};
    return sim_submit(stream, &node, blocking);
}

static void *device(CUdeviceptr address, size_t bytes)
{
    return sim_heap_covers((uintptr_t)address, bytes) ? (void *)address : NULL;
}

CUresult sim_cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                             size_t ByteCount)
{
    return move(inside(dstArray, dstOffset, ByteCount), srcHost, ByteCount, NULL, true);
}

CUresult sim_cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                                  size_t ByteCount, CUstream hStream)
{
    return move(inside(dstArray, dstOffset, ByteCount), srcHost, ByteCount, hStream, false);
}

CUresult sim_cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return move(dstHost, inside(srcArray, srcOffset, ByteCount), ByteCount, NULL, true);
}

CUresult sim_cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset,
                                  size_t ByteCount, CUstream hStream)
{
    return move(dstHost, inside(srcArray, srcOffset, ByteCount), ByteCount, hStream, false);
}

CUresult sim_cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount)
{
    return move(inside(dstArray, dstOffset, ByteCount), inside(srcArray, srcOffset, ByteCount),
                ByteCount, NULL, true);
}

CUresult sim_cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount)
{
    return move(device(dstDevice, ByteCount), inside(srcArray, srcOffset, ByteCount), ByteCount,
                NULL, true);
}

CUresult sim_cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                             size_t ByteCount)
{
    return move(inside(dstArray, dstOffset, ByteCount), device(srcDevice, ByteCount), ByteCount,
                NULL, true);
}

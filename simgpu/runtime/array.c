/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA arrays: allocation, and channel descriptors as the driver's formats. */
#include "simgpu/runtime/runtime.h"

static const struct sim_array_format {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
} formats[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

/* One, two or four channels of the same width; anything else has no array format. */
static bool channels_of(const struct cudaChannelFormatDesc *desc, unsigned *channels)
{
    bool two = desc->y != 0;
    bool four = desc->z != 0 && desc->w != 0;
    *channels = four ? 4 : two ? 2 : 1;
    return (desc->y == 0 || desc->y == desc->x) && (desc->z == 0) == (desc->w == 0) &&
           (!four || (two && desc->z == desc->x && desc->w == desc->x));
}

static bool format_of(const struct cudaChannelFormatDesc *desc, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].kind == desc->f && formats[i].bits == desc->x) {
            out->Format = formats[i].format;
            return channels_of(desc, &out->NumChannels);
        }
    }
    return false;
}

static void describe(const CUDA_ARRAY3D_DESCRIPTOR *shape, struct cudaChannelFormatDesc *desc)
{
    *desc = (struct cudaChannelFormatDesc){.f = cudaChannelFormatKindNone};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format == shape->Format) {
            int bits = formats[i].bits;
            desc->f = formats[i].kind;
            desc->x = bits;
            desc->y = shape->NumChannels > 1 ? bits : 0;
            desc->z = desc->w = shape->NumChannels > 2 ? bits : 0;
        }
    }
}

cudaError_t sim_cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                  struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (array == NULL || desc == NULL) {
        return cudaErrorInvalidValue;
    }
    if (!format_of(desc, &shape)) {
        return cudaErrorInvalidChannelDescriptor;
    }
    return sim_rt_error(SIM_CU->cuArray3DCreate_v2((CUarray *)array, &shape));
}

cudaError_t sim_cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                size_t width, size_t height, unsigned int flags)
{
    return sim_cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t sim_cudaFreeArray(cudaArray_t array)
{
    return array == NULL ? cudaSuccess : sim_rt_error(SIM_CU->cuArrayDestroy((CUarray)array));
}

static cudaError_t shape_of(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    return array == NULL ? cudaErrorInvalidResourceHandle
                         : sim_rt_error(SIM_CU->cuArray3DGetDescriptor_v2(shape, (CUarray)array));
}

cudaError_t sim_array_bytes(cudaArray_const_t array, size_t *element_bytes, size_t *row_bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    cudaError_t error = shape_of(array, &shape);
    for (size_t i = 0; error == cudaSuccess && i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format == shape.Format) {
            *element_bytes = (size_t)formats[i].bits / 8 * shape.NumChannels;
            *row_bytes = *element_bytes * shape.Width;
            return cudaSuccess;
        }
    }
    return error != cudaSuccess ? error : cudaErrorInvalidChannelDescriptor;
}

cudaError_t sim_cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                 unsigned int *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    cudaError_t error = shape_of(array, &shape);
    if (error != cudaSuccess) {
        return error;
    }
    if (desc != NULL) {
        describe(&shape, desc);
    }
    if (extent != NULL) {
        *extent = (struct cudaExtent){shape.Width, shape.Height, shape.Depth};
    }
    if (flags != NULL) {
        *flags = shape.Flags;
    }
    return cudaSuccess;
}

cudaError_t sim_cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    cudaError_t error = desc == NULL ? cudaErrorInvalidValue : shape_of(array, &shape);
    if (error == cudaSuccess) {
        describe(&shape, desc);
    }
    return error;
}

SIM_EXPORT struct cudaChannelFormatDesc CUDARTAPI
cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = f};
}

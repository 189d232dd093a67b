/* SPDX-License-Identifier: Apache-2.0 */
/* Setting linear, pitched and three-dimensional memory. */
#include "simgpu/runtime/runtime.h"

cudaError_t sim_cudaMemset(void *devPtr, int value, size_t count)
{
    return count == 0 ? cudaSuccess
                      : sim_rt_error(SIM_CU->cuMemsetD8_v2((CUdeviceptr)devPtr,
                                                           (unsigned char)value, count));
}

cudaError_t sim_cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return count == 0 ? cudaSuccess
                      : sim_rt_error(SIM_CU->cuMemsetD8Async((CUdeviceptr)devPtr,
                                                             (unsigned char)value, count, stream));
}

static cudaError_t check(size_t pitch, size_t width, size_t height)
{
    return height > 1 && width > pitch ? cudaErrorInvalidPitchValue : cudaSuccess;
}

cudaError_t sim_cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    cudaError_t error = check(pitch, width, height);
    return error != cudaSuccess || width == 0 || height == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemsetD2D8_v2((CUdeviceptr)devPtr, pitch,
                                                      (unsigned char)value, width, height));
}

cudaError_t sim_cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width,
                                  size_t height, cudaStream_t stream)
{
    cudaError_t error = check(pitch, width, height);
    return error != cudaSuccess || width == 0 || height == 0
               ? error
               : sim_rt_error(SIM_CU->cuMemsetD2D8Async(
                     (CUdeviceptr)devPtr, pitch, (unsigned char)value, width, height, stream));
}

/* Whole slices lie one behind the other and are one tall rectangle; else each slice is one. */
static void slices(const struct cudaPitchedPtr *pointer, const struct cudaExtent *extent,
                   size_t *rows, size_t *count)
{
    bool whole = extent->height == pointer->ysize || extent->depth <= 1;
    *rows = whole ? extent->height * extent->depth : extent->height;
    *count = whole ? 1 : extent->depth;
}

static cudaError_t check_3d(const struct cudaPitchedPtr *pointer, const struct cudaExtent *extent)
{
    size_t rows;
    return __builtin_mul_overflow(extent->height, extent->depth, &rows) ||
                   (extent->depth > 1 && extent->height > pointer->ysize)
               ? cudaErrorInvalidValue
               : check(pointer->pitch, extent->width, rows);
}

cudaError_t sim_cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value,
                             struct cudaExtent extent)
{
    size_t rows, count;
    cudaError_t error = check_3d(&pitchedDevPtr, &extent);
    slices(&pitchedDevPtr, &extent, &rows, &count);
    for (size_t i = 0; error == cudaSuccess && i < count; i++) {
        char *slice = (char *)pitchedDevPtr.ptr + i * pitchedDevPtr.ysize * pitchedDevPtr.pitch;
        error = sim_cudaMemset2D(slice, pitchedDevPtr.pitch, value, extent.width, rows);
    }
    return error;
}

cudaError_t sim_cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                                  struct cudaExtent extent, cudaStream_t stream)
{
    size_t rows, count;
    cudaError_t error = check_3d(&pitchedDevPtr, &extent);
    slices(&pitchedDevPtr, &extent, &rows, &count);
    for (size_t i = 0; error == cudaSuccess && i < count; i++) {
        char *slice = (char *)pitchedDevPtr.ptr + i * pitchedDevPtr.ysize * pitchedDevPtr.pitch;
        error = sim_cudaMemset2DAsync(slice, pitchedDevPtr.pitch, value, extent.width, rows,
                                      stream);
    }
    return error;
}

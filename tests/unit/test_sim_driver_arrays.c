/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA arrays and memsets: contents, shapes, and the errors of wrong ones. */
#include <stdint.h>
#include <string.h>

#include "sim_driver_fixture.h"

#define N 4096

static unsigned char in[N], out[N];

Test(sim_driver_arrays, hold_boxes_and_have_bounds)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = 8, .Height = 4, .Depth = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    sim_start(1);
    for (size_t i = 0; i < N; i++) {
        in[i] = (unsigned char)(i * 7);
    }
    OK(cuArray3DCreate(&array, &shape));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = 64,
                          .srcHeight = 4,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = 64,
                          .Height = 4,
                          .Depth = 2};
    OK(cuMemcpy3D(&copy));
    OK(cuMemcpyAtoH(out, array, 0, 512));
    cr_expect_arr_eq(in, out, 512);
    copy.dstXInBytes = 8;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(out, array, 1, 512));
    shape.Width = SIZE_MAX;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &shape));
}

Test(sim_driver_arrays, describe_themselves)
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = 5, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4}, got;
    sim_start(1);
    OK(cuArrayCreate(&array, &shape));
    OK(cuArrayGetDescriptor(&got, array));
    cr_expect_eq(got.Width, 5);
    cr_expect_eq(got.NumChannels, 4);
    OK(cuArrayDestroy(array));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
    shape.NumChannels = 3;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &shape));
}

/* ---- memsets ---- */

Test(sim_driver_arrays, memsets_fill_elements_and_rows)
{
    CUdeviceptr memory;
    unsigned short half[8];
    sim_start(1);
    OK(cuMemAlloc(&memory, 256));
    OK(cuMemsetD8(memory, 0xee, 256));
    OK(cuMemsetD16(memory + 2, 0x1234, 3));
    OK(cuMemcpyDtoH(half, memory, sizeof half));
    const unsigned short linear[] = {0xeeee, 0x1234, 0x1234, 0x1234, 0xeeee};
    cr_expect_arr_eq(half, linear, sizeof linear);
    OK(cuMemsetD2D32(memory, 64, 0xa1b2c3d4, 2, 4));
    for (size_t row = 0; row < 4; row++) {
        cr_expect_eq(sim_word_at(memory + row * 64 + 4), 0xa1b2c3d4);
        cr_expect_eq(sim_word_at(memory + row * 64 + 8), 0xeeeeeeee);
    }
}

Test(sim_driver_arrays, memsets_must_stay_inside)
{
    CUdeviceptr memory;
    sim_start(1);
    OK(cuMemAlloc(&memory, 256));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(memory, 0, 257));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory, 0, SIZE_MAX / 2));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 2, 0, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(memory, 64, 0, 65, 2));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(memory, 64, 0, 64, 5));
    OK(cuMemsetD2D8(memory, 64, 0, 64, 4));
    OK(cuMemsetD8(memory, 0, 0));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in one, two and three dimensions and memsets: contents, and the errors of wrong ones. */
#include <string.h>

#include "sim_driver_fixture.h"

#define N 4096

static unsigned char in[N], out[N];

static CUdeviceptr filled(size_t bytes)
{
    CUdeviceptr memory;
    for (size_t i = 0; i < N; i++) {
        in[i] = (unsigned char)(i * 7 + i / 256);
    }
    OK(cuMemAlloc(&memory, bytes));
    OK(cuMemcpyHtoD(memory, in, bytes));
    return memory;
}

Test(sim_driver_copies, linear_in_every_direction)
{
    sim_start(1);
    CUdeviceptr a = filled(N), b = filled(N);
    OK(cuMemsetD8(b, 0, N));
    OK(cuMemcpyDtoD(b, a, N));
    OK(cuMemcpyDtoH(out, b, N));
    cr_expect_arr_eq(in, out, N);
    memset(out, 0, N);
    OK(cuMemcpy((CUdeviceptr)out, b, N));
    cr_expect_arr_eq(in, out, N);
}

Test(sim_driver_copies, may_overlap)
{
    sim_start(1);
    CUdeviceptr a = filled(N);
    OK(cuMemcpyDtoD(a + 1, a, N - 1));
    OK(cuMemcpyDtoH(out, a, N));
    cr_expect_eq(out[0], in[0]);
    cr_expect_arr_eq(out + 1, in, N - 1);
}

Test(sim_driver_copies, must_stay_inside)
{
    sim_start(1);
    CUdeviceptr a = filled(256);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, in, 257));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a + 1, in, 256));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(out, a + 256, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(a, (CUdeviceptr)in, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy(a + 250, (CUdeviceptr)in, 16));
    OK(cuMemFree(a));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(out, a, 1));
}

Test(sim_driver_copies, page_locked_memory_has_an_end_too)
{
    void *pinned;
    sim_start(1);
    CUdeviceptr a = filled(N);
    OK(cuMemAllocHost(&pinned, 100));
    OK(cuMemcpyDtoH(pinned, a, 100));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(pinned, a, 101));
    OK(cuMemHostRegister(out, 100, 0));
    OK(cuMemcpyDtoH(out, a, N));
    OK(cuMemHostUnregister(out));
    cr_expect_arr_eq(in, out, N);
}

Test(sim_driver_copies, two_dimensions)
{
    size_t pitch;
    CUdeviceptr image;
    sim_start(1);
    (void)filled(N);
    OK(cuMemAllocPitch(&image, &pitch, 40, 10, 4));
    cr_expect_eq(pitch, 512);
    CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = 50,
                        .srcXInBytes = 3,
                        .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = image,
                        .dstPitch = pitch,
                        .WidthInBytes = 40,
                        .Height = 10};
    OK(cuMemcpy2D(&up));
    for (size_t row = 0; row < 10; row++) {
        OK(cuMemcpyDtoH(out, image + row * pitch, 40));
        cr_expect_arr_eq(out, in + 50 * (row + 1) + 3, 40, "row %zu", row);
    }
    up.Height = 11;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
    up.Height = 10;
    up.dstPitch = 39;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
    up.dstPitch = (size_t)1 << 31;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
    up.dstPitch = pitch;
    up.dstY = SIZE_MAX / 2;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
}

Test(sim_driver_copies, three_dimensions)
{
    sim_start(1);
    CUdeviceptr box = filled(N); /* 16 x 16 x 16 bytes */
    CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = box,
                          .srcPitch = 16,
                          .srcHeight = 16,
                          .srcXInBytes = 2,
                          .srcY = 3,
                          .srcZ = 4,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 5,
                          .dstHeight = 6,
                          .WidthInBytes = 5,
                          .Height = 6,
                          .Depth = 7};
    OK(cuMemcpy3D(&down));
    for (size_t i = 0; i < (size_t)5 * 6 * 7; i++) {
        size_t x = i % 5 + 2, y = i / 5 % 6 + 3, z = i / 30 + 4;
        cr_expect_eq(out[i], in[z * 256 + y * 16 + x], "byte %zu", i);
    }
    down.Depth = 13;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&down));
    down.Depth = 0;
    OK(cuMemcpy3D(&down));
}

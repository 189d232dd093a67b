/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the software device's runtime: contents, directions, sizes, and what is refused. */
#include "check.h"

enum { BYTES = 1000, WIDTH = 37, HEIGHT = 11, DEPTH = 5 };

static unsigned char source[BYTES * 8], result[BYTES * 8];
static char *device, *other;

static void allocate(void)
{
    fill_pattern(source, sizeof source, 1);
    expect_success(cudaMalloc((void **)&device, sizeof source));
    expect_success(cudaMalloc((void **)&other, sizeof source));
}

static void expect_same(const unsigned char *got, const unsigned char *expected, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        cr_assert_eq(got[i], expected[i], "byte %zu: %d, not %d", i, got[i], expected[i]);
    }
}

Test(copies, go_in_every_direction, .init = allocate)
{
    expect_success(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice));
    expect_success(cudaMemcpy(other, device, BYTES, cudaMemcpyDeviceToDevice));
    expect_success(cudaMemcpy(result, other, BYTES, cudaMemcpyDeviceToHost));
    expect_same(result, source, BYTES);
    expect_success(cudaMemcpy(result + BYTES, source, BYTES, cudaMemcpyHostToHost));
    expect_same(result + BYTES, source, BYTES);
}

Test(copies, find_the_direction_themselves, .init = allocate)
{
    expect_success(cudaMemcpy(device, source, BYTES, cudaMemcpyDefault));
    expect_success(cudaMemcpy(other, device, BYTES, cudaMemcpyDefault));
    expect_success(cudaMemcpy(result, other, BYTES, cudaMemcpyDefault));
    expect_same(result, source, BYTES);
}

Test(copies, go_through_streams, .init = allocate)
{
    cudaStream_t stream;
    expect_success(cudaStreamCreate(&stream));
    expect_success(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    expect_success(cudaMemcpyAsync(other, device, BYTES, cudaMemcpyDeviceToDevice, stream));
    expect_success(cudaMemcpyAsync(result, other, BYTES, cudaMemcpyDeviceToHost, stream));
    expect_success(cudaMemcpyAsync(result + BYTES, source, 8, cudaMemcpyHostToHost, stream));
    expect_success(cudaMemcpyAsync(result + BYTES + 8, device, 8, cudaMemcpyDefault, stream));
    expect_success(cudaStreamSynchronize(stream));
    expect_same(result, source, BYTES);
    expect_same(result + BYTES, source, 8);
    expect_same(result + BYTES + 8, source, 8);
    expect_success(cudaStreamDestroy(stream));
}

Test(copies, that_cannot_be_are_refused, .init = allocate)
{
    expect_error(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpy(device, source, 4, (enum cudaMemcpyKind)5));
    expect_error(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpyAsync(device, source, 4, (enum cudaMemcpyKind) - 1, NULL));
    expect_error(cudaErrorInvalidValue, cudaMemcpy(NULL, source, 4, cudaMemcpyHostToDevice));
    expect_error(cudaErrorInvalidValue, cudaMemcpy(result, NULL, 4, cudaMemcpyDeviceToHost));
    expect_error(cudaErrorInvalidValue,
                 cudaMemcpy(device + sizeof source - 2, source, 4, cudaMemcpyHostToDevice));
    expect_error(cudaErrorInvalidValue, cudaMemcpy(result, source, 4, cudaMemcpyDeviceToHost));
    expect_success(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
}

Test(copies, of_rectangles_leave_the_rest_alone, .init = allocate)
{
    expect_success(cudaMemset(device, 0xee, sizeof source));
    expect_success(cudaMemcpy2D(device, 64, source, 50, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    expect_success(cudaMemcpy(result, device, 64 * HEIGHT, cudaMemcpyDeviceToHost));
    for (size_t y = 0; y < HEIGHT; y++) {
        expect_same(result + y * 64, source + y * 50, WIDTH);
        cr_assert_eq(result[y * 64 + WIDTH], 0xee);
    }
    memset(result, 0, sizeof result);
    expect_success(
        cudaMemcpy2DAsync(result, WIDTH, device, 64, WIDTH, HEIGHT, cudaMemcpyDeviceToHost, NULL));
    expect_success(cudaDeviceSynchronize());
    expect_same(result + WIDTH * 3, source + (size_t)3 * 50, WIDTH);
    expect_error(cudaErrorInvalidPitchValue,
                 cudaMemcpy2D(device, 10, source, 50, 20, 2, cudaMemcpyHostToDevice));
    expect_error(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpy2D(device, 64, source, 50, 20, 2, (enum cudaMemcpyKind)9));
    expect_success(cudaMemcpy2D(device, 64, source, 50, 0, 2, cudaMemcpyHostToDevice));
}

Test(copies, of_boxes_start_where_they_should, .init = allocate)
{
    struct cudaPitchedPtr box;
    struct cudaExtent all = {WIDTH, HEIGHT, DEPTH};
    expect_success(cudaMalloc3D(&box, all));
    struct cudaMemcpy3DParms in = {
        .srcPtr = {source, WIDTH, WIDTH, HEIGHT},
        .dstPtr = box,
        .extent = all,
        .kind = cudaMemcpyHostToDevice,
    };
    expect_success(cudaMemcpy3D(&in));
    struct cudaMemcpy3DParms out = {
        .srcPtr = box,
        .srcPos = {3, 2, 1},
        .dstPtr = {result, 10, 10, 4},
        .extent = {10, 4, 2},
        .kind = cudaMemcpyDeviceToHost,
    };
    expect_success(cudaMemcpy3DAsync(&out, NULL));
    expect_success(cudaDeviceSynchronize());
    for (size_t z = 0; z < 2; z++) {
        for (size_t y = 0; y < 4; y++) {
            expect_same(result + (z * 4 + y) * 10, source + ((z + 1) * HEIGHT + y + 2) * WIDTH + 3,
                        10);
        }
    }
    out.dstPtr.pitch = 5;
    expect_error(cudaErrorInvalidPitchValue, cudaMemcpy3D(&out));
    out.dstPtr.ptr = NULL;
    expect_error(cudaErrorInvalidValue, cudaMemcpy3D(&out));
    expect_error(cudaErrorInvalidValue, cudaMemcpy3D(NULL));
}

Test(copies, go_between_devices)
{
    char *first, *second;
    setenv("SIMGPU_DEVICES", "2", 1);
    fill_pattern(source, sizeof source, 2);
    expect_success(cudaMalloc((void **)&first, BYTES));
    expect_success(cudaMemcpy(first, source, BYTES, cudaMemcpyHostToDevice));
    expect_success(cudaSetDevice(1));
    expect_success(cudaMalloc((void **)&second, BYTES));
    expect_success(cudaMemcpyPeer(second, 1, first, 0, BYTES));
    expect_success(cudaMemcpy(result, second, BYTES, cudaMemcpyDeviceToHost));
    expect_same(result, source, BYTES);
    expect_success(cudaMemset(second, 0, BYTES));
    expect_success(cudaMemcpyPeerAsync(second, 1, first, 0, BYTES, NULL));
    expect_success(cudaMemcpy(result, second, BYTES, cudaMemcpyDefault));
    expect_same(result, source, BYTES);
    expect_error(cudaErrorInvalidDevice, cudaMemcpyPeer(second, 2, first, 0, BYTES));
}

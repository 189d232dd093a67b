/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and memset of the software device's runtime. */
#define CUDA_ENABLE_DEPRECATED /* the linear copies are still there for old programs */
#include "check.h"

enum { WIDTH = 12, HEIGHT = 6, ELEMENT = 8, ROW = WIDTH * ELEMENT };

static unsigned char source[ROW * HEIGHT * 2], result[ROW * HEIGHT * 2];

static cudaArray_t make_array(void)
{
    cudaArray_t array = NULL;
    struct cudaChannelFormatDesc pair = cudaCreateChannelDesc(32, 32, 0, 0,
                                                              cudaChannelFormatKindFloat);
    fill_pattern(source, sizeof source, 3);
    expect_success(cudaMallocArray(&array, &pair, WIDTH, HEIGHT, cudaArrayDefault));
    return array;
}

Test(arrays, know_their_shape)
{
    cudaArray_t array = make_array();
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent;
    unsigned flags = 9;
    expect_success(cudaArrayGetInfo(&format, &extent, &flags, array));
    cr_assert_eq(format.x, 32);
    cr_assert_eq(format.y, 32);
    cr_assert_eq(format.z, 0);
    cr_assert_eq(format.f, cudaChannelFormatKindFloat);
    cr_assert_eq(extent.width, WIDTH);
    cr_assert_eq(extent.height, HEIGHT);
    cr_assert_eq(extent.depth, 0);
    cr_assert_eq(flags, 0);
    expect_success(cudaFreeArray(array));
    expect_success(cudaFreeArray(NULL));
}

Test(arrays, of_odd_formats_are_refused)
{
    cudaArray_t array;
    struct cudaChannelFormatDesc odd = cudaCreateChannelDesc(12, 0, 0, 0,
                                                             cudaChannelFormatKindUnsigned);
    struct cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0,
                                                               cudaChannelFormatKindUnsigned);
    expect_error(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &odd, 4, 4, 0));
    expect_error(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &three, 4, 4, 0));
    expect_error(cudaErrorInvalidValue, cudaMallocArray(NULL, &odd, 4, 4, 0));
}

Test(arrays, take_and_give_rectangles)
{
    cudaArray_t array = make_array();
    expect_success(
        cudaMemcpy2DToArray(array, 0, 0, source, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice));
    expect_success(cudaMemcpy2DFromArray(result, 24, array, 16, 2, 24, 3, cudaMemcpyDeviceToHost));
    for (size_t y = 0; y < 3; y++) {
        cr_assert_arr_eq(result + y * 24, source + (y + 2) * ROW + 16, 24);
    }
    cudaArray_t second = make_array();
    expect_success(
        cudaMemcpy2DArrayToArray(second, 8, 1, array, 16, 2, 24, 3, cudaMemcpyDeviceToDevice));
    memset(result, 0, sizeof result);
    expect_success(cudaMemcpy2DFromArray(result, 24, second, 8, 1, 24, 3, cudaMemcpyDeviceToHost));
    cr_assert_arr_eq(result + 48, source + (size_t)4 * ROW + 16, 24);
}

/* Elements, not bytes, when an array takes part. */
Test(arrays, count_extents_in_elements)
{
    cudaArray_t array = make_array();
    struct cudaMemcpy3DParms copy = {
        .srcPtr = {source, ROW, WIDTH, HEIGHT},
        .dstArray = array,
        .extent = {WIDTH, HEIGHT, 1},
        .kind = cudaMemcpyHostToDevice,
    };
    expect_success(cudaMemcpy3D(&copy));
    struct cudaMemcpy3DParms back = {
        .srcArray = array,
        .srcPos = {1, 1, 0},
        .dstPtr = {result, 16, 2, 2},
        .extent = {2, 2, 1},
        .kind = cudaMemcpyDeviceToHost,
    };
    expect_success(cudaMemcpy3D(&back));
    cr_assert_arr_eq(result, source + ROW + ELEMENT, 16);
    cr_assert_arr_eq(result + 16, source + (size_t)2 * ROW + ELEMENT, 16);
    back.srcPtr.ptr = source;
    expect_error(cudaErrorInvalidValue, cudaMemcpy3D(&back));
}

Test(arrays, are_filled_by_bytes_that_run_on)
{
    cudaArray_t array = make_array();
    size_t from = 40;
    size_t bytes = (size_t)ROW * 3 + 20;
    expect_success(
        cudaMemcpy2DToArray(array, 0, 0, source + ROW, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice));
    expect_success(cudaMemcpyToArray(array, from, 1, source, bytes, cudaMemcpyHostToDevice));
    expect_success(
        cudaMemcpyFromArray(result, array, 0, 0, sizeof source / 2, cudaMemcpyDeviceToHost));
    cr_assert_arr_eq(result, source + ROW, ROW + from);
    cr_assert_arr_eq(result + ROW + from, source, bytes);
    cr_assert_arr_eq(result + ROW + from + bytes, source + (size_t)2 * ROW + from + bytes,
                     (size_t)ROW * HEIGHT - ROW - from - bytes);
}

Test(memset, sets_just_what_was_asked_for)
{
    unsigned char *device;
    expect_success(cudaMalloc((void **)&device, 1000));
    expect_success(cudaMemset(device, 1, 1000));
    expect_success(cudaMemset2D(device, 100, 2, 30, 5));
    expect_success(cudaMemset3D((struct cudaPitchedPtr){device + 500, 50, 50, 4}, 0x1ff,
                                (struct cudaExtent){10, 2, 2}));
    expect_success(cudaMemcpy(result, device, 1000, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < 1000; i++) {
        size_t in_box = i - 500;
        bool boxed = i >= 500 && i < 900 && in_box % 50 < 10 && in_box / 50 % 4 < 2;
        int expected = i < 500 && i % 100 < 30 ? 2 : boxed ? 0xff : 1;
        cr_assert_eq(result[i], expected, "byte %zu: %d, not %d", i, result[i], expected);
    }
    expect_error(cudaErrorInvalidPitchValue, cudaMemset2D(device, 10, 2, 30, 5));
    expect_error(cudaErrorInvalidValue, cudaMemset(device + 999, 0, 2));
    expect_success(cudaMemset(NULL, 0, 0));
}

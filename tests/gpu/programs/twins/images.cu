/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image in memory of cudaMallocPitch: images pitch --bad|--good
 *
 * pitch: it is copied there in one piece, as if its rows had no padding. The results are wrong, and
 * so the check sums of the twins differ: the one planted fault that is not about time.
 */

#include "twin.cuh"

enum { WIDTH = 1000, BLOCK = 256 };

__global__ void k_brighten(float *out, size_t width, size_t height, const float *in, size_t pitch)
{
    const size_t x = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x, y = blockIdx.y;

    if (x < width && y < height)
        out[y * width + x] = in[y * (pitch / sizeof(float)) + x] + 16.0f;
}

static void brighten(twin_run *run, bool flat)
{
    const size_t height = run->words / WIDTH, width_bytes = WIDTH * sizeof(float);
    const dim3 grid(twin_grid(WIDTH, BLOCK), static_cast<unsigned>(height));
    float *image = twin_pageable<float>(height * width_bytes), *in, *out;
    size_t pitch;

    twin_fill(image, height * WIDTH, 8);
    CHECK(cudaMallocPitch(&in, &pitch, width_bytes, height));
    CHECK(cudaMemset(in, 0, pitch * height));
    CHECK(cudaMalloc(&out, height * width_bytes));
    twin_start(run);
    if (flat)
        CHECK(cudaMemcpy(in, image, height * width_bytes, cudaMemcpyHostToDevice)); // GM116
    else
        CHECK(cudaMemcpy2D(in, pitch, image, width_bytes, width_bytes, height,
                           cudaMemcpyHostToDevice));
    k_brighten<<<grid, BLOCK>>>(out, WIDTH, height, in, pitch);
    twin_stop(run);
    twin_sum_device(run, out, height * WIDTH);
    CHECK(cudaFree(out));
    CHECK(cudaFree(in));
    free(image);
}

static void pitch_bad(twin_run *run)
{
    brighten(run, true);
}

static void pitch_good(twin_run *run)
{
    brighten(run, false);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {{"pitch", pitch_bad, pitch_good, 1, 4000, 1}};

    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}

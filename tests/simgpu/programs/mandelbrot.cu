/* SPDX-License-Identifier: Apache-2.0 */
/* Mandelbrot set: loops of different length in the lanes of a warp; exact iteration counts. */
#include "program.cuh"

#define MOST 300

/* The intrinsics keep the compiler from fusing, so that the host iterates the same numbers. */
static __global__ void mandelbrot(unsigned short *counts, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = __fadd_rn(-2.0f, __fmul_rn((float)x, 3.0f / 128));
    float cy = __fadd_rn(-1.5f, __fmul_rn((float)y, 3.0f / 128));
    float re = 0, im = 0;
    int count = 0;

    if (x >= width || y >= height)
        return;
    while (count < MOST) {
        float re2 = __fmul_rn(re, re), im2 = __fmul_rn(im, im);

        if (__fadd_rn(re2, im2) > 4.0f)
            break;
        im = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, re), im), cy);
        re = __fadd_rn(__fsub_rn(re2, im2), cx);
        count++;
    }
    counts[y * width + x] = (unsigned short)count;
}

void sim_program_mandelbrot(sim_check &check)
{
    const int width = 131, height = 61;
    sim_array<unsigned short> counts(check, width * height);
    std::vector<unsigned short> wanted;

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            float cx = -2.0f + (float)x * (3.0f / 128), cy = -1.5f + (float)y * (3.0f / 128);
            float re = 0, im = 0;
            int count = 0;

            while (count < MOST && re * re + im * im <= 4.0f) {
                float t = (re * re - im * im) + cx;

                im = 2.0f * re * im + cy;
                re = t;
                count++;
            }
            wanted.push_back((unsigned short)count);
        }
    }
    mandelbrot<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(counts.device, width,
                                                                           height);
    SIM_LAUNCHED(check);
    sim_equal(check, "iterations", counts, wanted);
}

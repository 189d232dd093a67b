/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix transpose: naive, through a tile, through a padded tile; sides that fit no tile. */
#include "program.cuh"

#define TILE 32
#define ROWS 8

static __global__ void naive(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            out[x * height + y + j] = in[(y + j) * width + x];
}

template <int row> __global__ void tiled(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][row];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

static void transpose(sim_check &check, int width, int height)
{
    dim3 block(TILE, ROWS), grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    sim_random random(9);
    sim_array<float> in(check, (size_t)width * height);
    std::vector<float> wanted((size_t)width * height);

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            wanted[x * height + y] = in.host[y * width + x] = (float)random.between(-1, 1);
    in.upload();
    for (auto kernel : {naive, tiled<TILE>, tiled<TILE + 1>}) {
        sim_array<float> out(check, (size_t)width * height);

        kernel<<<grid, block>>>(in.device, out.device, width, height);
        SIM_LAUNCHED(check);
        sim_equal(check, "out", out, wanted);
    }
}

void sim_program_transpose(sim_check &check)
{
    transpose(check, 128, 128);
    transpose(check, 129, 67);
    transpose(check, 5, 300);
}

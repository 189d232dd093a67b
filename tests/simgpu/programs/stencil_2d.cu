/* SPDX-License-Identifier: Apache-2.0 */
/* Five-point stencil over several steps: from global memory, and from a tile with a halo. */
#include "program.cuh"

#define TX 32
#define TY 8

static __host__ __device__ float blend(float centre, float left, float right, float up, float down)
{
#ifdef __CUDA_ARCH__
    float sides = __fadd_rn(__fadd_rn(left, right), __fadd_rn(up, down));

    return __fadd_rn(__fmul_rn(0.5f, centre), __fmul_rn(0.125f, sides));
#else
    float sides = (left + right) + (up + down);

    return 0.5f * centre + 0.125f * sides;
#endif
}

static __global__ void plain(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y, i = y * width + x;

    if (x >= width || y >= height)
        return;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
        out[i] = in[i];
    else
        out[i] = blend(in[i], in[i - 1], in[i + 1], in[i - width], in[i + width]);
}

static __global__ void with_halo(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TY + 2][TX + 2];
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;

    /* All threads fill the tile, halo included; what lies outside is not read later. */
    for (int t = threadIdx.y * TX + threadIdx.x; t < (TY + 2) * (TX + 2); t += TX * TY) {
        int row = t / (TX + 2), col = t % (TX + 2);
        int from_x = (int)(blockIdx.x * TX) + col - 1, from_y = (int)(blockIdx.y * TY) + row - 1;

        if (from_x >= 0 && from_x < width && from_y >= 0 && from_y < height)
            tile[row][col] = in[from_y * width + from_x];
    }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    int row = threadIdx.y + 1, col = threadIdx.x + 1;
    bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    out[y * width + x] = edge ? tile[row][col]
                              : blend(tile[row][col], tile[row][col - 1], tile[row][col + 1],
                                      tile[row - 1][col], tile[row + 1][col]);
}

static std::vector<float> reference(std::vector<float> in, int width, int height, int steps)
{
    std::vector<float> out = in;

    for (int step = 0; step < steps; step++) {
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                int i = y * width + x;

                out[i] = blend(in[i], in[i - 1], in[i + 1], in[i - width], in[i + width]);
            }
        in = out;
    }
    return out;
}

void sim_program_stencil_2d(sim_check &check)
{
    const int width = 131, height = 83, steps = 6;
    dim3 block(TX, TY), grid((width + TX - 1) / TX, (height + TY - 1) / TY);
    sim_random random(12);
    std::vector<float> start(width * height);

    for (float &value : start)
        value = (float)random.between(0, 100);
    for (auto kernel : {plain, with_halo}) {
        sim_array<float> a(check, start), b(check, start.size());

        for (int step = 0; step < steps; step += 2) {
            kernel<<<grid, block>>>(a.device, b.device, width, height);
            kernel<<<grid, block>>>(b.device, a.device, width, height);
        }
        SIM_LAUNCHED(check);
        sim_equal(check, "grid", a, reference(start, width, height, steps));
    }
}

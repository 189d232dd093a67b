/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix product: naive, tiled in shared memory, and with a register tile per thread. */
#include "program.cuh"

#define TILE 16
#define PER_THREAD 4 /* rows and columns of the register tile */

struct shape {
    int m, n, k; /* c is m x n, a is m x k, b is k x n */
};

static __global__ void naive(const float *a, const float *b, float *c, shape s)
{
    int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;

    if (col >= s.n || row >= s.m)
        return;
    for (int i = 0; i < s.k; i++)
        sum += a[row * s.k + i] * b[i * s.n + col];
    c[row * s.n + col] = sum;
}

static __global__ void tiled(const float *a, const float *b, float *c, shape s)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    float sum = 0;

    for (int at = 0; at < s.k; at += TILE) {
        of_a[ty][tx] = row < s.m && at + tx < s.k ? a[row * s.k + at + tx] : 0;
        of_b[ty][tx] = col < s.n && at + ty < s.k ? b[(at + ty) * s.n + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += of_a[ty][i] * of_b[i][tx];
        __syncthreads();
    }
    if (col < s.n && row < s.m)
        c[row * s.n + col] = sum;
}

/* A block of TILE x TILE threads makes a square of TILE * PER_THREAD; it steps k by TILE. */
static __global__ void in_registers(const float *a, const float *b, float *c, shape s)
{
    const int side = TILE * PER_THREAD;
    __shared__ float of_a[side][TILE + 1], of_b[TILE][side];
    int tx = threadIdx.x, ty = threadIdx.y;
    int left = blockIdx.x * side, top = blockIdx.y * side;
    float sums[PER_THREAD][PER_THREAD] = {};

    for (int at = 0; at < s.k; at += TILE) {
        for (int j = 0; j < PER_THREAD; j++) {
            int row = top + ty + j * TILE, col = left + tx + j * TILE;

            of_a[ty + j * TILE][tx] = row < s.m && at + tx < s.k ? a[row * s.k + at + tx] : 0;
            of_b[ty][tx + j * TILE] = col < s.n && at + ty < s.k ? b[(at + ty) * s.n + col] : 0;
        }
        __syncthreads();
        for (int i = 0; i < TILE; i++)
#pragma unroll
            for (int y = 0; y < PER_THREAD; y++)
#pragma unroll
                for (int x = 0; x < PER_THREAD; x++)
                    sums[y][x] += of_a[ty + y * TILE][i] * of_b[i][tx + x * TILE];
        __syncthreads();
    }
    for (int y = 0; y < PER_THREAD; y++)
        for (int x = 0; x < PER_THREAD; x++)
            if (top + ty + y * TILE < s.m && left + tx + x * TILE < s.n)
                c[(top + ty + y * TILE) * s.n + left + tx + x * TILE] = sums[y][x];
}

/* Small integers: products and their sums are exact, fused or not, in any order. */
static void multiply(sim_check &check, shape s)
{
    sim_random random(10);
    sim_array<float> a(check, (size_t)s.m * s.k), b(check, (size_t)s.k * s.n);
    std::vector<float> wanted((size_t)s.m * s.n);
    dim3 block(TILE, TILE), grid((s.n + TILE - 1) / TILE, (s.m + TILE - 1) / TILE);
    dim3 coarse((grid.x + PER_THREAD - 1) / PER_THREAD, (grid.y + PER_THREAD - 1) / PER_THREAD);

    for (float &value : a.host)
        value = random.small();
    for (float &value : b.host)
        value = random.small();
    for (int row = 0; row < s.m; row++)
        for (int i = 0; i < s.k; i++)
            for (int col = 0; col < s.n; col++)
                wanted[row * s.n + col] += a.host[row * s.k + i] * b.host[i * s.n + col];
    a.upload();
    b.upload();
    for (auto kernel : {naive, tiled, in_registers}) {
        sim_array<float> c(check, wanted.size());

        kernel<<<kernel == in_registers ? coarse : grid, block>>>(a.device, b.device, c.device, s);
        SIM_LAUNCHED(check);
        sim_equal(check, "product", c, wanted);
    }
}

void sim_program_matmul(sim_check &check)
{
    multiply(check, {64, 64, 64});
    multiply(check, {70, 45, 53});
    multiply(check, {1, 130, 17});
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Grids and blocks of three dimensions, launched with <<<>>>, cudaLaunchKernel and its Ex form. */
#include "program.cuh"

struct place {
    unsigned block[3], thread[3], grid[3], size[3];
};

static __global__ void where(place *out)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    place *mine = out + (size_t)block * blockDim.x * blockDim.y * blockDim.z + thread;

    *mine = {{blockIdx.x, blockIdx.y, blockIdx.z},
             {threadIdx.x, threadIdx.y, threadIdx.z},
             {gridDim.x, gridDim.y, gridDim.z},
             {blockDim.x, blockDim.y, blockDim.z}};
}

/* Parameters of all sizes and alignments. */
static __global__ void parameters(char a, double b, short c, float4 d, bool e, long long f, char3 g,
                                  double *out)
{
    out[threadIdx.x] = a + b + c + d.x + d.y + d.z + d.w + e + (double)f + g.x + g.y + g.z;
}

static void compare(sim_check &check, const char *what, sim_array<place> &out, dim3 grid,
                    dim3 block)
{
    size_t i = 0;

    out.download();
    for (unsigned bz = 0; bz < grid.z; bz++)
        for (unsigned by = 0; by < grid.y; by++)
            for (unsigned bx = 0; bx < grid.x; bx++)
                for (unsigned tz = 0; tz < block.z; tz++)
                    for (unsigned ty = 0; ty < block.y; ty++)
                        for (unsigned tx = 0; tx < block.x; tx++, i++) {
                            const place wanted = {{bx, by, bz},
                                                  {tx, ty, tz},
                                                  {grid.x, grid.y, grid.z},
                                                  {block.x, block.y, block.z}};

                            check.compared++;
                            if (memcmp(&wanted, &out.host[i], sizeof(wanted)) != 0)
                                sim_differ(check, "%s: thread %zu differs", what, i);
                        }
}

static void shapes(sim_check &check, dim3 grid, dim3 block)
{
    sim_array<place> out(check, (size_t)grid.x * grid.y * grid.z * block.x * block.y * block.z);
    void *arguments[] = {&out.device};
    cudaLaunchConfig_t config = {};

    where<<<grid, block>>>(out.device);
    SIM_LAUNCHED(check);
    compare(check, "<<<>>>", out, grid, block);
    SIM_CALL(check, cudaMemset(out.device, 0xcd, out.bytes()));
    SIM_CALL(check, cudaLaunchKernel((const void *)where, grid, block, arguments, 0, nullptr));
    SIM_LAUNCHED(check);
    compare(check, "cudaLaunchKernel", out, grid, block);
    SIM_CALL(check, cudaMemset(out.device, 0xcd, out.bytes()));
    config.gridDim = grid;
    config.blockDim = block;
    SIM_CALL(check, cudaLaunchKernelEx(&config, where, out.device));
    SIM_LAUNCHED(check);
    compare(check, "cudaLaunchKernelEx", out, grid, block);
}

void sim_program_launch_shapes(sim_check &check)
{
    sim_array<double> out(check, 40);
    sim_array<place> none(check, 1);

    shapes(check, dim3(3, 4, 5), dim3(7, 5, 3));
    shapes(check, dim3(1, 1, 9), dim3(1, 1, 33));
    shapes(check, dim3(300), dim3(2, 16));
    shapes(check, dim3(1), dim3(1024));
    parameters<<<1, 40>>>('a', 0.5, -300, make_float4(1, 2, 3, 4), true, 1ll << 40,
                          make_char3(5, -6, 7), out.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "parameters", out,
              std::vector<double>(40, 97 + 0.5 - 300 + 10 + 1 + (double)(1ll << 40) + 6));

    /* Shapes that no device takes; the error does not stay. */
    where<<<1, 1025>>>(none.device);
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
    where<<<dim3(1, 65536), 1>>>(none.device);
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
    where<<<1, dim3(1, 1, 65)>>>(none.device);
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
    where<<<0, 1>>>(none.device);
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
    SIM_REFUSED(check, cudaSuccess, cudaGetLastError());
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of bytes with atomics: in global memory, in shared memory, and a bin per lane. */
#include "program.cuh"

static __global__ void in_global(const unsigned char *data, int count, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1u);
}

static __global__ void in_shared(const unsigned char *data, int count, unsigned *bins)
{
    __shared__ unsigned mine[256];

    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (mine[i] != 0)
            atomicAdd(&bins[i], mine[i]);
}

/* Four bytes per load, and the lanes of a warp that met the same value elect one to add for all. */
static __global__ void in_groups(const uchar4 *data, int quads, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        uchar4 four = data[i];
        unsigned char values[4] = {four.x, four.y, four.z, four.w};

        for (int j = 0; j < 4; j++) {
            unsigned alike = __match_any_sync(__activemask(), values[j]);

            if (threadIdx.x % 32 == __ffs((int)alike) - 1)
                atomicAdd(&bins[values[j]], (unsigned)__popc(alike));
        }
    }
}

void sim_program_histogram(sim_check &check)
{
    const int count = 60004;
    sim_random random(8);
    sim_array<unsigned char> data(check, count);
    sim_array<unsigned> bins(check, 256);
    std::vector<unsigned> wanted(256);

    for (auto &byte : data.host) {
        byte = (unsigned char)(random.below(256) & random.below(256)); /* uneven */
        wanted[byte]++;
    }
    data.upload();
    bins.zero();
    in_global<<<11, 200>>>(data.device, count, bins.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "global", bins, wanted);
    bins.zero();
    in_shared<<<7, 352>>>(data.device, count, bins.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "shared", bins, wanted);
    bins.zero();
    in_groups<<<5, 128>>>((const uchar4 *)data.device, count / 4, bins.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "groups", bins, wanted);
}

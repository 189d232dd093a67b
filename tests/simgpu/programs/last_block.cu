/* SPDX-License-Identifier: Apache-2.0 */
/* The last block to finish sums up what all blocks left, after a fence; many times over. */
#include "program.cuh"

#define BLOCK 96

static __device__ unsigned finished;

static __device__ int block_sum(int value, int *cache)
{
    cache[threadIdx.x] = value;
    __syncthreads();
    for (int left = BLOCK; left > 1; left = (left + 1) / 2) {
        if (threadIdx.x < left / 2)
            cache[threadIdx.x] += cache[threadIdx.x + (left + 1) / 2];
        __syncthreads();
    }
    return cache[0];
}

static __global__ void sum_all(const int *in, int count, volatile int *partial, int *out)
{
    __shared__ int cache[BLOCK];
    __shared__ bool last;
    int mine = 0;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK)
        mine += in[i];
    mine = block_sum(mine, cache);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1; /* and back to zero */
    }
    __syncthreads();
    if (!last)
        return;
    mine = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += BLOCK)
        mine += partial[i];
    __syncthreads();
    mine = block_sum(mine, cache);
    if (threadIdx.x == 0)
        *out += mine;
}

void sim_program_last_block(sim_check &check)
{
    const int count = 30011, rounds = 8;
    sim_random random(37);
    sim_array<int> in(check, count), partial(check, 64), out(check, 1);
    int sum = 0;

    for (int &value : in.host) {
        value = (int)random.below(1000) - 300;
        sum += value;
    }
    in.upload();
    out.zero();
    for (int round = 0; round < rounds; round++)
        sum_all<<<17 + 5 * round, BLOCK>>>(in.device, count, partial.device, out.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "sum", out, std::vector<int>{rounds * sum});
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bitonic sort: in shared memory for a block, by one launch per step for a long array. */
#include "program.cuh"

#include <algorithm>

#define BLOCK 512

static __device__ void order(unsigned *a, unsigned *b, bool ascending)
{
    if ((*a > *b) == ascending) {
        unsigned t = *a;
        *a = *b;
        *b = t;
    }
}

/* Sorts 2 * BLOCK keys per block. */
static __global__ void sort_block(unsigned *keys)
{
    __shared__ unsigned mine[2 * BLOCK];
    unsigned t = threadIdx.x;

    keys += blockIdx.x * 2 * BLOCK;
    mine[t] = keys[t];
    mine[t + BLOCK] = keys[t + BLOCK];
    for (unsigned size = 2; size <= 2 * BLOCK; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned at = 2 * t - (t & (step - 1));

            __syncthreads();
            order(&mine[at], &mine[at + step], (at & size) == 0);
        }
    }
    __syncthreads();
    keys[t] = mine[t];
    keys[t + BLOCK] = mine[t + BLOCK];
}

static __global__ void one_step(unsigned *keys, unsigned size, unsigned step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ step;

    if (partner > i)
        order(&keys[i], &keys[partner], (i & size) == 0);
}

void sim_program_bitonic_sort(sim_check &check)
{
    const unsigned count = 1u << 13;
    sim_random random(11);
    sim_array<unsigned> keys(check, count);
    std::vector<unsigned> wanted;

    for (unsigned &key : keys.host)
        key = random.below(5000) << 18; /* with repetitions, and beyond INT_MAX */
    wanted = keys.host;
    for (size_t at = 0; at < count; at += 2 * BLOCK)
        std::sort(wanted.begin() + at, wanted.begin() + at + 2 * BLOCK);
    keys.upload();
    sort_block<<<count / (2 * BLOCK), BLOCK>>>(keys.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "blocks", keys, wanted);

    for (unsigned size = 2; size <= count; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2)
            one_step<<<count / 256, 256>>>(keys.device, size, step);
    SIM_LAUNCHED(check);
    std::sort(wanted.begin(), wanted.end());
    sim_equal(check, "all", keys, wanted);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for sim_ptx, compiled to plain PTX text. */
#include <stdint.h>

__constant__ int multiplier = 3;
__device__ unsigned visits;
__device__ int table[4] = {1, 10, 100, 1000};

extern "C" __global__ void add(const float *a, const float *b, float *sum, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        sum[i] = a[i] + b[i];
}

/* Sums of blocks in dynamic shared memory. */
extern "C" __global__ void block_sum(const int *in, int count, int *out)
{
    extern __shared__ int cache[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    cache[threadIdx.x] = i < count ? in[i] * multiplier : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = cache[0] + table[blockIdx.x % 4];
        atomicAdd(&visits, 1u);
    }
}

static __device__ __noinline__ uint64_t power(uint64_t base, unsigned exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

struct pair {
    char tag;
    uint64_t base;
};

extern "C" __global__ void powers(struct pair p, uint64_t *out)
{
    out[threadIdx.x] = power(p.base, threadIdx.x % 13) + (uint64_t)p.tag;
}

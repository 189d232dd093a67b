/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of family rate that use a level of memory as badly as it can be used: single sectors, parts
 * of sectors, conflicts, different constants. None of them does what a body of another family does,
 * so that a family can be predicted from rates that were measured without it.
 */
#ifndef GMT_KERNELS_RATE_BODIES_CUH
#define GMT_KERNELS_RATE_BODIES_CUH

#include "kernels/families/access.cuh"
#include "kernels/families/access_shared.cuh"

#define RATE_THREADS 256
#define RATE_IN_FLIGHT 4
#define SECTOR_WORDS 8u

/*
 * A permutation of 0 .. 2^bits - 1 without any order: products with odd numbers and shifted sums
 * without carry can be undone, and so every number comes once.
 */
static __device__ __forceinline__ unsigned rate_permuted(unsigned x, unsigned bits)
{
    unsigned mask = (1u << bits) - 1, half = (bits + 1) / 2;

    x = x * 0x9e3779b1u & mask;
    x ^= x >> half;
    x = x * 0x85ebca77u & mask;
    x ^= x >> half;
    return x * 0xc2b2ae3du & mask;
}

/* Each of 2^bits sectors once, in no order: one word of it, by one lane. */
__global__ void gmt_kernel_rate_scattered(const float *source, float *target, unsigned bits)
{
    unsigned count = 1u << bits, step = gridDim.x * RATE_THREADS;
    float sum = 0;

    for (unsigned i = blockIdx.x * RATE_THREADS + threadIdx.x; i < count;
         i += RATE_IN_FLIGHT * step) {
        float part[RATE_IN_FLIGHT] = {0};
#pragma unroll
        for (unsigned j = 0; j < RATE_IN_FLIGHT; j++) {
            if (i + j * step < count)
                part[j] = gmt_load(source +
                                   (size_t)rate_permuted(i + j * step, bits) * SECTOR_WORDS);
        }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (sum == 1234567.0f) /* as good as never */
        gmt_store(target, sum);
}

/* The same past L1, again and again, in sectors that L2 holds. */
#define RATE_L2_LOADS 64
__global__ void gmt_kernel_rate_scattered_l2(const float *source, float *target, unsigned bits)
{
    unsigned mask = (1u << bits) - 1, step = gridDim.x * RATE_THREADS;
    unsigned i = blockIdx.x * RATE_THREADS + threadIdx.x;
    float sum = 0;

#pragma unroll 1
    for (unsigned round = 0; round < RATE_L2_LOADS; round += RATE_IN_FLIGHT) {
        float part[RATE_IN_FLIGHT];
#pragma unroll
        for (unsigned j = 0; j < RATE_IN_FLIGHT; j++) {
            part[j] = gmt_load_l2(source + (size_t)rate_permuted(i & mask, bits) * SECTOR_WORDS);
            i += step;
        }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (sum == 1234567.0f)
        gmt_store(target, sum);
}

/*
 * One word into the first sector of each unit of so many words, which lie one after the other: DRAM
 * gets whole bursts, L2 has to fill each sector up. Nothing is loaded.
 */
template <unsigned unit_words>
__global__ void gmt_kernel_rate_partial(float *target, unsigned units)
{
    unsigned step = gridDim.x * RATE_THREADS;

    for (unsigned i = blockIdx.x * RATE_THREADS + threadIdx.x; i < units; i += step)
        gmt_store(target + (size_t)i * unit_words + i % SECTOR_WORDS, 0);
}

/* Lanes 24 words apart: eight of them share a bank. Each load is one word further on. */
#define RATE_SHARED_STRIDE 24
#define RATE_SHARED_WAYS 8
#define RATE_SHARED_LOADS 1024
#define RATE_SHARED_WORDS 2048
__global__ void gmt_kernel_rate_shared(float *target, float value)
{
    __shared__ float words[RATE_SHARED_WORDS];
    unsigned lane = threadIdx.x % 32 * RATE_SHARED_STRIDE;
    float sum = 0;

    for (unsigned i = threadIdx.x; i < RATE_SHARED_WORDS; i += RATE_THREADS)
        words[i] = value;
    __syncthreads();
    unsigned at = gmt_shared_address(words) + lane * (unsigned)sizeof(float);
#pragma unroll 1
    for (int i = 0; i < RATE_SHARED_LOADS; i += 8) {
        float part[8];
#pragma unroll
        for (unsigned j = 0; j < 8; j++)
            part[j] = gmt_load_shared(at + j * (unsigned)sizeof(float));
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum += part[j];
        at += (unsigned)sizeof(float);
    }
    if (sum < 0) /* never: value is 0 */
        gmt_store(target + threadIdx.x, sum);
}

/* All lanes read different constants, seven words apart, and the next time thirteen words on. */
#define RATE_CONSTANT_WORDS 256u /* within every cache for constants */
#define RATE_CONSTANT_READS 128
__constant__ float gmt_rate_constants[RATE_CONSTANT_WORDS];
__global__ void gmt_kernel_rate_constant(float *target)
{
    unsigned at = threadIdx.x * 7;
    float sum = 0;

#pragma unroll 1
    for (int i = 0; i < RATE_CONSTANT_READS; i += RATE_IN_FLIGHT) {
        float part[RATE_IN_FLIGHT];
#pragma unroll
        for (int j = 0; j < RATE_IN_FLIGHT; j++) {
            part[j] = gmt_load_constant(gmt_rate_constants + at % RATE_CONSTANT_WORDS);
            at += 13;
        }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (sum < 0) /* never: the table is 0 */
        gmt_store(target + threadIdx.x, sum);
}

#endif

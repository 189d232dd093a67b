/* SPDX-License-Identifier: Apache-2.0 */
/* Family constant: reads of a table of constants, of 1 to 32 different words per warp. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define TABLE_WORDS 256u
#define READS 256 /* per thread, a multiple of the 4 that are in flight */

__constant__ float gmt_constant_table[TABLE_WORDS];

/* mask + 1 different words at once; the next read is that many words further on. */
__global__ void gmt_kernel_constant(float *target, unsigned mask)
{
    unsigned at = threadIdx.x & mask;
    float sum = 0;

#pragma unroll 1
    for (int i = 0; i < READS; i += 4) {
        float part[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            part[j] = gmt_load_constant(gmt_constant_table + at);
            at = (at + mask + 1) % TABLE_WORDS;
        }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (sum < 0) /* never: the table is 0 */
        gmt_store(target + threadIdx.x, sum);
}

/* The same reads from a copy in shared memory, one word per bank. */
__global__ void gmt_kernel_constant_shared(float *target, unsigned mask)
{
    __shared__ float table[TABLE_WORDS];
    unsigned at = threadIdx.x & mask;
    float sum = 0;

    table[threadIdx.x] = gmt_load_constant(gmt_constant_table);
    __syncthreads();
    unsigned base = (unsigned)__cvta_generic_to_shared(table);
#pragma unroll 1
    for (int i = 0; i < READS; i += 4) {
        float part[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            part[j] = gmt_load_shared(base + at * (unsigned)sizeof(float));
            at = (at + mask + 1) % TABLE_WORDS;
        }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (sum < 0)
        gmt_store(target + threadIdx.x, sum);
}

static unsigned block_count(const struct gmt_bench *bench)
{
    return bench->sm_count * (bench->max_warps_per_sm * 32 / BLOCK_THREADS);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    float *target = (float *)bench->arena;
    unsigned blocks = block_count(bench), mask = variant->parameter - 1;

    if (variant->kernel == GMT_KERNEL_constant)
        gmt_kernel_constant<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(target, mask);
    else
        gmt_kernel_constant_shared<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(target, mask);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double warps = (double)block_count(bench) * (BLOCK_THREADS / 32);

    if (variant->kernel == GMT_KERNEL_constant) {
        work->constant_requests = warps * READS;
        work->constant_addresses = warps * READS * variant->parameter;
        return 0;
    }
    work->constant_requests = work->constant_addresses = warps;
    work->shared_load_requests = warps * READS;
    work->shared_load_bytes = work->shared_load_requests * 32 * sizeof(float);
    work->wavefronts = work->ideal_wavefronts = work->shared_load_requests;
    return 0;
}

const struct gmt_family gmt_family_constant = {"constant", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/* Family bank: shared-memory loads whose lanes lie 1 to 33 words apart, or are 16 bytes wide. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define TILE_WORDS (32 * 33)
#define LOADS 1024 /* per thread, a multiple of the 8 that are in flight */

/* Zeroes, with full warps and without conflicts, so that the compiler cannot foresee sums. */
static __device__ __forceinline__ unsigned fill_tile(float *tile, float value)
{
    for (unsigned i = threadIdx.x; i < TILE_WORDS; i += BLOCK_THREADS)
        tile[i] = value;
    __syncthreads();
    return (unsigned)__cvta_generic_to_shared(tile);
}

template <unsigned stride> __global__ void gmt_kernel_bank(float *target, float value)
{
    __shared__ float tile[TILE_WORDS];
    unsigned address = fill_tile(tile, value) + (threadIdx.x % 32) * stride * sizeof(float);
    float sum = 0;

    for (int i = 0; i < LOADS; i += 8) {
        float part[8];
#pragma unroll
        for (int j = 0; j < 8; j++)
            part[j] = gmt_load_shared(address); /* planted */
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum += part[j];
    }
    if (sum < 0) /* never: value is 0 */
        gmt_store(target + threadIdx.x, sum);
}

__global__ void gmt_kernel_bank_vector(float *target, float value)
{
    __shared__ __align__(16) float tile[TILE_WORDS];
    unsigned address = fill_tile(tile, value) + (threadIdx.x % 32) * 16;
    float sum = 0;

    for (int i = 0; i < LOADS; i += 8) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum += gmt_load_shared_vector(address);
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
    unsigned blocks = block_count(bench);

    if (variant->kernel == GMT_KERNEL_bank_vector) {
        gmt_kernel_bank_vector<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(target, 0.0f);
        return gmt_bench_check(bench, cudaGetLastError(), variant->name);
    }
    switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_bank<parameter><<<blocks, BLOCK_THREADS, 0, bench->stream>>>(target, 0.0f); \
        break;
        GMT_VARIANTS_BANK_WORD(GMT_ROW)
#undef GMT_ROW
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = (double)block_count(bench) * (BLOCK_THREADS / 32) * LOADS;

    work->shared_load_requests = requests;
    work->shared_load_bytes = requests * 32 * variant->width_bytes;
    work->ideal_wavefronts = requests * variant->width_bytes / 4;
    work->wavefronts = work->ideal_wavefronts * variant->ways;
    return 0;
}

const struct gmt_family gmt_family_bank = {"bank", NULL, launch, work};

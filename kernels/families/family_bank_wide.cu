/* SPDX-License-Identifier: Apache-2.0 */
/* Family bank_wide: shared loads of 8 and 16 bytes, 1 to 32 such words apart, and broadcasts. */
#include "kernels/families/access_shared.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define TILE_BYTES 8192 /* 32 lanes of 8 bytes, 32 words apart; of 16 bytes, 16 apart */
#define LOADS 512       /* per thread, a multiple of the 8 that are in flight */

/* Zeroes, so that the compiler cannot foresee sums. */
static __device__ __forceinline__ unsigned fill_tile(float *tile, float value)
{
    for (unsigned i = threadIdx.x; i < TILE_BYTES / 4; i += BLOCK_THREADS)
        tile[i] = value;
    __syncthreads();
    return gmt_shared_address(tile);
}

template <unsigned width> static __device__ __forceinline__ float load_wide(unsigned address)
{
    if (width == 16)
        return gmt_load_shared_vector(address);
    return width == 8 ? gmt_load_shared_pair(address) : gmt_load_shared(address);
}

/* The word that a lane reads is lane / together * stride words away. */
template <unsigned width, unsigned stride, unsigned together>
static __device__ __forceinline__ void read_tile(float *tile, float *target, float value)
{
    unsigned address = fill_tile(tile, value) + threadIdx.x % 32 / together * stride * width;
    float sum = 0;

    for (int i = 0; i < LOADS; i += 8) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum += load_wide<width>(address);
    }
    if (sum < 0) /* never: value is 0 */
        gmt_store(target + threadIdx.x, sum);
}

template <unsigned width, unsigned stride>
__global__ void gmt_kernel_bank_wide(float *target, float value)
{
    __shared__ __align__(16) float tile[TILE_BYTES / 4];

    read_tile<width, stride, 1>(tile, target, value); /* planted */
}

/* So many neighbouring lanes read the same word. */
template <unsigned width, unsigned together>
__global__ void gmt_kernel_bank_together(float *target, float value)
{
    __shared__ __align__(16) float tile[TILE_BYTES / 4];

    read_tile<width, 1, together>(tile, target, value);
}

static unsigned block_count(const struct gmt_bench *bench)
{
    return bench->sm_count * (bench->max_warps_per_sm * 32 / BLOCK_THREADS);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    float *target = (float *)bench->arena;
    unsigned blocks = block_count(bench), shape = variant->width_bytes * 64 + variant->parameter;

#define GMT_ROW(family, name, kernel, parameter, width, ...) \
    case width * 64 + parameter: \
        gmt_kernel_##kernel<width, parameter> \
            <<<blocks, BLOCK_THREADS, 0, bench->stream>>>(target, 0.0f); \
        break;
    if (variant->kernel == GMT_KERNEL_bank_wide) {
        switch (shape) {
            GMT_VARIANTS_BANK_WIDE_STRIDES(GMT_ROW)
        }
    } else {
        switch (shape) {
            GMT_VARIANTS_BANK_WIDE_BROADCASTS(GMT_ROW)
        }
    }
#undef GMT_ROW
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    bool broadcast = variant->kernel == GMT_KERNEL_bank_together;
    double words = broadcast ? 32.0 / variant->parameter : 32; /* distinct ones of a request */
    double requests = (double)block_count(bench) * (BLOCK_THREADS / 32) * LOADS;
    double passes = words * variant->width_bytes / 128;

    /* Half the passes of a unit stride are left when all lanes want the same: never fewer. */
    if (broadcast && passes < variant->width_bytes / 8.0)
        passes = variant->width_bytes / 8.0;
    work->shared_load_requests = requests;
    work->shared_load_bytes = requests * words * variant->width_bytes;
    work->ideal_wavefronts = requests * (passes > 1 ? passes : 1);
    work->wavefronts = work->ideal_wavefronts * variant->ways;
    return 0;
}

const struct gmt_family gmt_family_bank_wide = {"bank_wide", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/* Family staged: sums over neighbours, read from the tile that was filled or again from global. */
#include "kernels/families/access_shared.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define ROW_WORDS 32 /* neighbours lie in other rows, so that all accesses are whole lines */
#define TAPS 16
#define TILE_WORDS (BLOCK_THREADS + (TAPS - 1) * ROW_WORDS)

/* Both kernels stage the same words: word i of the tile is word i of the source from here on. */
static __device__ __forceinline__ unsigned stage(float *tile, const float *source)
{
    unsigned base = gmt_shared_address(tile);

    for (unsigned i = threadIdx.x; i < TILE_WORDS; i += BLOCK_THREADS)
        gmt_store_shared(base + i * 4, gmt_load(source + i));
    __syncthreads();
    return base;
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_staged_read(const float *source, float *target)
{
    __shared__ float tile[TILE_WORDS];
    size_t first = (size_t)blockIdx.x * BLOCK_THREADS;
    unsigned base = stage(tile, source + first);
    float sum = 0;

#pragma unroll
    for (unsigned i = 0; i < TAPS; i++)
        sum += gmt_load_shared(base + (threadIdx.x + i * ROW_WORDS) * 4);
    gmt_store(target + first + threadIdx.x, sum);
}

/* Half done: the tile is filled, and the reads were left as they were. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_staged_unread(const float *source, float *target)
{
    __shared__ float tile[TILE_WORDS];
    size_t first = (size_t)blockIdx.x * BLOCK_THREADS;
    float sum = 0;

    (void)stage(tile, source + first);
#pragma unroll
    for (unsigned i = 0; i < TAPS; i++)
        sum += gmt_load(source + first + threadIdx.x + i * ROW_WORDS);
    gmt_store(target + first + threadIdx.x, sum);
}

/* The last block reads 15 rows past the source, which begin the pad. */
static size_t block_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / (sizeof(float) * BLOCK_THREADS);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)block_count(bench);

    if (variant->kernel == GMT_KERNEL_staged_read)
        gmt_kernel_staged_read<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target);
    else
        gmt_kernel_staged_unread<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double blocks = (double)block_count(bench), warps = blocks * (BLOCK_THREADS / 32);
    double taps = warps * TAPS, loads = blocks * (TILE_WORDS / 32);

    if (variant->kernel == GMT_KERNEL_staged_read) {
        work->shared_load_requests = work->wavefronts = work->ideal_wavefronts = taps;
        work->shared_load_bytes = taps * 128;
    } else {
        loads += taps;
    }
    work->load_requests = loads;
    work->store_requests = warps;
    work->load_sectors = loads * 4;
    work->store_sectors = warps * 4;
    work->bytes_asked = (loads + warps) * 128;
    return 0;
}

const struct gmt_family gmt_family_staged = {"staged", NULL, launch, work};

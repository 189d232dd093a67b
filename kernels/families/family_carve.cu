/* SPDX-License-Identifier: Apache-2.0 */
/* Family carve: a copy through tiles of 48, 24 and 12 KiB, of which fewer or more fit. */
#include "kernels/families/access_shared.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 128
#define LARGEST_TILE_BYTES ((size_t)48 * 1024)
/* Of 228 KiB, a quarter is rounded up to 64 KiB: four blocks of 12 KiB. */
#define SMALL_CARVEOUT_PERCENT 25

/* One load in flight per thread: its store into the tile waits for it. */
static __device__ __forceinline__ void copy(const float *source, float *target, unsigned words)
{
    extern __shared__ float tile[];
    unsigned base = gmt_shared_address(tile);
    size_t first = (size_t)blockIdx.x * words;

#pragma unroll 1
    for (unsigned i = threadIdx.x; i < words; i += BLOCK_THREADS)
        gmt_store_shared(base + i * 4, gmt_load(source + first + i));
    __syncthreads();
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < words; i += BLOCK_THREADS)
        gmt_store(target + first + i, gmt_load_shared(base + (i ^ 1) * 4));
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_carve(const float *source, float *target, unsigned words)
{
    copy(source, target, words);
}

/* A carve-out belongs to a function, so the one that asks for little shared memory is another. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_carve_small(const float *source, float *target, unsigned words)
{
    copy(source, target, words);
}

static size_t tile_bytes(const struct gmt_variant *variant)
{
    return (size_t)variant->parameter * 1024;
}

/* As many bytes for all variants: whole tiles of the largest size. */
static size_t copied_bytes(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / LARGEST_TILE_BYTES * LARGEST_TILE_BYTES;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)(copied_bytes(bench) / tile_bytes(variant));
    unsigned words = (unsigned)(tile_bytes(variant) / sizeof(float));
    bool small = variant->kernel == GMT_KERNEL_carve_small;
    const void *body = small ? (const void *)gmt_kernel_carve_small
                             : (const void *)gmt_kernel_carve;
    int rc;

    GMT_TRY(bench,
            cudaFuncSetAttribute(body, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 small ? SMALL_CARVEOUT_PERCENT : cudaSharedmemCarveoutMaxShared));
    if (small)
        gmt_kernel_carve_small<<<blocks, BLOCK_THREADS, tile_bytes(variant), bench->stream>>>(
            source, target, words);
    else
        gmt_kernel_carve<<<blocks, BLOCK_THREADS, tile_bytes(variant), bench->stream>>>(
            source, target, words);
    rc = gmt_bench_check(bench, cudaGetLastError(), variant->name);
out:
    return rc;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double bytes = (double)copied_bytes(bench), requests = bytes / 128;

    (void)variant;
    work->bytes_asked = 2 * bytes;
    work->load_requests = work->store_requests = requests;
    work->load_sectors = work->store_sectors = requests * 4;
    work->shared_load_requests = work->wavefronts = work->ideal_wavefronts = requests;
    work->shared_load_bytes = bytes;
    return 0;
}

const struct gmt_family gmt_family_carve = {"carve", NULL, launch, work};

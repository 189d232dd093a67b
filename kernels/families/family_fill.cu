/* SPDX-License-Identifier: Apache-2.0 */
/* Family fill: a block reads a tile that one thread, one warp or all its threads have filled. */
#include "kernels/families/access_shared.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define TILE_WORDS 1024
#define UNROLL 4 /* loads in flight of a thread that fills, as a compiler unrolls such loops */

/* The first `fillers` threads copy the tile, a multiple of UNROLL words each. */
template <unsigned fillers>
static __device__ __forceinline__ void fill(unsigned tile, const float *source)
{
    if (threadIdx.x >= fillers)
        return;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < TILE_WORDS; i += fillers * UNROLL) {
        float part[UNROLL];

#pragma unroll
        for (unsigned j = 0; j < UNROLL; j++)
            part[j] = gmt_load(source + i + j * fillers);
#pragma unroll
        for (unsigned j = 0; j < UNROLL; j++)
            gmt_store_shared(tile + (i + j * fillers) * 4, part[j]);
    }
}

/* Each thread adds up a word and its neighbours in the tile, so that the tile has a purpose. */
template <unsigned fillers>
__global__ void __launch_bounds__(BLOCK_THREADS) gmt_kernel_fill(const float *source, float *target)
{
    __shared__ float tile[TILE_WORDS];
    unsigned base = gmt_shared_address(tile);
    size_t first = (size_t)blockIdx.x * TILE_WORDS;

    fill<fillers>(base, source + first);
    __syncthreads();
#pragma unroll
    for (unsigned i = threadIdx.x; i < TILE_WORDS; i += BLOCK_THREADS) {
        float sum = gmt_load_shared(base + i * 4);

        sum += gmt_load_shared(base + (i + 1) % TILE_WORDS * 4);
        sum += gmt_load_shared(base + (i + TILE_WORDS - 1) % TILE_WORDS * 4);
        gmt_store(target + first + i, sum);
    }
}

/* A quarter: the slow ones wait for latency, not for bandwidth. */
static size_t block_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / 4 / (sizeof(float) * TILE_WORDS);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)block_count(bench);

    switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_fill<parameter><<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target); \
        break;
        GMT_VARIANTS_FILL(GMT_ROW)
#undef GMT_ROW
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)block_count(bench) * TILE_WORDS;
    double lanes = variant->parameter < 32 ? variant->parameter : 32;

    work->bytes_asked = 2 * words * sizeof(float);
    work->load_requests = words / lanes;
    work->load_sectors = work->load_requests * variant->sectors_per_request;
    work->store_requests = words / 32;
    work->store_sectors = words / 8;
    work->shared_load_requests = work->wavefronts = work->ideal_wavefronts = 3 * words / 32;
    work->shared_load_bytes = 3 * words * sizeof(float);
    return 0;
}

const struct gmt_family gmt_family_fill = {"fill", NULL, launch, work};

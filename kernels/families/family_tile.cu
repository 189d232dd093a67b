/* SPDX-License-Identifier: Apache-2.0 */
/* Family tile: 32 x 32 tiles transposed through shared memory; their columns conflict or not. */
#include "kernels/families/access_shared.cuh"
#include "kernels/families/families.h"

#define SIDE 32
#define BLOCK_ROWS 8 /* rows of threads; each handles SIDE / BLOCK_ROWS rows of the tile */
#define BLOCK_THREADS (SIDE * BLOCK_ROWS)

enum layout { COLUMN, PADDED, SWIZZLED };

/* Words of 4, 8 and 16 bytes, in one access each. */
template <typename word> struct words;
template <> struct words<float> {
    static __device__ float load(const float *p)
    {
        return gmt_load(p);
    }
    static __device__ void store(float *p, float v)
    {
        gmt_store(p, v);
    }
    static __device__ float load_shared(unsigned at)
    {
        return gmt_load_shared(at);
    }
    static __device__ void store_shared(unsigned at, float v)
    {
        gmt_store_shared(at, v);
    }
};
template <> struct words<float2> {
    static __device__ float2 load(const float2 *p)
    {
        return gmt_load_pair(p);
    }
    static __device__ void store(float2 *p, float2 v)
    {
        gmt_store_pair(p, v);
    }
    static __device__ float2 load_shared(unsigned at)
    {
        return gmt_load_shared_two(at);
    }
    static __device__ void store_shared(unsigned at, float2 v)
    {
        gmt_store_shared_two(at, v);
    }
};
template <> struct words<float4> {
    static __device__ float4 load(const float4 *p)
    {
        return gmt_load_vector(p);
    }
    static __device__ void store(float4 *p, float4 v)
    {
        gmt_store_vector(p, v);
    }
    static __device__ float4 load_shared(unsigned at)
    {
        return gmt_load_shared_words(at);
    }
    static __device__ void store_shared(unsigned at, float4 v)
    {
        gmt_store_shared_words(at, v);
    }
};

/* Where a word of the tile lies, in words. */
template <enum layout layout>
static __device__ __forceinline__ unsigned place(unsigned row, unsigned column)
{
    if (layout == PADDED)
        return row * (SIDE + 1) + column;
    return row * SIDE + (layout == SWIZZLED ? row ^ column : column);
}

/* Each tile lies in one piece: global memory is read and written in whole lines. */
template <enum layout layout, typename word>
static __device__ __forceinline__ void transpose(word *tile, const word *source, word *target)
{
    size_t first = (size_t)blockIdx.x * SIDE * SIDE;
    unsigned x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, base = gmt_shared_address(tile);

#pragma unroll
    for (unsigned row = 0; row < SIDE; row += BLOCK_ROWS)
        words<word>::store_shared(base + place<layout>(row + y, x) * sizeof(word),
                                  words<word>::load(source + first + (row + y) * SIDE + x));
    __syncthreads();
#pragma unroll
    for (unsigned row = 0; row < SIDE; row += BLOCK_ROWS)
        words<word>::store(
            target + first + (row + y) * SIDE + x,
            words<word>::load_shared(base + place<layout>(x, row + y) * sizeof(word)));
}

/* X(name, layout, word) */
#define GMT_TILE_BODIES(X) \
    X(tile_column, COLUMN, float) \
    X(tile_padded, PADDED, float) \
    X(tile_swizzled, SWIZZLED, float) \
    X(tile_column_pair, COLUMN, float2) \
    X(tile_padded_pair, PADDED, float2) \
    X(tile_column_quad, COLUMN, float4) \
    X(tile_padded_quad, PADDED, float4)

#define KERNEL(name, layout, word) \
    __global__ void __launch_bounds__(BLOCK_THREADS) \
        gmt_kernel_##name(const word *source, word *target) \
    { \
        __shared__ word tile[SIDE * (SIDE + 1)]; \
\
        transpose<layout>(tile, source, target); \
    }
GMT_TILE_BODIES(KERNEL) /* planted */
#undef KERNEL

static size_t tile_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    return bench->working_set_bytes / ((size_t)variant->width_bytes * SIDE * SIDE);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const void *source = bench->arena;
    void *target = bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES;
    unsigned blocks = (unsigned)tile_count(bench, variant);

    switch (variant->kernel) {
#define GMT_ROW(name, layout, word) \
    case GMT_KERNEL_##name: \
        gmt_kernel_##name<<<blocks, BLOCK_THREADS, 0, bench->stream>>>((const word *)source, \
                                                                       (word *)target); \
        break;
        GMT_TILE_BODIES(GMT_ROW)
#undef GMT_ROW
    default: break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = (double)tile_count(bench, variant) * SIDE;
    double passes = variant->width_bytes / 4.0;

    work->bytes_asked = 2 * requests * 128 * passes;
    work->load_requests = work->store_requests = requests;
    work->load_sectors = work->store_sectors = requests * variant->sectors_per_request;
    work->shared_load_requests = requests;
    work->ideal_wavefronts = requests * passes;
    work->shared_load_bytes = requests * 128 * passes;
    work->wavefronts = requests * passes * variant->ways;
    return 0;
}

const struct gmt_family gmt_family_tile = {"tile", NULL, launch, work};

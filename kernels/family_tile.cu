/* SPDX-License-Identifier: Apache-2.0 */
/* Family tile: 32 x 32 tiles transposed through shared memory; their columns conflict or not. */
#include "access_shared.cuh"
#include "bench.h"

#define SIDE 32
#define BLOCK_ROWS 8 /* rows of threads; each handles SIDE / BLOCK_ROWS rows of the tile */
#define BLOCK_THREADS (SIDE * BLOCK_ROWS)

enum layout { COLUMN, PADDED, SWIZZLED };

/* Where a word of the tile lies, in bytes. */
template <enum layout layout>
static __device__ __forceinline__ unsigned place(unsigned row, unsigned column)
{
    if (layout == PADDED)
        return (row * (SIDE + 1) + column) * 4;
    return (row * SIDE + (layout == SWIZZLED ? row ^ column : column)) * 4;
}

/* Each tile lies in one piece of 4 KiB: global memory is read and written in whole lines. */
template <enum layout layout>
static __device__ __forceinline__ void transpose(float *tile, const float *source, float *target)
{
    size_t first = (size_t)blockIdx.x * SIDE * SIDE;
    unsigned x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, base = gmt_shared_address(tile);

#pragma unroll
    for (unsigned row = 0; row < SIDE; row += BLOCK_ROWS)
        gmt_store_shared(base + place<layout>(row + y, x),
                         gmt_load(source + first + (row + y) * SIDE + x));
    __syncthreads();
#pragma unroll
    for (unsigned row = 0; row < SIDE; row += BLOCK_ROWS)
        gmt_store(target + first + (row + y) * SIDE + x,
                  gmt_load_shared(base + place<layout>(x, row + y)));
}

#define KERNEL(name, layout) \
    __global__ void __launch_bounds__(BLOCK_THREADS) \
        gmt_kernel_##name(const float *source, float *target) \
    { \
        __shared__ float tile[SIDE * (SIDE + 1)]; \
\
        transpose<layout>(tile, source, target); \
    }
KERNEL(tile_column, COLUMN)
KERNEL(tile_padded, PADDED)
KERNEL(tile_swizzled, SWIZZLED)

static size_t tile_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / (sizeof(float) * SIDE * SIDE);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)tile_count(bench);

    switch (variant->kernel) {
    case GMT_KERNEL_tile_column:
        gmt_kernel_tile_column<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target);
        break;
    case GMT_KERNEL_tile_padded:
        gmt_kernel_tile_padded<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target);
        break;
    default:
        gmt_kernel_tile_swizzled<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target);
        break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant, struct gmt_work *work)
{
    double requests = (double)tile_count(bench) * SIDE;

    work->bytes_asked = 2 * requests * 128;
    work->load_requests = work->store_requests = requests;
    work->load_sectors = work->store_sectors = requests * 4;
    work->shared_load_requests = work->ideal_wavefronts = requests;
    work->shared_load_bytes = requests * 128;
    work->wavefronts = requests * variant->ways;
    return 0;
}

const struct gmt_family gmt_family_tile = {"tile", NULL, launch, work};

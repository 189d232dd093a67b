/* SPDX-License-Identifier: Apache-2.0 */
/* Family order: which index of a matrix threadIdx.x runs along, in a sum and in a transpose. */
#include <math.h>

#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define TILE 32
#define BLOCK_ROWS 8

static __device__ __forceinline__ void add(const float *a, const float *b, float *sum, size_t at)
{
    gmt_store(sum + at, gmt_load(a + at) + gmt_load(b + at));
}

__global__ void gmt_kernel_order_add_rows(const float *a, const float *b, float *sum, size_t width)
{
    size_t row = (size_t)blockIdx.y * BLOCK_ROWS + threadIdx.y;
    size_t column = (size_t)blockIdx.x * TILE + threadIdx.x;

    add(a, b, sum, row * width + column);
}

/* Rows and columns have changed places: neighbouring threads lie a row apart. */
__global__ void gmt_kernel_order_add_columns(const float *a, const float *b, float *sum,
                                             size_t width)
{
    size_t row = (size_t)blockIdx.x * TILE + threadIdx.x;
    size_t column = (size_t)blockIdx.y * BLOCK_ROWS + threadIdx.y;

    add(a, b, sum, row * width + column); /* planted */
}

__global__ void gmt_kernel_order_scatter(const float *source, float *target, size_t width)
{
    size_t row = (size_t)blockIdx.y * BLOCK_ROWS + threadIdx.y;
    size_t column = (size_t)blockIdx.x * TILE + threadIdx.x;

    gmt_store(target + column * width + row, gmt_load(source + row * width + column)); /* planted */
}

__global__ void gmt_kernel_order_gather(const float *source, float *target, size_t width)
{
    size_t row = (size_t)blockIdx.y * BLOCK_ROWS + threadIdx.y;
    size_t column = (size_t)blockIdx.x * TILE + threadIdx.x;

    gmt_store(target + row * width + column, gmt_load(source + column * width + row)); /* planted */
}

/* Each thread moves TILE / BLOCK_ROWS words: the tile is filled by rows and read by columns. */
template <unsigned apart>
__global__ void gmt_kernel_order_tile(const float *source, float *target, size_t width)
{
    __shared__ float tile[TILE * apart];
    unsigned base = (unsigned)__cvta_generic_to_shared(tile);
    size_t from = ((size_t)blockIdx.y * TILE + threadIdx.y) * width + (size_t)blockIdx.x * TILE;
    size_t to = ((size_t)blockIdx.x * TILE + threadIdx.y) * width + (size_t)blockIdx.y * TILE;

#pragma unroll
    for (unsigned row = 0; row < TILE; row += BLOCK_ROWS)
        tile[(threadIdx.y + row) * apart + threadIdx.x] = gmt_load(source + from + row * width +
                                                                   threadIdx.x);
    __syncthreads();
#pragma unroll
    for (unsigned row = 0; row < TILE; row += BLOCK_ROWS)
        gmt_store(
            target + to + row * width + threadIdx.x,
            gmt_load_shared(/* planted */
                            base + (threadIdx.x * apart + threadIdx.y + row) * sizeof(float)));
}

/* Half of the working set for each matrix; rows of a multiple of 32 words. */
static size_t matrix_width(const struct gmt_bench *bench)
{
    double words = (double)bench->working_set_bytes / 2 / sizeof(float);

    return (size_t)sqrt(words) / TILE * TILE;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t width = matrix_width(bench);
    const float *a = (const float *)bench->arena;
    const float *b = (const float *)(bench->arena + bench->working_set_bytes / 2);
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned tiles = (unsigned)(width / TILE);
    dim3 block(TILE, BLOCK_ROWS), grid(tiles, (unsigned)(width / BLOCK_ROWS));
    cudaStream_t stream = bench->stream;

    switch (variant->kernel) {
    case GMT_KERNEL_order_add_rows:
        gmt_kernel_order_add_rows<<<grid, block, 0, stream>>>(a, b, target, width);
        break;
    case GMT_KERNEL_order_add_columns:
        gmt_kernel_order_add_columns<<<grid, block, 0, stream>>>(a, b, target, width);
        break;
    case GMT_KERNEL_order_scatter:
        gmt_kernel_order_scatter<<<grid, block, 0, stream>>>(a, target, width);
        break;
    case GMT_KERNEL_order_gather:
        gmt_kernel_order_gather<<<grid, block, 0, stream>>>(a, target, width);
        break;
    default:
        if (variant->parameter == TILE)
            gmt_kernel_order_tile<TILE><<<dim3(tiles, tiles), block, 0, stream>>>(a, target, width);
        else
            gmt_kernel_order_tile<TILE + 1>
                <<<dim3(tiles, tiles), block, 0, stream>>>(a, target, width);
        break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)matrix_width(bench) * (double)matrix_width(bench);
    bool adds = variant->kernel == GMT_KERNEL_order_add_rows ||
                variant->kernel == GMT_KERNEL_order_add_columns;
    double loads = adds ? 2 : 1; /* of each thread */
    bool writes_columns = variant->kernel == GMT_KERNEL_order_add_columns ||
                          variant->kernel == GMT_KERNEL_order_scatter;

    work->bytes_asked = words * sizeof(float) * (loads + 1);
    work->load_requests = words / 32 * loads;
    work->load_sectors = work->load_requests * variant->sectors_per_request;
    work->store_requests = words / 32;
    work->store_sectors = work->store_requests * (writes_columns ? 32 : 4);
    if (variant->kernel == GMT_KERNEL_order_tile) {
        work->shared_load_requests = work->ideal_wavefronts = words / 32;
        work->shared_load_bytes = words * sizeof(float);
        work->wavefronts = work->ideal_wavefronts * variant->ways;
    }
    return 0;
}

const struct gmt_family gmt_family_order = {"order", NULL, launch, work};

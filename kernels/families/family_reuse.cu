/* SPDX-License-Identifier: Apache-2.0 */
/* Family reuse: data that many threads read, from global memory each time or from a tile. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define MATRIX_EDGE_MOST 1024
#define NAIVE_ROWS 8 /* of a block of the naive product, 32 columns wide */
#define STENCIL_COLUMNS 32
#define STENCIL_ROWS 8
#define RADIUS 4
#define ORIGIN_COLUMN 8 /* of the plane in its rows: starts a sector, and leaves room for the rim */
#define RIM_COLUMNS 16
#define TILE_COLUMNS (STENCIL_COLUMNS + 2 * RADIUS)
#define TILE_ROWS (STENCIL_ROWS + 2 * RADIUS)

static __device__ __forceinline__ unsigned address_of(const float *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

__global__ void gmt_kernel_matmul_naive(const float *a, const float *b, float *c, unsigned n)
{
    unsigned column = blockIdx.x * 32 + threadIdx.x;
    unsigned row = blockIdx.y * NAIVE_ROWS + threadIdx.y;
    float sum = 0;

#pragma unroll 8
    for (unsigned k = 0; k < n; k++)
        sum = fmaf(gmt_load(a + (size_t)row * n + k), gmt_load(b + (size_t)k * n + column), sum);
    gmt_store(c + (size_t)row * n + column, sum);
}

template <unsigned edge>
__global__ void gmt_kernel_matmul_tiled(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ float tile_a[edge][edge], tile_b[edge][edge];
    unsigned column = blockIdx.x * edge + threadIdx.x;
    unsigned row = blockIdx.y * edge + threadIdx.y;
    float sum = 0;

    for (unsigned k0 = 0; k0 < n; k0 += edge) {
        tile_a[threadIdx.y][threadIdx.x] = gmt_load(a + (size_t)row * n + k0 + threadIdx.x);
        tile_b[threadIdx.y][threadIdx.x] = gmt_load(b + (size_t)(k0 + threadIdx.y) * n + column);
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < edge; k++)
            sum = fmaf(gmt_load_shared(address_of(&tile_a[threadIdx.y][k])),
                       gmt_load_shared(address_of(&tile_b[k][threadIdx.x])), sum);
        __syncthreads();
    }
    gmt_store(c + (size_t)row * n + column, sum);
}

/* The plane has a rim of RADIUS rows, and ORIGIN_COLUMN columns before its first one. */
__global__ void gmt_kernel_stencil_naive(const float *source, float *target, unsigned pitch)
{
    size_t column = ORIGIN_COLUMN + blockIdx.x * STENCIL_COLUMNS + threadIdx.x;
    size_t row = RADIUS + blockIdx.y * STENCIL_ROWS + threadIdx.y;
    const float *at = source + row * pitch + column;
    float sum = gmt_load(at);

#pragma unroll
    for (int r = 1; r <= RADIUS; r++)
        sum += (gmt_load(at - r) + gmt_load(at + r)) +
               (gmt_load(at - (size_t)r * pitch) + gmt_load(at + (size_t)r * pitch));
    gmt_store(target + row * pitch + column, sum);
}

__global__ void gmt_kernel_stencil_tiled(const float *source, float *target, unsigned pitch)
{
    __shared__ float tile[TILE_ROWS][TILE_COLUMNS];
    size_t column = ORIGIN_COLUMN + blockIdx.x * STENCIL_COLUMNS + threadIdx.x;
    size_t row0 = (size_t)blockIdx.y * STENCIL_ROWS; /* of the rim above */
    unsigned x = threadIdx.x + RADIUS, y = threadIdx.y + RADIUS;

    for (unsigned r = threadIdx.y; r < TILE_ROWS; r += STENCIL_ROWS) {
        const float *from = source + (row0 + r) * pitch + column - RADIUS;

        tile[r][threadIdx.x] = gmt_load(from);
        if (threadIdx.x < 2 * RADIUS)
            tile[r][STENCIL_COLUMNS + threadIdx.x] = gmt_load(from + STENCIL_COLUMNS);
    }
    __syncthreads();
    float sum = gmt_load_shared(address_of(&tile[y][x]));
#pragma unroll
    for (unsigned r = 1; r <= RADIUS; r++)
        sum += (gmt_load_shared(address_of(&tile[y][x - r])) +
                gmt_load_shared(address_of(&tile[y][x + r]))) +
               (gmt_load_shared(address_of(&tile[y - r][x])) +
                gmt_load_shared(address_of(&tile[y + r][x])));
    gmt_store(target + (row0 + y) * pitch + column, sum);
}

/* A power of two; the three matrices take at most a quarter of the working set. */
static unsigned matrix_edge(const struct gmt_bench *bench)
{
    size_t edge = 32;

    while (edge < MATRIX_EDGE_MOST &&
           3 * 4 * edge * edge * sizeof(float) <= bench->working_set_bytes / 4)
        edge *= 2;
    return (unsigned)edge;
}

/* The plane fills half of the working set; both edges are powers of two. */
static void plane_size(const struct gmt_bench *bench, unsigned *columns, unsigned *rows)
{
    size_t cells = bench->working_set_bytes / 2 / sizeof(float);

    *columns = 32;
    while ((size_t)*columns * *columns * 4 <= cells)
        *columns *= 2;
    *rows = (unsigned)(cells / *columns);
}

static void launch_product(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    unsigned n = matrix_edge(bench);
    const float *a = (const float *)bench->arena, *b = a + (size_t)n * n;
    float *c = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    cudaStream_t stream = bench->stream;

    if (variant->parameter == 32)
        gmt_kernel_matmul_tiled<32><<<dim3(n / 32, n / 32), dim3(32, 32), 0, stream>>>(a, b, c, n);
    else if (variant->parameter == 16)
        gmt_kernel_matmul_tiled<16><<<dim3(n / 16, n / 16), dim3(16, 16), 0, stream>>>(a, b, c, n);
    else
        gmt_kernel_matmul_naive<<<dim3(n / 32, n / NAIVE_ROWS), dim3(32, NAIVE_ROWS), 0, stream>>>(
            a, b, c, n);
}

static void launch_stencil(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    dim3 block(STENCIL_COLUMNS, STENCIL_ROWS);
    unsigned columns, rows;

    plane_size(bench, &columns, &rows);
    dim3 grid(columns / STENCIL_COLUMNS, rows / STENCIL_ROWS);
    unsigned pitch = columns + RIM_COLUMNS;
    if (variant->kernel == GMT_KERNEL_stencil_tiled)
        gmt_kernel_stencil_tiled<<<grid, block, 0, bench->stream>>>(source, target, pitch);
    else
        gmt_kernel_stencil_naive<<<grid, block, 0, bench->stream>>>(source, target, pitch);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    if (variant->kernel == GMT_KERNEL_stencil_naive || variant->kernel == GMT_KERNEL_stencil_tiled)
        launch_stencil(bench, variant);
    else
        launch_product(bench, variant);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static void work_of_product(double n, const struct gmt_variant *variant,
                            struct gmt_variant_work *work)
{
    double warps = n * n / 32, edge = variant->parameter;
    /* Distinct words of a request: an element of a and a row of b, or whole rows of both. */
    double words = edge > 0 ? 32 : (1 + 32) / 2.0;

    work->load_requests = warps * 2 * (edge > 0 ? n / edge : n);
    work->load_sectors = work->load_requests * variant->sectors_per_request;
    work->bytes_asked = (work->load_requests * words + warps * 32) * sizeof(float);
    work->store_requests = warps;
    work->store_sectors = warps * 4;
    if (edge > 0) {
        /* A warp holds 32 / edge rows: it reads one word of each, and a row of the other tile. */
        work->shared_load_requests = warps * 2 * n;
        work->shared_load_bytes = warps * n * (32 / edge + edge) * sizeof(float);
        work->wavefronts = work->ideal_wavefronts = work->shared_load_requests;
    }
}

static void work_of_stencil(double cells, const struct gmt_variant *variant,
                            struct gmt_variant_work *work)
{
    double warps = cells / 32, points = 4 * RADIUS + 1;

    work->store_requests = warps;
    work->store_sectors = warps * 4;
    if (variant->kernel == GMT_KERNEL_stencil_naive) {
        work->load_requests = warps * points;
        /* Those to the left and to the right start inside a sector. */
        work->load_sectors = warps * (points * 4 + 2 * RADIUS);
        work->bytes_asked = warps * 32 * (points + 1) * sizeof(float);
        return;
    }
    double tile_rows = warps / STENCIL_ROWS * TILE_ROWS;
    /* 32 words and the 8 behind them, both from the middle of a sector on. */
    work->load_requests = tile_rows * 2;
    work->load_sectors = tile_rows * (5 + 2);
    work->bytes_asked = (tile_rows * TILE_COLUMNS + warps * 32) * sizeof(float);
    work->shared_load_requests = warps * points;
    work->shared_load_bytes = work->shared_load_requests * 32 * sizeof(float);
    work->wavefronts = work->ideal_wavefronts = work->shared_load_requests;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    unsigned columns, rows;

    plane_size(bench, &columns, &rows);
    if (variant->kernel == GMT_KERNEL_stencil_naive || variant->kernel == GMT_KERNEL_stencil_tiled)
        work_of_stencil((double)columns * rows, variant, work);
    else
        work_of_product(matrix_edge(bench), variant, work);
    return 0;
}

const struct gmt_family gmt_family_reuse = {"reuse", NULL, launch, work};

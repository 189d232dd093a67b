/* SPDX-License-Identifier: Apache-2.0 */
/* Family quiet: healthy kernels of several kinds, about which no rule may speak. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define TILE_EDGE 32
#define TILE_STEP 8       /* rows of threads; each copies TILE_EDGE / TILE_STEP words */
#define ROW_WORDS 1024    /* of row_scale */
#define REDUCE_VECTORS 16 /* of one thread of reduce */

__global__ void gmt_kernel_quiet_triad(const float *b, const float *c, float *a, float s)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(a + i, fmaf(s, gmt_load(c + i), gmt_load(b + i)));
}

/* Multiplication by an odd number permutes the lanes. */
__global__ void gmt_kernel_quiet_permuted(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    size_t from = (i & ~(size_t)31) | (threadIdx.x * 5 % 32);

    gmt_store(target + i, gmt_load(source + from));
}

__global__ void gmt_kernel_quiet_row_scale(const float *source, const float *factor, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i) * gmt_load(factor + i / ROW_WORDS));
}

__global__ void gmt_kernel_quiet_reduce(const float4 *source, float *target)
{
    size_t thread = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;
    float sum = 0;

#pragma unroll 4
    for (int k = 0; k < REDUCE_VECTORS; k++) {
        float4 v = gmt_load_vector(source + thread + k * step);

        sum += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x % 32 == 0)
        gmt_store(target + thread / 32, sum);
}

__global__ void gmt_kernel_quiet_copy16(const float4 *source, float4 *target)
{
    size_t i = (size_t)blockIdx.x * (2 * BLOCK_THREADS) + threadIdx.x;
    float4 first = gmt_load_vector(source + i);
    float4 second = gmt_load_vector(source + i + BLOCK_THREADS);

    gmt_store_vector(target + i, first);
    gmt_store_vector(target + i + BLOCK_THREADS, second);
}

__global__ void gmt_kernel_quiet_fill16(float4 *target, float value)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store_vector(target + i, make_float4(value, value, value, value));
}

__global__ void gmt_kernel_quiet_update8(float2 *data, float s)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float2 v = gmt_load_pair(data + i);

    gmt_store_pair(data + i, make_float2(v.x * s, v.y * s));
}

__global__ void gmt_kernel_quiet_transpose(const float *source, float *target, unsigned columns,
                                           unsigned rows)
{
    __shared__ float tile[TILE_EDGE][TILE_EDGE + 1];
    size_t x = (size_t)blockIdx.x * TILE_EDGE, y = (size_t)blockIdx.y * TILE_EDGE;

#pragma unroll
    for (unsigned r = threadIdx.y; r < TILE_EDGE; r += TILE_STEP)
        tile[r][threadIdx.x] = gmt_load(source + (y + r) * columns + x + threadIdx.x);
    __syncthreads();
#pragma unroll
    for (unsigned r = threadIdx.y; r < TILE_EDGE; r += TILE_STEP)
        gmt_store(target + (x + r) * rows + y + threadIdx.x,
                  gmt_load_shared((unsigned)__cvta_generic_to_shared(&tile[threadIdx.x][r])));
}

static size_t element_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    return bench->working_set_bytes / variant->width_bytes;
}

static void launch_transpose(const struct gmt_bench *bench, const float *source, float *target)
{
    size_t count = bench->working_set_bytes / sizeof(float), columns = TILE_EDGE;

    while (columns * columns * 4 <= count)
        columns *= 2;
    size_t rows = count / columns;
    dim3 grid((unsigned)(columns / TILE_EDGE), (unsigned)(rows / TILE_EDGE));
    gmt_kernel_quiet_transpose<<<grid, dim3(TILE_EDGE, TILE_STEP), 0, bench->stream>>>(
        source, target, (unsigned)columns, (unsigned)rows);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t count = element_count(bench, variant);
    float *source = (float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)(count / BLOCK_THREADS);
    cudaStream_t stream = bench->stream;

    switch (variant->kernel) {
    case GMT_KERNEL_quiet_triad:
        gmt_kernel_quiet_triad<<<blocks / 2, BLOCK_THREADS, 0, stream>>>(source, source + count / 2,
                                                                         target, 2.0f);
        break;
    case GMT_KERNEL_quiet_permuted:
        gmt_kernel_quiet_permuted<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target);
        break;
    case GMT_KERNEL_quiet_row_scale:
        gmt_kernel_quiet_row_scale<<<blocks / 2, BLOCK_THREADS, 0, stream>>>(
            source, source + count / 2, target);
        break;
    case GMT_KERNEL_quiet_reduce:
        gmt_kernel_quiet_reduce<<<blocks / REDUCE_VECTORS, BLOCK_THREADS, 0, stream>>>(
            (const float4 *)source, target);
        break;
    case GMT_KERNEL_quiet_copy16:
        gmt_kernel_quiet_copy16<<<blocks / 2, BLOCK_THREADS, 0, stream>>>((const float4 *)source,
                                                                          (float4 *)target);
        break;
    case GMT_KERNEL_quiet_fill16:
        gmt_kernel_quiet_fill16<<<blocks, BLOCK_THREADS, 0, stream>>>((float4 *)target, 0.0f);
        break;
    case GMT_KERNEL_quiet_update8:
        gmt_kernel_quiet_update8<<<blocks, BLOCK_THREADS, 0, stream>>>((float2 *)target, 1.0f);
        break;
    default: launch_transpose(bench, source, target); break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double warps = (double)element_count(bench, variant) / 32;
    double bytes = 32.0 * variant->width_bytes;
    double loads = warps, stores = warps;
    double loaded = warps * bytes, stored = warps * bytes; /* bytes asked for */

    switch (variant->kernel) {
    case GMT_KERNEL_quiet_triad: /* two arrays in, one out, each half of the working set */
        stores = warps / 2;
        stored /= 2;
        break;
    case GMT_KERNEL_quiet_row_scale: /* half of the working set, and a word more for each warp */
        stores = warps / 2;
        stored /= 2;
        loaded = warps / 2 * (bytes + sizeof(float));
        break;
    case GMT_KERNEL_quiet_reduce:
        stores = warps / REDUCE_VECTORS;
        stored = stores * sizeof(float);
        break;
    case GMT_KERNEL_quiet_fill16: loads = loaded = 0; break;
    case GMT_KERNEL_quiet_transpose:
        work->shared_load_requests = work->wavefronts = work->ideal_wavefronts = warps;
        work->shared_load_bytes = warps * bytes;
        break;
    default: break;
    }
    work->bytes_asked = loaded + stored;
    work->load_requests = loads;
    work->load_sectors = loads > 0 ? loads * variant->sectors_per_request : 0;
    work->store_requests = stores;
    work->store_sectors = variant->kernel == GMT_KERNEL_quiet_reduce ? stores : stored / 32;
    return 0;
}

const struct gmt_family gmt_family_quiet = {"quiet", NULL, launch, work};

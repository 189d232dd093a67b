/* SPDX-License-Identifier: Apache-2.0 */
/* Family tail: one job in grids that fill whole waves of resident blocks, and in grids that do not. */
#include "kernels/families/launch.cuh"

#define BLOCK_THREADS 1024
#define EIGHTHS 8
#define ONE_MORE 33
/* Rounds of a block in four full waves. */
#define ROUNDS 128
#define FULL_WAVES 4

__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_tail_stream(const float *source, float *target, size_t count)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;

#pragma unroll 1
    for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += step)
        gmt_store(target + i, gmt_load(source + i));
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_tail_compute(const float *source, float *target, unsigned rounds)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_multiply_add<4>(gmt_load(source + i), rounds));
}

static const void *body_of(const struct gmt_variant *variant)
{
    return variant->kernel == GMT_KERNEL_tail_stream ? (const void *)gmt_kernel_tail_stream
                                                     : (const void *)gmt_kernel_tail_compute;
}

static int block_counts(struct gmt_bench *bench, const struct gmt_variant *variant,
                        unsigned *blocks, unsigned *wave)
{
    unsigned resident = 0;
    int rc = gmt_resident_blocks(bench, body_of(variant), BLOCK_THREADS, 0, &resident);

    *wave = resident * bench->sm_count;
    *blocks = *wave * variant->parameter / EIGHTHS;
    if (variant->parameter == ONE_MORE)
        *blocks = FULL_WAVES * *wave + 1;
    return rc;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    unsigned blocks = 0, wave = 0;
    int rc = block_counts(bench, variant, &blocks, &wave);

    if (rc != 0)
        return rc;
    if (variant->kernel == GMT_KERNEL_tail_stream)
        gmt_kernel_tail_stream<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(
            source, gmt_target(bench), bench->working_set_bytes / sizeof(float));
    else
        gmt_kernel_tail_compute<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(
            source, gmt_target(bench), ROUNDS * FULL_WAVES * wave / blocks);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    unsigned blocks = 0, wave = 0;
    int rc = block_counts(bench, variant, &blocks, &wave);
    double words = variant->kernel == GMT_KERNEL_tail_stream
                       ? (double)bench->working_set_bytes / sizeof(float)
                       : (double)blocks * BLOCK_THREADS;

    if (rc != 0)
        return rc;
    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return gmt_work_resident(bench, body_of(variant), BLOCK_THREADS, 0, work);
}

const struct gmt_family gmt_family_tail = {"tail", NULL, launch, work};

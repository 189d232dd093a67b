/* SPDX-License-Identifier: Apache-2.0 */
/* Family partial_warp: blocks of 33, 48 and 64 threads, bound by memory or by arithmetic. */
#include "kernels/families/launch.cuh"

#define ROUNDS 128
#define WAVES 2
/* Threads that fill whole blocks of each size, and eight blocks of 33, after which the alignment of
 * their first words repeats. */
#define COMMON_MULTIPLE 2112

__global__ void gmt_kernel_partial_stream(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i));
}

__global__ void gmt_kernel_partial_compute(const float *source, float *target, unsigned rounds)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    gmt_store(target + i, gmt_multiply_add<4>(gmt_load(source + i), rounds));
}

static size_t thread_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t threads = bench->working_set_bytes / sizeof(float);

    if (variant->kernel == GMT_KERNEL_partial_compute)
        threads = (size_t)WAVES * bench->sm_count * bench->max_warps_per_sm * 32;
    return threads - threads % COMMON_MULTIPLE;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    unsigned threads = variant->parameter;
    unsigned blocks = (unsigned)(thread_count(bench, variant) / threads);

    if (variant->kernel == GMT_KERNEL_partial_stream)
        gmt_kernel_partial_stream<<<blocks, threads, 0, bench->stream>>>(source, gmt_target(bench));
    else
        gmt_kernel_partial_compute<<<blocks, threads, 0, bench->stream>>>(source, gmt_target(bench),
                                                                          ROUNDS);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)thread_count(bench, variant);
    unsigned threads = variant->parameter, warps = (threads + 31) / 32;
    double requests = words / threads * warps;
    const void *body = variant->kernel == GMT_KERNEL_partial_stream
                           ? (const void *)gmt_kernel_partial_stream
                           : (const void *)gmt_kernel_partial_compute;

    gmt_work_copy(work, words, requests, requests * variant->sectors_per_request);
    return gmt_work_resident(bench, body, threads, 0, work);
}

const struct gmt_family gmt_family_partial_warp = {"partial_warp", NULL, launch, work};

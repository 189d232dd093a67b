/* SPDX-License-Identifier: Apache-2.0 */
/* Family block_size: the same threads in blocks of 32 to 1024, bound by memory or by arithmetic. */
#include "kernels/families/launch.cuh"

#define ROUNDS 128
#define WAVES 2 /* of threads that the device holds at once */

__global__ void gmt_kernel_block_stream(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i));
}

__global__ void gmt_kernel_block_compute(const float *source, float *target, unsigned rounds)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    gmt_store(target + i, gmt_multiply_add<4>(gmt_load(source + i), rounds));
}

/* A multiple of every block size: of 1024 threads per multiprocessor, and a power of two. */
static size_t thread_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    if (variant->kernel == GMT_KERNEL_block_stream)
        return bench->working_set_bytes / sizeof(float);
    return (size_t)WAVES * bench->sm_count * bench->max_warps_per_sm * 32;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    unsigned threads = variant->parameter;
    unsigned blocks = (unsigned)(thread_count(bench, variant) / threads);

    if (variant->kernel == GMT_KERNEL_block_stream)
        gmt_kernel_block_stream<<<blocks, threads, 0, bench->stream>>>(source, gmt_target(bench));
    else
        gmt_kernel_block_compute<<<blocks, threads, 0, bench->stream>>>(source, gmt_target(bench),
                                                                        ROUNDS);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)thread_count(bench, variant);
    const void *body = variant->kernel == GMT_KERNEL_block_stream
                           ? (const void *)gmt_kernel_block_stream
                           : (const void *)gmt_kernel_block_compute;

    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return gmt_work_resident(bench, body, variant->parameter, 0, work);
}

const struct gmt_family gmt_family_block_size = {"block_size", NULL, launch, work};

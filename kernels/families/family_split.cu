/* SPDX-License-Identifier: Apache-2.0 */
/* Family split: two element-wise kernels with their intermediate in device memory, and one kernel. */
#include "kernels/families/launch.cuh"

#define BLOCK_THREADS 256

__global__ void gmt_kernel_split_scale(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i) * 0.5f);
}

__global__ void gmt_kernel_split_add(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i) + 1.0f);
}

__global__ void gmt_kernel_split_fused(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i) * 0.5f + 1.0f);
}

/* Half of the source; the other half holds the intermediate: still twice L2 each. */
static size_t word_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / sizeof(float) / 2;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t count = word_count(bench);
    float *source = (float *)bench->arena, *between = source + count;
    unsigned blocks = (unsigned)(count / BLOCK_THREADS);

    if (variant->kernel == GMT_KERNEL_split_fused) {
        gmt_kernel_split_fused<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source,
                                                                            gmt_target(bench));
    } else {
        gmt_kernel_split_scale<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, between);
        gmt_kernel_split_add<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(between,
                                                                          gmt_target(bench));
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)word_count(bench) * variant->parameter;

    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return 0;
}

const struct gmt_family gmt_family_split = {"split", NULL, launch, work};

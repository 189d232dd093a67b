/* SPDX-License-Identifier: Apache-2.0 */
/* Family serial: the same words by one thread, by one block and by a grid. */
#include "kernels/families/launch.cuh"

#define WORDS 16384u
#define BLOCK_THREADS 256u

__global__ void gmt_kernel_serial(const float *source, float *target)
{
    unsigned step = gridDim.x * blockDim.x;

#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < WORDS; i += step)
        gmt_store(target + i, gmt_load(source + i) * 0.5f);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    unsigned threads = variant->parameter < BLOCK_THREADS ? variant->parameter : BLOCK_THREADS;

    gmt_kernel_serial<<<variant->parameter / threads, threads, 0, bench->stream>>>(
        (const float *)bench->arena, gmt_target(bench));
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = variant->parameter == 1 ? WORDS : WORDS / 32;

    (void)bench;
    gmt_work_copy(work, WORDS, requests, requests * variant->sectors_per_request);
    return 0;
}

const struct gmt_family gmt_family_serial = {"serial", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/* Family ilp: one copy at low occupancy, held by registers, with 1 to 8 loads in flight per thread. */
#include "kernels/families/launch.cuh"

#define BLOCK_THREADS 256
#define HELD_REGISTERS 150 /* more than half of what a multiprocessor has for 256 threads */
#define MOST_LOADS 8

/* count is a multiple of MOST_LOADS times the threads of the grid. */
template <int loads>
__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_ilp(const float *source, float *target, size_t count, unsigned never)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;
    unsigned held[HELD_REGISTERS];
    float part[loads] = {};

    gmt_hold(held);
#pragma unroll 1
    for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count;
         i += loads * step) {
#pragma unroll
        for (int j = 0; j < loads; j++)
            part[j] = gmt_load(source + i + j * step);
#pragma unroll
        for (int j = 0; j < loads; j++)
            gmt_store(target + i + j * step, part[j]);
    }
    gmt_release(held, part[0], never, target);
}

typedef void (*body)(const float *, float *, size_t, unsigned);

static body body_of(const struct gmt_variant *variant)
{
    switch (variant->parameter) {
    case 1: return gmt_kernel_ilp<1>;
    case 2: return gmt_kernel_ilp<2>;
    case 4: return gmt_kernel_ilp<4>;
    default: return gmt_kernel_ilp<MOST_LOADS>;
    }
}

static size_t word_count(const struct gmt_bench *bench)
{
    size_t words = bench->working_set_bytes / sizeof(float);

    return words - words % ((size_t)MOST_LOADS * bench->sm_count * BLOCK_THREADS);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    body_of(variant)<<<bench->sm_count, BLOCK_THREADS, 0, bench->stream>>>(
        (const float *)bench->arena, gmt_target(bench), word_count(bench), 0);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)word_count(bench);

    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return gmt_work_resident(bench, (const void *)body_of(variant), BLOCK_THREADS, 0, work);
}

const struct gmt_family gmt_family_ilp = {"ilp", NULL, launch, work};

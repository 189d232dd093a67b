/* SPDX-License-Identifier: Apache-2.0 */
/* Family registers: one copy in blocks of 512 threads, with 32 to 128 registers per thread. */
#include "launch.cuh"

#define BLOCK_THREADS 512
/* All of them are resident with 32 registers; with more they come in waves. */
#define BLOCKS_PER_SM 4

/* One load in flight per thread, whatever the registers. */
template <int held_registers>
__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_registers(const float *source, float *target, size_t count, unsigned never)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;
    unsigned held[held_registers];
    float last = 0;

    gmt_hold(held);
#pragma unroll 1
    for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += step) {
        last = gmt_load(source + i);
        gmt_store(target + i, last);
    }
    gmt_release(held, last, never, target);
}

typedef void (*body)(const float *, float *, size_t, unsigned);

/* The compiler adds some 12 registers of its own; blocks get them in steps of 8 per thread. */
static body body_of(const struct gmt_variant *variant)
{
    switch (variant->parameter) {
    case 32: return gmt_kernel_registers<16>;
    case 64: return gmt_kernel_registers<52>;
    case 65: return gmt_kernel_registers<55>;
    default: return gmt_kernel_registers<112>;
    }
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t count = bench->working_set_bytes / sizeof(float);

    body_of(variant)<<<BLOCKS_PER_SM * bench->sm_count, BLOCK_THREADS, 0, bench->stream>>>(
        (const float *)bench->arena, gmt_target(bench), count, 0);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant, struct gmt_work *work)
{
    double words = (double)bench->working_set_bytes / sizeof(float);

    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return gmt_work_resident(bench, (const void *)body_of(variant), BLOCK_THREADS, 0, work);
}

const struct gmt_family gmt_family_registers = {"registers", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/* Family registers: a copy, and arithmetic, in blocks of 512 threads with 32 to 128 registers each. */
#include "kernels/families/launch.cuh"

#define BLOCK_THREADS 512
/* All of them are resident with 32 registers; with more they come in waves. */
#define BLOCKS_PER_SM 4
#define COMPUTE_BLOCKS_PER_SM 8 /* a multiple of every number of resident blocks */
#define ROUNDS 64

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

/* Eight chains in each thread: warps that are few do as well. */
template <int held_registers>
__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_registers_compute(const float *source, float *target, size_t rounds, unsigned never)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    unsigned held[held_registers];

    gmt_hold(held);
    float last = gmt_multiply_add<8>(gmt_load(source + i), (unsigned)rounds);
    gmt_store(target + i, last);
    gmt_release(held, last, never, target);
}

typedef void (*body)(const float *, float *, size_t, unsigned);

static bool is_compute(const struct gmt_variant *variant)
{
    return variant->kernel == GMT_KERNEL_registers_compute;
}

/* The compiler adds some 12 registers of its own; blocks get them in steps of 8 per thread. */
static body body_of(const struct gmt_variant *variant)
{
    if (is_compute(variant)) {
        switch (variant->parameter) {
        case 32: return gmt_kernel_registers_compute<10>;
        case 64: return gmt_kernel_registers_compute<44>;
        default: return gmt_kernel_registers_compute<106>;
        }
    }
    switch (variant->parameter) {
    case 32: return gmt_kernel_registers<16>;
    case 64: return gmt_kernel_registers<52>;
    case 65: return gmt_kernel_registers<55>;
    default: return gmt_kernel_registers<112>;
    }
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    bool compute = is_compute(variant);
    size_t many = compute ? ROUNDS : bench->working_set_bytes / sizeof(float);
    unsigned blocks = (compute ? COMPUTE_BLOCKS_PER_SM : BLOCKS_PER_SM) * bench->sm_count;

    body_of(variant)<<<blocks, BLOCK_THREADS, 0, bench->stream>>>((const float *)bench->arena,
                                                                  gmt_target(bench), many, 0);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = is_compute(variant)
                       ? (double)COMPUTE_BLOCKS_PER_SM * bench->sm_count * BLOCK_THREADS
                       : (double)bench->working_set_bytes / sizeof(float);

    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return gmt_work_resident(bench, (const void *)body_of(variant), BLOCK_THREADS, 0, work);
}

const struct gmt_family gmt_family_registers = {"registers", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Family rate: kernels that saturate one level of the memory system, for the rates of the device
 * model.
 */
#include "kernels/families/families.h"
#include "kernels/families/rate_bodies.cuh"

#define BLOCK_THREADS 256
#define L1_WORDS 4096u
#define L1_LOADS 1024
#define L2_LOADS 128
#define GMT_SECTOR_BYTES 32

/* Four loads in flight per thread; count is a multiple of four times the number of threads. */
__global__ void gmt_kernel_rate_dram(const float4 *source, float *target, size_t count)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;
    float sum = 0;

    for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += 4 * step) {
        float4 part[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            part[j] = gmt_load_vector(source + i + j * step);
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum += (part[j].x + part[j].y) + (part[j].z + part[j].w);
    }
    if (sum == 1234567.0f) /* as good as never */
        gmt_store(target, sum);
}

/* mask + 1 vectors, a power of two, are read again and again; four loads in flight per thread. */
__global__ void gmt_kernel_rate_l2(const float4 *source, float *target, unsigned mask)
{
    unsigned step = gridDim.x * BLOCK_THREADS;
    unsigned at = blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float sum = 0;

    for (unsigned i = 0; i < L2_LOADS; i += 4) {
        float4 part[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            part[j] = gmt_load_vector_l2(source + (at & mask));
            at += step;
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum += (part[j].x + part[j].y) + (part[j].z + part[j].w);
    }
    if (sum == 1234567.0f)
        gmt_store(target, sum);
}

/* Each request takes the next stretch of the 16 KiB and, once round, the next word in it. */
template <unsigned stride> __global__ void gmt_kernel_rate_l1(const float *source, float *target)
{
    unsigned lane = threadIdx.x % 32 * stride;
    unsigned at = threadIdx.x / 32 * 32 * stride;
    float sum = 0;

    for (int i = 0; i < L1_LOADS; i += 8) {
        float part[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            unsigned word = at % L1_WORDS + lane + at / L1_WORDS % stride;

            part[j] = gmt_load(source + word);
            at += 32 * stride;
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum += part[j];
    }
    if (sum == 1234567.0f)
        gmt_store(target, sum);
}

static unsigned block_count(const struct gmt_bench *bench)
{
    return bench->sm_count * (bench->max_warps_per_sm * 32 / BLOCK_THREADS);
}

/* The whole arena, in whole rounds of the grid. */
static size_t dram_vectors(const struct gmt_bench *bench)
{
    size_t round = (size_t)block_count(bench) * BLOCK_THREADS * 4;
    size_t rounds = 2 * bench->working_set_bytes / sizeof(float4) / round;

    return round * rounds;
}

/*
 * The largest power of two of float4 within a quarter of L2, and 1 MiB where its size is not known.
 */
static unsigned l2_mask(const struct gmt_bench *bench)
{
    size_t bytes = bench->properties.l2CacheSize > 0 ? (size_t)bench->properties.l2CacheSize / 4
                                                     : (size_t)1 << 20;
    size_t vectors = 1;

    while (vectors * 2 * sizeof(float4) <= bytes)
        vectors *= 2;
    return (unsigned)(vectors - 1);
}

/* Powers of two, as exponents: sectors of the working set, and of what stays in L2. */
static unsigned bits_of(size_t count)
{
    unsigned bits = 0;

    while ((size_t)2 << bits <= count)
        bits++;
    return bits;
}

static unsigned dram_sector_bits(const struct gmt_bench *bench)
{
    return bits_of(bench->working_set_bytes / GMT_SECTOR_BYTES);
}

static unsigned l2_sector_bits(const struct gmt_bench *bench)
{
    return bits_of(((size_t)l2_mask(bench) + 1) * sizeof(float4) / GMT_SECTOR_BYTES);
}

/* Of the target, in words of the unit. */
static unsigned unit_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    return (unsigned)(bench->working_set_bytes / sizeof(float) / variant->parameter);
}

static void launch_partial(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);

    switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_rate_partial<parameter> \
            <<<block_count(bench), RATE_THREADS, 0, bench->stream>>>(target, \
                                                                     unit_count(bench, variant)); \
        break;
        GMT_VARIANTS_RATE_PARTIAL(GMT_ROW)
#undef GMT_ROW
    }
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    float *target = (float *)bench->arena;
    unsigned blocks = block_count(bench);
    cudaStream_t stream = bench->stream;

    switch (variant->kernel) {
    case GMT_KERNEL_rate_dram:
        gmt_kernel_rate_dram<<<blocks, BLOCK_THREADS, 0, stream>>>((const float4 *)bench->arena,
                                                                   target, dram_vectors(bench));
        break;
    case GMT_KERNEL_rate_l2:
        gmt_kernel_rate_l2<<<blocks, BLOCK_THREADS, 0, stream>>>((const float4 *)bench->arena,
                                                                 target, l2_mask(bench));
        break;
    case GMT_KERNEL_rate_l1:
        if (variant->parameter == 1)
            gmt_kernel_rate_l1<1><<<blocks, BLOCK_THREADS, 0, stream>>>(target, target);
        else
            gmt_kernel_rate_l1<8><<<blocks, BLOCK_THREADS, 0, stream>>>(target, target);
        break;
    case GMT_KERNEL_rate_scattered:
        gmt_kernel_rate_scattered<<<blocks, RATE_THREADS, 0, stream>>>(target, target,
                                                                       dram_sector_bits(bench));
        break;
    case GMT_KERNEL_rate_scattered_l2:
        gmt_kernel_rate_scattered_l2<<<blocks, RATE_THREADS, 0, stream>>>(target, target,
                                                                          l2_sector_bits(bench));
        break;
    case GMT_KERNEL_rate_shared:
        gmt_kernel_rate_shared<<<blocks, RATE_THREADS, 0, stream>>>(target, 0.0f);
        break;
    case GMT_KERNEL_rate_constant:
        gmt_kernel_rate_constant<<<blocks, RATE_THREADS, 0, stream>>>(target);
        break;
    default: launch_partial(bench, variant); break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

/* Global loads of one launch, by warp; 0 where there are none. */
static double load_requests(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    double warps = (double)block_count(bench) * (BLOCK_THREADS / 32);

    switch (variant->kernel) {
    case GMT_KERNEL_rate_dram: return (double)dram_vectors(bench) / 32;
    case GMT_KERNEL_rate_l2: return warps * L2_LOADS;
    case GMT_KERNEL_rate_l1: return warps * L1_LOADS;
    case GMT_KERNEL_rate_scattered: return (double)((size_t)1 << dram_sector_bits(bench)) / 32;
    case GMT_KERNEL_rate_scattered_l2: return warps * RATE_L2_LOADS;
    default: return 0;
    }
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double warps = (double)block_count(bench) * (RATE_THREADS / 32);

    if (variant->kernel == GMT_KERNEL_rate_shared) {
        work->shared_load_requests = work->ideal_wavefronts = warps * RATE_SHARED_LOADS;
        work->shared_load_bytes = work->shared_load_requests * 32 * variant->width_bytes;
        work->wavefronts = work->ideal_wavefronts * RATE_SHARED_WAYS;
        return 0;
    }
    if (variant->kernel == GMT_KERNEL_rate_constant) {
        work->constant_requests = warps * RATE_CONSTANT_READS;
        work->constant_addresses = work->constant_requests * variant->parameter;
        return 0;
    }
    if (variant->kernel == GMT_KERNEL_rate_partial) {
        work->store_sectors = unit_count(bench, variant);
        work->store_requests = work->store_sectors / 32;
        work->bytes_asked = work->store_sectors * variant->width_bytes;
        return 0;
    }
    work->load_requests = load_requests(bench, variant);
    work->bytes_asked = work->load_requests * 32 * variant->width_bytes;
    work->load_sectors = work->load_requests * variant->sectors_per_request;
    return 0;
}

const struct gmt_family gmt_family_rate = {"rate", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Family occupancy: the same job with 1 to 16 resident blocks per multiprocessor, held by shared
 * memory.
 */
#include <errno.h>

#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_WARPS 4
#define BLOCK_THREADS (BLOCK_WARPS * 32)
/* 128-byte lines that the chains visit together, at most. */
#define CHAIN_LINES ((size_t)512 * 1024)

/* The order of the asm statements keeps one load in flight per thread: its store waits for it. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_occupancy_stream(const float *source, float *target, size_t count)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;

#pragma unroll 1
    for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += step)
        gmt_store(target + i, gmt_load(source + i));
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_occupancy_vector(const float4 *source, float4 *target, size_t count)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;

#pragma unroll 1
    for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += step)
        gmt_store_vector(target + i, gmt_load_vector(source + i));
}

/* Word i of line l holds the index of word i of the next line: a warp goes on as one. */
__global__ void gmt_kernel_chain_fill(unsigned *words, unsigned jump_lines, unsigned lines)
{
    unsigned i = blockIdx.x * BLOCK_THREADS + threadIdx.x;

    words[i] = ((i / 32 + jump_lines) & (lines - 1)) * 32 + i % 32;
}

/* Warp w starts steps * w jumps along the cycle, so no two warps ever read the same line. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_occupancy_latency(const unsigned *words, unsigned *target, unsigned jump_lines,
                                 unsigned lines, unsigned steps)
{
    unsigned warp = (blockIdx.x * BLOCK_THREADS + threadIdx.x) / 32;
    unsigned index = ((warp * steps * jump_lines) & (lines - 1)) * 32 + threadIdx.x % 32;

#pragma unroll 1
    for (unsigned i = 0; i < steps; i++)
        index = gmt_load_index(words + index);
    if (index == 0xffffffffu) /* never: there are fewer words */
        target[0] = index;
}

static unsigned line_count(const struct gmt_bench *bench)
{
    return (unsigned)(bench->working_set_bytes / 128);
}

/*
 * Odd, so that all lines form one cycle (their number is a power of two), and near the golden
 * ratio.
 */
static unsigned jump_lines(const struct gmt_bench *bench)
{
    return (unsigned)((double)line_count(bench) * 0.6180339887) | 1u;
}

static unsigned chain_steps(const struct gmt_bench *bench, unsigned blocks_per_sm)
{
    size_t lines = line_count(bench) / 4;
    size_t warps = (size_t)blocks_per_sm * bench->sm_count * BLOCK_WARPS;

    return (unsigned)((lines < CHAIN_LINES ? lines : CHAIN_LINES) / warps);
}

static const void *body_of(const struct gmt_variant *variant)
{
    if (variant->kernel == GMT_KERNEL_occupancy_stream)
        return (const void *)gmt_kernel_occupancy_stream;
    if (variant->kernel == GMT_KERNEL_occupancy_vector)
        return (const void *)gmt_kernel_occupancy_vector;
    return (const void *)gmt_kernel_occupancy_latency;
}

/*
 * The dynamic shared memory per block with which exactly the wanted number of blocks is resident.
 * The carve-out is at its maximum in all steps, so that L1 is the same size in all of them.
 */
static int shared_bytes_for(struct gmt_bench *bench, const struct gmt_variant *variant,
                            size_t *shared_bytes)
{
    const void *body = body_of(variant);
    const struct cudaDeviceProp *device = &bench->properties;
    size_t wanted = variant->parameter;
    int resident = 0;
    int rc = 0;

    if (wanted * BLOCK_WARPS > bench->max_warps_per_sm)
        return -ENOTSUP;
    GMT_TRY(bench, cudaFuncSetAttribute(body, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared));
    GMT_TRY(bench, cudaFuncSetAttribute(body, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)device->sharedMemPerBlockOptin));
    *shared_bytes = device->sharedMemPerMultiprocessor / wanted - device->reservedSharedMemPerBlock;
    if (*shared_bytes > device->sharedMemPerBlockOptin)
        *shared_bytes = device->sharedMemPerBlockOptin;
    *shared_bytes -= *shared_bytes % 1024;
    GMT_TRY(bench, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, body, BLOCK_THREADS,
                                                                 *shared_bytes));
    if ((size_t)resident != wanted)
        rc = -ENOTSUP;
out:
    return rc;
}

static int prepare(struct gmt_bench *bench)
{
    unsigned lines = line_count(bench);
    int rc;

    gmt_kernel_chain_fill<<<lines * 32 / BLOCK_THREADS, BLOCK_THREADS, 0, bench->stream>>>(
        (unsigned *)bench->arena, jump_lines(bench), lines);
    GMT_TRY(bench, cudaGetLastError());
    GMT_TRY(bench, cudaStreamSynchronize(bench->stream));
out:
    return rc;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const unsigned char *source = bench->arena;
    unsigned char *target = bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES;
    unsigned blocks = variant->parameter * bench->sm_count;
    size_t bytes = bench->working_set_bytes;
    size_t shared_bytes = 0;
    int rc = shared_bytes_for(bench, variant, &shared_bytes);

    if (rc != 0)
        return rc;
    if (variant->kernel == GMT_KERNEL_occupancy_stream)
        gmt_kernel_occupancy_stream<<<blocks, BLOCK_THREADS, shared_bytes, bench->stream>>>(
            (const float *)source, (float *)target, bytes / sizeof(float));
    else if (variant->kernel == GMT_KERNEL_occupancy_vector)
        gmt_kernel_occupancy_vector<<<blocks, BLOCK_THREADS, shared_bytes, bench->stream>>>(
            (const float4 *)source, (float4 *)target, bytes / sizeof(float4));
    else
        gmt_kernel_occupancy_latency<<<blocks, BLOCK_THREADS, shared_bytes, bench->stream>>>(
            (const unsigned *)source, (unsigned *)target, jump_lines(bench), line_count(bench),
            chain_steps(bench, variant->parameter));
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    size_t shared_bytes;
    int rc = shared_bytes_for(bench, variant, &shared_bytes);
    double warps = (double)variant->parameter * BLOCK_WARPS;

    if (rc != 0)
        return rc;
    work->blocks_per_sm = variant->parameter;
    work->warps_per_sm = warps;
    work->occupancy = warps / bench->max_warps_per_sm;
    if (variant->kernel == GMT_KERNEL_occupancy_latency) {
        work->dependent_loads = chain_steps(bench, variant->parameter);
        work->load_requests = work->dependent_loads * warps * bench->sm_count;
        work->load_sectors = work->load_requests * variant->sectors_per_request;
        work->bytes_asked = work->load_requests * 32 * variant->width_bytes;
        return 0;
    }
    work->bytes_asked = 2.0 * (double)bench->working_set_bytes;
    work->load_requests = (double)bench->working_set_bytes / (32.0 * variant->width_bytes);
    work->load_sectors = work->load_requests * variant->sectors_per_request;
    work->store_requests = work->load_requests;
    work->store_sectors = work->load_sectors;
    return 0;
}

const struct gmt_family gmt_family_occupancy = {"occupancy", prepare, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Family extra: cases that show whether counters are right, idle lanes, broadcasts, local
 * memory.
 */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define ARRAY_WORDS 32
#define LOCAL_ROUNDS 64

/* Warp w copies the elements from w * active on with its first active lanes. */
template <unsigned active> __global__ void gmt_kernel_lanes(const float *source, float *target)
{
    size_t warp = ((size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x) / 32;
    unsigned lane = threadIdx.x % 32;

    if (lane < active)
        gmt_store(target + warp * active + lane, gmt_load(source + warp * active + lane));
}

__global__ void gmt_kernel_broadcast(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i / 32));
}

__global__ void gmt_kernel_reversed(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_load(source + (i ^ 31)));
}

/* stride is 5 but the compiler does not know: the array cannot live in registers. */
__global__ void gmt_kernel_local_dynamic(const float *source, float *target, unsigned stride)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float array[ARRAY_WORDS];
    float sum = gmt_load(source + i);
    unsigned at = 0;

#pragma unroll
    for (unsigned j = 0; j < ARRAY_WORDS; j++)
        array[j] = sum + (float)j;
#pragma unroll 1
    for (unsigned round = 0; round < LOCAL_ROUNDS; round++) {
        at = (at + stride) % ARRAY_WORDS;
        sum += array[at]; /* planted */
        array[at] = sum;  /* planted */
    }
    gmt_store(target + i, sum);
}

/* The same sums, unrolled, with every index a constant. */
__global__ void gmt_kernel_local_registers(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float array[ARRAY_WORDS];
    float sum = gmt_load(source + i);

#pragma unroll
    for (unsigned j = 0; j < ARRAY_WORDS; j++)
        array[j] = sum + (float)j;
#pragma unroll
    for (unsigned round = 0; round < LOCAL_ROUNDS; round++) {
        sum += array[(round + 1) * 5 % ARRAY_WORDS];
        array[(round + 1) * 5 % ARRAY_WORDS] = sum;
    }
    gmt_store(target + i, sum);
}

/*
 * A quarter of the working set keeps the family short; the local ones do 64 rounds on a sixteenth.
 */
static size_t thread_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t elements = bench->working_set_bytes / sizeof(float);
    bool local = variant->kernel == GMT_KERNEL_local_dynamic ||
                 variant->kernel == GMT_KERNEL_local_registers;

    return local ? elements / 16 : elements / 4;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)(thread_count(bench, variant) / BLOCK_THREADS);
    cudaStream_t stream = bench->stream;

    switch (variant->kernel) {
    case GMT_KERNEL_lanes:
        if (variant->parameter == 16)
            gmt_kernel_lanes<16><<<blocks, BLOCK_THREADS, 0, stream>>>(source, target);
        else
            gmt_kernel_lanes<32><<<blocks, BLOCK_THREADS, 0, stream>>>(source, target);
        break;
    case GMT_KERNEL_broadcast:
        gmt_kernel_broadcast<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target);
        break;
    case GMT_KERNEL_reversed:
        gmt_kernel_reversed<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target);
        break;
    case GMT_KERNEL_local_dynamic:
        gmt_kernel_local_dynamic<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target, 5);
        break;
    default:
        gmt_kernel_local_registers<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target);
        break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = (double)thread_count(bench, variant) / 32;
    double lanes = variant->kernel == GMT_KERNEL_lanes ? variant->parameter : 32;

    double loaded = variant->kernel == GMT_KERNEL_broadcast ? 1 : lanes; /* words of a request */

    work->bytes_asked = requests * (loaded + lanes) * sizeof(float);
    work->load_requests = requests;
    work->load_sectors = requests * variant->sectors_per_request;
    work->store_requests = requests;
    work->store_sectors = requests * lanes / 8;
    if (variant->kernel == GMT_KERNEL_local_dynamic)
        work->local_load_requests = requests * LOCAL_ROUNDS;
    return 0;
}

const struct gmt_family gmt_family_extra = {"extra", NULL, launch, work};

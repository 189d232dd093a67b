/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Family mapped: kernels that work on page-locked host memory through its mapping, and the same
 * kernels on a copy of it on the device, the copy included in the time.
 */
#include <errno.h>

#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define BLOCKS_PER_SM 8
#define AGAIN 4 /* parameter of the variants that read again */
#define MOST_BYTES ((size_t)16 << 20)
/*
 * What is touched once: on an H200 mapped memory spares a third of the time of copy and kernel there,
 * and nothing from 4 MiB on, where the copy engine uses the bus better than kernels do.
 */
#define ONCE_BYTES ((size_t)512 << 10)
#define SHARE_OF_WORKING_SET 16
#define SINK_BYTES 256
/*
 * A copy and a kernel after it take one of two times on an H200, 8 us apart and as often the one as the
 * other: a program meets their mean, and so does a sample of several.
 */
#define LAUNCHES_TIMED 8

/*
 * All vectors, `passes` times; count is a power of two. A pass begins passes-th parts further on, so
 * that another multiprocessor has read the same sectors before: L1 does not serve them.
 */
template <unsigned passes>
static __device__ void read_all(const float4 *source, float *sink, size_t count)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;
    float sum = 0;

#pragma unroll 1
    for (unsigned pass = 0; pass < passes; pass++) {
        size_t from = count / passes * pass;

        for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += step) {
            float4 part = gmt_load_vector(source + ((i + from) & (count - 1)));

            sum += (part.x + part.y) + (part.z + part.w);
        }
    }
    if (sum == 1234567.0f) /* as good as never */
        gmt_store(sink, sum);
}

static __device__ void write_all(float4 *target, size_t count)
{
    size_t step = (size_t)gridDim.x * BLOCK_THREADS;

    for (size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += step)
        gmt_store_vector(target + i, make_float4(1, 2, 3, 4));
}

/* Word of lane i: a permutation, as in family stride; 2^bits words. */
static __device__ size_t place_of(size_t i, unsigned stride, unsigned bits)
{
    return ((i * stride) & (((size_t)1 << bits) - 1)) + ((i * stride) >> bits);
}

static __device__ void gather(const float *source, float *sink, unsigned stride, unsigned bits)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float value = gmt_load(source + place_of(i, stride, bits));

    if (value == 1234567.0f)
        gmt_store(sink, value);
}

static __device__ void scatter(float *target, unsigned stride, unsigned bits)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + place_of(i, stride, bits), 1.0f);
}

/* Names of their own, so that a profiler shows which memory they work on. */
#define KERNELS_ON(memory) \
    __global__ void gmt_kernel_##memory##_read(const float4 *source, float *sink, size_t count) \
    { \
        read_all<1>(source, sink, count); \
    } \
    __global__ void gmt_kernel_##memory##_again(const float4 *source, float *sink, size_t count) \
    { \
        read_all<AGAIN>(source, sink, count); \
    } \
    __global__ void gmt_kernel_##memory##_write(float4 *target, size_t count) \
    { \
        write_all(target, count); \
    } \
    __global__ void gmt_kernel_##memory##_gather(const float *source, float *sink, \
                                                 unsigned stride, unsigned bits) \
    { \
        gather(source, sink, stride, bits); \
    } \
    __global__ void gmt_kernel_##memory##_scatter(float *target, unsigned stride, unsigned bits) \
    { \
        scatter(target, stride, bits); \
    }

KERNELS_ON(mapped)
KERNELS_ON(copied)

static size_t bytes_of(const struct gmt_bench *bench)
{
    size_t bytes = bench->working_set_bytes / SHARE_OF_WORKING_SET;

    return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

/* Of one variant: less where all is touched once. */
static size_t bytes_for(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t bytes = bytes_of(bench);

    return variant->parameter == 1 && bytes > ONCE_BYTES ? ONCE_BYTES : bytes;
}

static unsigned bits_of(const struct gmt_bench *bench)
{
    unsigned bits = 0;

    while (((size_t)sizeof(float) << bits) < bytes_of(bench))
        bits++;
    return bits;
}

/* Enough blocks to fill the device; fewer for little memory. */
static unsigned sweep_blocks(const struct gmt_bench *bench, size_t vectors)
{
    size_t needed = (vectors + BLOCK_THREADS - 1) / BLOCK_THREADS;
    size_t most = (size_t)bench->sm_count * BLOCKS_PER_SM;

    return (unsigned)(needed < most ? needed : most);
}

static unsigned char *sink_of(const struct gmt_bench *bench)
{
    return bench->arena + bench->working_set_bytes;
}

static int prepare(struct gmt_bench *bench)
{
    int rc = 0;

    if (bench->mapped == NULL)
        GMT_TRY(bench,
                cudaHostAlloc((void **)&bench->mapped, bytes_of(bench), cudaHostAllocMapped));
    /* A buffer of its own, as a program has it, and room for a result. */
    if (bench->mapped_copy == NULL)
        GMT_TRY(bench, cudaMalloc((void **)&bench->mapped_copy, bytes_of(bench) + SINK_BYTES));
    for (size_t i = 0; i < bytes_of(bench); i++)
        bench->mapped[i] = 0;
out:
    return rc;
}

static int launch_read(struct gmt_bench *bench, const struct gmt_variant *variant,
                       unsigned char *memory, bool is_copy)
{
    size_t bytes = bytes_for(bench, variant);
    size_t count = bytes / sizeof(float4);
    unsigned blocks = sweep_blocks(bench, count);
    unsigned words = (unsigned)(bytes / sizeof(float));
    const float4 *vectors = (const float4 *)memory;
    /* A result that is never written: beside the data, so that the kernel has one buffer. */
    float *sink = (float *)(is_copy ? memory + bytes : sink_of(bench));
    int rc = 0;

    if (is_copy)
        GMT_TRY(bench, cudaMemcpyAsync(memory, bench->mapped, bytes, cudaMemcpyHostToDevice,
                                       bench->stream));
    switch (variant->kernel) {
    case GMT_KERNEL_mapped_read:
        gmt_kernel_mapped_read<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(vectors, sink, count);
        break;
    case GMT_KERNEL_copied_read:
        gmt_kernel_copied_read<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(vectors, sink, count);
        break;
    case GMT_KERNEL_mapped_again:
        gmt_kernel_mapped_again<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(vectors, sink, count);
        break;
    case GMT_KERNEL_copied_again:
        gmt_kernel_copied_again<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(vectors, sink, count);
        break;
    case GMT_KERNEL_mapped_gather:
        gmt_kernel_mapped_gather<<<words / BLOCK_THREADS, BLOCK_THREADS, 0, bench->stream>>>(
            (const float *)memory, sink, variant->parameter, bits_of(bench));
        break;
    default:
        gmt_kernel_copied_gather<<<words / BLOCK_THREADS, BLOCK_THREADS, 0, bench->stream>>>(
            (const float *)memory, sink, variant->parameter, bits_of(bench));
    }
out:
    return rc;
}

static int launch_write(struct gmt_bench *bench, const struct gmt_variant *variant,
                        unsigned char *memory, bool is_copy)
{
    size_t bytes = bytes_for(bench, variant);
    unsigned blocks = sweep_blocks(bench, bytes / sizeof(float4));
    unsigned words = (unsigned)(bytes / sizeof(float));
    int rc = 0;

    if (variant->kernel == GMT_KERNEL_mapped_write)
        gmt_kernel_mapped_write<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(
            (float4 *)memory, bytes / sizeof(float4));
    else if (variant->kernel == GMT_KERNEL_copied_write)
        gmt_kernel_copied_write<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(
            (float4 *)memory, bytes / sizeof(float4));
    else if (variant->kernel == GMT_KERNEL_mapped_scatter)
        gmt_kernel_mapped_scatter<<<words / BLOCK_THREADS, BLOCK_THREADS, 0, bench->stream>>>(
            (float *)memory, variant->parameter, bits_of(bench));
    else
        gmt_kernel_copied_scatter<<<words / BLOCK_THREADS, BLOCK_THREADS, 0, bench->stream>>>(
            (float *)memory, variant->parameter, bits_of(bench));
    GMT_TRY(bench, cudaGetLastError());
    if (is_copy)
        GMT_TRY(bench, cudaMemcpyAsync(bench->mapped, memory, bytes, cudaMemcpyDeviceToHost,
                                       bench->stream));
out:
    return rc;
}

static bool is_read(const struct gmt_variant *variant)
{
    return variant->kernel == GMT_KERNEL_mapped_read || variant->kernel == GMT_KERNEL_copied_read ||
           variant->kernel == GMT_KERNEL_mapped_again ||
           variant->kernel == GMT_KERNEL_copied_again ||
           variant->kernel == GMT_KERNEL_mapped_gather ||
           variant->kernel == GMT_KERNEL_copied_gather;
}

/* On a copy on the device, and not through the mapping. */
static bool is_copied(const struct gmt_variant *variant)
{
    return variant->kernel == GMT_KERNEL_copied_read ||
           variant->kernel == GMT_KERNEL_copied_again ||
           variant->kernel == GMT_KERNEL_copied_write ||
           variant->kernel == GMT_KERNEL_copied_gather ||
           variant->kernel == GMT_KERNEL_copied_scatter;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    void *mapped = NULL;
    unsigned char *memory;
    bool is_copy = is_copied(variant);
    int rc;

    GMT_TRY(bench, cudaHostGetDevicePointer(&mapped, bench->mapped, 0));
    memory = is_copy ? bench->mapped_copy : (unsigned char *)mapped;
    rc = is_read(variant) ? launch_read(bench, variant, memory, is_copy)
                          : launch_write(bench, variant, memory, is_copy);
    if (rc == 0)
        rc = gmt_bench_check(bench, cudaGetLastError(), variant->name);
out:
    return rc;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double bytes = (double)bytes_for(bench, variant);
    bool is_vector = variant->width_bytes == sizeof(float4);
    double requests = bytes / (32.0 * variant->width_bytes) * (is_vector ? variant->parameter : 1);

    /* A device that cannot map host memory has no such kernels. */
    if (!bench->properties.canMapHostMemory)
        return -ENOTSUP;
    work->bytes_asked = requests * 32 * variant->width_bytes;
    if (is_read(variant)) {
        work->load_requests = requests;
        work->load_sectors = requests * variant->sectors_per_request;
    } else {
        work->store_requests = requests;
        work->store_sectors = requests * (is_vector ? 16 : 32);
    }
    return 0;
}

extern "C" cudaError_t gmt_launch_sweep(struct gmt_bench *bench, void *memory, size_t bytes,
                                        bool write)
{
    size_t vectors = bytes / sizeof(float4);
    unsigned blocks = sweep_blocks(bench, vectors);

    if (write)
        gmt_kernel_mapped_write<<<blocks, BLOCK_THREADS, 0, bench->stream>>>((float4 *)memory,
                                                                             vectors);
    else
        gmt_kernel_mapped_read<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(
            (const float4 *)memory, (float *)sink_of(bench), vectors);
    return cudaGetLastError();
}

const struct gmt_family gmt_family_mapped = {"mapped", prepare, launch, work, LAUNCHES_TIMED};

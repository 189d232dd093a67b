/* SPDX-License-Identifier: Apache-2.0 */
/* Family stride_wide: as family stride, with words of 8 and of 16 bytes. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256

/* Word i of the target comes from here: see family stride. */
template <unsigned stride> static __device__ __forceinline__ size_t word_of(size_t i, unsigned bits)
{
    return ((i * stride) & (((size_t)1 << bits) - 1)) + ((i * stride) >> bits);
}

template <unsigned stride>
__global__ void gmt_kernel_stride_wide8(const float2 *source, float2 *target, unsigned bits)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store_pair(target + i, gmt_load_pair(source + word_of<stride>(i, bits))); /* planted */
}

template <unsigned stride>
__global__ void gmt_kernel_stride_wide16(const float4 *source, float4 *target, unsigned bits)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store_vector(target + i, gmt_load_vector(source + word_of<stride>(i, bits))); /* planted */
}

static size_t element_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    return bench->working_set_bytes / variant->width_bytes;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t count = element_count(bench, variant);
    const void *source = bench->arena;
    void *target = bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES;
    unsigned blocks = (unsigned)(count / BLOCK_THREADS);
    unsigned bits = 0;

    while (((size_t)1 << bits) < count)
        bits++;
    if (variant->kernel == GMT_KERNEL_stride_wide8) {
        switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_stride_wide8<parameter><<<blocks, BLOCK_THREADS, 0, bench->stream>>>( \
            (const float2 *)source, (float2 *)target, bits); \
        break;
            GMT_VARIANTS_STRIDE_WIDE8(GMT_ROW)
#undef GMT_ROW
        }
    } else {
        switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_stride_wide16<parameter><<<blocks, BLOCK_THREADS, 0, bench->stream>>>( \
            (const float4 *)source, (float4 *)target, bits); \
        break;
            GMT_VARIANTS_STRIDE_WIDE16(GMT_ROW)
#undef GMT_ROW
        }
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double bytes = (double)bench->working_set_bytes;
    double requests = (double)element_count(bench, variant) / 32;

    work->bytes_asked = 2 * bytes;
    work->load_requests = requests;
    work->load_sectors = requests * variant->sectors_per_request;
    work->store_requests = requests;
    work->store_sectors = bytes / 32;
    return 0;
}

const struct gmt_family gmt_family_stride_wide = {"stride_wide", NULL, launch, work};

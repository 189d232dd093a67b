/* SPDX-License-Identifier: Apache-2.0 */
/* Family stride: every word of the source is read once, by lanes that lie 1 to 32 words apart. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256

/*
 * A permutation of the words, so that all variants do the same job: word i of the target comes from
 * word i * stride, wrapped round at the end of the source and moved on by one word for each turn. A
 * turn reads the whole source, far more than L2 holds, so a sector is fetched anew for each of its
 * words. count is a power of two, 2^bits.
 */
template <unsigned stride>
__global__ void gmt_kernel_stride(const float *source, float *target, unsigned bits)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    size_t count = (size_t)1 << bits;
    size_t from = ((i * stride) & (count - 1)) + ((i * stride) >> bits);

    gmt_store(target + i, gmt_load(source + from)); /* planted */
}

__global__ void gmt_kernel_stride_vector(const float4 *source, float4 *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store_vector(target + i, gmt_load_vector(source + i));
}

static size_t element_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / sizeof(float);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t count = element_count(bench);
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)(count / BLOCK_THREADS);
    unsigned bits = 0;

    while (((size_t)1 << bits) < count)
        bits++;
    if (variant->kernel == GMT_KERNEL_stride_vector) {
        gmt_kernel_stride_vector<<<blocks / 4, BLOCK_THREADS, 0, bench->stream>>>(
            (const float4 *)source, (float4 *)target);
        return gmt_bench_check(bench, cudaGetLastError(), variant->name);
    }
    switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_stride<parameter> \
            <<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target, bits); \
        break;
        GMT_VARIANTS_STRIDE_WORD(GMT_ROW)
#undef GMT_ROW
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double bytes = (double)bench->working_set_bytes;
    double requests = bytes / (32.0 * variant->width_bytes);

    work->bytes_asked = 2 * bytes;
    work->load_requests = requests;
    work->load_sectors = requests * variant->sectors_per_request;
    work->store_requests = requests;
    work->store_sectors = bytes / 32;
    return 0;
}

const struct gmt_family gmt_family_stride = {"stride", NULL, launch, work};

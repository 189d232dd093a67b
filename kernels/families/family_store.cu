/* SPDX-License-Identifier: Apache-2.0 */
/* Family store: every word is written once, by lanes that lie 1 to 32 words apart or start late. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256

/*
 * The mirror image of family stride: word i of the source goes to word i * stride of the target,
 * wrapped round at the end and moved on by one word for each turn. A turn writes a part of every
 * sector of the target, far more than L2 holds, so that L2 cannot merge the parts. count is 2^bits.
 */
template <unsigned stride>
__global__ void gmt_kernel_store(const float *source, float *target, unsigned bits)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    size_t count = (size_t)1 << bits;
    size_t to = ((i * stride) & (count - 1)) + ((i * stride) >> bits);

    gmt_store(target + to, gmt_load(source + i)); /* planted */
}

template <int offset> __global__ void gmt_kernel_store_offset(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i + offset, gmt_load(source + i)); /* planted */
}

static size_t element_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / sizeof(float);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t count = element_count(bench);
    const float *source = (const float *)bench->arena;
    /* The second pad, behind the target, takes the last stores of the offset ones. */
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)(count / BLOCK_THREADS);
    cudaStream_t stream = bench->stream;
    unsigned bits = 0;

    while (((size_t)1 << bits) < count)
        bits++;
    if (variant->kernel == GMT_KERNEL_store) {
        switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_store<parameter><<<blocks, BLOCK_THREADS, 0, stream>>>(source, target, bits); \
        break;
            GMT_VARIANTS_STORE_STRIDE(GMT_ROW)
#undef GMT_ROW
        }
    } else {
        switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_store_offset<parameter><<<blocks, BLOCK_THREADS, 0, stream>>>(source, target); \
        break;
            GMT_VARIANTS_STORE_OFFSET(GMT_ROW)
#undef GMT_ROW
        }
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

/* Sectors that a full warp of 4-byte stores touches. */
static double store_sectors(const struct gmt_variant *variant)
{
    if (variant->kernel == GMT_KERNEL_store)
        return variant->parameter < 8 ? 4 * variant->parameter : 32;
    return variant->parameter % 8 == 0 ? 4 : 5;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = (double)element_count(bench) / 32;

    work->bytes_asked = requests * 32 * 2 * sizeof(float);
    work->load_requests = requests;
    work->load_sectors = requests * variant->sectors_per_request;
    work->store_requests = requests;
    work->store_sectors = requests * store_sectors(variant);
    return 0;
}

const struct gmt_family gmt_family_store = {"store", NULL, launch, work};

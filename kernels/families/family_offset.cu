/* SPDX-License-Identifier: Apache-2.0 */
/* Family offset: a float copy whose source starts a few elements past an aligned address. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256

template <int offset> __global__ void gmt_kernel_offset(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_load(source + i + offset)); /* planted */
}

static size_t element_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / sizeof(float);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    unsigned blocks = (unsigned)(element_count(bench) / BLOCK_THREADS);
    const float *source = (const float *)bench->arena;
    /* The pad lies between the halves, so that the last loads stay out of what is being written. */
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);

    switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_offset<parameter><<<blocks, BLOCK_THREADS, 0, bench->stream>>>(source, target); \
        break;
        GMT_VARIANTS_OFFSET(GMT_ROW)
#undef GMT_ROW
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = (double)element_count(bench) / 32;

    work->bytes_asked = requests * 32 * 2 * sizeof(float);
    work->load_requests = requests;
    work->load_sectors = requests * variant->sectors_per_request;
    work->store_requests = requests;
    work->store_sectors = requests * 4;
    return 0;
}

const struct gmt_family gmt_family_offset = {"offset", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/* Family barrier: as many warps in one, two or four blocks, which wait at barriers. */
#include <errno.h>

#include "kernels/families/access_shared.cuh"
#include "kernels/families/families.h"

#define SM_THREADS 1024 /* resident in all variants */

/*
 * Neighbours swap 16 bytes through shared memory, with a barrier before and after. So wide, half of
 * the warps suffice for the bandwidth of device memory, as long as they do not all wait at once.
 */
template <unsigned threads>
__global__ void __launch_bounds__(threads)
    gmt_kernel_barrier(const float4 *source, float4 *target, size_t count)
{
    extern __shared__ float4 tile[];
    unsigned base = gmt_shared_address(tile);

#pragma unroll 1
    for (size_t i = (size_t)blockIdx.x * threads; i < count; i += (size_t)gridDim.x * threads) {
        gmt_store_shared_words(base + threadIdx.x * 16, gmt_load_vector(source + i + threadIdx.x));
        __syncthreads();
        gmt_store_vector(target + i + threadIdx.x,
                         gmt_load_shared_words(base + (threadIdx.x ^ 1) * 16));
        __syncthreads();
    }
}

static const void *body_of(const struct gmt_variant *variant)
{
    switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: return (const void *)gmt_kernel_barrier<parameter>;
        GMT_VARIANTS_BARRIER(GMT_ROW)
#undef GMT_ROW
    }
    return NULL;
}

/* The dynamic shared memory with which SM_THREADS threads are resident, and no more. */
static int shared_bytes_for(struct gmt_bench *bench, const struct gmt_variant *variant,
                            size_t *shared_bytes)
{
    const struct cudaDeviceProp *device = &bench->properties;
    const void *body = body_of(variant);
    size_t wanted = SM_THREADS / variant->parameter;
    int resident = 0;
    int rc = 0;

    GMT_TRY(bench, cudaFuncSetAttribute(body, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared));
    GMT_TRY(bench, cudaFuncSetAttribute(body, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)device->sharedMemPerBlockOptin));
    *shared_bytes = device->sharedMemPerMultiprocessor / wanted - device->reservedSharedMemPerBlock;
    if (*shared_bytes > device->sharedMemPerBlockOptin)
        *shared_bytes = device->sharedMemPerBlockOptin;
    *shared_bytes -= *shared_bytes % 1024;
    GMT_TRY(bench, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &resident, body, (int)variant->parameter, *shared_bytes));
    if ((size_t)resident != wanted)
        rc = -ENOTSUP;
out:
    return rc;
}

static size_t word_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / sizeof(float4);
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float4 *source = (const float4 *)bench->arena;
    float4 *target = (float4 *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = bench->sm_count * (SM_THREADS / variant->parameter);
    size_t count = word_count(bench), shared_bytes = 0;
    int rc = shared_bytes_for(bench, variant, &shared_bytes);

    if (rc != 0)
        return rc;
    switch (variant->parameter) {
#define GMT_ROW(family, name, kernel, parameter, ...) \
    case parameter: \
        gmt_kernel_barrier<parameter> \
            <<<blocks, parameter, shared_bytes, bench->stream>>>(source, target, count); \
        break;
        GMT_VARIANTS_BARRIER(GMT_ROW)
#undef GMT_ROW
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = (double)word_count(bench) / 32;
    size_t shared_bytes;
    int rc = shared_bytes_for(bench, variant, &shared_bytes);

    if (rc != 0)
        return rc;
    work->bytes_asked = 2 * requests * 512;
    work->load_requests = work->store_requests = work->shared_load_requests = requests;
    work->load_sectors = work->store_sectors = requests * variant->sectors_per_request;
    work->shared_load_bytes = requests * 512;
    work->wavefronts = work->ideal_wavefronts = requests * 4;
    return 0;
}

const struct gmt_family gmt_family_barrier = {"barrier", NULL, launch, work};

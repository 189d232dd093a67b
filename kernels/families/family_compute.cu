/* SPDX-License-Identifier: Apache-2.0 */
/* Family compute: arithmetic that few warps suffice for, at several occupancies. */
#include <errno.h>

#include "kernels/families/launch.cuh"

#define BLOCK_THREADS 128
#define ROUNDS 64
#define BLOCKS_PER_SM 32 /* a multiple of every number of resident blocks */

__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_compute(const float *source, float *target, unsigned rounds)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;

    gmt_store(target + i, gmt_multiply_add<8>(gmt_load(source + i), rounds));
}

/* The shared memory per block with which just the wanted number of blocks is resident. */
static int shared_bytes_for(struct gmt_bench *bench, const struct gmt_variant *variant,
                            size_t *shared_bytes)
{
    const void *body = (const void *)gmt_kernel_compute;
    const struct cudaDeviceProp *device = &bench->properties;
    unsigned resident = 0;
    int rc = 0;

    GMT_TRY(bench, cudaFuncSetAttribute(body, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared));
    GMT_TRY(bench, cudaFuncSetAttribute(body, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)device->sharedMemPerBlockOptin));
    *shared_bytes = device->sharedMemPerMultiprocessor / variant->parameter -
                    device->reservedSharedMemPerBlock;
    if (*shared_bytes > device->sharedMemPerBlockOptin)
        *shared_bytes = device->sharedMemPerBlockOptin;
    *shared_bytes -= *shared_bytes % 1024;
    rc = gmt_resident_blocks(bench, body, BLOCK_THREADS, *shared_bytes, &resident);
    if (rc == 0 && resident != variant->parameter)
        rc = -ENOTSUP;
out:
    return rc;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t shared_bytes = 0;
    int rc = shared_bytes_for(bench, variant, &shared_bytes);

    if (rc != 0)
        return rc;
    gmt_kernel_compute<<<BLOCKS_PER_SM * bench->sm_count, BLOCK_THREADS, shared_bytes,
                         bench->stream>>>((const float *)bench->arena, gmt_target(bench), ROUNDS);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double words = (double)BLOCKS_PER_SM * BLOCK_THREADS * bench->sm_count;
    size_t shared_bytes = 0;
    int rc = shared_bytes_for(bench, variant, &shared_bytes);

    if (rc != 0)
        return rc;
    gmt_work_copy(work, words, words / 32, words / 32 * variant->sectors_per_request);
    return gmt_work_resident(bench, (const void *)gmt_kernel_compute, BLOCK_THREADS, shared_bytes,
                             work);
}

const struct gmt_family gmt_family_compute = {"compute", NULL, launch, work};

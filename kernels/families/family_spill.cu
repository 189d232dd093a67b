/* SPDX-License-Identifier: Apache-2.0 */
/* Family spill: registers that do not suffice, and arrays that only local memory can hold. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define LIVE_WORDS 64
#define SPILL_ROUNDS 16
#define ARRAY_WORDS 32u
#define ARRAY_ROUNDS 64

/* Every word stays live through the rounds, and no two of them can be computed from one another. */
static __device__ __forceinline__ void mix_live_words(const float *source, float *target)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float word[LIVE_WORDS];
    float scale = gmt_load(source + i), sum = 0;

#pragma unroll
    for (int j = 0; j < LIVE_WORDS; j++)
        word[j] = scale * (float)(j + 1);
#pragma unroll 1
    for (int round = 0; round < SPILL_ROUNDS; round++) {
#pragma unroll
        for (int j = 0; j < LIVE_WORDS; j++)
            word[j] = fmaf(word[j], scale, word[(j + 1) % LIVE_WORDS]); /* planted */
    }
#pragma unroll
    for (int j = 0; j < LIVE_WORDS; j++)
        sum += word[j];
    gmt_store(target + i, sum);
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    gmt_kernel_spill_none(const float *source, float *target)
{
    mix_live_words(source, target);
}

#define SPILLING_KERNEL(limit) \
    __global__ void __maxnreg__(limit) \
        gmt_kernel_spill_##limit(const float *source, float *target) \
    { \
        mix_live_words(source, target); \
    }
SPILLING_KERNEL(64)
SPILLING_KERNEL(48)
SPILLING_KERNEL(32)

/* Lane l starts at word l * spread: 0 has all lanes at the same word, 1 each at another. */
__global__ void gmt_kernel_local_array(const float *source, float *target, unsigned spread)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float array[ARRAY_WORDS];
    float sum = gmt_load(source + i);
    unsigned at = threadIdx.x % 32 * spread;

#pragma unroll
    for (unsigned j = 0; j < ARRAY_WORDS; j++)
        array[j] = sum + (float)j;
#pragma unroll 1
    for (unsigned round = 0; round < ARRAY_ROUNDS; round++) {
        at = (at + 5) % ARRAY_WORDS;
        sum += array[at]; /* planted */
        array[at] = sum;  /* planted */
    }
    gmt_store(target + i, sum);
}

/* The same, with word j of each thread in row j, so that a lane's bank is its own. */
__global__ void gmt_kernel_shared_array(const float *source, float *target, unsigned spread)
{
    __shared__ float array[ARRAY_WORDS][BLOCK_THREADS];
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    float sum = gmt_load(source + i);
    unsigned at = threadIdx.x % 32 * spread;

#pragma unroll
    for (unsigned j = 0; j < ARRAY_WORDS; j++)
        array[j][threadIdx.x] = sum + (float)j;
#pragma unroll 1
    for (unsigned round = 0; round < ARRAY_ROUNDS; round++) {
        at = (at + 5) % ARRAY_WORDS;
        sum += gmt_load_shared((unsigned)__cvta_generic_to_shared(&array[at][threadIdx.x]));
        array[at][threadIdx.x] = sum;
    }
    gmt_store(target + i, sum);
}

/* The rounds make it long enough: a part of the working set. */
static size_t thread_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / sizeof(float) / 32;
}

typedef void (*spill_kernel)(const float *, float *);

static spill_kernel spilling(enum gmt_variant_kernel kernel)
{
    switch (kernel) {
    case GMT_KERNEL_spill_64: return gmt_kernel_spill_64;
    case GMT_KERNEL_spill_48: return gmt_kernel_spill_48;
    case GMT_KERNEL_spill_32: return gmt_kernel_spill_32;
    default: return gmt_kernel_spill_none;
    }
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    unsigned blocks = (unsigned)(thread_count(bench) / BLOCK_THREADS);
    cudaStream_t stream = bench->stream;

    if (variant->kernel == GMT_KERNEL_local_array)
        gmt_kernel_local_array<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target,
                                                                     variant->parameter);
    else if (variant->kernel == GMT_KERNEL_shared_array)
        gmt_kernel_shared_array<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target,
                                                                      variant->parameter);
    else
        spilling(variant->kernel)<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

/*
 * How much ptxas spilled is its decision, and 0 where PTX is executed as it stands. Of 70 words of the
 * frame it stores and loads 55 in each round (sm_90, 32 registers), the others before and after.
 */
static int spilled(struct gmt_bench *bench, const struct gmt_variant *variant,
                   struct gmt_variant_work *work)
{
    struct cudaFuncAttributes attributes;
    int rc = gmt_bench_check(
        bench, cudaFuncGetAttributes(&attributes, (const void *)spilling(variant->kernel)),
        "cudaFuncGetAttributes");

    if (rc == 0)
        work->spilled_words = (double)thread_count(bench) / 32 * SPILL_ROUNDS *
                              (double)(attributes.localSizeBytes / sizeof(float));
    return rc;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double requests = (double)thread_count(bench) / 32;

    work->bytes_asked = requests * 32 * 2 * sizeof(float);
    work->load_requests = work->store_requests = requests;
    work->load_sectors = work->store_sectors = requests * 4;
    if (variant->kernel == GMT_KERNEL_local_array) {
        work->local_load_requests = requests * ARRAY_ROUNDS;
    } else if (variant->kernel == GMT_KERNEL_shared_array) {
        work->shared_load_requests = requests * ARRAY_ROUNDS;
        work->shared_load_bytes = work->shared_load_requests * 32 * sizeof(float);
        work->wavefronts = work->ideal_wavefronts = work->shared_load_requests;
    } else {
        return spilled(bench, variant, work);
    }
    return 0;
}

const struct gmt_family gmt_family_spill = {"spill", NULL, launch, work};

/* SPDX-License-Identifier: Apache-2.0 */
/* What the families of launch shapes share: a compute-bound body, and held registers. */
#ifndef GMT_KERNELS_LAUNCH_CUH
#define GMT_KERNELS_LAUNCH_CUH

#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

/* Multiply-adds that each round makes in each chain. */
#define GMT_CHAIN_STEPS 4

/*
 * Chains of multiply-adds, as many of them independent of each other. The factor is known at run
 * time only, so nothing folds; zero stays below 1 and nothing overflows.
 */
template <int chains>
static __device__ __forceinline__ float gmt_multiply_add(float x, unsigned rounds)
{
    float part[chains], sum = 0;

#pragma unroll
    for (int i = 0; i < chains; i++)
        part[i] = x + (float)i;
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++) {
#pragma unroll
        for (int step = 0; step < GMT_CHAIN_STEPS; step++) {
#pragma unroll
            for (int i = 0; i < chains; i++)
                part[i] = fmaf(part[i], x, 0.5f);
        }
    }
#pragma unroll
    for (int i = 0; i < chains; i++)
        sum += part[i];
    return sum;
}

/*
 * Registers that stay occupied from here to gmt_release. Each gets what another lane of the warp
 * has: the assembler can neither compute that again nor later, nor keep it in uniform registers.
 */
template <int registers>
static __device__ __forceinline__ void gmt_hold(unsigned (&held)[registers])
{
#pragma unroll
    for (int i = 0; i < registers; i++)
        asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                     : "=r"(held[i])
                     : "r"(threadIdx.x + 1024 * i), "r"(i % 31 + 1));
}

/* last: known only at the end. A chain that starts from it cannot be computed earlier in part. */
template <int registers>
static __device__ __forceinline__ void gmt_release(unsigned (&held)[registers], float last,
                                                   unsigned never, float *target)
{
    unsigned mixed = __float_as_uint(last);

#pragma unroll
    for (int i = 0; i < registers; i++)
        mixed = mixed * held[i] + 1;
    if ((mixed | 1) == never) /* never: that is 0 */
        gmt_store(target, 0);
}

/* Resident blocks per multiprocessor of such launches; 0 or -EIO. */
static inline int gmt_resident_blocks(struct gmt_bench *bench, const void *body, unsigned threads,
                                      size_t shared_bytes, unsigned *blocks)
{
    int resident = 0;
    int rc = 0;

    GMT_TRY(bench, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, body, (int)threads,
                                                                 shared_bytes));
    *blocks = (unsigned)resident;
out:
    return rc;
}

/* Fills in the members of work about resident warps. 0 or -EIO. */
static inline int gmt_work_resident(struct gmt_bench *bench, const void *body, unsigned threads,
                                    size_t shared_bytes, struct gmt_variant_work *work)
{
    unsigned blocks = 0;
    int rc = gmt_resident_blocks(bench, body, threads, shared_bytes, &blocks);

    work->blocks_per_sm = blocks;
    work->warps_per_sm = (double)blocks * ((threads + 31) / 32);
    work->occupancy = work->warps_per_sm / bench->max_warps_per_sm;
    return rc;
}

/* A copy of so many words: each is read and written once. */
static inline void gmt_work_copy(struct gmt_variant_work *work, double words, double requests,
                                 double sectors)
{
    work->bytes_asked = 2 * words * sizeof(float);
    work->load_requests = work->store_requests = requests;
    work->load_sectors = work->store_sectors = sectors;
}

static inline float *gmt_target(const struct gmt_bench *bench)
{
    return (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
}

#endif

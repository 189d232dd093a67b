/* SPDX-License-Identifier: Apache-2.0 */
/* Family gather: words at random places, from tables that L1, L2 or only device memory hold. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256
#define SECTOR_WORDS 8u
#define GATHERS 8
#define RANDOM_STEP (40503 * SECTOR_WORDS) /* an odd number of sectors: lanes stay apart */

/* GATHERS words for each index: every further one lies step words on, within mask + 1 words. */
__global__ void gmt_kernel_gather(const float *table, const unsigned *index, float *target,
                                  unsigned step, unsigned mask)
{
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    unsigned first = gmt_load_index(index + i);
    float part[GATHERS], sum = 0;

#pragma unroll
    for (unsigned k = 0; k < GATHERS; k++)
        part[k] = gmt_load(table + ((first + k * step) & mask)); /* planted */
#pragma unroll
    for (unsigned k = 0; k < GATHERS; k++)
        sum += part[k];
    gmt_store(target + i, sum);
}

/* The finalizer of MurmurHash3 (A. Appleby, public domain): every bit depends on every other. */
static __device__ unsigned scramble(unsigned x)
{
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

/*
 * Random words, but each lane of a warp in a sector of its own, so that the number of sectors is
 * known exactly: the low five bits of the sector are the lane's, permuted anew in each warp.
 * sectors is a power of two, 32 at least; 0: in order.
 */
__global__ void gmt_kernel_gather_indices(unsigned *index, unsigned sectors)
{
    unsigned i = blockIdx.x * BLOCK_THREADS + threadIdx.x;
    unsigned own = (i ^ scramble(i / 32 + 0x9e3779b9u)) % 32;
    unsigned random = scramble(i);
    unsigned sector = (scramble(random + 1) & (sectors - 32)) | own;

    index[i] = sectors == 0 ? i : sector * SECTOR_WORDS + random % SECTOR_WORDS;
}

/* Indices of one launch: five such arrays and the target share the second half of the arena. */
static size_t index_count(const struct gmt_bench *bench)
{
    return bench->working_set_bytes / 16 / sizeof(float);
}

/* The good variants take the words of a table in order, the bad ones anywhere. */
static bool in_order(const struct gmt_variant *variant)
{
    return variant->quality == GMT_QUALITY_good;
}

static unsigned table_sectors(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t bytes = bench->working_set_bytes;

    if (variant->parameter != 0 && (size_t)variant->parameter * 1024 < bytes)
        bytes = (size_t)variant->parameter * 1024;
    return (unsigned)(bytes / 32);
}

/* Where the indices of a variant lie: in the order of the table; those in order are all the same. */
static unsigned *indices_of(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    unsigned *all = (unsigned *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    size_t before = 0;

    if (in_order(variant))
        return all;
    for (const struct gmt_variant *v = gmt_variant_find("gather", "gather_sorted"); v < variant;
         v++)
        before++;
    return all + before * index_count(bench);
}

static float *target_of(const struct gmt_bench *bench)
{
    return (float *)(indices_of(bench, gmt_variant_find("gather", "gather_all")) +
                     index_count(bench));
}

static int prepare(struct gmt_bench *bench)
{
    unsigned blocks = (unsigned)(index_count(bench) / BLOCK_THREADS);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < gmt_variant_count; i++) {
        const struct gmt_variant *variant = &gmt_variants[i];

        if (variant->kernel != GMT_KERNEL_gather)
            continue;
        gmt_kernel_gather_indices<<<blocks, BLOCK_THREADS, 0, bench->stream>>>(
            indices_of(bench, variant), in_order(variant) ? 0 : table_sectors(bench, variant));
        rc = gmt_bench_check(bench, cudaGetLastError(), "indices");
    }
    return rc;
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t count = index_count(bench);
    unsigned words = table_sectors(bench, variant) * SECTOR_WORDS;
    unsigned apart = words / GATHERS < count ? words / GATHERS : (unsigned)count;
    /* In order: each warp reads GATHERS lines, each from another part of the table. */
    unsigned step = in_order(variant) ? apart : RANDOM_STEP, mask = words - 1;

    gmt_kernel_gather<<<(unsigned)(count / BLOCK_THREADS), BLOCK_THREADS, 0, bench->stream>>>(
        (const float *)bench->arena, indices_of(bench, variant), target_of(bench), step, mask);
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double warps = (double)index_count(bench) / 32;
    double sectors = in_order(variant) ? 4 : 32; /* of one gather */

    work->bytes_asked = warps * 32 * (1 + GATHERS + 1) * sizeof(float);
    work->load_requests = warps * (1 + GATHERS);
    work->load_sectors = warps * (4 + GATHERS * sectors);
    work->store_requests = warps;
    work->store_sectors = warps * 4;
    return 0;
}

const struct gmt_family gmt_family_gather = {"gather", prepare, launch, work};

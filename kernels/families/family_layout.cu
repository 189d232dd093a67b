/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Family layout: arrays of structs against structs of arrays, and elements moved in pieces against
 * whole.
 */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_THREADS 256

static __device__ __forceinline__ size_t thread_index(void)
{
    return (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
}

/* The first field of each struct of that many words. */
template <unsigned words>
__global__ void gmt_kernel_layout_field(const float *source, float *target)
{
    size_t i = thread_index();

    gmt_store(target + i, gmt_load(source + i * words)); /* planted */
}

__global__ void gmt_kernel_layout_field_apart(const float *source, float *target)
{
    size_t i = thread_index();

    gmt_store(target + i, gmt_load(source + i));
}

template <unsigned words> static __device__ __forceinline__ float sum_of(const float *part)
{
    float sum = 0;

#pragma unroll
    for (unsigned k = 0; k < words; k++)
        sum += part[k];
    return sum;
}

/* All loads stand before the first use of one, in both layouts. */
template <unsigned words>
__global__ void gmt_kernel_layout_fields(const float *source, float *target)
{
    size_t i = thread_index();
    float part[words];

#pragma unroll
    for (unsigned k = 0; k < words; k++)
        part[k] = gmt_load(source + i * words + k); /* planted */
    gmt_store(target + i, sum_of<words>(part));
}

template <unsigned words>
__global__ void gmt_kernel_layout_fields_apart(const float *source, float *target, size_t count)
{
    size_t i = thread_index();
    float part[words];

#pragma unroll
    for (unsigned k = 0; k < words; k++)
        part[k] = gmt_load(source + i + k * count);
    gmt_store(target + i, sum_of<words>(part));
}

template <unsigned words>
__global__ void gmt_kernel_layout_pieces(const float *source, float *target)
{
    size_t i = thread_index();
    float part[words];

#pragma unroll
    for (unsigned k = 0; k < words; k++)
        part[k] = gmt_load(source + i * words + k); /* planted */
#pragma unroll
    for (unsigned k = 0; k < words; k++)
        gmt_store(target + i * words + k, part[k]); /* planted */
}

__global__ void gmt_kernel_layout_whole(const float4 *source, float4 *target)
{
    size_t i = thread_index();

    gmt_store_vector(target + i, gmt_load_vector(source + i));
}

/* Words of 1, 2 or 4 bytes. */
template <unsigned bytes>
__global__ void gmt_kernel_layout_word(const unsigned char *source, unsigned char *target)
{
    size_t from = __cvta_generic_to_global(source) + thread_index() * bytes;
    size_t to = __cvta_generic_to_global(target) + thread_index() * bytes;
    unsigned value;

    if (bytes == 1) {
        asm volatile("ld.global.ca.u8 %0, [%1];" : "=r"(value) : "l"(from));
        asm volatile("st.global.u8 [%0], %1;" ::"l"(to), "r"(value) : "memory");
    } else if (bytes == 2) {
        asm volatile("ld.global.ca.u16 %0, [%1];" : "=r"(value) : "l"(from));
        asm volatile("st.global.u16 [%0], %1;" ::"l"(to), "r"(value) : "memory");
    } else {
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(from));
        asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
    }
}

/*
 * Structs: as many as fit the working set. Elements: as many as fit when each has 16 bytes. Words: a
 * quarter of the working set, which keeps single bytes below a millisecond.
 */
static size_t thread_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    size_t bytes = bench->working_set_bytes, count = bytes / 16;

    if (variant->kernel == GMT_KERNEL_layout_word)
        count = bytes / 4 / variant->parameter;
    else if (variant->kernel != GMT_KERNEL_layout_pieces &&
             variant->kernel != GMT_KERNEL_layout_whole)
        count = bytes / variant->parameter;
    return count / BLOCK_THREADS * BLOCK_THREADS;
}

typedef void (*float_kernel)(const float *, float *);
typedef void (*word_kernel)(const unsigned char *, unsigned char *);

static float_kernel kernel_of_floats(const struct gmt_variant *variant)
{
    switch (variant->kernel) {
    case GMT_KERNEL_layout_field:
        return variant->parameter == 12   ? gmt_kernel_layout_field<3>
               : variant->parameter == 16 ? gmt_kernel_layout_field<4>
                                          : gmt_kernel_layout_field<8>;
    case GMT_KERNEL_layout_fields:
        return variant->parameter == 12   ? gmt_kernel_layout_fields<3>
               : variant->parameter == 16 ? gmt_kernel_layout_fields<4>
                                          : gmt_kernel_layout_fields<8>;
    case GMT_KERNEL_layout_pieces:
        return variant->parameter == 3 ? gmt_kernel_layout_pieces<3> : gmt_kernel_layout_pieces<4>;
    default: return gmt_kernel_layout_field_apart;
    }
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    size_t count = thread_count(bench, variant);
    unsigned blocks = (unsigned)(count / BLOCK_THREADS), bytes = variant->parameter;
    cudaStream_t stream = bench->stream;

    switch (variant->kernel) {
    case GMT_KERNEL_layout_fields_apart: {
        void (*kernel)(const float *, float *, size_t) = bytes == 12
                                                             ? gmt_kernel_layout_fields_apart<3>
                                                         : bytes == 16
                                                             ? gmt_kernel_layout_fields_apart<4>
                                                             : gmt_kernel_layout_fields_apart<8>;

        kernel<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target, count);
        break;
    }
    case GMT_KERNEL_layout_whole:
        gmt_kernel_layout_whole<<<blocks, BLOCK_THREADS, 0, stream>>>((const float4 *)source,
                                                                      (float4 *)target);
        break;
    case GMT_KERNEL_layout_word: {
        word_kernel kernel = bytes == 1   ? gmt_kernel_layout_word<1>
                             : bytes == 2 ? gmt_kernel_layout_word<2>
                                          : gmt_kernel_layout_word<4>;

        kernel<<<blocks, BLOCK_THREADS, 0, stream>>>((const unsigned char *)source,
                                                     (unsigned char *)target);
        break;
    }
    default: kernel_of_floats(variant)<<<blocks, BLOCK_THREADS, 0, stream>>>(source, target); break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    double warps = (double)thread_count(bench, variant) / 32;
    double loads = 1, stores = 1, store_sectors = variant->width_bytes;

    if (variant->kernel == GMT_KERNEL_layout_fields ||
        variant->kernel == GMT_KERNEL_layout_fields_apart) {
        loads = variant->parameter / 4;
    } else if (variant->kernel == GMT_KERNEL_layout_pieces) {
        loads = stores = variant->parameter;
        store_sectors = variant->sectors_per_request;
    }
    work->bytes_asked = warps * 32 * variant->width_bytes * (loads + stores);
    work->load_requests = warps * loads;
    work->load_sectors = work->load_requests * variant->sectors_per_request;
    work->store_requests = warps * stores;
    work->store_sectors = work->store_requests * store_sectors;
    return 0;
}

const struct gmt_family gmt_family_layout = {"layout", NULL, launch, work};

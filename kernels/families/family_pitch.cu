/* SPDX-License-Identifier: Apache-2.0 */
/* Family pitch: copies of matrices whose rows follow each other, or start at aligned addresses. */
#include "kernels/families/access.cuh"
#include "kernels/families/families.h"

#define BLOCK_COLUMNS 32
#define BLOCK_ROWS 16
#define PITCH_ALIGNMENT 512 /* what cudaMallocPitch rounds to on recent devices */

static __device__ __forceinline__ void copy_word(const float *source, float *target, unsigned width,
                                                 size_t pitch_words)
{
    unsigned column = blockIdx.x * BLOCK_COLUMNS + threadIdx.x;
    size_t row = (size_t)blockIdx.y * BLOCK_ROWS + threadIdx.y;

    if (column < width)
        gmt_store(target + row * pitch_words + column,
                  gmt_load(source + row * pitch_words + column));
}

/* Templates, so that a profiler distinguishes matrices of different widths. */
template <unsigned width>
__global__ void gmt_kernel_pitch_packed(const float *source, float *target)
{
    copy_word(source, target, width, width); /* planted */
}

template <unsigned width>
__global__ void gmt_kernel_pitch_padded(const float *source, float *target, size_t pitch_words)
{
    copy_word(source, target, width, pitch_words);
}

static size_t padded_row(const struct gmt_variant *variant)
{
    size_t bytes = variant->parameter * sizeof(float);

    return (bytes + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
}

static size_t row_count(const struct gmt_bench *bench, const struct gmt_variant *variant)
{
    return bench->working_set_bytes / padded_row(variant) / BLOCK_ROWS * BLOCK_ROWS;
}

template <unsigned width>
static void launch_width(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    const float *source = (const float *)bench->arena;
    float *target = (float *)(bench->arena + bench->working_set_bytes + GMT_ARENA_PAD_BYTES);
    dim3 block(BLOCK_COLUMNS, BLOCK_ROWS);
    dim3 grid((width + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS,
              (unsigned)(row_count(bench, variant) / BLOCK_ROWS));

    if (variant->kernel == GMT_KERNEL_pitch_packed)
        gmt_kernel_pitch_packed<width><<<grid, block, 0, bench->stream>>>(source, target);
    else
        gmt_kernel_pitch_padded<width><<<grid, block, 0, bench->stream>>>(
            source, target, padded_row(variant) / sizeof(float));
}

static int launch(struct gmt_bench *bench, const struct gmt_variant *variant)
{
    switch (variant->parameter) {
    case 100: launch_width<100>(bench, variant); break;
    case 1000: launch_width<1000>(bench, variant); break;
    default: launch_width<1001>(bench, variant); break;
    }
    return gmt_bench_check(bench, cudaGetLastError(), variant->name);
}

/* Sectors that the warps of one row touch when it starts that many bytes into a sector. */
static double row_sectors(unsigned width, size_t start)
{
    double sectors = 0;

    for (unsigned column = 0; column < width; column += BLOCK_COLUMNS) {
        unsigned lanes = width - column < BLOCK_COLUMNS ? width - column : BLOCK_COLUMNS;
        size_t first = start + column * sizeof(float), last = first + lanes * sizeof(float) - 1;

        sectors += (double)(last / 32 - first / 32 + 1);
    }
    return sectors;
}

static int work(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work)
{
    unsigned width = variant->parameter;
    double rows = (double)row_count(bench, variant), sectors = 0;
    size_t pitch = variant->kernel == GMT_KERNEL_pitch_packed ? width * sizeof(float)
                                                              : padded_row(variant);

    /* The starts of rows of whole words repeat after 8 rows, which the number of rows is made of. */
    for (size_t row = 0; row < 8; row++)
        sectors += row_sectors(width, row * pitch % 32) / 8;
    work->bytes_asked = 2 * rows * width * sizeof(float);
    work->load_requests = work->store_requests = rows *
                                                 ((width + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS);
    work->load_sectors = work->store_sectors = rows * sectors;
    return 0;
}

const struct gmt_family gmt_family_pitch = {"pitch", NULL, launch, work};

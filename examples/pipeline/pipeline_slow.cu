/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example pipeline with the usual mistakes; each is marked with the rule that finds it.
 *
 * pipeline_fast.cu is the same program with every one of them repaired.
 */

#include "pipeline_common.h"
#include "pipeline_cuda.h"

#include <stdlib.h>

static const char program[] = "pipeline_slow";

/* "Room for the largest radius a user may ask for": 191 rows of 64 pixels, 48,896 bytes. */
enum { BLUR_COLUMNS = 64, BLUR_ROWS = 64, BLUR_MAX_RADIUS = 95 };

__constant__ pipeline_tile c_tiles[PIPELINE_TILES];

/*
 * GM301 (and GM310 for the store): threadIdx.x runs down a column, so the 32 lanes of a warp touch
 * 32 rows, one whole 32-byte sector each.
 */
__global__ void shade_by_column(const float *in, float *out, int size)
{
    const int y = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int x = (int)blockIdx.y;
    const pipeline_tile tile = c_tiles[pipeline_tile_of(x, y, size)];
    const size_t i = (size_t)y * size + x;
    out[i] = pipeline_shade(in[i], tile.gain, tile.bias);
}

/* GM306: `sorted` is indexed with a value known only at run time, so it lives in local memory. */
__global__ void median_by_insertion(const float *in, float *out, int size, int taps)
{
    float sorted[32];
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
#pragma unroll 1
    for (int k = 0; k < taps; k++) {
        const int row = pipeline_clamp(y + k - taps / 2, size - 1);
        const float value = in[(size_t)row * size + x];
        int at = k;
#pragma unroll 1
        for (; at > 0 && sorted[at - 1] > value; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
    out[(size_t)y * size + x] = sorted[taps / 2];
}

/*
 * GM404: a ring of rows for the largest radius thinkable lets four blocks of two warps share a
 * multiprocessor, where one row is loaded at a time and there is nobody to hide its latency.
 */
__global__ void blur_with_big_ring(const float *__restrict__ in, float *__restrict__ out, int size)
{
    extern __shared__ float ring[];
    const int column = (int)threadIdx.x;
    const int x = (int)blockIdx.x * BLUR_COLUMNS + column;
    const int first = (int)blockIdx.y * BLUR_ROWS;
    const int rows = 2 * BLUR_MAX_RADIUS + 1;

    for (int y = first - 2; y < first + 2; y++)
        ring[(y + rows) % rows * BLUR_COLUMNS + column] =
            in[(size_t)pipeline_clamp(y, size - 1) * size + x];
#pragma unroll 1
    for (int y = first; y < first + BLUR_ROWS; y++) {
        float v[5];
        ring[(y + 2) % rows * BLUR_COLUMNS + column] =
            in[(size_t)pipeline_clamp(y + 2, size - 1) * size + x];
#pragma unroll
        for (int k = 0; k < 5; k++)
            v[k] = ring[(y + k - 2 + rows) % rows * BLUR_COLUMNS + column];
        out[(size_t)y * size + x] = pipeline_blur5(v[0], v[1], v[2], v[3], v[4]);
    }
}

/* GM401: reading a column of a 32 x 32 tile hits one bank 32 times. */
__global__ void transpose_unpadded(const float *in, float *out, int size)
{
    __shared__ float tile[32][32];
    const int x = (int)(blockIdx.x * 32 + threadIdx.x);
    const int y = (int)(blockIdx.y * 32 + threadIdx.y);
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(y + k) * size + x];
    __syncthreads();
    const int out_x = (int)(blockIdx.y * 32 + threadIdx.x);
    const int out_y = (int)(blockIdx.x * 32 + threadIdx.y);
    for (int k = 0; k < 32; k += 8)
        out[(size_t)(out_y + k) * size + out_x] = tile[threadIdx.x][threadIdx.y + k];
}

/*
 * The mapping is right here, but `trail` starts 4 bytes into its allocation (GM202): each of its
 * warp accesses touches five sectors instead of four.
 */
__global__ void join_trail(const float *in, float *trail, unsigned *frames_done,
                           const float *overlay, size_t overlay_pitch, float *out, int size)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const size_t i = (size_t)y * size + x;
    const float pixel = in[i];
    const float seen = pipeline_trail(pixel, trail[i]);
    float value = pipeline_join(pixel, seen);
    if (x < pipeline_overlay_width(size) && y < pipeline_overlay_height(size)) {
        const float *row = (const float *)((const char *)overlay + y * overlay_pitch);
        value = pipeline_overlay(value, row[x]);
    }
    trail[i] = seen;
    out[i] = value;
    if (x == 0 && y == 0)
        *frames_done += 1;
}

struct buffers {
    float *frames[2]; /* host, as malloc gives them */
    float *result;    /* host */
    float *atlas;     /* host */
    float *in;        /* device */
    float *out;       /* device */
    char *arena;      /* device: the frame counter, then the trail */
    float *overlay;   /* device, pitched */
    size_t overlay_pitch;
};

static int launch_kernels(const struct buffers *b, float *d_a, float *d_b, int size)
{
    const dim3 block(32, 8);
    const dim3 grid((unsigned)size / 32, (unsigned)size / 8);
    const dim3 tiles((unsigned)size / 32, (unsigned)size / 32);
    const dim3 columns((unsigned)size / 256, (unsigned)size);
    const dim3 strips((unsigned)size / BLUR_COLUMNS, (unsigned)size / BLUR_ROWS);
    const size_t ring_bytes = sizeof(float) * BLUR_COLUMNS * (2 * BLUR_MAX_RADIUS + 1);
    unsigned *frames_done = (unsigned *)b->arena;
    float *trail = (float *)(b->arena + sizeof(unsigned)); /* GM202: not rounded up */

    shade_by_column<<<columns, 256>>>(b->in, d_a, size);
    median_by_insertion<<<grid, block>>>(d_a, d_b, size, PIPELINE_TAPS);
    blur_with_big_ring<<<strips, BLUR_COLUMNS, ring_bytes>>>(d_b, d_a, size);
    transpose_unpadded<<<tiles, block>>>(d_a, d_b, size);
    blur_with_big_ring<<<strips, BLUR_COLUMNS, ring_bytes>>>(d_b, d_a, size);
    transpose_unpadded<<<tiles, block>>>(d_a, d_b, size);
    join_trail<<<grid, block>>>(d_b, trail, frames_done, b->overlay, b->overlay_pitch, b->out,
                                size);
    TRY(cudaGetLastError());
    return 0;
}

static int process_frame(const struct buffers *b, int size, int number)
{
    const size_t image_bytes = sizeof(float) * (size_t)size * size;
    const size_t row_bytes = sizeof(float) * pipeline_overlay_width(size);
    pipeline_tile tiles[PIPELINE_TILES];
    float *d_a = NULL;
    float *d_b = NULL;

    /* GM201: the same two scratch images are allocated and freed for each frame. */
    TRY(cudaMalloc(&d_a, image_bytes));
    TRY(cudaMalloc(&d_b, image_bytes));

    /* GM101: 256 copies of 8 bytes. */
    pipeline_fill_tiles(tiles, number);
    for (size_t i = 0; i < PIPELINE_TILES; i++)
        TRY(cudaMemcpyToSymbol(c_tiles, &tiles[i], sizeof tiles[i], i * sizeof tiles[i]));

    /* GM104: a copy per row, with a constant distance between rows on either side. */
    pipeline_fill_atlas(b->atlas, size, number);
    for (int y = 0; y < pipeline_overlay_height(size); y++)
        TRY(cudaMemcpy((char *)b->overlay + y * b->overlay_pitch,
                       b->atlas + (size_t)y * pipeline_atlas_width(size), row_bytes,
                       cudaMemcpyHostToDevice));

    /* GM102: large copies from and to pageable memory, the same buffers over and over. */
    TRY(cudaMemcpy(b->in, b->frames[number % 2], image_bytes, cudaMemcpyHostToDevice));
    if (launch_kernels(b, d_a, d_b, size) != 0)
        return 1;
    TRY(cudaMemcpy(b->result, b->out, image_bytes, cudaMemcpyDeviceToHost));

    TRY(cudaFree(d_b)); /* GM201 */
    TRY(cudaFree(d_a));
    return 0;
}

static int allocate(struct buffers *b, int size)
{
    const size_t image_bytes = sizeof(float) * (size_t)size * size;
    const size_t atlas_bytes = sizeof(float) * pipeline_atlas_width(size) *
                               pipeline_overlay_height(size);
    for (int i = 0; i < 2; i++)
        b->frames[i] = (float *)malloc(image_bytes);
    b->result = (float *)malloc(image_bytes);
    b->atlas = (float *)malloc(atlas_bytes);
    if (b->frames[0] == NULL || b->frames[1] == NULL || b->result == NULL || b->atlas == NULL) {
        fprintf(stderr, "%s: not enough host memory\n", program);
        return 1;
    }
    TRY(cudaMalloc(&b->in, image_bytes));
    TRY(cudaMalloc(&b->out, image_bytes));
    /* GM202: one arena cut up by hand, the pieces packed without gaps. */
    TRY(cudaMalloc(&b->arena, sizeof(unsigned) + image_bytes));
    TRY(cudaMemset(b->arena, 0, sizeof(unsigned) + image_bytes));
    TRY(cudaMallocPitch((void **)&b->overlay, &b->overlay_pitch,
                        sizeof(float) * pipeline_overlay_width(size),
                        (size_t)pipeline_overlay_height(size)));
    return 0;
}

static int release(struct buffers *b)
{
    TRY(cudaFree(b->overlay));
    TRY(cudaFree(b->arena));
    TRY(cudaFree(b->out));
    TRY(cudaFree(b->in));
    free(b->atlas);
    free(b->result);
    free(b->frames[1]);
    free(b->frames[0]);
    return 0;
}

static int run(const struct pipeline_options *options, uint64_t *sum)
{
    struct buffers b = {};
    unsigned frames_done = 0;
    if (allocate(&b, options->size) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        pipeline_fill_frame(b.frames[i], options->size, (uint32_t)i);
    for (int f = 0; f < options->frames; f++) {
        pipeline_stamp_frame(b.frames[f % 2], options->size, f);
        if (process_frame(&b, options->size, f) != 0)
            return 1;
        *sum = pipeline_checksum(*sum, b.result, options->size, f, f == options->frames - 1);
    }
    TRY(cudaMemcpy(&frames_done, b.arena, sizeof frames_done, cudaMemcpyDeviceToHost));
    if (frames_done != (unsigned)options->frames) {
        fprintf(stderr, "%s: the device counted %u frames\n", program, frames_done);
        return 1;
    }
    return release(&b);
}

extern "C" int pipeline_main(int argc, char **argv)
{
    struct pipeline_options options;
    uint64_t sum = 0;
    const int status = pipeline_parse(argc, argv, program, &options);
    if (status >= 0)
        return status;
    const double start_s = pipeline_now_s();
    if (pipeline_need_device(program) != 0 || run(&options, &sum) != 0)
        return 1;
    if (options.time)
        fprintf(stderr, "%s: %.3f s\n", program, pipeline_now_s() - start_s);
    return pipeline_report(&options, program, sum);
}

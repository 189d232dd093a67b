/* SPDX-License-Identifier: Apache-2.0 */
/* The example pipeline with every mistake of pipeline_slow.cu repaired; same results. */

#include "pipeline_common.h"
#include "pipeline_cuda.h"

static const char program[] = "pipeline_fast";

/* Two frames are under way at a time: while one is computed, the other is copied. */
enum { SLOTS = 2, BLUR_ROWS_PER_THREAD = 4 };

__constant__ pipeline_tile c_tiles[SLOTS * PIPELINE_TILES];

/* Was GM301: threadIdx.x runs along the row, 32 lanes touch 128 consecutive bytes. */
__global__ void shade_by_row(const float *__restrict__ in, float *__restrict__ out, int size,
                             int slot)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const pipeline_tile tile = c_tiles[slot * PIPELINE_TILES + pipeline_tile_of(x, y, size)];
    const size_t i = (size_t)y * size + x;
    out[i] = pipeline_shade(in[i], tile.gain, tile.bias);
}

static __device__ inline void order(float &low, float &high)
{
    const float smaller = fminf(low, high);
    high = fmaxf(low, high);
    low = smaller;
}

/* Was GM306: a fixed network of exchanges needs no index, so the nine values stay in registers. */
__global__ void median_by_network(const float *__restrict__ in, float *__restrict__ out, int size)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    float v[PIPELINE_TAPS];
#pragma unroll
    for (int k = 0; k < PIPELINE_TAPS; k++)
        v[k] = in[(size_t)pipeline_clamp(y + k - PIPELINE_TAPS / 2, size - 1) * size + x];
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[1]), order(v[3], v[4]), order(v[6], v[7]);
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[3]), order(v[5], v[8]), order(v[4], v[7]);
    order(v[3], v[6]), order(v[1], v[4]), order(v[2], v[5]);
    order(v[4], v[7]), order(v[4], v[2]), order(v[6], v[4]);
    order(v[4], v[2]);
    out[(size_t)y * size + x] = v[4];
}

/* Was GM404: no shared memory at all, full blocks, and eight independent loads per thread. */
__global__ void blur_in_registers(const float *__restrict__ in, float *__restrict__ out, int size)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y) * BLUR_ROWS_PER_THREAD;
    float v[BLUR_ROWS_PER_THREAD + 4];
#pragma unroll
    for (int k = 0; k < BLUR_ROWS_PER_THREAD + 4; k++)
        v[k] = in[(size_t)pipeline_clamp(y + k - 2, size - 1) * size + x];
#pragma unroll
    for (int k = 0; k < BLUR_ROWS_PER_THREAD; k++)
        out[(size_t)(y + k) * size + x] = pipeline_blur5(v[k], v[k + 1], v[k + 2], v[k + 3],
                                                         v[k + 4]);
}

/* Was GM401: one column of padding puts the 32 words of a tile column into 32 banks. */
__global__ void transpose_padded(const float *__restrict__ in, float *__restrict__ out, int size)
{
    __shared__ float tile[32][33];
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

__global__ void join_trail(const float *__restrict__ in, float *__restrict__ trail,
                           unsigned *frames_done, const float *__restrict__ overlay,
                           size_t overlay_pitch, float *__restrict__ out, int size)
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

struct slot {
    cudaStream_t stream;
    cudaEvent_t joined;   /* its trail is up to date */
    float *frame;         /* host, page-locked */
    float *result;        /* host, page-locked */
    float *atlas;         /* host, page-locked */
    pipeline_tile *tiles; /* host, page-locked */
    float *a;             /* device */
    float *b;             /* device */
    float *overlay;       /* device, pitched */
    size_t overlay_pitch;
};

struct buffers {
    struct slot slots[SLOTS];
    char *arena; /* device: the frame counter, then the trail */
};

static size_t align_up(size_t offset) /* was GM202: every piece starts at a multiple of 256 bytes */
{
    return (offset + 255) / 256 * 256;
}

static int launch_kernels(const struct buffers *b, int size, int number)
{
    const int index = number % SLOTS;
    const struct slot *s = &b->slots[index];
    const dim3 block(32, 8);
    const dim3 grid((unsigned)size / 32, (unsigned)size / 8);
    const dim3 strips((unsigned)size / 32, (unsigned)size / 8 / BLUR_ROWS_PER_THREAD);
    const dim3 tiles((unsigned)size / 32, (unsigned)size / 32);
    unsigned *frames_done = (unsigned *)b->arena;
    float *trail = (float *)(b->arena + align_up(sizeof(unsigned)));

    shade_by_row<<<grid, block, 0, s->stream>>>(s->a, s->b, size, index);
    median_by_network<<<grid, block, 0, s->stream>>>(s->b, s->a, size);
    blur_in_registers<<<strips, block, 0, s->stream>>>(s->a, s->b, size);
    transpose_padded<<<tiles, block, 0, s->stream>>>(s->b, s->a, size);
    blur_in_registers<<<strips, block, 0, s->stream>>>(s->a, s->b, size);
    transpose_padded<<<tiles, block, 0, s->stream>>>(s->b, s->a, size);
    if (number > 0) /* the trail of the frame before must be complete */
        TRY(cudaStreamWaitEvent(s->stream, b->slots[(number - 1) % SLOTS].joined, 0));
    join_trail<<<grid, block, 0, s->stream>>>(s->a, trail, frames_done, s->overlay,
                                              s->overlay_pitch, s->b, size);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(s->joined, s->stream));
    return 0;
}

static int start_frame(const struct buffers *b, int size, int number)
{
    const int index = number % SLOTS;
    const struct slot *s = &b->slots[index];
    const size_t image_bytes = sizeof(float) * (size_t)size * size;
    const size_t tiles_bytes = sizeof(pipeline_tile) * PIPELINE_TILES;

    /* Was GM101: one copy for all tiles. */
    pipeline_fill_tiles(s->tiles, number);
    TRY(cudaMemcpyToSymbolAsync(c_tiles, s->tiles, tiles_bytes, index * tiles_bytes,
                                cudaMemcpyHostToDevice, s->stream));
    /* Was GM104: one copy for all rows. */
    pipeline_fill_atlas(s->atlas, size, number);
    TRY(cudaMemcpy2DAsync(
        s->overlay, s->overlay_pitch, s->atlas, sizeof(float) * pipeline_atlas_width(size),
        sizeof(float) * pipeline_overlay_width(size), (size_t)pipeline_overlay_height(size),
        cudaMemcpyHostToDevice, s->stream));
    /* Was GM102: page-locked buffers, so the copies are fast and overlap with the other slot. */
    TRY(cudaMemcpyAsync(s->a, s->frame, image_bytes, cudaMemcpyHostToDevice, s->stream));
    if (launch_kernels(b, size, number) != 0)
        return 1;
    TRY(cudaMemcpyAsync(s->result, s->b, image_bytes, cudaMemcpyDeviceToHost, s->stream));
    return 0;
}

/* Was GM201: everything is allocated once. */
static int allocate(struct buffers *b, int size)
{
    const size_t image_bytes = sizeof(float) * (size_t)size * size;
    const size_t atlas_bytes = sizeof(float) * pipeline_atlas_width(size) *
                               pipeline_overlay_height(size);
    const size_t arena_bytes = align_up(sizeof(unsigned)) + image_bytes;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &b->slots[i];
        TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
        TRY(cudaEventCreateWithFlags(&s->joined, cudaEventDisableTiming));
        TRY(cudaMallocHost((void **)&s->frame, image_bytes));
        TRY(cudaMallocHost((void **)&s->result, image_bytes));
        TRY(cudaMallocHost((void **)&s->atlas, atlas_bytes));
        TRY(cudaMallocHost((void **)&s->tiles, sizeof(pipeline_tile) * PIPELINE_TILES));
        TRY(cudaMalloc(&s->a, image_bytes));
        TRY(cudaMalloc(&s->b, image_bytes));
        TRY(cudaMallocPitch((void **)&s->overlay, &s->overlay_pitch,
                            sizeof(float) * pipeline_overlay_width(size),
                            (size_t)pipeline_overlay_height(size)));
    }
    TRY(cudaMalloc(&b->arena, arena_bytes));
    TRY(cudaMemset(b->arena, 0, arena_bytes));
    TRY(cudaDeviceSynchronize()); /* the slots' streams do not wait for the default stream */
    return 0;
}

static int release(struct buffers *b)
{
    TRY(cudaFree(b->arena));
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &b->slots[i];
        TRY(cudaFree(s->overlay));
        TRY(cudaFree(s->b));
        TRY(cudaFree(s->a));
        TRY(cudaFreeHost(s->tiles));
        TRY(cudaFreeHost(s->atlas));
        TRY(cudaFreeHost(s->result));
        TRY(cudaFreeHost(s->frame));
        TRY(cudaEventDestroy(s->joined));
        TRY(cudaStreamDestroy(s->stream));
    }
    return 0;
}

static int finish_frame(const struct buffers *b, const struct pipeline_options *options, int number,
                        uint64_t *sum)
{
    const struct slot *s = &b->slots[number % SLOTS];
    TRY(cudaStreamSynchronize(s->stream));
    *sum = pipeline_checksum(*sum, s->result, options->size, number, number == options->frames - 1);
    return 0;
}

static int run(const struct pipeline_options *options, uint64_t *sum)
{
    struct buffers b = {};
    unsigned frames_done = 0;
    if (allocate(&b, options->size) != 0)
        return 1;
    for (int i = 0; i < SLOTS; i++)
        pipeline_fill_frame(b.slots[i].frame, options->size, (uint32_t)i);
    for (int f = 0; f < options->frames + SLOTS; f++) {
        if (f >= SLOTS && f - SLOTS < options->frames &&
            finish_frame(&b, options, f - SLOTS, sum) != 0)
            return 1;
        if (f >= options->frames)
            continue;
        pipeline_stamp_frame(b.slots[f % SLOTS].frame, options->size, f);
        if (start_frame(&b, options->size, f) != 0)
            return 1;
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

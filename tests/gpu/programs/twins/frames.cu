/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that go through a filter on the device: frames PROBLEM --bad|--good
 *
 * async: a frame grabber's buffer is uploaded "asynchronously", but it is pageable.
 * unused: a histogram is cleared by an upload of zeros, and then once more on the device.
 * serial: upload, filter and read-back of all frames take turns in one stream.
 */

#include "twin.cuh"

enum { BLOCK = 256, ROW_BYTES = 4096, STREAMS = 4 };

__global__ void k_filter(float *out, const float *in, size_t n, int rounds)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    float value = in[i];
    for (int k = 0; k < rounds; k++)
        value = value * 0.5f + 64.0f;
    out[i] = value;
}

__global__ void k_histogram(float *sums, const float *frame, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        sums[i] += frame[i];
}

/* ---- async: a frame per step, always from the same buffer ---- */

/* The grabber numbers the rows of each frame. */
static void grab(float *frame, const twin_run *run, int step)
{
    for (size_t at = 0; at < run->bytes; at += ROW_BYTES)
        frame[at / 4] = static_cast<float>(step);
}

static void upload_frames(twin_run *run, bool pin)
{
    float *frame = twin_pageable<float>(run->bytes), *in, *out;
    cudaStream_t stream;

    twin_fill(frame, run->words, 1);
    CHECK(cudaMalloc(&in, run->bytes));
    CHECK(cudaMalloc(&out, run->bytes));
    CHECK(cudaStreamCreate(&stream));
    twin_start(run);
    if (pin)
        CHECK(cudaHostRegister(frame, run->bytes, cudaHostRegisterDefault));
    for (int step = 0; step < run->steps; step++) {
        grab(frame, run, step);
        CHECK(cudaMemcpyAsync(in, frame, run->bytes, cudaMemcpyHostToDevice, stream)); // GM103
        k_filter<<<twin_grid(run->words, BLOCK), BLOCK, 0, stream>>>(out, in, run->words, 1);
        CHECK(cudaStreamSynchronize(stream));
    }
    if (pin)
        CHECK(cudaHostUnregister(frame));
    twin_stop(run);
    twin_sum_device(run, out, run->words);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(out));
    CHECK(cudaFree(in));
    free(frame);
}

static void async_bad(twin_run *run)
{
    upload_frames(run, false);
}

static void async_good(twin_run *run)
{
    upload_frames(run, true);
}

/* ---- unused: sums over two frames that stay on the device ---- */

static void sum_frames(twin_run *run, bool upload_zeros)
{
    float *zeros, *frame, *sums;

    CHECK(cudaMallocHost(&zeros, run->bytes));
    CHECK(cudaMalloc(&frame, run->bytes));
    CHECK(cudaMalloc(&sums, run->bytes));
    twin_fill(zeros, run->words, 2);
    CHECK(cudaMemcpy(frame, zeros, run->bytes, cudaMemcpyHostToDevice));
    memset(zeros, 0, run->bytes);
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        if (upload_zeros)
            CHECK(cudaMemcpy(sums, zeros, run->bytes, cudaMemcpyHostToDevice)); // GM107
        CHECK(cudaMemsetAsync(sums, 0, run->bytes));
        for (int k = 0; k < 2; k++)
            k_histogram<<<twin_grid(run->words, BLOCK), BLOCK>>>(sums, frame, run->words);
    }
    twin_stop(run);
    twin_sum_device(run, sums, run->words);
    CHECK(cudaFree(sums));
    CHECK(cudaFree(frame));
    CHECK(cudaFreeHost(zeros));
}

static void unused_bad(twin_run *run)
{
    sum_frames(run, true);
}

static void unused_good(twin_run *run)
{
    sum_frames(run, false);
}

/* ---- serial: all frames are there, each in page-locked memory of its own ---- */

struct lane {
    cudaStream_t stream;
    float *in, *out;
};

static void filter_frames(twin_run *run, int lanes)
{
    const size_t frames = static_cast<size_t>(run->steps), bytes = run->bytes, n = run->words;
    float *from, *to;
    lane lane[STREAMS];

    CHECK(cudaMallocHost(&from, frames * run->bytes));
    CHECK(cudaMallocHost(&to, frames * run->bytes));
    twin_fill(from, frames * run->words, 3);
    for (int k = 0; k < lanes; k++) {
        CHECK(cudaStreamCreateWithFlags(&lane[k].stream, cudaStreamNonBlocking));
        CHECK(cudaMalloc(&lane[k].in, run->bytes));
        CHECK(cudaMalloc(&lane[k].out, run->bytes));
    }
    twin_start(run);
    for (size_t frame = 0; frame < frames; frame++) {
        const struct lane *l = &lane[frame % static_cast<size_t>(lanes)];
        const float *source = from + frame * n;
        float *target = to + frame * n;

        CHECK(cudaMemcpyAsync(l->in, source, bytes, cudaMemcpyHostToDevice, l->stream)); // GM108
        k_filter<<<twin_grid(n, BLOCK), BLOCK, 0, l->stream>>>(l->out, l->in, n, run->rounds);
        CHECK(cudaMemcpyAsync(target, l->out, bytes, cudaMemcpyDeviceToHost, l->stream)); // GM108
    }
    twin_stop(run);
    twin_sum_host(run, to, frames * run->words);
    for (int k = 0; k < lanes; k++) {
        CHECK(cudaStreamDestroy(lane[k].stream));
        CHECK(cudaFree(lane[k].out));
        CHECK(cudaFree(lane[k].in));
    }
    CHECK(cudaFreeHost(to));
    CHECK(cudaFreeHost(from));
}

static void serial_bad(twin_run *run)
{
    filter_frames(run, 1);
}

static void serial_good(twin_run *run)
{
    filter_frames(run, STREAMS);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {
        {"async", async_bad, async_good, 60, 16384, 1},
        {"unused", unused_bad, unused_good, 100, 16384, 1},
        {"serial", serial_bad, serial_good, 32, 8192, 2000},
    };

    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}

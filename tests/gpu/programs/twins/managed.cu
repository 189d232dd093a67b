/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in managed memory that kernels add up: managed touch --bad|--good
 *
 * touch: the host has filled all frames. Kernels take their pages from it as they come to them; or each frame is
 * prefetched, in one piece, before its kernel.
 */

#include "twin.cuh"

enum { BLOCK = 256, BLOCKS = 264 };

/* Adds the frame to one sum per block. */
__global__ void k_add_up(uint32_t *sums, const uint4 *frame, size_t n)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    uint32_t mine = 0;

    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint4 four = frame[i];

        mine += four.x + 3 * four.y + 5 * four.z + 7 * four.w;
    }
    atomicAdd(&sums[blockIdx.x], mine);
}

static void prefetch(const void *data, size_t bytes, int device)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation location = {};

    location.type = cudaMemLocationTypeDevice;
    location.id = device;
    CHECK(cudaMemPrefetchAsync(data, bytes, location, 0, nullptr));
#else
    CHECK(cudaMemPrefetchAsync(data, bytes, device, nullptr));
#endif
}

static void add_up(twin_run *run, bool prefetched)
{
    const size_t words4 = run->bytes / sizeof(uint4);
    uint4 *frames = nullptr;
    uint32_t *sums = nullptr;
    int device = 0;

    CHECK(cudaGetDevice(&device));
    CHECK(cudaMallocManaged(&frames, run->steps * run->bytes));
    for (size_t i = 0; i < run->steps * words4; i++) {
        const uint32_t word = static_cast<uint32_t>(i);

        frames[i] = make_uint4(word, word * 3u, word * 5u, word * 7u);
    }
    CHECK(cudaMalloc(&sums, BLOCKS * sizeof *sums));
    CHECK(cudaMemset(sums, 0, BLOCKS * sizeof *sums));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        const uint4 *frame = frames + step * words4;

        if (prefetched)
            prefetch(frame, run->bytes, device);
        k_add_up<<<BLOCKS, BLOCK>>>(sums, frame, words4); // GM114
    }
    twin_stop(run);
    twin_sum_device(run, sums, BLOCKS);
    CHECK(cudaFree(sums));
    CHECK(cudaFree(frames));
}

static void add_up_as_they_come(twin_run *run)
{
    add_up(run, false);
}

static void add_up_prefetched(twin_run *run)
{
    add_up(run, true);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {{"touch", add_up_as_they_come, add_up_prefetched, 8, 16384, 1}};

    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}

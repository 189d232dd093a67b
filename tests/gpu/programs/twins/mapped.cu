/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in page-locked memory that kernels add up: mapped once|again --bad|--good
 *
 * once:  each frame is read once; it is copied to the device for that, and read where it is.
 * again: each frame is read several times; where it is, and from a copy on the device.
 */

#include "twin.cuh"

enum { BLOCK = 256, BLOCKS = 264 };

/* Adds the frame to one sum per block, as often as there are rounds; a round's values depend on it, and
 * no multiprocessor has in its cache what another one read. */
__global__ void k_add_up(uint32_t *sums, const uint4 *frame, size_t n, int rounds)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    uint32_t mine = 0;

    for (int round = 0; round < rounds; round++) {
        const size_t block = (blockIdx.x + round) % gridDim.x;

        for (size_t i = block * blockDim.x + threadIdx.x; i < n; i += step) {
            const uint4 four = frame[i];

            mine += (four.x ^ round) + (four.y ^ round) + (four.z ^ round) + (four.w ^ round);
        }
    }
    atomicAdd(&sums[blockIdx.x], mine);
}

struct frames {
    uint4 *host, *device; /* all of them, page-locked; one */
    uint32_t *sums;
    size_t words4;
};

static frames open_frames(const twin_run *run)
{
    frames all = {};

    all.words4 = run->bytes / sizeof(uint4);
    CHECK(cudaMallocHost(&all.host, run->steps * run->bytes));
    for (size_t i = 0; i < run->steps * all.words4; i++) {
        const uint32_t word = static_cast<uint32_t>(i);

        all.host[i] = make_uint4(word, word * 3u, word * 5u, word * 7u);
    }
    CHECK(cudaMalloc(&all.sums, BLOCKS * sizeof *all.sums));
    CHECK(cudaMemset(all.sums, 0, BLOCKS * sizeof *all.sums));
    return all;
}

static void close_frames(twin_run *run, const frames &all)
{
    twin_sum_device(run, all.sums, BLOCKS);
    CHECK(cudaFree(all.sums));
    CHECK(cudaFreeHost(all.host));
}

static void add_up_in_place(twin_run *run)
{
    const frames all = open_frames(run);

    twin_start(run);
    for (int step = 0; step < run->steps; step++)
        k_add_up<<<BLOCKS, BLOCK>>>(all.sums, all.host + step * all.words4, all.words4,
                                    run->rounds); // GM112
    twin_stop(run);
    close_frames(run, all);
}

static void add_up_copies(twin_run *run)
{
    frames all = open_frames(run);

    CHECK(cudaMalloc(&all.device, run->bytes));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        CHECK(cudaMemcpyAsync(all.device, all.host + step * all.words4, run->bytes,
                              cudaMemcpyHostToDevice)); // GM111
        k_add_up<<<BLOCKS, BLOCK>>>(all.sums, all.device, all.words4, run->rounds);
    }
    twin_stop(run);
    CHECK(cudaFree(all.device));
    close_frames(run, all);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {{"once", add_up_copies, add_up_in_place, 200, 512, 1},
                                    {"again", add_up_in_place, add_up_copies, 8, 16384, 4}};

    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}

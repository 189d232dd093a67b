/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four streams with kernels of 1 ms that overlap: prints the elapsed ms. streams4 [per stream]
 *
 * Without a tool (and with one that does not serialize) it takes about 1 ms per kernel of a
 * stream; serialized, four times that.
 */

#include "check.cuh"

#include <time.h>

enum { STREAMS = 4 };

__global__ void k_one_ms(unsigned *done)
{
    unsigned long long start_ns, now_ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start_ns));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
    } while (now_ns - start_ns < 1000000);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *done += 1;
}

static double now_ms()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

int main(int argc, char **argv)
{
    const long kernels = argc > 1 ? parse_number(argv[1], 1, 1000000) : 50;
    cudaStream_t streams[STREAMS];
    unsigned *done = nullptr;
    unsigned counted[STREAMS] = {};
    CHECK(cudaMalloc(&done, sizeof counted));
    CHECK(cudaMemset(done, 0, sizeof counted));
    CHECK(cudaDeviceSynchronize()); /* these streams do not wait for the default stream */
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        k_one_ms<<<4, 32, 0, streams[s]>>>(done + s); /* loads the module */
    }
    CHECK(cudaDeviceSynchronize());

    const double start_ms = now_ms();
    for (long i = 0; i < kernels; i++)
        for (int s = 0; s < STREAMS; s++)
            k_one_ms<<<4, 32, 0, streams[s]>>>(done + s);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const double elapsed_ms = now_ms() - start_ms;

    CHECK(cudaMemcpy(counted, done, sizeof counted, cudaMemcpyDeviceToHost));
    for (int s = 0; s < STREAMS; s++) {
        if (counted[s] != kernels + 1) {
            fprintf(stderr, "streams4: stream %d ran %u kernels\n", s, counted[s]);
            return 1;
        }
        CHECK(cudaStreamDestroy(streams[s]));
    }
    CHECK(cudaFree(done));
    printf("elapsed_ms %.3f kernels_per_stream %ld\n", elapsed_ms, kernels);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What freeing waits for: a kernel runs for a while in a stream that waits for no other, and memory that it does not use is freed meanwhile.
 * Prints how long that took, device memory and page-locked memory, and how much of new page-locked memory is not zero.
 */
#include <chrono>
#include <cstring>

#include "check.cuh"

static const long long RUN_NS = 300000000;
static const size_t BYTES = (size_t)8 << 20;

__global__ void run_for(long long ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begin < (unsigned long long)ns);
}

template <typename T> static double time_ms(cudaStream_t stream, T release)
{
    run_for<<<1, 1, 0, stream>>>(RUN_NS);
    CHECK(cudaGetLastError());
    const auto begin = std::chrono::steady_clock::now();
    release();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    CHECK(cudaStreamSynchronize(stream));
    return took.count();
}

int main()
{
    void *device = nullptr;
    unsigned char *locked = nullptr, *again = nullptr;
    cudaStream_t stream;
    size_t other = 0;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    run_for<<<1, 1, 0, stream>>>(0); /* loads it */
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost(&locked, BYTES));
    memset(locked, 1, BYTES);
    printf("device_ms %.3f\n", time_ms(stream, [&] { CHECK(cudaFree(device)); }));
    printf("locked_ms %.3f\n", time_ms(stream, [&] { CHECK(cudaFreeHost(locked)); }));
    CHECK(cudaMallocHost(&again, BYTES));
    for (size_t i = 0; i < BYTES; i++) {
        other += again[i] != 0;
    }
    printf("other_bytes %zu\n", other);
    CHECK(cudaFreeHost(again));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* carve --bad | --good [STEPS]: a copy through tiles in shared memory, of which few fit where the kernel prefers L1 cache (GM404). */
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.cuh"

enum { THREADS = 128, TILE_WORDS = 3072, BLOCKS = 16384 }; /* 12 KiB a block */

__global__ void __launch_bounds__(THREADS) through_tile(const float *source, float *target)
{
    __shared__ float tile[TILE_WORDS];
    const size_t first = (size_t)blockIdx.x * TILE_WORDS;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < TILE_WORDS; i += THREADS) {
        tile[i] = source[first + i];
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < TILE_WORDS; i += THREADS) {
        target[first + i] = tile[i ^ 1] + 1;
    }
}

int main(int argc, char **argv)
{
    const bool good = argc > 1 && strcmp(argv[1], "--good") == 0;
    const long steps = argc > 2 ? parse_number(argv[2], 1, 1000000) : 500;
    const size_t words = (size_t)BLOCKS * TILE_WORDS, bytes = words * sizeof(float);
    std::vector<float> host(words, 1);
    float *source = nullptr, *target = nullptr;
    CHECK(cudaMalloc(&source, bytes));
    CHECK(cudaMalloc(&target, bytes));
    CHECK(cudaMemcpy(source, host.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(through_tile, cudaFuncAttributePreferredSharedMemoryCarveout,
                               good ? cudaSharedmemCarveoutMaxShared : 25));
    const auto begin = std::chrono::steady_clock::now();
    for (long step = 0; step < steps; step++) {
        through_tile<<<BLOCKS, THREADS>>>(source, target);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    CHECK(cudaMemcpy(host.data(), target, bytes, cudaMemcpyDeviceToHost));
    double sum = 0;
    for (float value : host) {
        sum += value;
    }
    printf("sum=%.0f\n", sum);
    fprintf(stderr, "time_ms=%.3f\n", time.count());
    CHECK(cudaFree(source));
    CHECK(cudaFree(target));
    return 0;
}

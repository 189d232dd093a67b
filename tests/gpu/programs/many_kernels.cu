// SPDX-License-Identifier: Apache-2.0
// many_kernels [ROUNDS [SMALL]]: hundreds of kernels, each in turn launched three times a round between SMALL (32) launches of
// one other kernel. Code is loaded, kernels are measured and records of many launches are under way all the time. Prints a sum.
#include <utility>
#include <vector>

#include "check.cuh"

static const int KERNELS = 256;
static const int BLOCKS = 64;
static const int THREADS = 128;
static const int COUNT = BLOCKS * THREADS;

__global__ void small(unsigned *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

/* No two are the same code. */
template <int N> __global__ void large(unsigned *data, int count)
{
    __shared__ unsigned near[THREADS];
    unsigned value = data[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll
    for (int i = 0; i < 24; i++) {
        near[threadIdx.x] = value;
        __syncthreads();
        value = value * (2 * N + 3) + 2 * near[(threadIdx.x + N + i) % THREADS] + i;
        data[(blockIdx.x * blockDim.x + threadIdx.x) % count] = value;
        __syncthreads();
    }
}

typedef void (*kernel)(unsigned *, int);

template <int... N> static std::vector<kernel> all(std::integer_sequence<int, N...>)
{
    return {large<N>...};
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? parse_number(argv[1], 1, 1000) : 2;
    const long smalls = argc > 2 ? parse_number(argv[2], 0, 100000) : 32;
    unsigned *data = NULL, sum = 0;
    std::vector<unsigned> host(COUNT);
    CHECK(cudaMalloc((void **)&data, COUNT * sizeof(unsigned)));
    CHECK(cudaMemset(data, 1, COUNT * sizeof(unsigned)));
    const std::vector<kernel> kernels = all(std::make_integer_sequence<int, KERNELS>());
    for (long round = 0; round < rounds; round++) {
        for (kernel one : kernels) {
            for (long i = 0; i < smalls; i++) {
                small<<<BLOCKS, THREADS>>>(data);
            }
            for (int i = 0; i < 3; i++) {
                one<<<BLOCKS, THREADS>>>(data, COUNT);
            }
        }
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host.data(), data, COUNT * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (unsigned value : host) {
        sum = sum * 31 + value;
    }
    printf("sum %u\n", sum);
    return 0;
}

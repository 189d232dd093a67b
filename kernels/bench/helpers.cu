/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that help to measure: two that do nothing, one that holds the stream for a moment. */
#include "kernels/bench/bench.h"

#define DELAY_CYCLES 40000 /* some 20 us: longer than it takes to enqueue two events and a kernel */

__global__ void gmt_kernel_empty(void)
{
}

__global__ void gmt_mark(void)
{
}

__global__ void gmt_kernel_delay(void)
{
    long long began = clock64();

    while (clock64() - began < DELAY_CYCLES)
        ;
}

extern "C" cudaError_t gmt_launch_empty(cudaStream_t stream)
{
    gmt_kernel_empty<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

extern "C" cudaError_t gmt_launch_mark(cudaStream_t stream)
{
    gmt_mark<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

extern "C" cudaError_t gmt_launch_delay(cudaStream_t stream)
{
    gmt_kernel_delay<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}

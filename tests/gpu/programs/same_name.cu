/* SPDX-License-Identifier: Apache-2.0 */
/* Two modules with a kernel of one name, a kernel in a header, and one that three functions are inlined
 * into. */
#include <cstdio>

#include "same_name.cuh"

static __global__ void work(const float *from, float *to)
{
    to[threadIdx.x] = from[threadIdx.x * 12]; // first module
}

__global__ void nested(const float *from, float *to)
{
    to[threadIdx.x] = tile(from, (int)threadIdx.x); // nested
}

int main()
{
    float *from = NULL, *to = NULL, out[32];
    double sum = 0;

    if (cudaMalloc(&from, 1 << 16) != cudaSuccess || cudaMalloc(&to, sizeof(out)) != cudaSuccess ||
        cudaMemset(from, 0x3f, 1 << 16) != cudaSuccess)
        return 1;
    for (int round = 0; round < 24; round++) {
        work<<<1, 32>>>(from, to);
        other_module(from, to);
        in_header<float><<<1, 32>>>(from, to);
        nested<<<1, 32>>>(from, to);
    }
    if (cudaMemcpy(out, to, sizeof(out), cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    for (float value : out)
        sum += value;
    printf("%.6f\n", sum);
    return 0;
}

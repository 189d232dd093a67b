/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest CUDA program: a context and one tiny kernel. Time it from outside. */

#include <cuda_runtime.h>

#include <stdio.h>

__global__ void k_startup(int *flag)
{
    *flag = 1;
}

static int fail(const char *what, cudaError_t error)
{
    fprintf(stderr, "startup: %s: %s\n", what, cudaGetErrorString(error));
    return 1;
}

int main()
{
    int *flag = nullptr;
    cudaError_t error = cudaFree(nullptr);
    if (error != cudaSuccess)
        return fail("cudaFree", error);
    error = cudaMalloc(&flag, sizeof *flag);
    if (error != cudaSuccess)
        return fail("cudaMalloc", error);
    k_startup<<<1, 1>>>(flag);
    error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        return fail("kernel", error);
    error = cudaFree(flag);
    return error == cudaSuccess ? 0 : fail("cudaFree", error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the CUDA runtime that it is linked with, static or shared, for one allocation. */
#include <cuda_runtime_api.h>
#include <stdio.h>

int main(void)
{
    void *memory = NULL;
    cudaError_t allocated = cudaMalloc(&memory, 4096);
    printf("%d\n", (int)allocated);
    return cudaFree(memory) != cudaSuccess;
}

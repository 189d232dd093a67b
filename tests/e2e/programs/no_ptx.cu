/* SPDX-License-Identifier: Apache-2.0 */
/* A program without PTX: built for one architecture's machine code only. */
#include <cstdio>

__global__ void fill(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    int *out = nullptr, last = 0;
    cudaError_t error = cudaMalloc(&out, 32 * sizeof(int));
    if (error == cudaSuccess) {
        fill<<<1, 32>>>(out);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) {
        error = cudaMemcpy(&last, out + 31, sizeof(last), cudaMemcpyDeviceToHost);
    }
    printf("%s %d\n", cudaGetErrorName(error), last);
    return error == cudaSuccess ? 0 : 1;
}

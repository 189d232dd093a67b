/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that waits for a word which the host sets after the launch: it ends on a GPU alone. */
#include <cstdio>

static __global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        continue;
}

int main()
{
    int *flag;

    if (cudaHostAlloc(&flag, sizeof(*flag), cudaHostAllocMapped) != cudaSuccess)
        return 2;
    *flag = 0;
    wait_for<<<1, 1>>>(flag);
    *(volatile int *)flag = 1;
    cudaError_t first = cudaDeviceSynchronize(), second = cudaDeviceSynchronize();
    puts(cudaGetErrorString(first));
    return first != cudaSuccess && second == first;
}

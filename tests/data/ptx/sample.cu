// SPDX-License-Identifier: Apache-2.0
// What the samples in this folder are made of: every form that nvcc has for small programs.
struct pair {
    int first;
    double second;
};

__device__ struct pair table[3] = {{1, 2.5}, {3, 4.5}};
__device__ int *middle = &table[1].first;
__constant__ float weights[4] = {0.5f, 1.5f};
__managed__ int total = 7;
extern __shared__ int dynamic[];

__device__ __forceinline__ int square(int x)
{
    return x * x;
}

__device__ __forceinline__ int cube(int x)
{
    return square(x) * x + total;
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int plus(int x)
{
    return x + 1;
}

typedef int (*step)(int);
__device__ step steps[2] = {fibonacci, plus};

__global__ void __launch_bounds__(128, 2) sample(int *out, struct pair p, int n)
{
    __shared__ int tile[32][33];
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    tile[i % 32][i / 32 % 33] = cube(i);
    __syncthreads();
    for (int j = 0; j < n; j++) {
        if (tile[j % 32][0] > i)
            dynamic[j] += steps[j & 1](i);
        else if (i & 1)
            dynamic[j] -= *middle;
    }
    out[i] = dynamic[0] + p.first + (int)(p.second * weights[n & 3]);
}

// SPDX-License-Identifier: Apache-2.0
#include "inlined.h"
__device__ __forceinline__ float one(const float *p, int i)
{
    return p[i * 5];
}
__device__ __forceinline__ float two(const float *p, int i)
{
    float sum = one(p, i);
    for (int k = 0; k < 3; k++)
        sum += one(p, k * i);
    return sum;
}
__global__ void a(const float *p, float *o) { o[threadIdx.x] = twice(p, 1); }
__global__ void b(const float *p, float *o)
{
    o[threadIdx.x] = two(p, threadIdx.x) *
                     twice(p, threadIdx.x);
}
__global__ void c(const float *p, float *o) { o[0] = one(p, 2); }
template <typename T> __global__ void filled(T *out) { out[threadIdx.x * 7] = T(threadIdx.x); }
template __global__ void filled<double>(double *);

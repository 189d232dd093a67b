/* SPDX-License-Identifier: Apache-2.0 */
/* The other module of same_name.cu: its kernel has the name of the one there, and other lines. */
#include "same_name.cuh"

static __global__ void work(const float *from, float *to)
{
    to[threadIdx.x] = from[threadIdx.x * 11]; // other module
}

void other_module(const float *from, float *to)
{
    work<<<1, 32>>>(from, to);
}

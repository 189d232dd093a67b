/* SPDX-License-Identifier: Apache-2.0 */
/* A function in a header of the user's own: inlined wherever it is called. */
#pragma once

__device__ __forceinline__ int strided(const int *from, int i)
{
    return from[i * 33]; // strided load
}

__device__ __forceinline__ int middle(const int *from, int i)
{
    return strided(from, i) + 1; // middle call
}

__device__ __forceinline__ int outer(const int *from, int i)
{
    return middle(from, 2 * i); // outer call
}

/* A kernel in a header, too: its load is its own. */
__global__ void in_header(const int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x * 16]; // header kernel
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are inlined into each other, and a kernel that stands in a header. */
#pragma once

__device__ __forceinline__ float element(const float *from, int i)
{
    return from[i * 9]; // element
}

__device__ __forceinline__ float row(const float *from, int i)
{
    return element(from, i) * 2.0f; // row
}

__device__ __forceinline__ float tile(const float *from, int i)
{
    return row(from, i + 1) + 1.0f; // tile
}

template <typename T> __global__ void in_header(const T *from, T *to)
{
    to[threadIdx.x] = from[threadIdx.x * 10]; // in header
}

void other_module(const float *from, float *to);

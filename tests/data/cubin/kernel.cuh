// SPDX-License-Identifier: Apache-2.0
/* A kernel that stands in a header: nothing of it is inlined. */
#pragma once

__global__ void a(const float *p, float *o)
{
    o[threadIdx.x] = p[threadIdx.x * 9];
}

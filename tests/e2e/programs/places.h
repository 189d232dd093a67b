/* SPDX-License-Identifier: Apache-2.0 */
/* A function in a header of the user's own: inlined wherever it is called. */
#pragma once

__device__ __forceinline__ int strided(const int *from, int i)
{
    return from[i * 33]; // strided load
}

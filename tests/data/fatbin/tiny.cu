// SPDX-License-Identifier: Apache-2.0
// What the fat binaries in this folder hold.
__global__ void doubled(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x * 2;
}

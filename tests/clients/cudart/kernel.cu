/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of program.c, for which nvcc makes a fat binary with PTX. */
extern "C" __global__ void vector_add(float *sum, const float *a, const float *b, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        sum[i] = a[i] + b[i];
    }
}

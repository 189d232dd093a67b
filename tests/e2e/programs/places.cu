/* SPDX-License-Identifier: Apache-2.0 */
/* Work whose source lines the software device has to name: inlined, in headers, faulty, refused. */
#include <cstdio>
#include <cstring>

#include <mma.h>

#include "places.h"

__device__ int total;

__global__ void places(const int *in, int *out)
{
    int i = (int)threadIdx.x;
    int sum = strided(in, i);          // first call
    out[i] = sum + strided(in + 7, i); // second call
    atomicAdd(&total, sum);            // a header of the toolkit
}

__global__ void nested(const int *in, int *out)
{
    out[threadIdx.x] = outer(in, (int)threadIdx.x); // nested call
}

__global__ void faulty(int *nowhere)
{
    atomicAdd(nowhere, strided(nowhere, 1)); // fault
}

__global__ void refused(const half *in, float *out)
{
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> tile;
    nvcuda::wmma::load_matrix_sync(tile, in, 16); // refused
    *out = (float)tile.x[0];
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "places";
    int *in = NULL, *out = NULL;

    if (cudaMalloc(&in, 1 << 16) != cudaSuccess || cudaMalloc(&out, 1 << 16) != cudaSuccess)
        return 1;
    if (strcmp(what, "faulty") == 0)
        faulty<<<1, 1>>>(NULL);
    else if (strcmp(what, "refused") == 0)
        refused<<<1, 32>>>((const half *)in, (float *)out);
    else if (strcmp(what, "nested") == 0)
        nested<<<1, 32>>>(in, out);
    else if (strcmp(what, "in_header") == 0)
        in_header<<<1, 32>>>(in, out);
    else
        places<<<1, 32>>>(in, out);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Dot product: products in registers, partial sums in shared memory, the rest on the host. */
#include "program.cuh"

#define BLOCK 128

template <class T> __global__ void dot(const T *a, const T *b, int count, T *partial)
{
    __shared__ T cache[BLOCK];
    T sum = 0;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK)
        sum += a[i] * b[i];
    cache[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = cache[0];
}

/* Small integers: every sum is exact, so each partial sum must be too. */
template <class T> static void dot_once(sim_check &check, int count, int blocks, const char *what)
{
    sim_random random(3);
    sim_array<T> a(check, count), b(check, count), partial(check, blocks);
    std::vector<T> wanted(blocks);

    for (int i = 0; i < count; i++) {
        a.host[i] = (T)random.small();
        b.host[i] = (T)random.small();
        wanted[i / BLOCK % blocks] += a.host[i] * b.host[i];
    }
    a.upload();
    b.upload();
    dot<<<blocks, BLOCK>>>(a.device, b.device, count, partial.device);
    SIM_LAUNCHED(check);
    sim_equal(check, what, partial, wanted);
}

void sim_program_dot(sim_check &check)
{
    dot_once<float>(check, 40009, 17, "float partials");
    dot_once<double>(check, 40009, 9, "double partials");
    dot_once<int>(check, 77, 3, "int partials");
    dot_once<long long>(check, 12345, 5, "long partials");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Block reductions in shared memory: interleaved, sequential and unrolled by a template. */
#include "program.cuh"

struct plus {
    __host__ __device__ static int apply(int a, int b)
    {
        return a + b;
    }
};

struct least {
    __host__ __device__ static int apply(int a, int b)
    {
        return a < b ? a : b;
    }
};

struct most {
    __host__ __device__ static int apply(int a, int b)
    {
        return a > b ? a : b;
    }
};

/* Divergent: only every second, fourth, ... thread works. */
template <class Op> __global__ void interleaved(const int *in, int *out)
{
    extern __shared__ int cache[];

    cache[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (threadIdx.x % (2 * step) == 0 && threadIdx.x + step < blockDim.x)
            cache[threadIdx.x] = Op::apply(cache[threadIdx.x], cache[threadIdx.x + step]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = cache[0];
}

template <class Op> __global__ void sequential(const int *in, int *out)
{
    extern __shared__ int cache[];
    unsigned left = blockDim.x;

    cache[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    while (left > 1) {
        unsigned half = (left + 1) / 2;

        if (threadIdx.x < left / 2)
            cache[threadIdx.x] = Op::apply(cache[threadIdx.x], cache[threadIdx.x + half]);
        __syncthreads();
        left = half;
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = cache[0];
}

template <class Op, unsigned threads> __global__ void unrolled(const int *in, int *out)
{
    __shared__ int cache[threads];

    cache[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            cache[threadIdx.x] = Op::apply(cache[threadIdx.x], cache[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = cache[0];
}

template <class Op>
static std::vector<int> reference(const std::vector<int> &in, size_t blocks, size_t block)
{
    std::vector<int> out(blocks);

    for (size_t b = 0; b < blocks; b++) {
        out[b] = in[b * block];
        for (size_t i = 1; i < block; i++)
            out[b] = Op::apply(out[b], in[b * block + i]);
    }
    return out;
}

template <class Op> static void reduce(sim_check &check, const char *what)
{
    sim_random random(4);
    sim_array<int> in(check, 40 * 1024);

    for (int &value : in.host)
        value = (int)random.below(2000000) - 1000000;
    in.upload();
    for (unsigned block : {1u, 32u, 77u, 255u, 512u, 1000u}) {
        sim_array<int> out(check, 13);
        std::vector<int> wanted = reference<Op>(in.host, 13, block);

        interleaved<Op><<<13, block, block * sizeof(int)>>>(in.device, out.device);
        SIM_LAUNCHED(check);
        sim_equal(check, what, out, wanted);
        sequential<Op><<<13, block, block * sizeof(int)>>>(in.device, out.device);
        SIM_LAUNCHED(check);
        sim_equal(check, what, out, wanted);
    }
    sim_array<int> out(check, 40);
    unrolled<Op, 1024><<<40, 1024>>>(in.device, out.device);
    SIM_LAUNCHED(check);
    sim_equal(check, what, out, reference<Op>(in.host, 40, 1024));
}

void sim_program_reduce_block(sim_check &check)
{
    reduce<plus>(check, "sum");
    reduce<least>(check, "minimum");
    reduce<most>(check, "maximum");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies to shared memory of 4, 8 and 16 bytes, in stages. */
#include "program.cuh"

#include <cuda_pipeline.h>

#define BLOCK 64

/* One copy per thread and width; what lies beyond the source's end is filled with zeros. */
template <class T> __global__ void staged(const T *in, T *out, int count)
{
    __shared__ T tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;

    __pipeline_memcpy_async(&tile[threadIdx.x], in + (i < count ? i : 0), sizeof(T),
                            i < count ? 0 : sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[BLOCK - 1 - threadIdx.x];
}

/* Two buffers: the next stretch is on its way while this one is summed up. */
static __global__ void double_buffered(const int4 *in, int *out, int stretches)
{
    __shared__ int4 buffer[2][BLOCK];
    int sum = 0;

    __pipeline_memcpy_async(&buffer[0][threadIdx.x], &in[threadIdx.x], sizeof(int4));
    __pipeline_commit();
    for (int s = 0; s < stretches; s++) {
        if (s + 1 < stretches)
            __pipeline_memcpy_async(&buffer[(s + 1) % 2][threadIdx.x],
                                    &in[(s + 1) * BLOCK + threadIdx.x], sizeof(int4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = buffer[s % 2][(threadIdx.x + 7) % BLOCK];
        sum = sum * 3 + v.x + 2 * v.y + 3 * v.z + 4 * v.w;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

template <class T> static void stage(sim_check &check, const char *what)
{
    const int blocks = 5, count = blocks * BLOCK - 19, words = sizeof(T) / 4;
    sim_array<T> in(check, count), out(check, blocks * BLOCK);
    std::vector<unsigned> got(blocks * BLOCK * words), wanted(got.size());
    unsigned *fill = (unsigned *)in.host.data();

    for (int i = 0; i < count * words; i++)
        fill[i] = (unsigned)i * 2654435761u;
    for (int i = 0; i < blocks * BLOCK; i++) {
        int from = i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK;

        for (int w = 0; w < words; w++)
            wanted[i * words + w] = from < count ? fill[from * words + w] : 0;
    }
    in.upload();
    staged<<<blocks, BLOCK>>>(in.device, out.device, count);
    SIM_LAUNCHED(check);
    out.download();
    memcpy(got.data(), out.host.data(), out.bytes());
    sim_equal(check, what, got, wanted);
}

void sim_program_async_copy(sim_check &check)
{
    const int stretches = 9;
    sim_array<int4> in(check, stretches * BLOCK);
    sim_array<int> out(check, BLOCK);
    std::vector<int> wanted(BLOCK);

    stage<int>(check, "4 bytes");
    stage<int2>(check, "8 bytes");
    stage<int4>(check, "16 bytes");
    for (int i = 0; i < stretches * BLOCK; i++)
        in.host[i] = make_int4(i, i * 3, i ^ 21, -i);
    for (int t = 0; t < BLOCK; t++)
        for (int s = 0; s < stretches; s++) {
            const int4 &v = in.host[s * BLOCK + (t + 7) % BLOCK];

            wanted[t] = wanted[t] * 3 + v.x + 2 * v.y + 3 * v.z + 4 * v.w;
        }
    in.upload();
    double_buffered<<<1, BLOCK>>>(in.device, out.device, stretches);
    SIM_LAUNCHED(check);
    sim_equal(check, "double buffered", out, wanted);
}

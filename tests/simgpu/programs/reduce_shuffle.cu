/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions with warp shuffles: down, butterfly, and a last warp that is not full. */
#include "program.cuh"

template <class T> __device__ T sum_down(unsigned members, unsigned lane, unsigned count, T value)
{
    for (int step = 16; step > 0; step /= 2) {
        T other = __shfl_down_sync(members, value, step);

        if (lane + step < count)
            value += other;
    }
    return value;
}

/* One result per warp; every lane of a full warp gets the butterfly's sum. */
template <class T> __global__ void warp_sums(const T *in, int count, T *down, T *butterfly)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    unsigned members = __ballot_sync(0xffffffffu, i < count);

    if (i >= count)
        return;
    T value = in[i];
    T sum = sum_down(members, lane, (unsigned)__popc(members), value);
    if (lane == 0)
        down[i / 32] = sum;
    if (members != 0xffffffffu)
        return;
    for (int bit = 16; bit > 0; bit /= 2)
        value += __shfl_xor_sync(members, value, bit);
    butterfly[i] = value;
}

/* The usual two steps: each warp, then the first warp over the warps' sums. */
template <class T> __global__ void block_sums(const T *in, T *out)
{
    __shared__ T warps[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = sum_down(0xffffffffu, lane, 32, in[blockIdx.x * blockDim.x + threadIdx.x]);

    if (lane == 0)
        warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warps[lane] : T(0);
        sum = sum_down(0xffffffffu, lane, 32, sum);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}

/* Small integers, so that sums are exact in any order. */
template <class T> static void reduce(sim_check &check, int count, const char *what)
{
    sim_random random(5);
    int warps = (count + 31) / 32, full = count / 32 * 32;
    sim_array<T> in(check, count), down(check, warps), butterfly(check, full), blocks(check, 3);
    std::vector<T> wanted_down(warps), wanted_butterfly(full), wanted_blocks(3);

    for (int i = 0; i < count; i++) {
        in.host[i] = (T)random.small();
        wanted_down[i / 32] += in.host[i];
        if (i < 3 * 640)
            wanted_blocks[i / 640] += in.host[i];
    }
    for (int i = 0; i < full; i++)
        wanted_butterfly[i] = wanted_down[i / 32];
    in.upload();
    warp_sums<<<(count + 223) / 224, 224>>>(in.device, count, down.device, butterfly.device);
    SIM_LAUNCHED(check);
    sim_equal(check, what, down, wanted_down);
    sim_equal(check, what, butterfly, wanted_butterfly);
    block_sums<<<3, 640>>>(in.device, blocks.device);
    SIM_LAUNCHED(check);
    sim_equal(check, what, blocks, wanted_blocks);
}

void sim_program_reduce_shuffle(sim_check &check)
{
    reduce<int>(check, 10000, "int");
    reduce<float>(check, 2011, "float");
    reduce<double>(check, 1933, "double");
    reduce<long long>(check, 3001, "long long");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic shared memory: several arrays in one, beside a static one, and more than 48 KiB. */
#include "program.cuh"

/* Doubles, then ints, then bytes, cut from one array; and a static array beside it. */
static __global__ void carve(const int *in, double *out, int count)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ int scale[4];
    double *reals = (double *)memory;
    int *wholes = (int *)(reals + count);
    unsigned char *bytes = (unsigned char *)(wholes + count);
    int t = threadIdx.x;

    if (t < 4)
        scale[t] = t + 1;
    if (t < count) {
        wholes[t] = in[t];
        bytes[t] = (unsigned char)(in[t] >> 3);
    }
    __syncthreads();
    if (t < count)
        reals[t] = wholes[count - 1 - t] * 0.25 + bytes[(t + 1) % count] * scale[t % 4];
    __syncthreads();
    if (t < count)
        out[t] = reals[(t + 5) % count];
}

/* Fills all of it, then reads it from the far end. */
static __global__ void reverse_words(unsigned *out, unsigned words)
{
    extern __shared__ unsigned storage[];

    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        storage[i] = i * 2654435761u + blockIdx.x;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        out[blockIdx.x * words + i] = storage[words - 1 - i];
}

static void carved(sim_check &check, int count)
{
    sim_random random(24);
    sim_array<int> in(check, count);
    sim_array<double> out(check, count);
    std::vector<double> reals(count), wanted(count);

    for (int &value : in.host)
        value = (int)random.below(4096);
    for (int t = 0; t < count; t++)
        reals[t] = in.host[count - 1 - t] * 0.25 +
                   (unsigned char)(in.host[(t + 1) % count] >> 3) * (t % 4 + 1);
    for (int t = 0; t < count; t++)
        wanted[t] = reals[(t + 5) % count];
    in.upload();
    carve<<<1, 256, (size_t)count *(8 + 4 + 1)>>>(in.device, out.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "carved", out, wanted);
}

static void reversed(sim_check &check, unsigned bytes)
{
    unsigned words = bytes / 4;
    sim_array<unsigned> out(check, 2 * words);
    std::vector<unsigned> wanted;

    for (unsigned block = 0; block < 2; block++)
        for (unsigned i = 0; i < words; i++)
            wanted.push_back((words - 1 - i) * 2654435761u + block);
    reverse_words<<<2, 512, bytes>>>(out.device, words);
    SIM_LAUNCHED(check);
    sim_equal(check, "reversed", out, wanted);
}

void sim_program_dynamic_shared(sim_check &check)
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    sim_array<unsigned> none(check, 1);

    carved(check, 255);
    carved(check, 17);
    reversed(check, 48 * 1024);

    /* More than 48 KiB must be asked for, and no block gets more than the device's limit. */
    SIM_CALL(check, cudaGetDeviceProperties(&properties, 0));
    unsigned most = (unsigned)properties.sharedMemPerBlockOptin;
    SIM_HOLDS(check, most > 96 * 1024);
    reverse_words<<<1, 32, 48 * 1024 + 4>>>(none.device, 1);
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
    SIM_REFUSED(check, cudaErrorInvalidValue,
                cudaFuncSetAttribute(reverse_words, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)most + 1));
    cudaGetLastError();
    SIM_CALL(check, cudaFuncSetAttribute(reverse_words, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)most));
    SIM_CALL(check, cudaFuncGetAttributes(&attributes, reverse_words));
    sim_equal_value(check, "opt-in bytes", attributes.maxDynamicSharedSizeBytes, (int)most);
    SIM_CALL(check, cudaFuncGetAttributes(&attributes, carve));
    sim_equal_value(check, "static bytes", attributes.sharedSizeBytes, (size_t)16);
    reversed(check, 96 * 1024);
    reversed(check, most);
    reverse_words<<<1, 32, most + 4>>>(none.device, 1);
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
}

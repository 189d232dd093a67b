/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise sum of two arrays whose length is no multiple of the block. */
#include "program.cuh"

static __global__ void add(const float *a, const float *b, float *sum, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        sum[i] = a[i] + b[i];
}

static void add_once(sim_check &check, int count, unsigned block)
{
    sim_random random(1);
    sim_array<float> a(check, count), b(check, count), sum(check, count + 1);
    std::vector<float> wanted(count + 1);

    for (int i = 0; i < count; i++) {
        a.host[i] = (float)random.between(-1e6, 1e6);
        b.host[i] = (float)random.between(-1e-3, 1e6);
        wanted[i] = a.host[i] + b.host[i];
    }
    memset(&wanted[count], 0xcd, sizeof(float)); /* the element after the last stays as it was */
    a.upload();
    b.upload();
    add<<<(count + block - 1) / block, block>>>(a.device, b.device, sum.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "sum", sum, wanted);
}

void sim_program_vector_add(sim_check &check)
{
    for (int count : {1, 31, 1000, 100003})
        for (unsigned block : {32u, 100u, 256u, 1024u})
            add_once(check, count, block);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Switches, dense (an indirect branch) and sparse, and loops with break, continue and goto. */
#include "program.cuh"

static __host__ __device__ int dense(int which, int x)
{
    switch (which) {
    case 0: return x + 1;
    case 1: return x * 3;
    case 2: return x ^ 0x55;
    case 3: return -x;
    case 4: return x >> 2;
    case 5: return x % 7;
    case 6: x += 5; [[fallthrough]];
    case 7: return x * x;
    case 8: return ~x;
    case 9: return x - 9;
    case 10: return x | 1;
    case 11: return x & 0xf0;
    default: return 1000;
    }
}

static __host__ __device__ int sparse(int key)
{
    switch (key) {
    case -1000: return 1;
    case 5: return 2;
    case 77: return 3;
    case 1 << 20: return 4;
    case 1000000007: return 5;
    default: return 0;
    }
}

/* A machine that reads its next state from the text: gotos, breaks out of two loops, continues. */
static __host__ __device__ int machine(unsigned seed)
{
    int sum = 0;

    for (int round = 0; round < 20; round++) {
        unsigned step = 0;

        seed = seed * 1664525u + 1013904223u;
        if (seed >> 28 == 3)
            continue;
    again:
        switch (seed >> 24 & 3) {
        case 0: sum += 1; break;
        case 1:
            sum += 10;
            if (++step < 5) {
                seed = seed * 22695477u + 1;
                goto again;
            }
            break;
        case 2:
            for (;;) {
                sum += 100;
                if (++step > (seed & 7))
                    break;
                if (sum > 5000)
                    goto out;
            }
            break;
        default: sum -= 3;
        }
    }
out:
    return sum;
}

static __global__ void switches(const int *keys, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    out[3 * i] = dense(i * 7 % 15 - 1, i);
    out[3 * i + 1] = sparse(keys[i]);
    out[3 * i + 2] = machine((unsigned)i * 2654435761u);
}

void sim_program_switches(sim_check &check)
{
    const int count = 1009;
    const int some[] = {-1000, 5, 77, 1 << 20, 1000000007, 0, 6, -5};
    sim_random random(23);
    sim_array<int> keys(check, count), out(check, 3 * count);
    std::vector<int> wanted;

    for (int i = 0; i < count; i++) {
        keys.host[i] = some[random.below(8)];
        wanted.insert(wanted.end(), {dense(i * 7 % 15 - 1, i), sparse(keys.host[i]),
                                     machine((unsigned)i * 2654435761u)});
    }
    keys.upload();
    switches<<<(count + 127) / 128, 128>>>(keys.device, out.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "out", out, wanted);
}

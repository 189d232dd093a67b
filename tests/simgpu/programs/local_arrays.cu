/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in local memory, indexed at run time and passed by pointer; a heap and a small matrix. */
#include "program.cuh"

#include <algorithm>

#define LENGTH 29

static __device__ __noinline__ void swap_at(int *a, int i, int j)
{
    int t = a[i];

    a[i] = a[j];
    a[j] = t;
}

/* Heap sort of an array of this thread. */
static __device__ void heap_sort(int *keys, int count)
{
    for (int end = count, at = count / 2; end > 1;) {
        if (at > 0)
            at--;
        else
            swap_at(keys, 0, --end);
        for (int root = at, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && keys[child + 1] > keys[child])
                child++;
            if (keys[root] >= keys[child])
                break;
            swap_at(keys, root, child);
        }
    }
}

static __global__ void sort_own(const int *in, int *out, int count)
{
    int keys[LENGTH], i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    for (int j = 0; j < LENGTH; j++)
        keys[j] = in[i * LENGTH + j];
    heap_sort(keys, LENGTH - i % 4); /* the last few stay where they are */
    for (int j = 0; j < LENGTH; j++)
        out[i * LENGTH + j] = keys[j];
}

/* Bytes, shorts and doubles side by side, read back through other types. */
static __global__ void mixed(const int *in, unsigned long long *out, int count)
{
    unsigned char bytes[16];
    double reals[4];
    short shorts[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    for (int j = 0; j < 16; j++)
        bytes[(j * 5 + i) % 16] = (unsigned char)(in[i * LENGTH] >> j);
    for (int j = 0; j < 4; j++)
        reals[(j + i) % 4] = in[i * LENGTH + j] * 0.5;
    for (int j = 0; j < 8; j++)
        shorts[(j * 3 + i) % 8] = (short)in[i * LENGTH + j];
    unsigned long long word = 0;
    memcpy(&word, bytes + (i & 1) * 8, 8);
    out[i] = word ^ (unsigned long long)(long long)(reals[i % 3] * 2) ^
             (unsigned long long)(long long)shorts[in[i * LENGTH] & 7] << 20;
}

static unsigned long long mixed_reference(const int *in, int i)
{
    unsigned char bytes[16];
    double reals[4];
    short shorts[8];
    unsigned long long word;

    for (int j = 0; j < 16; j++)
        bytes[(j * 5 + i) % 16] = (unsigned char)(in[0] >> j);
    for (int j = 0; j < 4; j++)
        reals[(j + i) % 4] = in[j] * 0.5;
    for (int j = 0; j < 8; j++)
        shorts[(j * 3 + i) % 8] = (short)in[j];
    memcpy(&word, bytes + (i & 1) * 8, 8);
    return word ^ (unsigned long long)(long long)(reals[i % 3] * 2) ^
           (unsigned long long)(long long)shorts[in[0] & 7] << 20;
}

void sim_program_local_arrays(sim_check &check)
{
    const int count = 401;
    sim_random random(44);
    sim_array<int> in(check, count * LENGTH), out(check, count * LENGTH);
    sim_array<unsigned long long> words(check, count);
    std::vector<unsigned long long> wanted_words;

    for (int &value : in.host)
        value = (int)random.below(20000) - 10000;
    std::vector<int> wanted = in.host;
    for (int i = 0; i < count; i++) {
        auto first = wanted.begin() + i * LENGTH;

        std::sort(first, first + LENGTH - i % 4);
        wanted_words.push_back(mixed_reference(&in.host[i * LENGTH], i));
    }
    in.upload();
    sort_own<<<(count + 63) / 64, 64>>>(in.device, out.device, count);
    mixed<<<(count + 63) / 64, 64>>>(in.device, words.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "sorted", out, wanted);
    sim_equal(check, "mixed", words, wanted_words);
}

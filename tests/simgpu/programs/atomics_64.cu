/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit atomics, atomics in double, and operations made of compare-and-swap loops. */
#include "program.cuh"

#include <algorithm>

typedef unsigned long long u64;

struct cells {
    u64 add, min, max, both, any, odd, swapped;
    long long low, high;
    double real, highest, product;
    float float_highest;
    unsigned short sixteen[2];
};

static __device__ float atomic_max(float *where, float value)
{
    int *word = (int *)where, old = *(volatile int *)word, seen;

    do {
        seen = old;
        if (__int_as_float(seen) >= value)
            break;
        old = atomicCAS(word, seen, __float_as_int(value));
    } while (old != seen);
    return __int_as_float(old);
}

static __device__ void atomic_max(double *where, double value)
{
    u64 *word = (u64 *)where, old = *(volatile u64 *)word, seen;

    do {
        seen = old;
        if (__longlong_as_double((long long)seen) >= value)
            return;
        old = atomicCAS(word, seen, (u64)__double_as_longlong(value));
    } while (old != seen);
}

static __device__ void atomic_times(double *where, double value)
{
    u64 *word = (u64 *)where, old = *(volatile u64 *)word, seen;

    do {
        seen = old;
        old = atomicCAS(word, seen,
                        (u64)__double_as_longlong(__longlong_as_double((long long)seen) * value));
    } while (old != seen);
}

static __global__ void apply(const u64 *values, int count, cells *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    u64 v = values[i];
    atomicAdd(&c->add, v);
    atomicMin(&c->min, v);
    atomicMax(&c->max, v);
    atomicAnd(&c->both, v | 0xffff0000ffff0000ull);
    atomicOr(&c->any, v & 0x1111111111111111ull);
    atomicXor(&c->odd, v);
    atomicExch(&c->swapped, v);
    atomicMin(&c->low, (long long)v);
    atomicMax(&c->high, (long long)v);
    atomicAdd(&c->real, (double)(v % 1024)); /* integers: exact */
    atomic_max(&c->highest, (double)(v >> 11));
    atomic_max(&c->float_highest, (float)(v >> 41));
    if (i < 40)
        atomic_times(&c->product, i % 2 == 0 ? 2.0 : 0.25); /* powers of two: exact */
    /* 16-bit compare-and-swap: each half counts on its own. */
    unsigned short *half = &c->sixteen[i % 2], old = *(volatile unsigned short *)half, seen;
    do {
        seen = old;
        old = atomicCAS(half, seen, (unsigned short)(seen + 1));
    } while (old != seen);
}

/* In shared memory: sums of doubles and 64-bit counts per bin. */
static __global__ void bins(const u64 *values, int count, u64 *counts, double *sums)
{
    __shared__ u64 bin[16];
    __shared__ double sum[16];

    if (threadIdx.x < 16) {
        bin[threadIdx.x] = 0;
        sum[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        atomicAdd(&bin[values[i] % 16], values[i]);
        atomicAdd(&sum[values[i] % 16], (double)(values[i] % 999));
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        counts[threadIdx.x] = bin[threadIdx.x];
        sums[threadIdx.x] = sum[threadIdx.x];
    }
}

static cells reference(const std::vector<u64> &values)
{
    cells c = {0, ~0ull, 0, ~0ull, 0, 0, 0, INT64_MAX, INT64_MIN, 0, 0, 1, 0, {0, 0}};

    for (size_t i = 0; i < values.size(); i++) {
        u64 v = values[i];

        c.add += v;
        c.min = std::min(c.min, v);
        c.max = std::max(c.max, v);
        c.both &= v | 0xffff0000ffff0000ull;
        c.any |= v & 0x1111111111111111ull;
        c.odd ^= v;
        c.low = std::min(c.low, (long long)v);
        c.high = std::max(c.high, (long long)v);
        c.real += (double)(v % 1024);
        c.highest = std::max(c.highest, (double)(v >> 11));
        c.float_highest = std::max(c.float_highest, (float)(v >> 41));
        c.product *= i >= 40 ? 1.0 : i % 2 == 0 ? 2.0 : 0.25;
        c.sixteen[i % 2]++;
    }
    return c;
}

void sim_program_atomics_64(sim_check &check)
{
    const int count = 2003;
    sim_random random(31);
    sim_array<u64> values(check, count), counts(check, 16);
    sim_array<double> sums(check, 16);
    sim_array<cells> all(check, 1);
    std::vector<u64> wanted_counts(16);
    std::vector<double> wanted_sums(16);

    for (u64 &value : values.host) {
        value = random.next();
        wanted_counts[value % 16] += value;
        wanted_sums[value % 16] += (double)(value % 999);
    }
    values.upload();
    all.host[0] = reference({});
    all.upload();
    apply<<<(count + 127) / 128, 128>>>(values.device, count, all.device);
    bins<<<1, 192>>>(values.device, count, counts.device, sums.device);
    SIM_LAUNCHED(check);
    all.download();
    const cells &got = all.host[0], wanted = reference(values.host);
    SIM_HOLDS(check, got.add == wanted.add && got.min == wanted.min && got.max == wanted.max);
    SIM_HOLDS(check, got.both == wanted.both && got.any == wanted.any && got.odd == wanted.odd);
    SIM_HOLDS(check,
              std::find(values.host.begin(), values.host.end(), got.swapped) != values.host.end());
    SIM_HOLDS(check, got.low == wanted.low && got.high == wanted.high);
    sim_equal_value(check, "sum", got.real, wanted.real);
    sim_equal_value(check, "highest", got.highest, wanted.highest);
    sim_equal_value(check, "highest float", got.float_highest, wanted.float_highest);
    sim_equal_value(check, "product", got.product, wanted.product);
    SIM_HOLDS(check, got.sixteen[0] == wanted.sixteen[0] && got.sixteen[1] == wanted.sixteen[1]);
    sim_equal(check, "counts", counts, wanted_counts);
    sim_equal(check, "sums", sums, wanted_sums);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive device functions: single, double, mutual, and deep with arrays on the stack. */
#include "program.cuh"

static __host__ __device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __host__ __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static __host__ __device__ __noinline__ bool odd(unsigned n);

static __host__ __device__ __noinline__ bool even(unsigned n)
{
    return n == 0 ? true : odd(n - 1);
}

static __host__ __device__ __noinline__ bool odd(unsigned n)
{
    return n == 0 ? false : even(n - 1);
}

/* Each level has an array of its own, filled before and read after the call. */
static __host__ __device__ __noinline__ unsigned digits(unsigned n, unsigned depth)
{
    unsigned saved[8];

    for (unsigned i = 0; i < 8; i++)
        saved[i] = n * (i + 1) + depth;
    unsigned below = depth == 0 ? 1 : digits(n / 2 + 1, depth - 1);
    return below + saved[(n + depth) % 8];
}

static __host__ __device__ __noinline__ void quicksort(int *keys, int count)
{
    int pivot, left = 0, right = count - 1;

    if (count < 2)
        return;
    pivot = keys[count / 2];
    while (left <= right) {
        while (keys[left] < pivot)
            left++;
        while (keys[right] > pivot)
            right--;
        if (left <= right) {
            int t = keys[left];

            keys[left++] = keys[right];
            keys[right--] = t;
        }
    }
    quicksort(keys, right + 1);
    quicksort(keys + left, count - left);
}

struct results {
    unsigned fibonacci, ackermann, digits;
    int even;
};

static __host__ __device__ results all_of(unsigned i)
{
    return {fibonacci(i % 14), ackermann(i % 3, i % 5), digits(i, i % 40), even(i % 33)};
}

static __global__ void recurse(results *out, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = all_of(i);
}

static __global__ void sort_rows(int *keys, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < rows)
        quicksort(keys + row * columns, columns);
}

void sim_program_recursion(sim_check &check)
{
    const unsigned count = 500;
    const int rows = 70, columns = 37;
    sim_random random(22);
    sim_array<results> out(check, count);
    sim_array<int> keys(check, rows * columns);
    size_t stack = 0;

    SIM_CALL(check, cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024));
    SIM_CALL(check, cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    SIM_HOLDS(check, stack >= 16 * 1024);
    recurse<<<(count + 63) / 64, 64>>>(out.device, count);
    SIM_LAUNCHED(check);
    out.download();
    for (unsigned i = 0; i < count; i++) {
        results wanted = all_of(i);

        sim_equal_value(check, "fibonacci", out.host[i].fibonacci, wanted.fibonacci);
        sim_equal_value(check, "ackermann", out.host[i].ackermann, wanted.ackermann);
        sim_equal_value(check, "digits", out.host[i].digits, wanted.digits);
        sim_equal_value(check, "even", out.host[i].even, wanted.even);
    }
    for (int &key : keys.host)
        key = (int)random.below(100) - 50;
    std::vector<int> wanted = keys.host;
    for (int row = 0; row < rows; row++)
        quicksort(&wanted[row * columns], columns);
    keys.upload();
    sort_rows<<<3, 32>>>(keys.device, rows, columns);
    SIM_LAUNCHED(check);
    sim_equal(check, "sorted", keys, wanted);
}

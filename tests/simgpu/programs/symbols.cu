/* SPDX-License-Identifier: Apache-2.0 */
/* __constant__ and __device__ variables: initial values, copies to and from them, addresses. */
#include "program.cuh"

struct settings {
    int scale;
    float offset;
    char name[8];
};

static __constant__ float weights[32] = {1, 2, 4, 8};
static __constant__ settings config;
static __device__ int counter = 41;
static __device__ double grid[3][5] = {{0.5, 1.5}, {2.5}};
static __device__ unsigned char bytes[7] = {1, 2, 3, 4, 5, 6, 7};
static __device__ int *pointer_to_counter = &counter;
static __device__ const char *const greeting = "hello";
static const __device__ int table[4] = {10, 20, 30, 40};

/* Weights by a uniform and by a different index in each lane. */
static __global__ void weigh(const float *in, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = in[i] * weights[i % 32] * (float)config.scale + config.offset + weights[1] +
                 (float)config.name[i % 4];
}

static __global__ void change(int *out)
{
    unsigned t = threadIdx.x;

    if (t == 0) {
        out[0] = counter;
        *pointer_to_counter += 1;
        out[1] = greeting[1];
    }
    if (t < 5)
        grid[2][t] = grid[0][1] + grid[1][0] * t;
    if (t < 7)
        bytes[t] = (unsigned char)(bytes[t] * 2);
    if (t >= 8 && t < 12)
        out[t - 6] = table[t - 8];
}

static void constants(sim_check &check, int count)
{
    const settings set = {3, 0.5f, "abcd"};
    sim_random random(32);
    sim_array<float> in(check, count), out(check, count);
    float host_weights[32] = {1, 2, 4, 8}, read[4] = {};
    std::vector<float> wanted;

    SIM_CALL(check, cudaMemcpyFromSymbol(read, weights, sizeof(read)));
    SIM_HOLDS(check, memcmp(read, host_weights, sizeof(read)) == 0);
    for (int i = 4; i < 32; i++)
        host_weights[i] = random.small();
    SIM_CALL(check,
             cudaMemcpyToSymbol(weights, host_weights + 4, 28 * sizeof(float), 4 * sizeof(float)));
    SIM_CALL(check, cudaMemcpyToSymbol(config, &set, sizeof(set)));
    for (int i = 0; i < count; i++) {
        in.host[i] = random.small(); /* small: every result is exact */
        wanted.push_back(in.host[i] * host_weights[i % 32] * 3 + 0.5f + host_weights[1] +
                         (float)set.name[i % 4]);
    }
    in.upload();
    weigh<<<(count + 63) / 64, 64>>>(in.device, out.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "weighed", out, wanted);
}

void sim_program_symbols(sim_check &check)
{
    sim_array<int> out(check, 6);
    double read_grid[3][5], wanted_grid[3][5] = {{0.5, 1.5}, {2.5}, {1.5, 4, 6.5, 9, 11.5}};
    unsigned char read_bytes[7];
    int value = 0, *address = nullptr;
    size_t size = 0;

    constants(check, 777);
    change<<<1, 32>>>(out.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "out", out, std::vector<int>{41, 'e', 10, 20, 30, 40});
    SIM_CALL(check, cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    sim_equal_value(check, "counter", value, 42);
    SIM_CALL(check, cudaMemcpyFromSymbol(read_grid, grid, sizeof(grid)));
    SIM_HOLDS(check, memcmp(read_grid, wanted_grid, sizeof(grid)) == 0);
    SIM_CALL(check, cudaMemcpyFromSymbol(read_bytes, bytes, 4, 3));
    SIM_HOLDS(check, read_bytes[0] == 8 && read_bytes[3] == 14);

    /* Through its address, as ordinary device memory. */
    SIM_CALL(check, cudaGetSymbolSize(&size, grid));
    sim_equal_value(check, "size", size, sizeof(grid));
    SIM_CALL(check, cudaGetSymbolAddress((void **)&address, counter));
    value = 1000;
    SIM_CALL(check, cudaMemcpy(address, &value, sizeof(value), cudaMemcpyHostToDevice));
    change<<<1, 32>>>(out.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "out", out, std::vector<int>{1000, 'e', 10, 20, 30, 40});
    SIM_CALL(check, cudaMemcpyToSymbolAsync(counter, address, sizeof(int), 0,
                                            cudaMemcpyDeviceToDevice, 0));
    SIM_CALL(check, cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    sim_equal_value(check, "counter", value, 1001);
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaMemcpyToSymbol(counter, &value, 8));
    cudaGetLastError();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_simgpu [THREADS...]: how fast the software device executes: lane-level instructions per
 * second and per thread of an arithmetic loop, a coalesced copy, a kernel in shared memory, and a
 * tiled product of two 1024 x 1024 matrices, with counting off and on. By default with 1, 2, 4, ...
 * threads, up to the processors there are. Lane instructions are those that the device counts.
 */
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/simgpu/counts/device_counts.h"

#define BLOCK 256
#define TILE 32
#define SIDE 1024
#define ELEMENTS (1u << 22)
#define ROUNDS 3

extern char **environ;

static __global__ void arithmetic(float *out, float a, float b, int rounds)
{
    float x = (float)threadIdx.x, y = a, z = b, w = 1;

    for (int i = 0; i < rounds; i++) {
        x = x * a + b;
        y = y * b + a;
        z = z * a - b;
        w = w * b - a;
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = (x + y) + (z + w);
}

static __global__ void copy(const float *in, float *out, unsigned count)
{
    for (unsigned i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK)
        out[i] = in[i];
}

static __global__ void in_shared(float *out, int rounds)
{
    __shared__ float cache[BLOCK + 32];
    unsigned t = threadIdx.x;
    float sum = 0;

    cache[t] = (float)t;
    if (t < 32)
        cache[BLOCK + t] = 0;
    for (int i = 0; i < rounds; i++) {
        __syncthreads();
        sum += cache[t + (unsigned)i % 32];
        __syncthreads();
        cache[t] = sum;
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

static __global__ void matmul(const float *a, const float *b, float *c, int side)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty,
        col = blockIdx.x * TILE + tx;
    float sum = 0;

    for (int at = 0; at < side; at += TILE) {
        of_a[ty][tx] = a[row * side + at + tx];
        of_b[ty][tx] = b[(at + ty) * side + col];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += of_a[ty][i] * of_b[i][tx];
        __syncthreads();
    }
    c[row * side + col] = sum;
}

static float *first, *second, *third;

static void run_arithmetic()
{
    arithmetic<<<512, BLOCK>>>(third, 0.5f, 0.25f, 200);
}

static void run_copy()
{
    copy<<<512, BLOCK>>>(first, third, ELEMENTS);
}

static void run_shared()
{
    in_shared<<<256, BLOCK>>>(third, 100);
}

static void run_matmul()
{
    matmul<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(first, second, third, SIDE);
}

static const struct workload {
    const char *name;
    void (*launch)();
    int rounds;
} workloads[] = {
    {"arithmetic loop", run_arithmetic, ROUNDS},
    {"coalesced copy", run_copy, ROUNDS},
    {"shared memory", run_shared, ROUNDS},
    {"1024^2 tiled matmul", run_matmul, 1},
};

/* Seconds of the fastest of some launches; negative if one failed. */
static double timed(const workload &w)
{
    double least = -1;

    for (int round = 0; round < w.rounds; round++) {
        auto begin = std::chrono::steady_clock::now();
        w.launch();
        if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
            return -1;
        std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        if (least < 0 || spent.count() < least)
            least = spent.count();
    }
    return least;
}

static int measure(const workload &w, int threads)
{
    device_counts counts;
    double counted, plain, lanes;

    device_counts_switch(1);
    counted = timed(w);
    if (counted <= 0 || device_counts_take(&counts) != 0)
        return 1;
    device_counts_switch(0);
    plain = timed(w);
    if (plain <= 0)
        return 1;
    lanes = (double)counts.lanes;
    printf("%-20s %7d %10.1f %10.3f %10.0f %10.0f %10.3f %10.0f %10.0f\n", w.name, threads,
           lanes * 1e-6, plain, lanes / plain * 1e-6, lanes / plain / threads * 1e-6, counted,
           lanes / counted * 1e-6, lanes / counted / threads * 1e-6);
    fflush(stdout);
    return 0;
}

/* Everything once, in a process that was started with this number of threads. */
static int measure_all(int threads)
{
    const size_t bytes = ELEMENTS * sizeof(float);
    int failed = 0;

    if (cudaMalloc((void **)&first, bytes) != cudaSuccess ||
        cudaMalloc((void **)&second, bytes) != cudaSuccess ||
        cudaMalloc((void **)&third, bytes) != cudaSuccess ||
        cudaMemset(first, 0, bytes) != cudaSuccess || cudaMemset(second, 0, bytes) != cudaSuccess ||
        cudaMemset(third, 0, bytes) != cudaSuccess) {
        fputs("bench_simgpu: no device memory\n", stderr);
        return 1;
    }
    if (device_counts_begin() != 0) {
        fputs("bench_simgpu: this is not the software device (set LD_LIBRARY_PATH)\n", stderr);
        return 1;
    }
    for (const workload &w : workloads)
        failed += measure(w, threads);
    if (failed != 0)
        fputs("bench_simgpu: a launch failed, or gave no counts\n", stderr);
    return failed != 0;
}

/* The device chooses its threads when it starts: a process for each number. */
static int measure_with(int threads)
{
    std::string number = std::to_string(threads);
    char *arguments[] = {(char *)"bench_simgpu", (char *)"--child", &number[0], nullptr};
    pid_t child;
    int status = -1;

    setenv("SIMGPU_THREADS", number.c_str(), 1);
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child)
        return 1;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(int argc, char **argv)
{
    std::vector<int> numbers;
    int processors = (int)sysconf(_SC_NPROCESSORS_ONLN), failed = 0;

    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return measure_all(atoi(argv[2]));
    for (int i = 1; i < argc; i++) {
        numbers.push_back(atoi(argv[i]));
        if (numbers.back() < 1) {
            fputs("usage: bench_simgpu [THREADS...]\n", stderr);
            return 2;
        }
    }
    for (int threads = 1; argc == 1 && threads < processors; threads *= 2)
        numbers.push_back(threads);
    if (argc == 1)
        numbers.push_back(processors);
    printf("%-20s %7s %10s | counting off %18s | counting on\n%-20s %7s %10s %10s %10s %10s %10s "
           "%10s %10s\n",
           "", "", "million", "", "kernel", "threads", "lane inst.", "s", "M/s", "M/s/thread", "s",
           "M/s", "M/s/thread");
    fflush(stdout);
    for (int threads : numbers)
        failed += measure_with(threads);
    return failed != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs with a fault and their repaired twins share: options, a clock and a check sum. */

#ifndef GMT_TEST_TWIN_CUH
#define GMT_TEST_TWIN_CUH

#include "../check.cuh"

#include <stdint.h>
#include <string.h>
#include <time.h>

/* One run: what was asked for, and what the twin puts in. */
struct twin_run {
    int steps, rounds;   /* turns of the loop; work per word in kernels that compute */
    size_t bytes, words; /* of one buffer of 4-byte words */
    double began_ms, took_ms;
    uint64_t check_sum;
    double device_kib, pinned_kib; /* held at most; 0: not known */
};

struct twin_row {
    const char *name;
    void (*bad)(twin_run *run);
    void (*good)(twin_run *run);
    int steps, kib, rounds; /* where the command line does not say */
};

static inline double twin_clock_ms()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/* From an idle device to an idle device. */
static inline void twin_start(twin_run *run)
{
    CHECK(cudaDeviceSynchronize());
    run->began_ms = twin_clock_ms();
}

static inline void twin_stop(twin_run *run)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    run->took_ms = twin_clock_ms() - run->began_ms;
}

static __global__ void k_twin_sum(const uint32_t *values, size_t n, unsigned long long *sum)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    unsigned long long mine = 0;

    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        mine += (values[i] + 1ull) * (2 * i + 1);
    atomicAdd(sum, mine);
}

/* Adds words of device memory, each times its place, to the check sum. */
static inline void twin_sum_device(twin_run *run, const void *values, size_t words)
{
    unsigned long long *device, sum = 0;

    CHECK(cudaMalloc(&device, sizeof sum));
    CHECK(cudaMemset(device, 0, sizeof sum));
    k_twin_sum<<<32, 256>>>(static_cast<const uint32_t *>(values), words, device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, device, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    run->check_sum += sum;
}

static inline void twin_sum_host(twin_run *run, const void *values, size_t words)
{
    const uint32_t *value = static_cast<const uint32_t *>(values);

    for (size_t i = 0; i < words; i++)
        run->check_sum += (value[i] + 1ull) * (2 * i + 1);
}

/* Small whole numbers as floats: sums and products of them are exact. */
static inline void twin_fill(float *values, size_t words, unsigned seed)
{
    for (size_t i = 0; i < words; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = static_cast<float>(seed >> 24);
    }
}

template <typename T> static inline T *twin_pageable(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == nullptr)
        exit(1);
    memset(memory, 0, bytes);
    return static_cast<T *>(memory);
}

static inline unsigned twin_grid(size_t words, unsigned block)
{
    return static_cast<unsigned>((words + block - 1) / block);
}

static inline int twin_usage(const char *name, const twin_row *rows, size_t count)
{
    fprintf(stderr, "usage: %s ", name);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s%s", i > 0 ? "|" : "", rows[i].name);
    fprintf(stderr, " --bad|--good [--steps N] [--kib N] [--rounds N]\n");
    return 2;
}

/* The result; and, where nobody compares them, the figures of this run. */
static inline void twin_print(const twin_run &run)
{
    printf("check_sum %016llx\n", static_cast<unsigned long long>(run.check_sum));
    fprintf(stderr, "time_ms %.4f\n", run.took_ms);
    if (run.device_kib > 0)
        fprintf(stderr, "device_kib %.0f\n", run.device_kib);
    if (run.pinned_kib > 0)
        fprintf(stderr, "pinned_kib %.0f\n", run.pinned_kib);
}

static inline int twin_main(int argc, char **argv, const twin_row *rows, size_t count)
{
    const twin_row *row = nullptr;
    bool good = argc > 2 && strcmp(argv[2], "--good") == 0;

    for (size_t i = 0; argc > 2 && i < count; i++)
        row = strcmp(argv[1], rows[i].name) == 0 ? &rows[i] : row;
    if (row == nullptr || argc % 2 == 0 || (!good && strcmp(argv[2], "--bad") != 0))
        return twin_usage(argv[0], rows, count);
    long steps = row->steps, kib = row->kib, rounds = row->rounds;
    for (int i = 3; i < argc; i += 2) {
        if (strcmp(argv[i], "--steps") == 0)
            steps = parse_number(argv[i + 1], 1, 1000000);
        else if (strcmp(argv[i], "--kib") == 0)
            kib = parse_number(argv[i + 1], 4, 1 << 22);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = parse_number(argv[i + 1], 1, 1000000);
        else
            return twin_usage(argv[0], rows, count);
    }
    twin_run run = {};
    run.steps = static_cast<int>(steps);
    run.rounds = static_cast<int>(rounds);
    run.bytes = static_cast<size_t>(kib) << 10;
    run.words = run.bytes / 4;
    setenv("CUDA_MODULE_LOADING", "EAGER", 0); /* no kernel is loaded while the clock runs */
    CHECK(cudaFree(nullptr));
    (good ? row->good : row->bad)(&run);
    twin_print(run);
    return 0;
}

#endif

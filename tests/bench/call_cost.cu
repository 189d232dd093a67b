/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one CUDA call costs its caller, in nanoseconds: call_cost [calls]
 *
 * Run it bare, under LD_PRELOAD and under another profiler, and compare. Each call is timed on its
 * own; queues are emptied every BATCH calls, outside the timed part, so that no call waits for
 * room in one. Prints one line of JSON; `clock` is what the two clock readings themselves cost
 * and is contained in every figure; `context_16` is 16 times asking the driver for the current context,
 * which nobody intercepts, but which gmtrace does itself for each call that it records.
 */

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

enum { SMALL_BYTES = 64, ALLOCATION_BYTES = 1 << 20, BATCH = 128, WARM_UP = 500 };

#define CHECK(call) \
    do { \
        const cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            fprintf(stderr, "call_cost: %s: %s\n", #call, cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

__global__ void k_empty()
{
}

static char *device;
static char *pinned;
static char pageable[SMALL_BYTES];
static cudaStream_t stream;

static int64_t now_ns()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

static void call_nothing()
{
}

static void call_copy_async()
{
    CHECK(cudaMemcpyAsync(device, pinned, SMALL_BYTES, cudaMemcpyHostToDevice, stream));
}

static void call_copy_sync()
{
    CHECK(cudaMemcpy(device, pageable, SMALL_BYTES, cudaMemcpyHostToDevice));
}

static void call_launch()
{
    k_empty<<<1, 32, 0, stream>>>();
}

static CUresult (*get_context)(CUcontext *);

static void call_context()
{
    for (int i = 0; i < 16; i++) {
        CUcontext context;
        if (get_context(&context) != CUDA_SUCCESS)
            exit(1);
    }
}

static void call_malloc_free()
{
    void *memory = nullptr;
    CHECK(cudaMalloc(&memory, ALLOCATION_BYTES));
    CHECK(cudaFree(memory));
}

static void measure(const char *name, void (*call)(), long calls)
{
    std::vector<int64_t> times(static_cast<size_t>(calls));
    int64_t sum_ns = 0;
    for (long i = 0; i < WARM_UP; i++)
        call();
    CHECK(cudaDeviceSynchronize());
    for (long i = 0; i < calls; i++) {
        if (i % BATCH == 0)
            CHECK(cudaDeviceSynchronize());
        const int64_t start_ns = now_ns();
        call();
        times[static_cast<size_t>(i)] = now_ns() - start_ns;
        sum_ns += times[static_cast<size_t>(i)];
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGetLastError());
    std::sort(times.begin(), times.end());
    const size_t n = times.size();
    printf(", \"%s\": {\"median_ns\": %lld, \"p10_ns\": %lld, \"p90_ns\": %lld, \"mean_ns\": %.1f}",
           name, static_cast<long long>(times[n / 2]), static_cast<long long>(times[n / 10]),
           static_cast<long long>(times[n * 9 / 10]),
           static_cast<double>(sum_ns) / static_cast<double>(n));
}

int main(int argc, char **argv)
{
    char *end = nullptr;
    const long calls = argc == 2 ? strtol(argv[1], &end, 10) : 20000;
    if (argc > 2 || (argc == 2 && (*end != '\0' || end == argv[1])) || calls < 1 ||
        calls > 100000000) {
        fprintf(stderr, "usage: call_cost [calls, 1 to 100000000]\n");
        return 2;
    }
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaMalloc(&device, SMALL_BYTES));
    CHECK(cudaMallocHost(&pinned, SMALL_BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    memset(pinned, 1, SMALL_BYTES);

    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    get_context = driver == nullptr ? nullptr
                                    : reinterpret_cast<CUresult (*)(CUcontext *)>(
                                          dlsym(driver, "cuCtxGetCurrent"));
    if (get_context == nullptr)
        return 1;

    printf("{\"program\": \"call_cost\", \"device\": \"%s\", \"calls\": %ld", properties.name,
           calls);
    measure("clock", call_nothing, calls);
    measure("context_16", call_context, calls);
    measure("copy_async_64", call_copy_async, calls);
    measure("copy_sync_64", call_copy_sync, calls);
    measure("launch", call_launch, calls);
    measure("malloc_free_1m", call_malloc_free, calls);
    printf("}\n");

    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of allocators that say by NVTX's memory extension what they hand out. */
#define _GNU_SOURCE
#include "regions_calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* All places of the program have these two functions in common. */
static NOINLINE CUdeviceptr pool_carve(size_t bytes)
{
    CUdeviceptr address = regions_pool.base + regions_pool.used;
    nvtxMemVirtualRangeDesc_t range = regions_range(address, bytes);
    regions_pool.used += bytes;
    regions_register(regions_pool.heap, &range, 1, NULL);
    return address;
}

static NOINLINE CUdeviceptr pool_alloc(size_t bytes)
{
    CUdeviceptr address = pool_carve(bytes);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return address;
}

static NOINLINE void make_weights(CUdeviceptr *weights)
{
    for (int i = 0; i < 3; i++) {
        weights[i] = pool_alloc(4 * MIB);
        regions_name(weights[i], "weight");
    }
}

static NOINLINE CUdeviceptr make_activations(int step)
{
    CUdeviceptr activations = pool_alloc(8 * MIB);
    regions_name(activations, step == 0 ? "first" : "later");
    return activations;
}

/* 64 MiB, of which 12 are weights to the end, and at the most 20 more are activations; 16 KiB beside the regions_pool. Nothing but the pool
 * is given to the kernel, by its second MiB, so that no use shows what it is. */
int scenario_pool(long n)
{
    CUdeviceptr weights[3], activations[2], beside;
    CUmodule module;
    CUfunction add;
    (void)n;
    regions_begin();
    regions_domain = nvtxDomainCreateA("allocator");
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&beside, 16 << 10));
    regions_open_pool();
    make_weights(weights);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 2; i++) {
            activations[i] = make_activations(step);
        }
        if (step == 1) {
            regions_resize(activations[1], 12 * MIB); /* the most */
        }
        CHECK(client_vector_add(add, weights[1], weights[1], beside, 256, NULL));
        for (int i = 2; i-- > 0;) {
            regions_end_at(activations[i]);
            regions_pool.used -= 8 * MIB;
        }
    }
    regions_end_at(weights[2]);
    nvtxMemHeapUnregister(regions_domain, regions_pool.heap); /* with what is left in it */
    CHECK(cu.cuMemFree(beside));
    CHECK(cu.cuModuleUnload(module));
    return 0;
}

/* Memory that is not used: an allocator's, which has not handed it out, where N is 1. */
int scenario_unused(long n)
{
    CUdeviceptr other;
    CUmodule module;
    CUfunction add;
    regions_begin();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&other, 16 << 10));
    CHECK(cu.cuMemAlloc(&regions_pool.base, POOL_BYTES));
    if (n == 1) {
        (void)regions_heap(regions_pool.base, POOL_BYTES, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
                           "unused");
    }
    CHECK(client_vector_add(add, other, other, other, 256, NULL));
    return 0;
}

/* ---- order, time, and other processes --------------------------------------------------------------- */

/* Before CUDA is used: of host memory. Reset, and the whole process as a heap. */
int scenario_early(long n)
{
    static char memory[4096];
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory, device;
    nvtxMemVirtualRangeDesc_t ranges[] = {regions_range(base, 1024),
                                          regions_range(base + 1024, 512)};
    (void)n;
    nvtxMemHeapHandle_t heap = regions_heap(base, sizeof memory, NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT,
                                            "early");
    regions_register(heap, ranges, 2, NULL);
    regions_name(base, "named before");
    regions_begin();
    CHECK(cu.cuMemAlloc(&device, 8192));
    nvtxMemHeapReset(regions_domain, heap);
    regions_register(heap, ranges, 1, NULL);
    ranges[0] = regions_range(device, 4096);
    regions_register(NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE, ranges, 1, NULL);
    regions_name(device, "of the process");
    nvtxMemHeapReset(regions_domain, NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
    CHECK(cu.cuMemFree(device));
    return 0;
}

int scenario_nothing(long n)
{
    static char memory[4096];
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory;
    nvtxMemVirtualRangeDesc_t range = regions_range(base, 64);
    (void)n;
    regions_register(regions_heap(base, sizeof memory, 1, "nothing"), &range, 1, NULL);
    regions_end_at(base);
    regions_end_at(base);
    return 0;
}

static pthread_barrier_t together;

static void *allocate(void *number)
{
    size_t part = POOL_BYTES / 8;
    CUdeviceptr mine = regions_pool.base + (uintptr_t)number * part;
    (void)pthread_barrier_wait(&together);
    for (unsigned i = 0; i < 500; i++) {
        nvtxMemVirtualRangeDesc_t range = regions_range(mine + i % 7 * 4096, 4096);
        regions_register(regions_pool.heap, &range, 1, NULL);
        regions_end_at(mine + i % 7 * 4096);
    }
    return NULL;
}

int scenario_threads(long n)
{
    pthread_t threads[8];
    (void)n;
    regions_begin();
    regions_open_pool();
    (void)pthread_barrier_init(&together, NULL, 8);
    for (uintptr_t i = 0; i < 8; i++) {
        (void)pthread_create(&threads[i], NULL, allocate, (void *)i);
    }
    for (int i = 0; i < 8; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK(cu.cuMemFree(regions_pool.base));
    return 0;
}

/* What the parent has registered, or got wrong, is not the child's; what the child registers at the same addresses is. N = 1: the parent
 * is recorded, too. */
int scenario_fork(long n)
{
    static char memory[4096];
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory;
    nvtxMemVirtualRangeDesc_t range = regions_range(base, 64);
    if (n == 1) {
        CUdeviceptr none;
        client_load(VIA_PROC);
        (void)cu.cuMemAlloc(&none, 64); /* without cuInit(), which a child could not call again */
    }
    nvtxMemHeapHandle_t heap = regions_heap(base, sizeof memory, 1, "of the parent");
    regions_register(heap, &range, 1, NULL);
    regions_end_at(base + 128);
    pid_t child = fork();
    if (child == 0) {
        regions_begin();
        heap = regions_heap(base, sizeof memory, 1, "of the child");
        regions_register(heap, &range, 1, NULL);
        exit(0);
    }
    int status = -1;
    (void)waitpid(child, &status, 0);
    return status;
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* N regions, begun and ended. On stderr: ns of processor time for one. */
int scenario_many(long n)
{
    regions_begin();
    regions_open_pool();
    double start = seconds();
    for (long i = 0; i < n; i++) {
        CUdeviceptr address = pool_alloc(4096);
        regions_end_at(address);
        regions_pool.used = (size_t)(i % 1024) * 4096;
    }
    fprintf(stderr, "%.0f\n", 1e9 * (seconds() - start) / (double)(n > 0 ? n : 1));
    CHECK(cu.cuMemFree(regions_pool.base));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios with many threads. */
#define _GNU_SOURCE
#include "client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 1024

static CUcontext shared_context;
static pthread_barrier_t gate;

static void *copy_100(void *unused)
{
    CUdeviceptr memory;
    CUstream stream;
    char host[64] = {1};
    (void)unused;
    CHECK(cu.cuCtxSetCurrent(shared_context));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    for (int i = 0; i < 100; i++) {
        CHECK(cu.cuMemcpyHtoDAsync(memory, host, sizeof host, stream));
        CHECK(cu.cuMemcpyDtoHAsync(host, memory, sizeof host, stream));
    }
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuStreamDestroy(stream));
    return NULL;
}

static void *first_call(void *unused)
{
    CUdeviceptr memory;
    (void)unused;
    pthread_barrier_wait(&gate);
    client_start();
    CHECK(cu.cuMemAlloc(&memory, 4096));
    CHECK(cu.cuMemFree(memory));
    return NULL;
}

static int run(long count, void *(*body)(void *))
{
    pthread_t threads[MAX_THREADS];
    if (count > MAX_THREADS) {
        count = MAX_THREADS;
    }
    pthread_barrier_init(&gate, NULL, (unsigned)count);
    for (long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, body, NULL) != 0) {
            return 1;
        }
    }
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld threads\n", count);
    return 0;
}

int scenario_threads(long n)
{
    shared_context = client_start();
    return run(n > 0 ? n : 8, copy_100);
}

int scenario_storm(long n)
{
    return run(n > 0 ? n : 200, first_call);
}

#define MIXED_THREADS 4
#define MIXED_CALLS 10 /* of each turn below */

struct mixed {
    CUfunction touch;
    long turns;
};

static void *turn_after_turn(void *argument)
{
    const struct mixed *mixed = argument;
    CUdeviceptr memory;
    CUstream stream;
    char host[256] = {1};
    void *params[] = {&memory};
    CHECK(cu.cuCtxSetCurrent(shared_context));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (long i = 0; i < mixed->turns; i++) {
        CHECK(cu.cuMemAlloc(&memory, 4096));
        for (int k = 0; k < 4; k++) {
            CHECK(cu.cuMemcpyHtoDAsync(memory, host, sizeof host, stream));
        }
        for (int k = 0; k < 2; k++) {
            CHECK(cu.cuLaunchKernel(mixed->touch, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
        }
        CHECK(cu.cuMemcpyDtoHAsync(host, memory, sizeof host, stream));
        CHECK(cu.cuStreamSynchronize(stream));
        CHECK(cu.cuMemFree(memory));
    }
    CHECK(cu.cuStreamDestroy(stream));
    return NULL;
}

int scenario_mixed(long n)
{
    struct mixed mixed = {.turns = (n > 0 ? n : 1000) / (MIXED_THREADS * MIXED_CALLS)};
    pthread_t threads[MIXED_THREADS];
    CUmodule module;
    shared_context = client_start();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&mixed.touch, module, "touch"));
    for (int i = 0; i < MIXED_THREADS; i++) {
        if (pthread_create(&threads[i], NULL, turn_after_turn, &mixed) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < MIXED_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld calls\n", mixed.turns * MIXED_THREADS * MIXED_CALLS);
    return 0;
}

/* The thread's first calls, and the process's where nobody has called yet. */
static void *first_calls(void *unused)
{
    CUdeviceptr memory;
    char host[64] = {1};
    (void)unused;
    shared_context = client_start();
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
    CHECK(cu.cuMemFree(memory));
    return NULL;
}

static char registered[8192];

static void *calls_of_all_kinds(void *argument)
{
    CUfunction touch = *(CUfunction *)argument;
    CUdeviceptr memory, managed;
    CUstream stream;
    CUevent event;
    void *pinned;
    char host[64] = {1};
    void *params[] = {&memory};
    CHECK(cu.cuCtxSetCurrent(shared_context));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cu.cuMemAlloc(&memory, 4096));
    CHECK(cu.cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cu.cuMemAllocHost(&pinned, 4096));
    CHECK(cu.cuMemHostRegister(registered, sizeof registered, 0));
    CHECK(cu.cuMemcpyHtoD(memory, registered, 4096));
    CHECK(cu.cuMemcpyHtoDAsync(memory, pinned, 4096, stream));
    CHECK(cu.cuMemcpyDtoH(host, memory, sizeof host));
    CHECK(cu.cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    CHECK(cu.cuEventRecord(event, stream));
    CHECK(cu.cuEventSynchronize(event));
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemHostUnregister(registered));
    CHECK(cu.cuMemFreeHost(pinned));
    CHECK(cu.cuMemFree(managed));
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuEventDestroy(event));
    CHECK(cu.cuStreamDestroy(stream));
    return NULL;
}

static int run_on_smallest_stack(void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t bytes = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, bytes) != 0 ||
        pthread_create(&thread, &attributes, body, argument) != 0) {
        return 1;
    }
    pthread_attr_destroy(&attributes);
    return pthread_join(thread, NULL);
}

int scenario_small_stack(long n)
{
    CUmodule module;
    CUfunction touch;
    int failed = run_on_smallest_stack(first_calls, NULL);
    CHECK(cu.cuCtxSetCurrent(shared_context));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&touch, module, "touch"));
    for (long i = 0; failed == 0 && i < (n > 0 ? n : 4); i++) {
        failed = run_on_smallest_stack(calls_of_all_kinds, &touch);
    }
    printf("small stacks: %d\n", failed);
    return failed;
}

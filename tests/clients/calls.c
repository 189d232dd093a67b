/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about single calls and loops of them: errors, NULLs, capture, churn, many. */
#define _GNU_SOURCE
#include "client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void expect(const char *what, CUresult result)
{
    const char *name = NULL;
    (void)cu.cuGetErrorName(result, &name);
    printf("%s %s\n", what, name != NULL ? name : "?");
}

int scenario_errors(long n)
{
    CUdeviceptr memory;
    CUfunction function;
    CUmodule module;
    char buffer[64] = {0};
    (void)n;
    expect("before cuInit", cu.cuMemAlloc(&memory, 64));
    CHECK(cu.cuInit(0));
    expect("without a context", cu.cuMemAlloc(&memory, 64));
    client_start();
    expect("no bytes", cu.cuMemAlloc(&memory, 0));
    expect("too many bytes", cu.cuMemAlloc(&memory, (size_t)1 << 50));
    CHECK(cu.cuMemAlloc(&memory, 64));
    expect("copy beyond the end", cu.cuMemcpyHtoD(memory, buffer, 65));
    expect("copy from NULL", cu.cuMemcpyHtoD(memory, NULL, 64));
    expect("copy on a bad stream", cu.cuMemcpyHtoDAsync(memory, buffer, 64, (CUstream)buffer));
    expect("memset beyond the end", cu.cuMemsetD8(memory + 32, 1, 64));
    expect("free of an inner address", cu.cuMemFree(memory + 8));
    CHECK(cu.cuMemFree(memory));
    expect("second free", cu.cuMemFree(memory));
    expect("free of NULL", cu.cuMemFree(0));
    expect("not registered", cu.cuMemHostUnregister(buffer));
    expect("not an image", cu.cuModuleLoadData(&module, "no PTX"));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    expect("no such kernel", cu.cuModuleGetFunction(&function, module, "absent"));
    CHECK(cu.cuModuleGetFunction(&function, module, "touch"));
    void *params[] = {&memory};
    expect("too many threads",
           cu.cuLaunchKernel(function, 1, 1, 1, 512, 1, 1, 0, NULL, params, NULL));
    expect("bad kernel",
           cu.cuLaunchKernel((CUfunction)buffer, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    expect("bad event", cu.cuEventSynchronize((CUevent)buffer));
    expect("good launch", cu.cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
    return 0;
}

int scenario_fault(long n)
{
    CUdeviceptr nowhere = 4096, memory;
    CUfunction function;
    CUmodule module;
    char buffer[64] = {0};
    client_start();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&function, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&memory, 64));
    expect("too many bytes", cu.cuMemAlloc(&memory, (size_t)1 << 50));
    expect("not registered", cu.cuMemHostUnregister(buffer));
    (void)client_vector_add(function, nowhere, memory, memory, 16, NULL);
    CUresult result = cu.cuCtxSynchronize();
    expect("after the kernel", result);
    for (long i = 0; i < n; i++) {
        (void)cu.cuMemcpyHtoD(memory, buffer, sizeof(buffer));
    }
    return result != CUDA_SUCCESS ? 3 : 0;
}

int scenario_null_out(long n)
{
    size_t total = 0, bytes = 0;
    CUdeviceptr memory;
    CUcontext popped;
    (void)n;
    CUcontext context = client_start();
    CHECK(cu.cuMemGetInfo(NULL, &total));
    CHECK(cu.cuMemGetInfo(&bytes, NULL));
    CHECK(cu.cuMemAlloc(&memory, 4096));
    CHECK(cu.cuMemGetAddressRange(NULL, &bytes, memory + 100));
    CHECK(cu.cuMemGetAddressRange(NULL, NULL, memory));
    CHECK(cu.cuCtxPopCurrent(NULL));
    CHECK(cu.cuCtxPushCurrent(context));
    CHECK(cu.cuCtxPopCurrent(&popped));
    CHECK(cu.cuCtxPushCurrent(popped));
    expect("cuMemAlloc(NULL)", cu.cuMemAlloc(NULL, 64));
    expect("cuMemAllocPitch(NULL)", cu.cuMemAllocPitch(&memory, NULL, 64, 4, 4));
    expect("cuMemcpy2D(NULL)", cu.cuMemcpy2D(NULL));
    expect("cuLaunchKernelEx(NULL)", cu.cuLaunchKernelEx(NULL, NULL, NULL, NULL));
    expect("cuStreamCreate(NULL)", cu.cuStreamCreate(NULL, 0));
    expect("cuModuleLoadData(NULL)", cu.cuModuleLoadData(NULL, client_ptx));
    expect("cuGetExportTable(NULL)", cu.cuGetExportTable(NULL, NULL));
    CHECK(cu.cuMemcpyHtoD(memory, NULL, 0));
    printf("total %s\n", total != 0 ? "known" : "unknown");
    return 0;
}

int scenario_oom(long n)
{
    CUdeviceptr blocks[64];
    int count = 0;
    size_t bytes = (size_t)(n > 0 ? n : 64) << 20;
    client_start();
    while (count < 64 && cu.cuMemAlloc(&blocks[count], bytes) == CUDA_SUCCESS) {
        count++;
    }
    printf("%d blocks of %zu MiB\n", count, bytes >> 20);
    while (count > 0) {
        CHECK(cu.cuMemFree(blocks[--count]));
    }
    return 0;
}

static void count_call(void *data)
{
    ++*(int *)data;
}

int scenario_capture(long n)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr a, b;
    CUmodule module;
    CUfunction add;
    enum { COUNT = 256 };
    float host[COUNT];
    int calls = 0;
    client_start();
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&a, sizeof host));
    CHECK(cu.cuMemAlloc(&b, sizeof host));
    for (int i = 0; i < COUNT; i++) {
        host[i] = 1.0f;
    }
    CHECK(cu.cuMemcpyHtoD(b, host, sizeof host));
    CHECK(cu.cuMemsetD32(a, 0, COUNT));
    CHECK(cu.cuCtxSynchronize()); /* the stream does not wait for the legacy one */
    CHECK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (long i = 0; i < (n > 0 ? n : 3); i++) {
        CHECK(client_vector_add(add, a, a, b, COUNT, stream));
    }
    CHECK(cu.cuMemcpyDtoHAsync(host, a, sizeof host, stream));
    CHECK(cu.cuLaunchHostFunc(stream, count_call, &calls));
    expect("synchronize while capturing", cu.cuStreamSynchronize(stream));
    CHECK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cu.cuGraphLaunch(exec, stream));
    CHECK(cu.cuGraphLaunch(exec, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    printf("%d graph launches, sum %.1f\n", calls, (double)host[7]);
    CHECK(cu.cuGraphExecDestroy(exec));
    CHECK(cu.cuGraphDestroy(graph));
    CHECK(cu.cuMemFree(a));
    CHECK(cu.cuMemFree(b));
    CHECK(cu.cuStreamDestroy(stream));
    return 0;
}

int scenario_churn(long n)
{
    CUmodule module;
    CUfunction touch;
    char host[64] = {1};
    client_start();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&touch, module, "touch"));
    for (long i = 0; i < n; i++) {
        CUdeviceptr memory;
        void *params[] = {&memory};
        CHECK(cu.cuMemAlloc(&memory, 1 << 16));
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
        CHECK(cu.cuLaunchKernel(touch, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
        CHECK(cu.cuMemFree(memory));
    }
    printf("%ld rounds\n", n);
    return 0;
}

int scenario_many(long n)
{
    CUdeviceptr memory;
    CUmodule module;
    CUfunction touch;
    char host[64] = {1};
    client_start();
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&touch, module, "touch"));
    void *params[] = {&memory};
    puts("started");
    fflush(stdout);
    for (long i = 0; i < n; i++) {
        CHECK(cu.cuMemcpyHtoDAsync(memory, host, sizeof host, NULL));
        if (i % 10 == 9) {
            CHECK(cu.cuLaunchKernel(touch, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
        }
    }
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuMemFree(memory));
    printf("%ld copies\n", n);
    return 0;
}

static volatile sig_atomic_t ticks;

static void on_tick(int number)
{
    (void)number;
    ticks++;
}

int scenario_signals(long n)
{
    struct sigaction action = {.sa_handler = on_tick};
    struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    CUdeviceptr memory;
    char host[64] = {1};
    (void)n;
    client_start();
    sigaction(SIGALRM, &action, NULL); /* without SA_RESTART: calls are really interrupted */
    setitimer(ITIMER_REAL, &every_ms, NULL);
    while (ticks < 50) {
        CHECK(cu.cuMemAlloc(&memory, 1 << 20));
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
        CHECK(cu.cuMemFree(memory));
    }
    setitimer(ITIMER_REAL, &never, NULL);
    puts("50 ticks");
    return 0;
}

int scenario_peer(long n)
{
    CUcontext own = client_start(), other;
    CUdeviceptr memory;
    CUfunction function;
    CUmodule module;
    CUdevice device;
    expect("peer access to itself", cu.cuCtxEnablePeerAccess(own, 0));
    if (n > 0) {
        CHECK(cu.cuDeviceGet(&device, (int)n));
        CHECK(cu.cuDevicePrimaryCtxRetain(&other, device));
        CHECK(cu.cuCtxEnablePeerAccess(other, 0));
    }
    CHECK(cu.cuMemAlloc(&memory, 64));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&function, module, "touch"));
    void *params[] = {&memory};
    CHECK(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CHECK(cu.cuCtxSynchronize());
    return 0;
}

int scenario_nothing(long n)
{
    printf("nothing %ld\n", n);
    return 0;
}

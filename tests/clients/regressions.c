/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios that once went wrong under gmtrace: handles, contexts, threads and the process. */
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PTX_HEAD ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(\n"

static CUfunction load_kernel(const char *ptx, CUmodule *module)
{
    CUfunction function;
    CHECK(cu.cuModuleLoadData(module, ptx));
    CHECK(cu.cuModuleGetFunction(&function, *module, "k"));
    return function;
}

static CUcontext enter_context(bool is_primary, CUdevice device)
{
    CUcontext context;
    if (is_primary) {
        CHECK(cu.cuDevicePrimaryCtxRetain(&context, device));
        CHECK(cu.cuCtxSetCurrent(context));
    } else {
        CHECK(cu.cuCtxCreate(&context, NULL, 0, device));
    }
    return context;
}

/* A kernel with five parameters goes, one with a single parameter gets its handle: of the second
 * launch's parameters no more than one may be read. */
int scenario_reused_handle(long n)
{
    static const char five[] = PTX_HEAD ".param .u64 a,\n.param .u64 b,\n.param .u64 c,\n.param "
                                        ".u64 d,\n.param .u64 e)\n{ ret; }\n";
    static const char one[] = PTX_HEAD ".param .u64 a)\n{ ret; }\n";
    CUdevice device;
    CUmodule module;
    uint64_t value = 1;
    void *values[] = {&value, &value, &value, &value, &value};
    CHECK(cu.cuInit(0));
    CHECK(cu.cuDeviceGet(&device, 0));
    CUcontext context = enter_context(n != 1, device);
    CUfunction before = load_kernel(five, &module);
    CHECK(cu.cuLaunchKernel(before, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    if (n == 0) {
        CHECK(cu.cuModuleUnload(module));
    } else if (n == 1) {
        CHECK(cu.cuCtxDestroy(context));
        (void)enter_context(false, device);
    } else {
        CHECK(cu.cuDevicePrimaryCtxReset(device));
        (void)enter_context(true, device);
    }
    CUfunction after = load_kernel(one, &module);
    printf("same handle: %d\n", before == after);
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0) {
        return 4;
    }
    void **single = (void **)(void *)(pages + 4096 - sizeof(void *));
    single[0] = &value;
    CHECK(cu.cuLaunchKernel(after, 1, 1, 1, 1, 1, 1, 0, NULL, single, NULL));
    return 0;
}

/* What was registered is pageable again after a reset. */
int scenario_reset(long n)
{
    CUdeviceptr memory;
    (void)n;
    void *buffer = aligned_alloc(4096, 4096);
    client_start();
    CHECK(cu.cuMemHostRegister(buffer, 4096, 0));
    CHECK(cu.cuMemAlloc(&memory, 64));
    CHECK(cu.cuMemcpyHtoD(memory, buffer, 64));
    CHECK(cu.cuDevicePrimaryCtxReset(0));
    (void)enter_context(true, 0);
    CHECK(cu.cuMemAlloc(&memory, 64));
    CHECK(cu.cuMemcpyHtoD(memory, buffer, 64));
    free(buffer);
    return 0;
}

/* What the reset of a primary context ends, and what its last release does: nothing of another context. A
 * reset does not give back what retained it: that counts on for the context that comes after. */
int scenario_contexts(long n)
{
    CUdeviceptr own, primary;
    char host[64] = {0};
    (void)n;
    CHECK(cu.cuInit(0));
    CUcontext context = enter_context(false, 0);
    CHECK(cu.cuMemAlloc(&own, 64));
    (void)enter_context(true, 0);
    CHECK(cu.cuMemAlloc(&primary, 128));
    CHECK(cu.cuDevicePrimaryCtxReset(0));
    (void)enter_context(true, 0);
    CHECK(cu.cuMemAlloc(&primary, 256));
    CHECK(cu.cuDevicePrimaryCtxRelease(0));
    CHECK(cu.cuMemcpyHtoD(primary, host, sizeof host));
    CHECK(cu.cuDevicePrimaryCtxRelease(0));
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuMemcpyHtoD(own, host, sizeof host));
    CHECK(cu.cuMemFree(own));
    CHECK(cu.cuCtxDestroy(context));
    return 0;
}

/* A stream of one device is used and destroyed while the other device's context is current. */
int scenario_streams(long n)
{
    CUdeviceptr memory;
    CUstream first, second;
    char host[64] = {0};
    (void)n;
    CHECK(cu.cuInit(0));
    CUcontext own = enter_context(true, 0);
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    CHECK(cu.cuStreamCreateWithPriority(&first, CU_STREAM_NON_BLOCKING, -1));
    CHECK(cu.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemcpyHtoDAsync(memory, host, 64, first));
    (void)enter_context(true, 1);
    CHECK(cu.cuMemcpyHtoDAsync(memory, host, 32, first));
    CHECK(cu.cuMemcpyHtoDAsync(memory, host, 16, second));
    CHECK(cu.cuStreamSynchronize(first));
    CHECK(cu.cuStreamSynchronize(second));
    CHECK(cu.cuStreamDestroy(first));
    CHECK(cu.cuCtxSetCurrent(own));
    CHECK(cu.cuStreamDestroy(second));
    CHECK(cu.cuMemFree(memory));
    return 0;
}

/* As a program of n tests does that resets the device after each. */
int scenario_resets(long n)
{
    CUdeviceptr memory;
    char host[64] = {0};
    CHECK(cu.cuInit(0));
    for (long i = 0; i < n; i++) {
        (void)enter_context(true, 0);
        CHECK(cu.cuMemAlloc(&memory, sizeof host));
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
        CHECK(cu.cuDevicePrimaryCtxReset(0));
    }
    return 0;
}

int scenario_unified(long n)
{
    CUdeviceptr a, b;
    static char host[4096];
    (void)n;
    client_start();
    CHECK(cu.cuMemAlloc(&a, 4096));
    CHECK(cu.cuMemAlloc(&b, 4096));
    CHECK(cu.cuMemcpy(b, a, 64));
    CHECK(cu.cuMemcpy(a, (CUdeviceptr)(uintptr_t)host, 64));
    CHECK(cu.cuMemcpy((CUdeviceptr)(uintptr_t)host, a, 64));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .srcDevice = (CUdeviceptr)(uintptr_t)host,
                          .srcPitch = 64,
                          .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .dstDevice = a,
                          .dstPitch = 64,
                          .WidthInBytes = 32,
                          .Height = 4};
    CHECK(cu.cuMemcpy2D(&copy));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    CHECK(cu.cuMemcpy2D(&copy));
    return 0;
}

static void use_memory(void)
{
    CUdeviceptr memory;
    client_start();
    CHECK(cu.cuMemAlloc(&memory, 64));
    CHECK(cu.cuMemFree(memory));
    puts("done");
}

static void *load_plugin(void *path)
{
    return dlopen(path, RTLD_NOW);
}

static void *call_first(void *unused)
{
    usleep(50000); /* the constructor has begun */
    CHECK(cu.cuInit(0));
    return unused;
}

int scenario_constructor(long n)
{
    char path[4096];
    pthread_t loading, calling;
    void *plugin = NULL;
    (void)n;
    const char *slash = strrchr(client_program, '/');
    (void)snprintf(path, sizeof path, "%.*s/libclientplugin_constructor.so",
                   slash != NULL ? (int)(slash - client_program) : 1,
                   slash != NULL ? client_program : ".");
    pthread_create(&loading, NULL, load_plugin, path);
    pthread_create(&calling, NULL, call_first, NULL);
    pthread_join(loading, &plugin);
    pthread_join(calling, NULL);
    printf("plugin %s\n", plugin != NULL ? "loaded" : dlerror());
    use_memory();
    return 0;
}

static atomic_int call_returned;

static void *call_when_cancelled(void *barrier)
{
    pthread_barrier_wait(barrier);
    CHECK(cu.cuInit(0)); /* no cancellation point */
    call_returned = 1;
    return NULL;
}

int scenario_cancelled(long n)
{
    pthread_t thread;
    pthread_barrier_t barrier;
    void *result;
    (void)n;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, call_when_cancelled, &barrier);
    pthread_cancel(thread);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, &result);
    printf("call returned: %d, cancelled: %d\n", call_returned, result == PTHREAD_CANCELED);
    use_memory();
    return 0;
}

int scenario_subreaper(long n)
{
    int ended = 0;
    CUdeviceptr memory;
    (void)n;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    client_start();
    CHECK(cu.cuMemAlloc(&memory, 64));
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
        ended++;
    }
    int is_subreaper = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper, 0, 0, 0);
    printf("%d children ended, subreaper %d\n", ended, is_subreaper);
    return 0;
}

/* A write to standard output fails; it goes into no file of the tracer. */
int scenario_closed_stdout(long n)
{
    CUdeviceptr memory;
    (void)n;
    (void)close(STDOUT_FILENO);
    client_start();
    for (int i = 0; i < 2; i++) {
        ssize_t written = write(STDOUT_FILENO, "lost\n", 5);
        fprintf(stderr, "written %d: %s\n", (int)written, strerror(written < 0 ? errno : 0));
        CHECK(cu.cuMemAlloc(&memory, 64));
    }
    return 0;
}

int scenario_nothing(long n)
{
    (void)n;
    return 0;
}

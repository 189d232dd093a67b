/* SPDX-License-Identifier: Apache-2.0 */
/* waits SEEDS: programs in which the device and the host wait for each other, or that end while work is open: all come to an end. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    /* says that it runs, and waits until it may end */
    ".visible .entry wait(.param .u64 flags)\n{\n .reg .pred %p<2>;\n .reg .b32 %r<3>;\n .reg .b64 "
    "%rd<2>;\n"
    " ld.param.u64 %rd1, [flags];\n mov.u32 %r1, 1;\n st.volatile.global.u32 [%rd1], %r1;\n"
    "again:\n ld.volatile.global.u32 %r2, [%rd1+4];\n setp.eq.u32 %p1, %r2, 0;\n @%p1 bra again;\n "
    "ret;\n}\n"
    ".visible .entry add(.param .u64 at)\n{\n .reg .b32 %r<2>;\n .reg .b64 %rd<2>;\n"
    " ld.param.u64 %rd1, [at];\n ld.global.u32 %r1, [%rd1];\n add.u32 %r1, %r1, 1;\n"
    " st.global.u32 [%rd1], %r1;\n ret;\n}\n";

static CUcontext context;
static CUfunction wait_kernel, add_kernel;
static CUstream a, b;
static volatile unsigned *flags; /* page-locked: [0] the kernel runs, [1] it may end */

static void ok(CUresult result, const char *call, int line)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "line %d: %s: error %d\n", line, call, (int)result);
        _exit(1);
    }
}
#define OK(call) ok((call), #call, __LINE__)

static void launch(CUfunction kernel, CUstream stream, const volatile void *memory)
{
    CUdeviceptr at = (CUdeviceptr)memory;
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&at}, NULL));
}

static void kernel_waits_for_host(void)
{
    launch(wait_kernel, a, flags);
    flags[1] = 1;
    OK(cuStreamSynchronize(a));
}

/* No call is made in between. */
static void host_looks_at_memory(void)
{
    launch(wait_kernel, a, flags);
    while (flags[0] == 0) {
    }
    flags[1] = 1;
    OK(cuCtxSynchronize());
}

static void host_asks_meanwhile(void)
{
    unsigned asked = 0;
    launch(wait_kernel, a, flags);
    while (cuStreamQuery(a) == CUDA_ERROR_NOT_READY && ++asked < 100) {
    }
    flags[1] = 1;
    while (cuStreamQuery(a) == CUDA_ERROR_NOT_READY) {
    }
    if (flags[0] != 1) {
        _exit(1);
    }
}

static atomic_bool may_end;
static void CUDA_CB wait_for_host(void *unused)
{
    (void)unused;
    while (!atomic_load(&may_end)) {
    }
}

static void host_function_waits_for_host(void)
{
    OK(cuLaunchHostFunc(a, wait_for_host, NULL));
    launch(add_kernel, a, flags);
    atomic_store(&may_end, true);
    OK(cuStreamSynchronize(a));
    if (flags[0] != 1) {
        _exit(1);
    }
}

static void CUDA_CB call_cuda(void *result)
{
    *(CUresult *)result = cuStreamSynchronize(a);
}

static void host_function_may_not_call(void)
{
    CUresult result = CUDA_SUCCESS;
    OK(cuLaunchHostFunc(a, call_cuda, &result));
    OK(cuCtxSynchronize());
    if (result != CUDA_ERROR_NOT_PERMITTED) {
        _exit(1);
    }
}

static void ends_while_work_is_open(void)
{
    for (unsigned i = 0; i < 20; i++) {
        launch(add_kernel, i % 2 == 0 ? a : b, &flags[i]);
    }
    exit(0);
}

static void ends_while_a_kernel_runs(void)
{
    launch(wait_kernel, a, flags);
    exit(0);
}

/* Each in a stream of its own; what one waits for is done whatever the others do. */
static void *work(void *memory)
{
    CUstream own;
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 1; i <= 100; i++) {
        launch(add_kernel, own, memory);
        launch(add_kernel, own, memory);
        OK(cuStreamSynchronize(own));
        if (*(volatile unsigned *)memory != 2 * i) {
            _exit(1);
        }
    }
    return memory;
}

static void threads(void)
{
    pthread_t all[4];
    for (unsigned i = 0; i < 4; i++) {
        pthread_create(&all[i], NULL, work, (void *)(uintptr_t)&flags[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(all[i], NULL);
    }
}

/* More than may be open at once. */
static void many(void)
{
    for (unsigned i = 0; i < 5000; i++) {
        launch(add_kernel, a, flags);
    }
    OK(cuStreamSynchronize(a));
    if (flags[0] != 5000) {
        _exit(1);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
#define PROGRAM(name) \
    { \
#name, name \
    }
    PROGRAM(kernel_waits_for_host),
    PROGRAM(host_looks_at_memory),
    PROGRAM(host_asks_meanwhile),
    PROGRAM(host_function_waits_for_host),
    PROGRAM(host_function_may_not_call),
    PROGRAM(ends_while_work_is_open),
    PROGRAM(ends_while_a_kernel_runs),
    PROGRAM(threads),
    PROGRAM(many),
};

static void start(unsigned seed)
{
    char text[16];
    CUmodule module;
    (void)snprintf(text, sizeof text, "%u", seed);
    setenv("SIMGPU_ORDER", text, 1);
    alarm(120);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&wait_kernel, module, "wait"));
    OK(cuModuleGetFunction(&add_kernel, module, "add"));
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuMemHostAlloc((void **)(uintptr_t)&flags, 4096, 0));
    memset((void *)(uintptr_t)flags, 0, 4096);
}

int main(int argc, char **argv)
{
    unsigned seeds = argc > 1 ? (unsigned)atoi(argv[1]) : 5, bad = 0;
    size_t count = sizeof programs / sizeof programs[0];
    for (size_t i = 0; i < count; i++) {
        for (unsigned seed = 1; seed <= seeds; seed++) {
            int status = 1;
            pid_t child = fork();
            if (child == 0) {
                start(seed);
                programs[i].run();
                exit(0);
            }
            if (waitpid(child, &status, 0) != child || status != 0) {
                printf("FAIL: %s, seed %u: status 0x%x\n", programs[i].name, seed,
                       (unsigned)status);
                bad++;
            }
        }
    }
    printf("%zu programs, %u failed\n", count, bad);
    return bad == 0 ? 0 : 1;
}

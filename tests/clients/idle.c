/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario `idle`: the device has nothing to do while the host computes, for times that are printed. */
#include "client.h"

#include <stdio.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Computes for so long; returns how long it was. Places of calls are named by functions: they must not be merged. */
__attribute__((noinline)) static int64_t compute(int64_t ns)
{
    int64_t begin_ns = now_ns();

    while (now_ns() - begin_ns < ns) {
    }
    return now_ns() - begin_ns;
}

static CUmodule module;
static CUfunction touch;
static CUdeviceptr memory;

static void launch(void)
{
    void *params[] = {&memory};

    CHECK(cu.cuLaunchKernel(touch, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
}

__attribute__((noinline)) static int64_t prepare(void)
{
    launch();
    int64_t ns = compute(4000000);
    launch();
    return ns;
}

__attribute__((noinline)) static int64_t collect(void)
{
    launch();
    int64_t ns = compute(9000000);
    CHECK(cu.cuStreamSynchronize(NULL));
    return ns;
}

int scenario_idle(long n)
{
    int64_t started_ns, prepared_ns = 0, collected_ns = 0, between_ns = 0;

    client_start();
    started_ns = compute(100000000);
    CHECK(cu.cuMemAlloc(&memory, 1 << 16));
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&touch, module, "touch"));
    for (long i = 0; i < n; i++) {
        prepared_ns += prepare();
        collected_ns += collect();
        between_ns += compute(2000000);
    }
    launch();
    CHECK(cu.cuMemFree(memory));
    printf("start-up %lld\nprepare %lld\ncollect %lld\nscenario_idle %lld\n", (long long)started_ns,
           (long long)prepared_ns, (long long)collected_ns, (long long)between_ns);
    return 0;
}

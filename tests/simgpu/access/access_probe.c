/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches every access pattern, one warp per block: access_probe [--rounds N] [--list] [--ptx].
 *
 * Pattern number n (from 0) is launched with n + 1 blocks that all do the same, so that a launch can be
 * identified by its grid, and a counter of it divided by the grid is that of one access. Driver API only,
 * reached by dlopen, so that the device may be the hardware's or the software one.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns.h"

#define FUNCTIONS(X) \
    X(cuInit) \
    X(cuDeviceGet) \
    X(cuDeviceGetName) \
    X(cuDevicePrimaryCtxRetain) \
    X(cuCtxSetCurrent) \
    X(cuModuleLoadData) \
    X(cuModuleGetFunction) \
    X(cuMemAlloc_v2) \
    X(cuMemcpyHtoD_v2) \
    X(cuMemsetD8_v2) \
    X(cuLaunchKernel) \
    X(cuCtxSynchronize)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

static void fail(const char *what, int code)
{
    fprintf(stderr, "access_probe: %s failed (%d)\n", what, code);
    exit(1);
}

#define DO(function, ...) \
    do { \
        const CUresult result_ = cu.function(__VA_ARGS__); \
        if (result_ != CUDA_SUCCESS) \
            fail(#function, (int)result_); \
    } while (0)

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (library == NULL) {
        fail("dlopen(libcuda.so.1)", 0);
    }
#define LOOK_UP(name) \
    cu.name = (__typeof__(cu.name))dlsym(library, #name); \
    if (cu.name == NULL) \
        fail(#name, 0);
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

static CUmodule load_module(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    char *ptx = access_ptx();

    if (ptx == NULL) {
        fail("access_ptx", 0);
    }
    DO(cuInit, 0);
    DO(cuDeviceGet, &device, 0);
    DO(cuDevicePrimaryCtxRetain, &context, device);
    DO(cuCtxSetCurrent, context);
    DO(cuModuleLoadData, &module, ptx);
    free(ptx);
    return module;
}

static void launch(CUmodule module, CUdeviceptr buffer, const struct access_pattern *pattern,
                   unsigned blocks)
{
    struct access_params params = {.buffer = buffer, .mask = pattern->mask, .never = 0};
    void *arguments[] = {&params.buffer, params.table, &params.mask, &params.never};
    CUfunction function;
    char name[32];

    memcpy(params.table, pattern->offset, sizeof params.table);
    snprintf(name, sizeof name, "%s_w%u", access_kernel_names[pattern->kernel], pattern->width);
    DO(cuModuleGetFunction, &function, module, name);
    if (pattern->kernel == ACCESS_CONST) {
        DO(cuMemcpyHtoD_v2, buffer, pattern->offset, sizeof pattern->offset);
    }
    DO(cuLaunchKernel, function, blocks, 1, 1, ACCESS_LANES, 1, 1, 0, NULL, arguments, NULL);
}

static void list(const struct access_pattern *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%zu %s_w%u %s\n", i, access_kernel_names[patterns[i].kernel], patterns[i].width,
               patterns[i].name);
    }
}

int main(int argc, char **argv)
{
    static struct access_pattern patterns[ACCESS_MAX_PATTERNS];
    const size_t count = access_patterns(patterns);
    unsigned rounds = 1;
    CUdeviceptr buffer;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            return list(patterns, count), 0;
        }
        if (strcmp(argv[i], "--ptx") == 0) {
            return fputs(access_ptx(), stdout) < 0;
        }
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = (unsigned)strtoul(argv[++i], NULL, 10);
        } else {
            return fprintf(stderr, "usage: access_probe [--rounds N] [--list] [--ptx]\n"), 2;
        }
    }
    load_driver();
    CUmodule module = load_module();
    DO(cuMemAlloc_v2, &buffer, ACCESS_BUFFER_BYTES);
    DO(cuMemsetD8_v2, buffer, 0, ACCESS_BUFFER_BYTES);
    for (unsigned r = 0; r < rounds; r++) {
        for (size_t i = 0; i < count; i++) {
            launch(module, buffer, &patterns[i], (unsigned)i + 1);
        }
    }
    DO(cuCtxSynchronize);
    printf("%zu patterns, %u rounds\n", count, rounds);
    return 0;
}

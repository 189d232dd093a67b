/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver of a few functions without threads and thread-local variables: the only kind that works in
 * an executable which glibc is linked into statically. Reports its calls to the stand-in of CUPTI.
 */
#define __CUDA_API_VERSION_INTERNAL /* the types of all versions */
#include <cuda.h>

#include <generated_cuda_meta.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/simgpu.h"

static simgpu_watcher *watcher;
static uint32_t calls;

static void watch(simgpu_watcher *wanted)
{
    watcher = wanted;
}

const struct simgpu_interface *simgpu_interface(void);
const struct simgpu_interface *simgpu_interface(void)
{
    /* Not a version that gmtrace takes for the software device. */
    static const struct simgpu_interface interface = {.bytes = sizeof interface, .watch = watch};
    return &interface;
}

static struct simgpu_call begin(const char *symbol, const void *parameters)
{
    struct simgpu_call call = {.symbol = symbol, .parameters = parameters, .number = ++calls};
    if (watcher != NULL) {
        watcher(&call);
    }
    return call;
}

static CUresult end(struct simgpu_call *call, int result)
{
    call->result = &result;
    if (watcher != NULL) {
        watcher(call);
    }
    call->result = NULL;
    return (CUresult)result;
}

CUresult cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *tool = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    void *found = tool != NULL ? dlsym(tool, "InitializeInjection") : NULL;
    int (*start)(void);
    memcpy(&start, &found, sizeof start);
    if (found != NULL) {
        (void)start();
    }
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    cuMemAlloc_v2_params given = {address, bytes};
    struct simgpu_call call = begin("cuMemAlloc_v2", &given);
    *address = (CUdeviceptr)malloc(bytes);
    return end(&call, *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    cuMemFree_v2_params given = {address};
    struct simgpu_call call = begin("cuMemFree_v2", &given);
    free((void *)address); // NOLINT
    return end(&call, CUDA_SUCCESS);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
    cuMemcpyHtoD_v2_params given = {dst, src, bytes};
    struct simgpu_call call = begin("cuMemcpyHtoD_v2", &given);
    memcpy((void *)dst, src, bytes); // NOLINT
    return end(&call, CUDA_SUCCESS);
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
    cuMemcpyDtoH_v2_params given = {dst, src, bytes};
    struct simgpu_call call = begin("cuMemcpyDtoH_v2", &given);
    memcpy(dst, (const void *)src, bytes); // NOLINT
    return end(&call, CUDA_SUCCESS);
}

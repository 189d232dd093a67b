/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a form through the CUDA driver API, looked up at run time: any libcuda.so.1 will do. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

#define DRIVER_FUNCTIONS(X) \
    X(cuInit, cuInit) \
    X(cuGetErrorName, cuGetErrorName) \
    X(cuDriverGetVersion, cuDriverGetVersion) \
    X(cuDeviceGet, cuDeviceGet) \
    X(cuDeviceGetName, cuDeviceGetName) \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
    X(cuCtxSetCurrent, cuCtxSetCurrent) \
    X(cuCtxSynchronize, cuCtxSynchronize) \
    X(cuMemAlloc, cuMemAlloc_v2) \
    X(cuMemsetD8, cuMemsetD8_v2) \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2) \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2) \
    X(cuModuleLoadData, cuModuleLoadData) \
    X(cuModuleGetFunction, cuModuleGetFunction) \
    X(cuModuleUnload, cuModuleUnload) \
    X(cuLaunchKernel, cuLaunchKernel)

/* cuda.h's macros rename some of them: types are taken from the versioned names. */
#define DECLARE(name, symbol) static __typeof__(symbol) *call_##symbol;
DRIVER_FUNCTIONS(DECLARE)
#undef DECLARE

static struct {
    CUdeviceptr in, out;
    uint64_t *host;
} buffers;

#define IN_VALUES ((VECTOR_MAX_SOURCES + 1) * VECTOR_THREADS)

static const char *named(CUresult result)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS) {
        return NULL;
    }
    call_cuGetErrorName(result, &name);
    return name ? name : "an error without a name";
}

#define TRY(call) \
    do { \
        const char *error_ = named(call); \
        if (error_) \
            return error_; \
    } while (0)

const char *device_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return "no libcuda.so.1";
    }
#define LOOK_UP(name, symbol) \
    *(void **)&call_##symbol = dlsym(library, #symbol); \
    if (!call_##symbol) \
        return "libcuda.so.1 has no " #symbol;
    DRIVER_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    CUdevice device;
    CUcontext context;
    TRY(call_cuInit(0));
    TRY(call_cuDeviceGet(&device, 0));
    TRY(call_cuDevicePrimaryCtxRetain(&context, device));
    TRY(call_cuCtxSetCurrent(context));
    TRY(call_cuMemAlloc_v2(&buffers.in, IN_VALUES * sizeof(uint64_t)));
    TRY(call_cuMemAlloc_v2(&buffers.out, sizeof(struct results)));
    buffers.host = malloc(IN_VALUES * sizeof(uint64_t));
    return buffers.host ? NULL : "out of memory";
}

const char *device_name(char *name, size_t bytes, int *driver)
{
    CUdevice device;
    TRY(call_cuDeviceGet(&device, 0));
    TRY(call_cuDeviceGetName(name, (int)bytes, device));
    TRY(call_cuDriverGetVersion(driver));
    return NULL;
}

static const char *launch(CUmodule module, const struct form *form, struct results *results)
{
    CUfunction function;
    void *arguments[] = {&buffers.out, &buffers.in};
    for (unsigned thread = 0; thread < VECTOR_THREADS; thread++) {
        for (unsigned i = 0; i < form_sources(form); i++) {
            buffers.host[i * VECTOR_THREADS + thread] = input_value(form->sources[i], i, thread);
        }
        buffers.host[VECTOR_MAX_SOURCES * VECTOR_THREADS + thread] = input_guard(thread);
    }
    TRY(call_cuMemcpyHtoD_v2(buffers.in, buffers.host, IN_VALUES * sizeof(uint64_t)));
    TRY(call_cuMemsetD8_v2(buffers.out, 0, sizeof(*results)));
    TRY(call_cuModuleGetFunction(&function, module, "form"));
    TRY(call_cuLaunchKernel(function, VECTOR_THREADS / 128, 1, 1, 128, 1, 1, 0, NULL, arguments,
                            NULL));
    TRY(call_cuCtxSynchronize());
    TRY(call_cuMemcpyDtoH_v2(results, buffers.out, sizeof(*results)));
    return NULL;
}

const char *device_run(const struct form *form, struct results *results)
{
    char text[16384];
    CUmodule module;
    if (!kernel_text(form, text, sizeof(text))) {
        return "the kernel's text is too long";
    }
    TRY(call_cuModuleLoadData(&module, text));
    const char *error = launch(module, form, results);
    call_cuModuleUnload(module);
    return error;
}

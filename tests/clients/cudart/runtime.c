/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for the CUDA runtime of another version (RUNTIME_VERSION): it asks the driver for the same functions of the same
 * versions in the same order, by the same cuGetProcAddress (RUNTIME_REQUESTS, observed), and calls what it got.
 *
 * NVIDIA's own does not run without NVIDIA's driver (docs/software-device.md). Which of the functions it calls for a call of its
 * own is not observed: these are those that CUDA 13.0's calls on a GPU. Code is loaded by cuModuleLoadData before CUDA 12.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MOST_FUNCTIONS 16

static struct request {
    const char *name;
    int version;
    unsigned flags;
    void *function;
} requests[] = {
#define REQUEST(name, version, flags) {name, version, flags, NULL},
#include RUNTIME_REQUESTS
};
#define REQUESTS (sizeof requests / sizeof requests[0])

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult started = CUDA_ERROR_NOT_INITIALIZED;
static CUcontext context;
static const void *code;
static struct {
    const char *host, *name;
    CUfunction function;
} functions[MOST_FUNCTIONS];
static size_t function_count;

/* The newest version of it that was asked for. */
static void *find(const char *name)
{
    void *function = NULL;
    for (size_t i = 0; i < REQUESTS; i++) {
        if (requests[i].flags == 0 && strcmp(requests[i].name, name) == 0 &&
            requests[i].function != NULL) {
            function = requests[i].function;
        }
    }
    return function;
}
#define DRIVER(base, symbol, ...) \
    ({ \
        __typeof__(symbol) *driver_; \
        void *found_ = find(base); \
        memcpy(&driver_, &found_, sizeof driver_); \
        driver_ != NULL ? driver_(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND; \
    })

static void ask(void *driver)
{
#if RUNTIME_VERSION < 12000
    CUresult (*get)(const char *, void **, int, cuuint64_t);
    void *symbol = dlsym(driver, "cuGetProcAddress");
#else
    __typeof__(cuGetProcAddress_v2) *get;
    void *symbol = dlsym(driver, "cuGetProcAddress_v2");
#endif
    memcpy(&get, &symbol, sizeof get);
    for (size_t i = 0; i < REQUESTS && get != NULL; i++) {
        struct request *request = &requests[i];
#if RUNTIME_VERSION < 12000
        (void)get(request->name, &request->function, request->version, request->flags);
        if (strcmp(request->name, "cuGetProcAddress") == 0) {
            memcpy(&get, &request->function, sizeof get); /* it goes on with what it got */
        }
#else
        CUdriverProcAddressQueryResult status;
        (void)get(request->name, &request->function, request->version, request->flags, &status);
#endif
    }
}

static CUresult load_code(void)
{
#if RUNTIME_VERSION < 12000
    CUmodule module;
    CUresult result = DRIVER("cuModuleLoadData", cuModuleLoadData, &module, code);
    for (size_t i = 0; i < function_count && result == CUDA_SUCCESS; i++) {
        result = DRIVER("cuModuleGetFunction", cuModuleGetFunction, &functions[i].function, module,
                        functions[i].name);
    }
#else
    CUlibrary library;
    CUresult result = DRIVER("cuLibraryLoadData", cuLibraryLoadData, &library, code, NULL, NULL, 0,
                             NULL, NULL, 0);
    for (size_t i = 0; i < function_count && result == CUDA_SUCCESS; i++) {
        result = DRIVER("cuLibraryGetKernel", cuLibraryGetKernel,
                        (CUkernel *)(void *)&functions[i].function, library, functions[i].name);
    }
#endif
    return result;
}

static void start(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CUdevice device = 0;
    if (driver == NULL) {
        return;
    }
    ask(driver);
    started = DRIVER("cuInit", cuInit, 0);
    started = started != CUDA_SUCCESS ? started : DRIVER("cuDeviceGet", cuDeviceGet, &device, 0);
    started = started != CUDA_SUCCESS
                  ? started
                  : DRIVER("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain, &context, device);
    started = started != CUDA_SUCCESS ? started
                                      : DRIVER("cuCtxSetCurrent", cuCtxSetCurrent, context);
    started = started != CUDA_SUCCESS || code == NULL ? started : load_code();
}

#define CALL(base, symbol, ...) \
    (void)pthread_once(&once, start); \
    return (int)(started != CUDA_SUCCESS ? started : DRIVER(base, symbol, __VA_ARGS__))

int cudaRuntimeGetVersion(int *version)
{
    *version = RUNTIME_VERSION;
    return 0;
}

int cudaGetDeviceCount(int *count)
{
    CALL("cuDeviceGetCount", cuDeviceGetCount, count);
}

/* There is one device. A thread of NVIDIA's has its context at its first call. */
int cudaSetDevice(int device)
{
    (void)device;
    CALL("cuCtxSetCurrent", cuCtxSetCurrent, context);
}

int cudaMalloc(void **memory, size_t bytes)
{
    CALL("cuMemAlloc", cuMemAlloc_v2, (CUdeviceptr *)(void *)memory, bytes);
}

int cudaFree(void *memory)
{
    CALL("cuMemFree", cuMemFree_v2, (CUdeviceptr)memory);
}

int cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    CALL("cuMemHostAlloc", cuMemHostAlloc, memory, bytes, flags);
}

int cudaFreeHost(void *memory)
{
    CALL("cuMemFreeHost", cuMemFreeHost, memory);
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    if (kind == CUDA_HOST_TO_DEVICE) {
        CALL("cuMemcpyHtoD", cuMemcpyHtoD_v2, (CUdeviceptr)to, from, bytes);
    }
    CALL("cuMemcpyDtoH", cuMemcpyDtoH_v2, to, (CUdeviceptr)from, bytes);
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cuda_stream stream)
{
    if (kind == CUDA_HOST_TO_DEVICE) {
        CALL("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2, (CUdeviceptr)to, from, bytes, stream);
    }
    CALL("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2, to, (CUdeviceptr)from, bytes, stream);
}

int cudaMemset(void *memory, int value, size_t bytes)
{
    CALL("cuMemsetD8", cuMemsetD8_v2, (CUdeviceptr)memory, (unsigned char)value, bytes);
}

int cudaStreamCreate(cuda_stream *stream)
{
    CALL("cuStreamCreate", cuStreamCreate, stream, CU_STREAM_DEFAULT);
}

int cudaStreamCreateWithFlags(cuda_stream *stream, unsigned flags)
{
    CALL("cuStreamCreate", cuStreamCreate, stream, flags);
}

int cudaStreamSynchronize(cuda_stream stream)
{
    CALL("cuStreamSynchronize", cuStreamSynchronize, stream);
}

int cudaDeviceSynchronize(void)
{
#if RUNTIME_VERSION < 13000
    (void)pthread_once(&once, start);
    return (int)(started != CUDA_SUCCESS ? started : DRIVER("cuCtxSynchronize", cuCtxSynchronize));
#else
    CALL("cuCtxSynchronize", cuCtxSynchronize_v2, context);
#endif
}

int cudaIpcGetMemHandle(struct cuda_ipc_handle *handle, void *memory)
{
    CALL("cuIpcGetMemHandle", cuIpcGetMemHandle, (CUipcMemHandle *)(void *)handle,
         (CUdeviceptr)memory);
}

int cudaIpcOpenMemHandle(void **memory, struct cuda_ipc_handle handle, unsigned flags)
{
    CUipcMemHandle of_driver;
    memcpy(&of_driver, &handle, sizeof of_driver);
    CALL("cuIpcOpenMemHandle", cuIpcOpenMemHandle_v2, (CUdeviceptr *)(void *)memory, of_driver,
         flags);
}

int cudaIpcCloseMemHandle(void *memory)
{
    CALL("cuIpcCloseMemHandle", cuIpcCloseMemHandle, (CUdeviceptr)memory);
}

static CUfunction function_of(const void *host)
{
    for (size_t i = 0; i < function_count; i++) {
        if (functions[i].host == host) {
            return functions[i].function;
        }
    }
    return NULL;
}

int cudaLaunchKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block,
                     void **params, size_t shared_bytes, cuda_stream stream)
{
    CALL("cuLaunchKernel", cuLaunchKernel, function_of(function), grid.x, grid.y, grid.z, block.x,
         block.y, block.z, (unsigned)shared_bytes, stream, params, NULL);
}

int cudaStreamBeginCapture(cuda_stream stream, int mode)
{
    CALL("cuStreamBeginCapture", cuStreamBeginCapture_v2, stream, (CUstreamCaptureMode)mode);
}

int cudaStreamEndCapture(cuda_stream stream, cuda_graph *graph)
{
    CALL("cuStreamEndCapture", cuStreamEndCapture, stream, graph);
}

int cudaGraphInstantiateWithFlags(cuda_exec *exec, cuda_graph graph, unsigned long long flags)
{
    CALL("cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags, exec, graph, flags);
}

int cudaGraphLaunch(cuda_exec exec, cuda_stream stream)
{
    CALL("cuGraphLaunch", cuGraphLaunch, exec, stream);
}

void **__cudaRegisterFatBinary(void *fatbin)
{
    code = ((struct cuda_fatbin *)fatbin)->data;
    return NULL;
}

void __cudaRegisterFatBinaryEnd(void **of)
{
    (void)of;
}

void __cudaRegisterFunction(void **of, const char *host, char *device, const char *name,
                            int threads, void *thread, void *block, void *block_dim, void *grid_dim,
                            int *warp)
{
    (void)of;
    (void)device;
    (void)threads;
    (void)thread;
    (void)block;
    (void)block_dim;
    (void)grid_dim;
    (void)warp;
    if (function_count < MOST_FUNCTIONS) {
        functions[function_count].host = host;
        functions[function_count++].name = name;
    }
}

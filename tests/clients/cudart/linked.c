/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's functions that fixes.c uses, for a program that is linked with the driver and has no runtime. */
#include <cuda.h>
#include <pthread.h>
#include <string.h>

#include "runtime.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult started = CUDA_ERROR_NOT_INITIALIZED;
static CUcontext context;

static void start(void)
{
    CUdevice device;
    started = cuInit(0);
    started = started != CUDA_SUCCESS ? started : cuDeviceGet(&device, 0);
    started = started != CUDA_SUCCESS ? started : cuDevicePrimaryCtxRetain(&context, device);
    started = started != CUDA_SUCCESS ? started : cuCtxSetCurrent(context);
}

#define CALL(call) \
    (void)pthread_once(&once, start); \
    return (int)(started != CUDA_SUCCESS ? started : (call))

int cudaSetDevice(int device)
{
    (void)device;
    CALL(cuCtxSetCurrent(context));
}

int cudaMalloc(void **memory, size_t bytes)
{
    CALL(cuMemAlloc((CUdeviceptr *)(void *)memory, bytes));
}

int cudaFree(void *memory)
{
    CALL(cuMemFree((CUdeviceptr)memory));
}

int cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    CALL(cuMemHostAlloc(memory, bytes, flags));
}

int cudaFreeHost(void *memory)
{
    CALL(cuMemFreeHost(memory));
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    CALL(kind == CUDA_HOST_TO_DEVICE ? cuMemcpyHtoD((CUdeviceptr)to, from, bytes)
                                     : cuMemcpyDtoH(to, (CUdeviceptr)from, bytes));
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cuda_stream stream)
{
    CALL(kind == CUDA_HOST_TO_DEVICE ? cuMemcpyHtoDAsync((CUdeviceptr)to, from, bytes, stream)
                                     : cuMemcpyDtoHAsync(to, (CUdeviceptr)from, bytes, stream));
}

int cudaMemset(void *memory, int value, size_t bytes)
{
    CALL(cuMemsetD8((CUdeviceptr)memory, (unsigned char)value, bytes));
}

int cudaStreamCreateWithFlags(cuda_stream *stream, unsigned flags)
{
    CALL(cuStreamCreate(stream, flags));
}

int cudaStreamSynchronize(cuda_stream stream)
{
    CALL(cuStreamSynchronize(stream));
}

int cudaDeviceSynchronize(void)
{
    CALL(cuCtxSynchronize());
}

int cudaStreamBeginCapture(cuda_stream stream, int mode)
{
    CALL(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

int cudaStreamEndCapture(cuda_stream stream, cuda_graph *graph)
{
    CALL(cuStreamEndCapture(stream, graph));
}

int cudaIpcGetMemHandle(struct cuda_ipc_handle *handle, void *memory)
{
    CALL(cuIpcGetMemHandle((CUipcMemHandle *)(void *)handle, (CUdeviceptr)memory));
}

int cudaIpcOpenMemHandle(void **memory, struct cuda_ipc_handle handle, unsigned flags)
{
    CUipcMemHandle of_driver;
    memcpy(&of_driver, &handle, sizeof of_driver);
    CALL(cuIpcOpenMemHandle((CUdeviceptr *)(void *)memory, of_driver, flags));
}

int cudaIpcCloseMemHandle(void *memory)
{
    CALL(cuIpcCloseMemHandle((CUdeviceptr)memory));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime's functions that runtime.c has. They are declared alike in the headers of CUDA 11.8, 12.4 and 13.0. */
#ifndef CUDART_RUNTIME_H
#define CUDART_RUNTIME_H

#include <stddef.h>

enum { CUDA_HOST_TO_DEVICE = 1, CUDA_DEVICE_TO_HOST = 2 };

struct cuda_dim3 {
    unsigned x, y, z;
};
typedef struct CUstream_st *cuda_stream;
typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphExec_st *cuda_exec;
struct cuda_ipc_handle {
    char reserved[64];
};
enum {
    CUDA_STREAM_NON_BLOCKING = 1,
    CUDA_IPC_LAZY_ENABLE_PEER_ACCESS = 1,
    CUDA_CAPTURE_RELAXED = 2
};

int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaMalloc(void **memory, size_t bytes);
int cudaFree(void *memory);
int cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
int cudaFreeHost(void *memory);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cuda_stream stream);
int cudaMemset(void *memory, int value, size_t bytes);
int cudaStreamCreate(cuda_stream *stream);
int cudaStreamCreateWithFlags(cuda_stream *stream, unsigned flags);
int cudaStreamSynchronize(cuda_stream stream);
int cudaIpcGetMemHandle(struct cuda_ipc_handle *handle, void *memory);
int cudaIpcOpenMemHandle(void **memory, struct cuda_ipc_handle handle, unsigned flags);
int cudaIpcCloseMemHandle(void *memory);
int cudaDeviceSynchronize(void);
int cudaLaunchKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block,
                     void **params, size_t shared_bytes, cuda_stream stream);
int cudaStreamBeginCapture(cuda_stream stream, int mode);
int cudaStreamEndCapture(cuda_stream stream, cuda_graph *graph);
int cudaGraphInstantiateWithFlags(cuda_exec *exec, cuda_graph graph, unsigned long long flags);
int cudaGraphLaunch(cuda_exec exec, cuda_stream stream);

/* What nvcc makes a program call before main, with its fat binary (fatbinary_section.h) and its kernels. */
struct cuda_fatbin {
    int magic, version;
    const void *data;
    void *unused;
};
#define CUDA_FATBIN_MAGIC 0x466243b1

void **__cudaRegisterFatBinary(void *fatbin);
void __cudaRegisterFatBinaryEnd(void **code);
void __cudaRegisterFunction(void **code, const char *host, char *device, const char *name,
                            int threads, void *thread, void *block, void *block_dim, void *grid_dim,
                            int *warp);

#endif

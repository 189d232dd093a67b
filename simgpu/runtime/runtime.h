/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the software device's libcudart.so.13 share: the driver's entry points, the
 * calling thread, and one implementation per exported function.
 *
 * An exported cudaX (exports.c, from functions.def) prepares the calling thread, calls its
 * implementation sim_cudaX, and keeps the result as the thread's last error. Implementations reach the
 * driver through SIM_CU, which is the table for legacy or for per-thread default streams, whichever
 * the caller was built for.
 */
#ifndef SIMGPU_RUNTIME_RUNTIME_H
#define SIMGPU_RUNTIME_RUNTIME_H

#define __CUDA_API_VERSION_INTERNAL /* every version of every function under its exported name */
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 64
#define SIM_EXPORT __attribute__((visibility("default")))

/* ---- the driver (driver.c) ------------------------------------------------------------------ */

struct sim_calls {
#define SIM_CALL(symbol, base, version) __typeof__(symbol) *symbol;
#define SIM_CALL_PT(symbol, base, version, version_pt) __typeof__(symbol) *symbol;
#include "simgpu/runtime/driver.def"
};

/*
 * Load libcuda.so.1 and initialize it, once. cudaErrorInsufficientDriver if there is none, or one
 * that is not the software device's; else what cuInit said.
 */
cudaError_t sim_driver_start(void);
/* 0: the driver could not be loaded. */
int sim_driver_version(void);
const struct sim_calls *sim_driver_calls(bool per_thread);

/* ---- the calling thread (thread.c) ---------------------------------------------------------- */

/* What must be there before an implementation runs. */
enum sim_need {
    SIM_NEED_NOTHING,
    SIM_NEED_DRIVER,  /* loaded and initialized */
    SIM_NEED_CONTEXT, /* and a context current to the thread: the primary one of its device */
};

#define SIM_CONFIGURATIONS 16

struct sim_configuration { /* what stands between <<< and >>> */
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

struct sim_rt_thread {
    const struct sim_calls *calls;
    cudaError_t last_error;
    int device; /* chosen by cudaSetDevice; 0 at first */
    unsigned configuration_count;
    struct sim_configuration configurations[SIM_CONFIGURATIONS];
};
extern _Thread_local struct sim_rt_thread sim_rt_thread;

#define SIM_CU (sim_rt_thread.calls)

cudaError_t sim_rt_enter(enum sim_need need, bool per_thread);
/* Keep `error` as the thread's last one, and return it. */
cudaError_t sim_leave(cudaError_t error);

/* ---- errors (error.c) ----------------------------------------------------------------------- */

cudaError_t sim_rt_error(CUresult result);
/* An error after which the device is of no use until it is reset. */
bool sim_error_is_sticky(cudaError_t error);

/* ---- devices (context.c, device.c) ---------------------------------------------------------- */

/* Make the primary context of `device` the thread's current one. */
cudaError_t sim_bind(int device);
/* The primary context of `device`, created if need be. */
cudaError_t sim_primary(int device, CUcontext *context);
/* The device of the current context, else the thread's. */
int sim_current_device(void);
cudaError_t sim_device_check(int device);
void sim_primary_forget(int device);
/* No context is current, or the device's primary one. */
bool sim_primary_is_current(int device);
/* The calling thread's context; NULL if it has none, or one that was destroyed. */
cudaError_t sim_context_current(CUcontext *current);
/* The error that has made `device` unusable, or cudaSuccess. */
cudaError_t sim_sticky(int device);
void sim_sticky_set(int device, cudaError_t error);
int sim_device_attribute(int device, int attribute);

/* ---- what programs registered (register.c), loaded on first use (module.c) ------------------ */

/* A fat binary of the program, and the libraries that the driver made of it. */
struct sim_binary {
    const void
        *image; /* what the program handed over: a wrapper around one or several containers */
    struct sim_binary *next;
    bool loaded;
    cudaError_t error; /* of the first container that could not be loaded */
    CUlibrary *libraries;
    size_t library_count;
};

enum sim_symbol_kind { SIM_KERNEL_SYMBOL, SIM_VARIABLE_SYMBOL, SIM_MANAGED_SYMBOL };

struct sim_symbol {
    const void *host; /* what stands for it in host code: the key */
    enum sim_symbol_kind kind;
    const char *name; /* the device's; belongs to the program */
    struct sim_binary *binary;
    CUkernel kernel; /* once it was looked up */
    size_t bytes;    /* of a variable */
};

/* Held while symbols are looked at and while libraries are loaded. */
void sim_symbols_lock(void);
void sim_symbols_unlock(void);
/* NULL if nothing was registered under this address. A managed variable is also found by its own. */
struct sim_symbol *sim_symbol_find(const void *host);
/* Every symbol, in no order; NULL after the last. */
struct sim_symbol *sim_symbol_at(size_t index);
bool sim_symbol_add(const struct sim_symbol *symbol); /* false: no memory */
void sim_symbols_forget(const struct sim_binary *binary);

/* With the lock held: load what the binary contains, unless that was done. */
void sim_binary_load(struct sim_binary *binary);
void sim_binary_unload(struct sim_binary *binary);

/* The kernel behind a host stub's address or a cudaKernel_t; loads its library on first use. */
cudaError_t sim_kernel_of(const void *function, CUkernel *kernel);
/* Address and size, in the current context, of the variable behind a host symbol. */
cudaError_t sim_symbol_of(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* ---- copies (copy.c, array.c) --------------------------------------------------------------- */

/* Where a copy of this kind comes from and goes to; cudaErrorInvalidMemcpyDirection if it is none. */
cudaError_t sim_copy_ends(enum cudaMemcpyKind kind, CUmemorytype *src, CUmemorytype *dst);
/* Bytes of an element and of a row. */
cudaError_t sim_array_bytes(cudaArray_const_t array, size_t *element_bytes, size_t *row_bytes);

/* ---- one implementation per exported function ----------------------------------------------- */

#define SIM_FN(name, need, params, args) cudaError_t sim_##name params;
#define SIM_FN_PTDS(name, need, params, args) cudaError_t sim_##name params;
#define SIM_FN_PTSZ(name, need, params, args) cudaError_t sim_##name params;
#include "simgpu/runtime/functions.def"

/* Exported, and in no public header: nvcc's stubs call them. */
void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
void __cudaUnregisterFatBinary(void **fatCubinHandle);
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize);
void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                       const char *deviceName, int ext, size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant,
                              int global);
char __cudaInitModule(void **fatCubinHandle);
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                               size_t sharedMem, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                                    size_t sharedMem, cudaStream_t stream);

#endif

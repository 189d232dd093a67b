/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as nvcc makes it, by hand: PTX in a fat binary, registered under host addresses the way
 * nvcc's stubs do, so that launches and symbols are tested where there is no nvcc.
 */
#ifndef TESTS_SIMGPU_RUNTIME_PROGRAM_H
#define TESTS_SIMGPU_RUNTIME_PROGRAM_H

#include "check.h"

/* Registered at the start of every test of the program that links program.c. */
extern char fill_stub[], wild_stub[], absent_stub[]; /* host addresses of kernels */
extern char machine_code_stub[];                     /* of a kernel without PTX */
extern unsigned d_value, c_table[4];                 /* host shadows of variables */
extern unsigned *m_value;                            /* __managed__ */

void program_register(void);
void program_unregister(void);
/* What the compiler puts before the first touch of a __managed__ variable. */
char program_touch_managed(void);

/* fill(out, value, count): out[i] = value + d_value + c_table[i % 4]; and m_value becomes value. */
cudaError_t launch_fill(unsigned *out, unsigned value, unsigned count, unsigned threads);
/* wild(): stores to an address where nothing is. */
cudaError_t launch_wild(void);

/* Of crt/host_runtime.h and crt/device_functions.h, which are for nvcc. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream);
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                              size_t bytes, int constant, int global);
char __cudaInitModule(void **handle);

#endif

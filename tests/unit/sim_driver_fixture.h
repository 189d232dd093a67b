/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the software device's driver part share: a context, modules, standard error. */
#ifndef SIM_DRIVER_FIXTURE_H
#define SIM_DRIVER_FIXTURE_H

#include <criterion/criterion.h>
#include <cuda.h>
#include <stddef.h>

#define OK(call) sim_expect((call), CUDA_SUCCESS, #call, __FILE__, __LINE__)
#define FAILS(error, call) sim_expect((call), (error), #call, __FILE__, __LINE__)

void sim_expect(CUresult result, CUresult expected, const char *call, const char *file, int line);

/* cuInit with that many devices; the primary context of the first one is current. */
CUcontext sim_start(int devices);
CUfunction sim_kernel_of(const char *ptx, const char *name);
/* One block of `threads` threads on the default stream. */
CUresult sim_launch_one(CUfunction function, unsigned threads, void **params);

/* What is written to standard error between the two calls; the string is valid until the next one. */
void sim_capture_stderr(void);
const char *sim_captured_stderr(void);

#define SIM_PTX_HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* fill(unsigned *out, unsigned value): out[tid.x] = value + tid.x */
extern const char sim_ptx_fill[];
/* Kernels that go wrong, each without parameters but `reach`, which stores to the address given. */
extern const char sim_ptx_faults[];

/* u32 counter = 5, const u32 table[2] = {11, 22}, managed u32 common = 9, and a kernel:
 * bump(): counter = common = counter + table[1] */
extern const char sim_ptx_variables[];
/* The word in device memory at an address. */
unsigned sim_word_at(CUdeviceptr address);

#endif

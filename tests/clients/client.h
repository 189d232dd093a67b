/* SPDX-License-Identifier: Apache-2.0 */
/* What the scenarios of driverclient share: the driver's functions and a few short cuts. */
#ifndef CLIENTS_CLIENT_H
#define CLIENTS_CLIENT_H

#include <cuda.h>
#include <cudaProfiler.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* cu.cuMemAlloc(...), however it was reached. (Macros of cuda.h rename the members: no matter.) */
#ifndef CLIENT_API
#define CLIENT_API "api.def"
#endif
struct client_api {
#define CLIENT(name, version) __typeof__(name) *name;
#include CLIENT_API
#undef CLIENT
};
extern struct client_api cu;

enum client_via {
    VIA_PROC,       /* dlopen, dlsym("cuGetProcAddress_v2"), the rest from it with flags 0 */
    VIA_PER_THREAD, /* the same with flags 2 */
    VIA_DLSYM,      /* dlsym of every versioned name */
    VIA_LINKED,     /* the program is linked with the driver */
};
void client_load(enum client_via via);
/* The number of threads may be large and each call the process's first: load without calling. */
extern const char *client_program;

/* Ends the program with status 3 and a line on stderr unless `call` returns CUDA_SUCCESS. */
void client_check(CUresult result, const char *call);
#define CHECK(call) client_check((call), #call)

/* cuInit and the primary context of device 0. */
CUcontext client_start(void);
/* An allocation, a copy to it and one back (process.c). */
CUdeviceptr client_some_calls(void);
/* How a child ended: its exit status, or 128 + signal. */
int client_status_of(pid_t child);
void client_fill(void *bytes, size_t count, unsigned seed);
unsigned client_checksum(const void *bytes, size_t count);

/* `vector_add(out, a, b, count)`, `scale(struct {factor, count, data})` and `touch(ptr)`. */
extern const char client_ptx[];
CUresult client_vector_add(CUfunction function, CUdeviceptr out, CUdeviceptr a, CUdeviceptr b,
                           unsigned count, CUstream stream);

/* Scenarios: each returns the program's exit status. `n` is its argument, 0 if none was given. */
#ifndef CLIENT_SCENARIOS
#define CLIENT_SCENARIOS "scenarios.def"
#endif
#define SCENARIO(name, function, help) int function(long n);
#include CLIENT_SCENARIOS
#undef SCENARIO

int client_run(int argc, char **argv);

#endif

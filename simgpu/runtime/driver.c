/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the driver the way every CUDA runtime does: dlopen, dlsym, and cuGetProcAddress for the rest. */
#include "simgpu/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "simgpu/simgpu.h"

static struct sim_calls legacy_calls;
static struct sim_calls per_thread_calls;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;
static bool loaded;
static cudaError_t start_error;

/* In the place of an entry point that the driver does not have; any arguments are ignored. */
static CUresult not_there(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void *ask(__typeof__(cuGetProcAddress_v2) *get, const char *base, int version,
                 cuuint64_t flags)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult status;
    if (get(base, &function, version, flags, &status) != CUDA_SUCCESS || function == NULL) {
        function = (void *)not_there;
    }
    return function;
}

/* The legacy table first; the other is a copy of it in which the per-thread entry points differ. */
static void fill(__typeof__(cuGetProcAddress_v2) *get)
{
#define SIM_CALL(symbol, base, version) \
    legacy_calls.symbol = (__typeof__(symbol) *)ask(get, #base, version, \
                                                    CU_GET_PROC_ADDRESS_DEFAULT);
#define SIM_CALL_PT(symbol, base, version, version_pt) SIM_CALL(symbol, base, version)
#include "simgpu/runtime/driver.def"
    per_thread_calls = legacy_calls;
#define SIM_CALL(symbol, base, version)
#define SIM_CALL_PT(symbol, base, version, version_pt) \
    per_thread_calls.symbol = (__typeof__(symbol) *)ask( \
        get, #base, version_pt, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
#include "simgpu/runtime/driver.def"
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        return;
    }
    if (dlsym(library, SIMGPU_INTERFACE_SYMBOL) == NULL) {
        fprintf(stderr, "gmtrace software device: its libcudart.so.13 works only with its own "
                        "libcuda.so.1, and another one was found: set LD_LIBRARY_PATH to the "
                        "folder that has both\n");
        return;
    }
    /* ISO C knows no conversion of an object pointer into one to a function. */
    __typeof__(cuGetProcAddress_v2) *get;
    *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    if (get != NULL) {
        fill(get);
        loaded = true;
    }
}

static void start(void)
{
    pthread_once(&load_once, load);
    start_error = loaded ? sim_rt_error(legacy_calls.cuInit(0)) : cudaErrorInsufficientDriver;
}

cudaError_t sim_driver_start(void)
{
    pthread_once(&start_once, start);
    return start_error;
}

int sim_driver_version(void)
{
    int version = 0;
    pthread_once(&load_once, load);
    return loaded && legacy_calls.cuDriverGetVersion(&version) == CUDA_SUCCESS ? version : 0;
}

const struct sim_calls *sim_driver_calls(bool per_thread)
{
    return per_thread ? &per_thread_calls : &legacy_calls;
}

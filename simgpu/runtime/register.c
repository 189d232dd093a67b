/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvcc's stubs register when a program or a library of it is loaded: fat binaries, kernels and
 * variables. Nothing is handed to the driver here: programs that never use CUDA pay nothing.
 */
#include "simgpu/cancel.h"
#include "simgpu/runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>

static struct sim_binary *binaries;

static void add(void **handle, struct sim_symbol symbol)
{
    symbol.binary = (struct sim_binary *)handle;
    if (handle == NULL || symbol.host == NULL || symbol.name == NULL) {
        return;
    }
    SIM_UNCANCELLABLE;
    sim_symbols_lock();
    if (!sim_symbol_add(&symbol)) {
        fprintf(stderr, "gmtrace software device: no memory to register %s\n", symbol.name);
    }
    sim_symbols_unlock();
}

SIM_EXPORT void **__cudaRegisterFatBinary(void *fatCubin)
{
    SIM_UNCANCELLABLE;
    struct sim_binary *binary = calloc(1, sizeof *binary);
    if (binary == NULL) {
        fprintf(stderr, "gmtrace software device: no memory to register the program's kernels\n");
        return NULL;
    }
    binary->image = fatCubin;
    sim_symbols_lock();
    binary->next = binaries;
    binaries = binary;
    sim_symbols_unlock();
    return (void **)binary;
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle;
}

/* At the end of the process, or when a library of the program is closed. */
SIM_EXPORT void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    SIM_UNCANCELLABLE;
    struct sim_binary *binary = (struct sim_binary *)fatCubinHandle;
    sim_symbols_lock();
    struct sim_binary **link = &binaries;
    while (*link != NULL && *link != binary) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = binary->next;
        sim_symbols_forget(binary);
        sim_binary_unload(binary);
        free(binary);
    }
    sim_symbols_unlock();
}

SIM_EXPORT void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                                       const char *deviceName, int thread_limit, uint3 *tid,
                                       uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize)
{
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    add(fatCubinHandle,
        (struct sim_symbol){.host = hostFun, .kind = SIM_KERNEL_SYMBOL, .name = deviceName});
}

SIM_EXPORT void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                                  const char *deviceName, int ext, size_t size, int constant,
                                  int global)
{
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    add(fatCubinHandle,
        (struct sim_symbol){
            .host = hostVar, .kind = SIM_VARIABLE_SYMBOL, .name = deviceName, .bytes = size});
}

SIM_EXPORT void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress,
                                         char *deviceAddress, const char *deviceName, int ext,
                                         size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    add(fatCubinHandle, (struct sim_symbol){.host = hostVarPtrAddress,
                                            .kind = SIM_MANAGED_SYMBOL,
                                            .name = deviceName,
                                            .bytes = size});
}

/* Called before host code first touches a managed variable: its pointer must be set afterwards. */
SIM_EXPORT char __cudaInitModule(void **fatCubinHandle)
{
    SIM_UNCANCELLABLE;
    struct sim_binary *binary = (struct sim_binary *)fatCubinHandle;
    cudaError_t error = sim_rt_enter(SIM_NEED_CONTEXT, false);
    bool ready = false;
    if (binary != NULL) {
        sim_symbols_lock();
        if (error == cudaSuccess) {
            sim_binary_load(binary);
            error = binary->library_count == 0 ? binary->error : cudaSuccess;
        }
        ready = binary->library_count != 0; /* loaded, though the device may have faulted since */
        sim_symbols_unlock();
    }
    if (!ready) { /* the program is about to follow a NULL pointer */
        fprintf(stderr, "gmtrace software device: managed variables cannot be set up: %s\n",
                cudaGetErrorString(error));
    }
    (void)sim_leave(error);
    return ready;
}

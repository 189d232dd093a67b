/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that a program is linked with. It calls the driver in its constructor, which runs before
 * that of what is preloaded, and finds the driver's functions at first use, by RTLD_NEXT and
 * RTLD_DEFAULT, as libraries of several parts do.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

CUresult lookup_allocate(CUdeviceptr *address, size_t bytes);
CUresult lookup_free(CUdeviceptr address);

static void *find(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = dlsym(RTLD_NEXT, name);
    found = found != NULL ? found : dlsym(RTLD_DEFAULT, name);
    return found != NULL ? found : dlsym(driver, name);
}

/* The body of such a function. */
#define FORWARD(NAME, PARAMETERS, ARGUMENTS) \
    static CUresult(*real) PARAMETERS; \
    void *found = real == NULL ? find(NAME) : NULL; \
    if (found != NULL) { \
        memcpy(&real, &found, sizeof real); \
    } \
    return real != NULL ? real ARGUMENTS : CUDA_ERROR_NOT_FOUND

static CUresult initialize(unsigned flags)
{
    FORWARD("cuInit", (unsigned), (flags));
}

CUresult lookup_allocate(CUdeviceptr *address, size_t bytes)
{
    FORWARD("cuMemAlloc_v2", (CUdeviceptr *, size_t), (address, bytes));
}

CUresult lookup_free(CUdeviceptr address)
{
    FORWARD("cuMemFree_v2", (CUdeviceptr), (address));
}

__attribute__((constructor)) static void start(void)
{
    CUdeviceptr memory = 0;
    CUresult results[3] = {initialize(0), lookup_allocate(&memory, 111), lookup_free(memory)};
    printf("constructor %d %d %d\n", results[0], results[1], results[2]);
}

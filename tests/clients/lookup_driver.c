/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that looks its functions up in itself before it does anything, as that of WSL2 does: what
 * it finds must be its own, or it would call itself without end.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void look_up(const char *name, const void *own)
{
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (self == NULL || dlsym(self, name) != own) {
        (void)fprintf(stderr, "lookup_driver: %s is somebody else's\n", name);
        exit(5);
    }
}

/* -Bsymbolic: a function's name means the driver's own inside of it. */
CUresult cuInit(unsigned flags)
{
    look_up("cuInit", (const void *)cuInit);
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    look_up("cuMemAlloc_v2", (const void *)cuMemAlloc_v2);
    *address = (CUdeviceptr)malloc(bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    look_up("cuMemFree_v2", (const void *)cuMemFree_v2);
    free((void *)address); // NOLINT
    return CUDA_SUCCESS;
}

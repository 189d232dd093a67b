/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose constructor allocates device memory for a while, which it does with the loader's lock. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMES = 200 };

static void find(void *library, const char *name, void *into)
{
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        _exit(5);
    }
    memcpy(into, &found, sizeof found);
}

__attribute__((constructor)) static void begin(void)
{
    CUresult (*allocate)(CUdeviceptr *, size_t);
    CUresult (*release)(CUdeviceptr);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    find(driver, "cuMemAlloc_v2", &allocate);
    find(driver, "cuMemFree_v2", &release);
    for (unsigned i = 0; i < TIMES; i++) {
        CUdeviceptr memory;
        if (allocate(&memory, 256) != CUDA_SUCCESS || release(memory) != CUDA_SUCCESS) {
            _exit(5);
        }
        (void)usleep(500);
    }
}

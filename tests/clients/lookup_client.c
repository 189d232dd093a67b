/* SPDX-License-Identifier: Apache-2.0 */
/* Uses lookup_library, and the driver beside it. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

CUresult lookup_allocate(CUdeviceptr *address, size_t bytes);
CUresult lookup_free(CUdeviceptr address);

int main(void)
{
    CUresult (*release)(CUdeviceptr);
    CUdeviceptr memory = 0;
    CUresult made = lookup_allocate(&memory, 222);
    CUresult freed = lookup_free(memory);
    printf("library %d %d\n", made, freed);
    made = lookup_allocate(&memory, 333);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *found = driver != NULL ? dlsym(driver, "cuMemFree_v2") : NULL;
    memcpy(&release, &found, sizeof release);
    freed = found != NULL ? release(memory) : CUDA_ERROR_NOT_FOUND;
    printf("both %d %d\n", made, freed);
    return 0;
}

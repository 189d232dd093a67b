/* SPDX-License-Identifier: Apache-2.0 */
/* A program that copies by the driver alone: for machines that there is no nvcc for. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

#define TEXT(name) #name
#define NAME(name) TEXT(name)
#define LOOK_UP(name) \
    __typeof__(name) *const do_##name = (__typeof__(name) *)dlsym(driver, NAME(name))

int main(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    LOOK_UP(cuInit);
    LOOK_UP(cuDeviceGet);
    LOOK_UP(cuDevicePrimaryCtxRetain);
    LOOK_UP(cuCtxSetCurrent);
    LOOK_UP(cuMemAlloc);
    LOOK_UP(cuMemcpyHtoD);
    LOOK_UP(cuMemFree);
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    static const char bytes[4096];
    int copies = 0;
    if (do_cuInit(0) != CUDA_SUCCESS || do_cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        do_cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
        do_cuCtxSetCurrent(context) != CUDA_SUCCESS ||
        do_cuMemAlloc(&memory, sizeof(bytes)) != CUDA_SUCCESS) {
        return 1;
    }
    while (copies < 3 && do_cuMemcpyHtoD(memory, bytes, sizeof(bytes)) == CUDA_SUCCESS) {
        copies++;
    }
    (void)do_cuMemFree(memory);
    return printf("%d copies\n", copies) < 0;
}

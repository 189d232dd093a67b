/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a blocking upload takes, in ns: fingerprint_cost BYTES CALLS. To be run under gmtrace with
 * fingerprints off and on, in turns; the driver is the libcuda.so.1 that the loader finds.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        (void)fprintf(stderr, "%s: error %d\n", what, (int)result);
        exit(1);
    }
}

#define FIND(LIBRARY, NAME, PARAMETERS) \
    CUresult(*NAME) PARAMETERS = (CUresult(*) PARAMETERS)dlsym(LIBRARY, #NAME)

int main(int argc, char **argv)
{
    long bytes = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    long calls = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (bytes <= 0 || calls <= 0 || driver == NULL) {
        (void)fprintf(stderr, "usage: fingerprint_cost BYTES CALLS, with a libcuda.so.1\n");
        return 2;
    }
    FIND(driver, cuInit, (unsigned));
    FIND(driver, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice));
    FIND(driver, cuCtxSetCurrent, (CUcontext));
    FIND(driver, cuMemAlloc_v2, (CUdeviceptr *, size_t));
    FIND(driver, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t));
    CUcontext context;
    CUdeviceptr device;
    if (cuInit == NULL || cuDevicePrimaryCtxRetain == NULL || cuCtxSetCurrent == NULL ||
        cuMemAlloc_v2 == NULL || cuMemcpyHtoD_v2 == NULL) {
        return 2;
    }
    char *host = malloc((size_t)bytes);
    if (host == NULL) {
        return 2;
    }
    memset(host, 1, (size_t)bytes);
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuMemAlloc_v2(&device, (size_t)bytes), "cuMemAlloc");
    check(cuMemcpyHtoD_v2(device, host, (size_t)bytes), "cuMemcpyHtoD");
    int64_t begin = now_ns();
    for (long i = 0; i < calls; i++) {
        check(cuMemcpyHtoD_v2(device, host, (size_t)bytes), "cuMemcpyHtoD");
    }
    printf("%.1f\n", (double)(now_ns() - begin) / (double)calls);
    free(host);
    return 0;
}

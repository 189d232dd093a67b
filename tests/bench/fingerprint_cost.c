/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a blocking upload takes, in ns: fingerprint_cost BYTES CALLS. To be run under gmtrace with
 * fingerprints off and on, in turns; the driver is the libcuda.so.1 that the loader finds.
 */
#include <string.h>

#include "tests/bench/driver_client.h"

int main(int argc, char **argv)
{
    long bytes = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    long calls = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (bytes <= 0 || calls <= 0 || driver == NULL) {
        (void)fprintf(stderr, "usage: fingerprint_cost BYTES CALLS, with a libcuda.so.1\n");
        return 2;
    }
    FIND(driver, cuInit, (unsigned))
    FIND(driver, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))
    FIND(driver, cuCtxSetCurrent, (CUcontext))
    FIND(driver, cuMemAlloc_v2, (CUdeviceptr *, size_t))
    FIND(driver, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))
    CUcontext context;
    CUdeviceptr device;
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

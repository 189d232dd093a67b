/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What small asynchronous uploads take on average, at the pace of a program that does something else too:
 * paced_calls CALLS GAP_NS. The mean, the longest, and how many took more than a millisecond: unlike a
 * median, these have in them what happens once in thousands of calls. To be run bare and under gmtrace, in
 * turns; the driver is the libcuda.so.1 that the loader finds.
 */
#include "tests/bench/driver_client.h"

#define BYTES 64

int main(int argc, char **argv)
{
    long calls = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    long gap_ns = argc == 3 ? strtol(argv[2], NULL, 10) : -1;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (calls <= 0 || gap_ns < 0 || driver == NULL) {
        (void)fprintf(stderr, "usage: paced_calls CALLS GAP_NS, with a libcuda.so.1\n");
        return 2;
    }
    FIND(driver, cuInit, (unsigned))
    FIND(driver, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))
    FIND(driver, cuCtxSetCurrent, (CUcontext))
    FIND(driver, cuMemAlloc_v2, (CUdeviceptr *, size_t))
    FIND(driver, cuMemAllocHost_v2, (void **, size_t))
    FIND(driver, cuStreamCreate, (CUstream *, unsigned))
    FIND(driver, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))
    FIND(driver, cuStreamSynchronize, (CUstream))
    CUcontext context;
    CUdeviceptr device;
    CUstream stream;
    void *host;
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuMemAlloc_v2(&device, BYTES), "cuMemAlloc");
    check(cuMemAllocHost_v2(&host, BYTES), "cuMemAllocHost");
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    int64_t sum = 0, longest = 0;
    long above = 0;
    for (long i = 0; i < calls; i++) {
        if (i % 128 == 0) { /* no call waits for room in a queue */
            check(cuStreamSynchronize(stream), "cuStreamSynchronize");
        }
        int64_t begin = now_ns();
        check(cuMemcpyHtoDAsync_v2(device, host, BYTES, stream), "cuMemcpyHtoDAsync");
        int64_t took = now_ns() - begin;
        sum += took;
        longest = took > longest ? took : longest;
        above += took > 1000000;
        while (now_ns() - begin < took + gap_ns) {
        }
    }
    printf("{\"mean_ns\": %.1f, \"longest_ns\": %lld, \"above_1_ms\": %ld}\n",
           (double)sum / (double)calls, (long long)longest, above);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch takes in a program that does something else between launches, as Python does: cold_launches LAUNCHES MIB [LINE
 * [WORDS]]. Between two launches one word of each LINE bytes (64, or a little more than a page to evict translations of addresses) of
 * MIB MiB is written. The kernel is given WORDS words of 8 bytes in one structure, as those of frameworks are: every eighth is a pointer into
 * one of 64 allocations of 4 MiB, others at each launch. The median and the mean, in ns. To be run bare and under gmtrace, in turns; the driver is the
 * libcuda.so.1 that the loader finds.
 */
#include "tests/bench/driver_client.h"

#define ALLOCATIONS 64u
#define EACH_BYTES (UINT64_C(4) << 20)
#define MOST_WORDS 500u /* a kernel may be given 4 KiB */

static uint64_t words[MOST_WORDS];
static CUdeviceptr memory[ALLOCATIONS];

/* Other pointers than the last time. */
static void fill(unsigned count, unsigned turn)
{
    for (unsigned i = 0; i < count; i += 8) {
        unsigned at = turn + i / 8 * 7;
        words[i] = memory[at % ALLOCATIONS] + at * 4096 % EACH_BYTES;
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Puts what each launch took, ns, into `took`. The status of the program. */
static int launch_all(void *driver, int64_t *took, long launches, char *other, size_t bytes,
                      size_t line, unsigned count)
{
    char ptx[256];
    FIND(driver, cuInit, (unsigned))
    FIND(driver, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))
    FIND(driver, cuCtxSetCurrent, (CUcontext))
    FIND(driver, cuCtxSynchronize, (void))
    FIND(driver, cuMemAlloc_v2, (CUdeviceptr *, size_t))
    FIND(driver, cuModuleLoadData, (CUmodule *, const void *))
    FIND(driver, cuModuleGetFunction, (CUfunction *, CUmodule, const char *))
    FIND(driver, cuLaunchKernel,
         (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
          CUstream, void **, void **))
    CUcontext context;
    CUmodule module;
    CUfunction function;
    void *parameters[] = {words};
    (void)snprintf(ptx, sizeof(ptx),
                   ".version 8.0\n.target sm_80\n.address_size 64\n"
                   ".visible .entry nothing(.param .align 8 .b8 words[%u]) { ret; }\n",
                   8 * count);
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (unsigned i = 0; i < ALLOCATIONS; i++) {
        check(cuMemAlloc_v2(&memory[i], EACH_BYTES), "cuMemAlloc");
    }
    check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&function, module, "nothing"), "cuModuleGetFunction");
    for (long i = 0; i < launches; i++) {
        if (i % 128 == 0) { /* no launch waits for room in a queue */
            check(cuCtxSynchronize(), "cuCtxSynchronize");
        }
        for (size_t at = 0; at < bytes; at += line) {
            other[at]++;
        }
        fill(count, (unsigned)i);
        int64_t begin = now_ns();
        check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL),
              "cuLaunchKernel");
        took[i] = now_ns() - begin;
    }
    return 0;
}

static void print(int64_t *took, long launches)
{
    int64_t sum = 0;
    for (long i = 0; i < launches; i++) {
        sum += took[i];
    }
    qsort(took, (size_t)launches, sizeof(*took), by_value);
    printf("{\"median_ns\": %lld, \"mean_ns\": %lld}\n", (long long)took[launches / 2],
           (long long)(sum / launches));
}

int main(int argc, char **argv)
{
    long launches = argc >= 3 ? strtol(argv[1], NULL, 10) : 0;
    size_t bytes = argc >= 3 ? strtoul(argv[2], NULL, 10) << 20 : 0;
    size_t line = argc >= 4 ? strtoul(argv[3], NULL, 10) : 64;
    unsigned count = argc == 5 ? (unsigned)strtoul(argv[4], NULL, 10) : 16;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    char *other = calloc(1, bytes + 1);
    int64_t *took = launches > 0 ? calloc((size_t)launches, sizeof(*took)) : NULL;
    int status = 2;
    if (driver != NULL && other != NULL && took != NULL && line != 0 && count - 1 < MOST_WORDS) {
        status = launch_all(driver, took, launches, other, bytes, line, count);
    } else {
        (void)fprintf(stderr,
                      "usage: cold_launches LAUNCHES MIB [LINE [WORDS]], with a libcuda.so.1\n");
    }
    if (status == 0) {
        print(took, launches);
    }
    free(took);
    free(other);
    return status;
}

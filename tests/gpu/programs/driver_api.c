/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program on the driver API alone, without cudart: driver_api [--rounds N] [--getproc] [--strict]
 *
 * It reaches libcuda.so.1 by dlopen and dlsym (with --getproc by cuGetProcAddress), brings its
 * kernel as PTX text, and makes the transfer mistakes of a beginner: a copy per 8-byte parameter,
 * a copy per row of a pitched image, large pageable copies, an allocation per round.
 * It also runs over a stand-in driver that keeps device memory on the host and executes nothing;
 * therefore only --strict makes it an error when the kernel has not done its work.
 */

#define _GNU_SOURCE

#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARAMETERS = 64,      /* copies of 8 bytes per round */
    ROW_BYTES = 1000,     /* of the pitched image */
    ROWS = 48,            /* copies of a row per round */
    LARGE_BYTES = 4 << 20 /* the pageable copies */
};

static const char ptx[] = ".version 6.4\n"
                          ".target sm_75\n"
                          ".address_size 64\n"
                          ".visible .entry add_one(.param .u64 data, .param .u32 count)\n"
                          "{\n"
                          "    .reg .pred %p<2>;\n"
                          "    .reg .b32 %r<6>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [data];\n"
                          "    ld.param.u32 %r1, [count];\n"
                          "    mov.u32 %r2, %ctaid.x;\n"
                          "    mov.u32 %r3, %ntid.x;\n"
                          "    mov.u32 %r4, %tid.x;\n"
                          "    mad.lo.u32 %r2, %r2, %r3, %r4;\n"
                          "    setp.ge.u32 %p1, %r2, %r1;\n"
                          "    @%p1 bra done;\n"
                          "    cvta.to.global.u64 %rd1, %rd1;\n"
                          "    mul.wide.u32 %rd2, %r2, 4;\n"
                          "    add.u64 %rd1, %rd1, %rd2;\n"
                          "    ld.global.u32 %r5, [%rd1];\n"
                          "    add.u32 %r5, %r5, 1;\n"
                          "    st.global.u32 [%rd1], %r5;\n"
                          "done:\n"
                          "    ret;\n"
                          "}\n";

/* Every driver function used: exported name, name and version for cuGetProcAddress. */
#define DRIVER_FUNCTIONS(ROW) \
    ROW(cuInit, "cuInit", 2000) \
    ROW(cuDeviceGet, "cuDeviceGet", 2000) \
    ROW(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000) \
    ROW(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000) \
    ROW(cuCtxSetCurrent, "cuCtxSetCurrent", 4000) \
    ROW(cuStreamCreate, "cuStreamCreate", 2000) \
    ROW(cuStreamSynchronize, "cuStreamSynchronize", 2000) \
    ROW(cuStreamDestroy_v2, "cuStreamDestroy", 4000) \
    ROW(cuMemAlloc_v2, "cuMemAlloc", 3020) \
    ROW(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020) \
    ROW(cuMemFree_v2, "cuMemFree", 3020) \
    ROW(cuMemHostAlloc, "cuMemHostAlloc", 2020) \
    ROW(cuMemFreeHost, "cuMemFreeHost", 2000) \
    ROW(cuMemcpyHtoD_v2, "cuMemcpyHtoD", 3020) \
    ROW(cuMemcpyDtoH_v2, "cuMemcpyDtoH", 3020) \
    ROW(cuMemcpyDtoD_v2, "cuMemcpyDtoD", 3020) \
    ROW(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", 3020) \
    ROW(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", 3020) \
    ROW(cuMemcpy2D_v2, "cuMemcpy2D", 3020) \
    ROW(cuMemsetD8_v2, "cuMemsetD8", 3020) \
    ROW(cuMemsetD32_v2, "cuMemsetD32", 3020) \
    ROW(cuModuleLoadData, "cuModuleLoadData", 2000) \
    ROW(cuModuleGetFunction, "cuModuleGetFunction", 2000) \
    ROW(cuModuleUnload, "cuModuleUnload", 2000) \
    ROW(cuLaunchKernel, "cuLaunchKernel", 4000) \
    ROW(cuGetErrorName, "cuGetErrorName", 6000)

static struct {
#define DECLARE(symbol, base, version) __typeof__(&symbol) symbol;
    DRIVER_FUNCTIONS(DECLARE)
#undef DECLARE
} driver;

static const struct {
    void *slot;
    const char *symbol;
    const char *base;
    int version;
} functions[] = {
#define LIST(symbol, base, version) {&driver.symbol, #symbol, base, version},
    DRIVER_FUNCTIONS(LIST)
#undef LIST
};

static void check(CUresult result, const char *what)
{
    const char *name = "unknown error";
    if (result == CUDA_SUCCESS) {
        return;
    }
    if (driver.cuGetErrorName != NULL) {
        driver.cuGetErrorName(result, &name);
    }
    fprintf(stderr, "driver_api: %s: %s\n", what, name);
    exit(1);
}

#define CHECK(call) check(driver.call, #call)

static void load_driver(int by_getproc)
{
    __typeof__(&cuGetProcAddress_v2) get_address = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "driver_api: %s\n", dlerror());
        exit(1);
    }
    if (by_getproc) {
        *(void **)&get_address = dlsym(library, "cuGetProcAddress_v2");
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = NULL;
        if (get_address != NULL) {
            get_address(functions[i].base, &address, functions[i].version, 0, NULL);
        } else {
            address = dlsym(library, functions[i].symbol);
        }
        if (address == NULL) {
            fprintf(stderr, "driver_api: the driver has no %s\n", functions[i].symbol);
            exit(1);
        }
        memcpy(functions[i].slot, &address, sizeof address);
    }
}

static void expect(int holds, const char *what)
{
    if (holds) {
        return;
    }
    fprintf(stderr, "driver_api: wrong data after %s\n", what);
    exit(1);
}

/* Mistakes: many small copies, and one allocation and one free per round. */
static void send_parameters(void)
{
    uint64_t sent[PARAMETERS];
    uint64_t received[PARAMETERS];
    CUdeviceptr device = 0;
    CHECK(cuMemAlloc_v2(&device, sizeof sent));
    for (size_t i = 0; i < PARAMETERS; i++) {
        sent[i] = 3 * i + 1;
        CHECK(cuMemcpyHtoD_v2(device + i * sizeof sent[0], &sent[i], sizeof sent[0]));
    }
    CHECK(cuMemcpyDtoH_v2(received, device, sizeof received));
    expect(memcmp(sent, received, sizeof sent) == 0, "the small copies");
    CHECK(cuMemFree_v2(device));
}

/* Mistake: a copy per row. Read back with the one 2-D copy that would have done. */
static void send_rows(CUdeviceptr image, size_t pitch)
{
    static unsigned char sent[ROWS][ROW_BYTES];
    static unsigned char received[ROWS][ROW_BYTES];
    for (size_t y = 0; y < ROWS; y++) {
        memset(sent[y], (int)y + 1, ROW_BYTES);
        CHECK(cuMemcpyHtoD_v2(image + y * pitch, sent[y], ROW_BYTES));
    }
    const CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = image,
        .srcPitch = pitch,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = received,
        .dstPitch = ROW_BYTES,
        .WidthInBytes = ROW_BYTES,
        .Height = ROWS,
    };
    CHECK(cuMemcpy2D_v2(&copy));
    expect(memcmp(sent, received, sizeof sent) == 0, "the row copies");
}

/* Mistake: large copies from and to pageable memory. */
static void send_large(uint32_t *pageable, CUdeviceptr a, CUdeviceptr b, uint32_t round)
{
    for (size_t i = 0; i < LARGE_BYTES / sizeof(uint32_t); i++) {
        pageable[i] = (uint32_t)i * 5 + round;
    }
    CHECK(cuMemcpyHtoD_v2(a, pageable, LARGE_BYTES));
    CHECK(cuMemsetD8_v2(b, 0xff, LARGE_BYTES));
    CHECK(cuMemcpyDtoD_v2(b, a, LARGE_BYTES));
    memset(pageable, 0, LARGE_BYTES);
    CHECK(cuMemcpyDtoH_v2(pageable, b, LARGE_BYTES));
    for (size_t i = 0; i < LARGE_BYTES / sizeof(uint32_t); i++) {
        expect(pageable[i] == (uint32_t)i * 5 + round, "the large copies");
    }
}

/* Returns whether every word was increased by one. */
static int run_kernel(CUfunction add_one, CUdeviceptr data, uint32_t *pinned, CUstream stream)
{
    const size_t words = LARGE_BYTES / sizeof(uint32_t);
    uint32_t count = (uint32_t)words;
    void *arguments[] = {&data, &count};
    CHECK(cuMemsetD32_v2(data, 41, words));
    CHECK(cuMemcpyDtoHAsync_v2(pinned, data, LARGE_BYTES, stream));
    CHECK(cuMemcpyHtoDAsync_v2(data, pinned, LARGE_BYTES, stream));
    CHECK(
        cuLaunchKernel(add_one, (count + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
    CHECK(cuMemcpyDtoHAsync_v2(pinned, data, LARGE_BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    expect(pinned[0] == 41 || pinned[0] == 42, "the asynchronous copies");
    for (size_t i = 0; i < words; i++) {
        if (pinned[i] != 42) {
            return 0;
        }
    }
    return 1;
}

static int run(long rounds, int strict)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    CUstream stream = NULL;
    CUmodule module = NULL;
    CUfunction add_one = NULL;
    CUdeviceptr image = 0;
    CUdeviceptr a = 0;
    CUdeviceptr b = 0;
    void *pinned = NULL;
    size_t pitch = 0;
    uint32_t *pageable = malloc(LARGE_BYTES);
    int executed = 1;
    if (pageable == NULL) {
        return 1;
    }

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&add_one, module, "add_one"));
    CHECK(cuMemAllocPitch_v2(&image, &pitch, ROW_BYTES, ROWS, 4));
    CHECK(cuMemAlloc_v2(&a, LARGE_BYTES));
    CHECK(cuMemAlloc_v2(&b, LARGE_BYTES));
    CHECK(cuMemHostAlloc(&pinned, LARGE_BYTES, 0));
    for (long round = 0; round < rounds; round++) {
        send_parameters();
        send_rows(image, pitch);
        send_large(pageable, a, b, (uint32_t)round);
        executed = run_kernel(add_one, a, pinned, stream) && executed;
    }
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree_v2(b));
    CHECK(cuMemFree_v2(a));
    CHECK(cuMemFree_v2(image));
    CHECK(cuModuleUnload(module));
    CHECK(cuStreamDestroy_v2(stream));
    CHECK(cuDevicePrimaryCtxRelease_v2(device));
    free(pageable);
    printf("rounds %ld copies ok, kernel %s\n", rounds,
           executed ? "ok" : "not executed (a stand-in driver?)");
    return strict && !executed;
}

int main(int argc, char **argv)
{
    long rounds = 20;
    int by_getproc = 0;
    int strict = 0;
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--getproc") == 0) {
            by_getproc = 1;
        } else if (strcmp(argv[i], "--strict") == 0) {
            strict = 1;
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = strtol(argv[++i], &end, 10);
            if (*end != '\0' || rounds < 1 || rounds > 1000000) {
                fprintf(stderr, "driver_api: --rounds needs a number from 1 to 1000000\n");
                return 2;
            }
        } else {
            fprintf(stderr, "usage: driver_api [--rounds N] [--getproc] [--strict]\n");
            return 2;
        }
    }
    load_driver(by_getproc);
    return run(rounds, strict);
}

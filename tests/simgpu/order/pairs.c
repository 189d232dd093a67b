/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs SEEDS: two operations in streams that nothing orders, and whether their accesses conflict: reported under every seed, or
 * under none.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#define KERNEL(name, body) \
    ".visible .entry " name "(.param .u64 at, .param .u64 own)\n" \
    "{\n .reg .b32 %r<5>;\n .reg .b16 %h<2>;\n .reg .b64 %rd<3>;\n .shared .align 16 .b8 " \
    "room[16];\n" \
    " ld.param.u64 %rd1, [at];\n ld.param.u64 %rd2, [own];\n mov.u32 %r1, 7;\n mov.u16 %h1, " \
    "7;\n" body " ret;\n}\n"

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .const .align 4 .u32 table[2] = {11, 22};\n" /* */
    KERNEL("read", " ld.global.u32 %r2, [%rd1];\n st.global.u32 [%rd2], %r2;\n")
        KERNEL("write", " st.global.u32 [%rd1], %r1;\n") KERNEL("write_beside",
                                                                " st.global.u32 [%rd1+4], %r1;\n")
            KERNEL("write_generic", " st.u32 [%rd1], %r1;\n") KERNEL("first_byte",
                                                                     " st.global.u8 [%rd1], %h1;\n")
                KERNEL("second_byte", " st.global.u8 [%rd1+1], %h1;\n")
                    KERNEL("reduce", " red.global.add.u32 [%rd1], %r1;\n")
                        KERNEL("atomic", " atom.global.exch.b32 %r3, [%rd1], %r1;\n") KERNEL(
                            "volatile_read",
                            " ld.volatile.global.u32 %r2, [%rd1];\n st.global.u32 [%rd2], %r2;\n")
                            KERNEL("volatile_write", " st.volatile.global.u32 [%rd1], %r1;\n")
                                KERNEL("read_constant",
                                       " ld.const.u32 %r2, [table];\n st.global.u32 [%rd2], %r2;\n")
                                    KERNEL("copy_async",
                                           " mov.u32 %r2, room;\n cp.async.ca.shared.global [%r2], "
                                           "[%rd1], 4;\n cp.async.wait_all;\n");

static CUmodule module;
static CUdeviceptr word, constant;

static void ok(CUresult result, const char *call, int line)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "line %d: %s: error %d\n", line, call, (int)result);
        _exit(1);
    }
}
#define OK(call) ok((call), #call, __LINE__)

/* Does `what` to the word, in the stream; `own` is memory of nobody else's. */
static void act(const char *what, CUstream stream, CUdeviceptr own)
{
    CUfunction kernel;
    if (strcmp(what, "set") == 0) {
        OK(cuMemsetD32Async(word, 1, 1, stream));
    } else if (strcmp(what, "set_row") == 0) {
        OK(cuMemsetD2D8Async(word - 8, 16, 1, 4, 4,
                             stream)); /* 4 bytes of 16 each, the first 8 before */
    } else if (strcmp(what, "set_constant") == 0) {
        OK(cuMemsetD32Async(constant, 1, 1, stream));
    } else if (strcmp(what, "copy_from") == 0) {
        OK(cuMemcpyDtoDAsync(own, word, 4, stream));
    } else if (strcmp(what, "copy_to") == 0) {
        OK(cuMemcpyDtoDAsync(word, own, 4, stream));
    } else if (strcmp(what, "value") == 0) {
        OK(cuStreamWriteValue32(stream, word, 1, 0));
    } else {
        OK(cuModuleGetFunction(&kernel, module, what));
        OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&word, &own}, NULL));
    }
}

static const struct pair {
    const char *first, *second;
    bool conflict;
} pairs[] = {
    {"read", "read", false},
    {"read", "write", true},
    {"write", "write", true},
    {"write_generic", "read", true},
    {"write", "write_beside", false},
    {"first_byte", "second_byte", false},
    {"first_byte", "write", true},
    {"set", "set", true},
    {"set", "read", true},
    {"set_row", "write", false},
    {"set_row", "write_beside", false},
    {"copy_from", "read", false},
    {"copy_from", "copy_from", false},
    {"copy_from", "write", true},
    {"copy_to", "copy_from", true},
    {"copy_to", "copy_to", true},
    {"copy_async", "read", false},
    {"copy_async", "set", true},
    {"read_constant", "read_constant", false},
    {"read_constant", "set_constant", true},
    {"reduce", "reduce", false},
    {"reduce", "atomic", false},
    {"reduce", "read", true},
    {"atomic", "write", true},
    {"reduce", "copy_from", true},
    {"volatile_write", "volatile_read", false},
    {"volatile_write", "reduce", false},
    {"volatile_write", "read", true},
    {"volatile_read", "read", false},
    {"volatile_read", "write", true},
    {"value", "volatile_read", false},
    {"value", "reduce", false},
    {"value", "read", true},
};

static char report[] = "/tmp/order_report.XXXXXX";

static void run(const struct pair *pair, unsigned seed)
{
    char text[16];
    CUcontext context;
    CUstream first, second;
    CUdeviceptr own;
    size_t bytes;
    (void)snprintf(text, sizeof text, "%u", seed);
    setenv("SIMGPU_ORDER", text, 1);
    setenv("SIMGPU_ORDER_REPORT", report, 1);
    alarm(120);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetGlobal(&constant, &bytes, module, "table"));
    OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&word, 256));
    OK(cuMemAlloc(&own, 256));
    OK(cuMemsetD32(word, 0, 64));
    OK(cuMemsetD32(own, 0, 64));
    OK(cuCtxSynchronize());
    word += 64;
    act(pair->first, first, own);
    act(pair->second, second, own + 16);
    OK(cuCtxSynchronize());
    _exit(0);
}

int main(int argc, char **argv)
{
    unsigned seeds = argc > 1 ? (unsigned)atoi(argv[1]) : 5, bad = 0;
    size_t count = sizeof pairs / sizeof pairs[0];
    int file = mkstemp(report);
    if (file < 0) {
        return 1;
    }
    close(file);
    for (size_t i = 0; i < count; i++) {
        for (unsigned seed = 1; seed <= seeds; seed++) {
            int status = 1;
            unlink(report);
            pid_t child = fork();
            if (child == 0) {
                run(&pairs[i], seed);
            }
            bool done = waitpid(child, &status, 0) == child && status == 0;
            bool reported = access(report, F_OK) == 0;
            if (!done || reported != pairs[i].conflict) {
                printf("FAIL: %s beside %s, seed %u: status 0x%x, reported: %d\n", pairs[i].first,
                       pairs[i].second, seed, (unsigned)status, reported);
                bad++;
            }
        }
    }
    unlink(report);
    printf("%zu pairs, %u wrong\n", count, bad);
    return bad == 0 ? 0 : 1;
}

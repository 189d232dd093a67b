/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in device memory that could be addresses: kernels beside few and many of them, an address among them, and code that may have
 * allocated memory where they lead. */
#include "repeat/repeat.h"

#include <stdint.h>
#include <stdio.h>

enum { MOST = 70000, FEW = 90 };

#define BLOCK (UINT64_C(1) << 36) /* addresses as near to device memory may be of the driver */

#define HEADER ".version 7.0\n.target sm_75\n.address_size 64\n"
#define KERNEL(name) \
    ".visible .entry " name "(.param .u64 to)\n{\n" \
    "    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [to];\n" \
    "    ld.global.u32 %r1, [%rd1];\n    add.u32 %r1, %r1, 1;\n    st.global.u32 [%rd1], %r1;\n" \
    "    ret;\n}\n"

static const char ptx[] = HEADER KERNEL("safe_few") KERNEL("safe_many") KERNEL("safe_different")
    KERNEL("hazard_among_many") KERNEL("hazard_too_many") KERNEL("hazard_too_different")
        KERNEL("hazard_heap");

/* Its kernel is not launched. */
static const char allocating[] = HEADER
    ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
    ".visible .entry allocates(.param .u64 to)\n{\n"
    "    .reg .b64 %rd<4>;\n    ld.param.u64 %rd1, [to];\n    mov.u64 %rd2, 16;\n    {\n"
    "    .param .b64 size;\n    .param .b64 memory;\n    st.param.b64 [size], %rd2;\n"
    "    call.uni (memory), malloc, (size);\n    ld.param.b64 %rd3, [memory];\n    }\n"
    "    st.global.u64 [%rd1], %rd3;\n    ret;\n}\n";

static uint64_t words[MOST];

/* One of `different` numbers, without an order (splitmix64). */
static uint64_t number(unsigned i, unsigned different)
{
    uint64_t mixed = (i % different + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (mixed ^ mixed >> 27) % (1u << 20);
}

/* `kernel` adds 1 to the first word at `to` beside `count` numbers at `numbers`, `different` of them different, of which the last
 * is `last`. */
static void launch_beside(CUmodule module, const char *kernel, CUdeviceptr to, CUdeviceptr numbers,
                          unsigned count, unsigned different, uint64_t last)
{
    CUfunction function;
    void *parameters[] = {&to};
    for (unsigned i = 0; i < MOST; i++) {
        words[i] = i >= count ? 0 : (numbers & ~(BLOCK - 1)) + 8 * number(i, different);
    }
    words[count - 1] = last != 0 ? last : words[count - 1];
    CHECK(cu.cuMemcpyHtoD(numbers, words, sizeof words));
    CHECK(cu.cuModuleGetFunction(&function, module, kernel));
    CHECK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cu.cuCtxSynchronize());
}

int repeat_numbers(void)
{
    CUdeviceptr counter, numbers;
    CUmodule module, other;
    void *host;
    unsigned result = 0;
    (void)client_start();
    CHECK(cu.cuModuleLoadData(&module, ptx));
    CHECK(cu.cuMemAlloc(&counter, sizeof result));
    CHECK(cu.cuMemAlloc(&numbers, sizeof words));
    CHECK(cu.cuMemAllocHost(&host, sizeof result));
    CHECK(cu.cuMemsetD32(counter, 0, 1));
    launch_beside(module, "safe_few", counter, numbers, 100, FEW, 0);
    launch_beside(module, "safe_many", counter, numbers, 60000, FEW, 0);
    launch_beside(module, "safe_different", counter, numbers, 60000, 3000, 0);
    launch_beside(module, "hazard_among_many", counter, numbers, 60000, FEW, (uintptr_t)host);
    launch_beside(module, "hazard_too_many", counter, numbers, MOST, FEW, 0);
    launch_beside(module, "hazard_too_different", counter, numbers, 20000, 20000, 0);
    CHECK(cu.cuModuleLoadData(&other, allocating));
    launch_beside(module, "hazard_heap", counter, numbers, 100, FEW, 0);
    CHECK(cu.cuMemcpyDtoH(&result, counter, sizeof result));
    printf("%u\n", result);
    return 0;
}

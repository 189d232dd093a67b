/* SPDX-License-Identifier: Apache-2.0 */
/* What the mutants are made of (programs.h). */
#include "programs.h"

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS 64u
#define BYTES (WORDS * sizeof(unsigned))

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry add(.param .u64 out, .param .u64 in, .param .u32 value)\n"
    "{\n .reg .b32 %r<5>;\n .reg .b64 %rd<6>;\n"
    " ld.param.u64 %rd1, [out];\n ld.param.u64 %rd2, [in];\n ld.param.u32 %r1, [value];\n"
    " mov.u32 %r2, %tid.x;\n mul.wide.u32 %rd3, %r2, 4;\n"
    " add.u64 %rd4, %rd1, %rd3;\n add.u64 %rd5, %rd2, %rd3;\n"
    " ld.global.u32 %r3, [%rd5];\n add.u32 %r4, %r3, %r1;\n st.global.u32 [%rd4], %r4;\n ret;\n}\n";

static CUfunction kernel;
static CUstream s, u, v; /* none waits for the legacy stream */
static CUevent e, f, g;
static CUdeviceptr a, b, c; /* WORDS each, zero */
static unsigned *in, *out;  /* page-locked */

static void ok(CUresult result, const char *call, int line)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "line %d: %s: error %d\n", line, call, (int)result);
        _exit(1);
    }
}
#define OK(call) ok((call), #call, __LINE__)

/* to = from + value, in the stream */
static void add(CUstream stream, CUdeviceptr to, CUdeviceptr from, unsigned value)
{
    OK(cuLaunchKernel(kernel, 1, 1, 1, WORDS, 1, 1, 0, stream, (void *[]){&to, &from, &value},
                      NULL));
}

static void after(CUstream stream, CUevent event, CUstream other)
{
    OK(cuEventRecord(event, other));
    OK(cuStreamWaitEvent(stream, event, 0));
}

/* The stream's result in `out`, which is waited for. */
static void fetch(CUstream stream, CUdeviceptr from)
{
    OK(cuMemcpyDtoHAsync(out, from, BYTES, stream));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
    }
}

static bool all(const unsigned *words, unsigned value)
{
    bool same = true;
    for (unsigned i = 0; i < WORDS; i++) {
        same &= words[i] == value;
    }
    return same;
}

/* ---- programs ---------------------------------------------------------------------------------- */

static bool two_streams(void)
{
    add(s, b, a, 5);
    after(u, e, s);
    add(u, c, b, 6);
    fetch(u, c);
    return all(out, 11);
}

static bool copy_out(void)
{
    add(s, b, a, 5);
    OK(cuMemcpyDtoHAsync(out, b, BYTES, s));
    OK(cuStreamSynchronize(s));
    return all(out, 5);
}

static bool copy_in(void)
{
    memset(in, 1, BYTES);
    OK(cuMemcpyHtoDAsync(a, in, BYTES, s));
    OK(cuEventRecord(e, s));
    OK(cuEventSynchronize(e));
    memset(in, 2, BYTES); /* it has been read */
    fetch(s, a);
    return all(out, 0x01010101);
}

static bool polls(void)
{
    add(s, b, a, 5);
    OK(cuMemcpyDtoHAsync(out, b, BYTES, s));
    OK(cuEventRecord(e, s));
    while (cuEventQuery(e) == CUDA_ERROR_NOT_READY) {
    }
    return all(out, 5);
}

static bool legacy_first(void)
{
    OK(cuMemsetD32(a, 7, WORDS));
    OK(cuCtxSynchronize());
    add(s, b, a, 1);
    fetch(s, b);
    return all(out, 8);
}

static bool fork_join(void)
{
    add(s, a, a, 1);
    after(u, e, s);
    OK(cuStreamWaitEvent(v, e, 0));
    add(u, b, a, 2);
    add(v, c, a, 3);
    after(s, f, u);
    after(s, g, v);
    add(s, a, b, 10);
    OK(cuMemcpyDtoDAsync(b, c, BYTES, s));
    fetch(s, a);
    bool first = all(out, 13);
    fetch(s, b);
    return first && all(out, 4);
}

/* One buffer is filled while the other is used. */
static bool double_buffer(void)
{
    const CUdeviceptr buffers[2] = {a, b};
    const CUevent full[2] = {e, f};
    CUevent used[2];
    OK(cuEventCreate(&used[0], CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&used[1], CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < 6; i++) {
        if (i >= 2) {
            OK(cuStreamWaitEvent(s, used[i % 2], 0));
        }
        OK(cuMemsetD32Async(buffers[i % 2], i, WORDS, s));
        OK(cuEventRecord(full[i % 2], s));
        OK(cuStreamWaitEvent(u, full[i % 2], 0));
        OK(cuMemcpyDtoDAsync(c, buffers[i % 2], BYTES, u));
        OK(cuEventRecord(used[i % 2], u));
    }
    fetch(u, c);
    return all(out, 5);
}

/* Nodes: 0 sets a; 1: b = a + 1 and 2: c = a + 2, side by side; 3: b = c + 10 behind both; 4: a = b. */
static bool captured(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD32Async(a, 3, WORDS, s));
    after(u, e, s);
    add(u, b, a, 1);
    add(s, c, a, 2);
    after(s, f, u);
    add(s, b, c, 10);
    OK(cuMemcpyDtoDAsync(a, b, BYTES, s));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, v));
    after(s, g, v);
    fetch(s, a);
    return all(out, 15);
}

/* Memory is allocated in one stream, used in another, and freed in the first. */
static bool stream_ordered(void)
{
    CUdeviceptr memory;
    OK(cuMemAllocAsync(&memory, BYTES, s));
    after(u, e, s);
    OK(cuMemsetD32Async(memory, 9, WORDS, u));
    add(u, b, memory, 1);
    after(s, f, u);
    OK(cuMemFreeAsync(memory, s));
    fetch(u, b);
    return all(out, 10);
}

static unsigned halved;
static void CUDA_CB halve(void *unused)
{
    (void)unused;
    halved = out[0] / 2;
}

static bool host_function(void)
{
    add(s, b, a, 8);
    OK(cuMemcpyDtoHAsync(out, b, BYTES, s));
    after(u, e, s);
    OK(cuLaunchHostFunc(u, halve, NULL));
    OK(cuStreamSynchronize(u));
    return halved == 4;
}

/* A copy from pageable memory is not done when the call returns, and this stream does not wait for the legacy one. */
static bool staged(void)
{
    unsigned words[WORDS];
    memset(words, 1, sizeof words);
    OK(cuMemcpyHtoD(a, words, BYTES));
    OK(cuStreamSynchronize(NULL));
    add(s, b, a, 0);
    fetch(s, b);
    return all(out, 0x01010101);
}

/* The host waits for one stream while another has work of before. */
static bool waits_for_one(void)
{
    for (unsigned i = 0; i < 8; i++) {
        add(v, c, c, 1);
    }
    add(s, b, a, 5);
    OK(cuStreamSynchronize(s));
    add(u, b, b, 1);
    fetch(u, b);
    bool right = all(out, 6);
    fetch(v, c);
    return right && all(out, 8);
}

/* Memory that one stream has freed may be what another gets. */
static bool reused(void)
{
    const size_t large = (size_t)2
                         << 20; /* the device gets such memory at the address that was freed last */
    bool right = true;
    for (unsigned i = 0; i < 10; i++) {
        CUdeviceptr memory, next;
        OK(cuMemAllocAsync(&memory, large, s));
        OK(cuMemsetD32Async(memory, i, WORDS, s));
        OK(cuMemFreeAsync(memory, s));
        OK(cuMemAllocAsync(&next, large, u));
        OK(cuMemsetD32Async(next, i + 1, WORDS, u));
        add(u, b, next, 1);
        OK(cuMemFreeAsync(next, u));
        if (i % 3 == 0) {
            fetch(u, b);
            right &= all(out, i + 2);
        }
    }
    return right;
}

/* Launched often enough to be made step by step: each turn a = a + 1, b = a + 2, c = b + 3, a = c. */
static bool steps(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    add(s, a, a, 1);
    add(s, b, a, 2);
    add(s, c, b, 3);
    OK(cuMemcpyDtoDAsync(a, c, BYTES, s));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 4; i++) {
        OK(cuGraphLaunch(exec, u));
    }
    fetch(u, a);
    return all(out, 24);
}

/* What a launch that is made twice must not change: it adds to what it finds. */
static bool in_place(void)
{
    for (unsigned i = 0; i < 4; i++) {
        add(s, a, a, 1);
        add(s, b, a, i);
    }
    fetch(s, a);
    bool first = all(out, 4);
    fetch(s, b);
    return first && all(out, 7);
}

#define PROGRAM(name) \
    { \
#name, name \
    }
const struct program programs[] = {
    PROGRAM(two_streams),    PROGRAM(copy_out),      PROGRAM(copy_in),  PROGRAM(polls),
    PROGRAM(legacy_first),   PROGRAM(fork_join),     PROGRAM(captured), PROGRAM(double_buffer),
    PROGRAM(waits_for_one),  PROGRAM(reused),        PROGRAM(steps),    PROGRAM(in_place),
    PROGRAM(stream_ordered), PROGRAM(host_function), PROGRAM(staged),
};
const size_t program_count = sizeof programs / sizeof programs[0];

bool program_run(const struct program *program)
{
    CUcontext context;
    CUmodule module;
    CUdeviceptr *arrays[] = {&a, &b, &c};
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "add"));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&u, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&v, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&f, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&g, CU_EVENT_DISABLE_TIMING));
    OK(cuMemHostAlloc((void **)&in, BYTES, 0));
    OK(cuMemHostAlloc((void **)&out, BYTES, 0));
    memset(out, 0, BYTES);
    for (size_t i = 0; i < sizeof arrays / sizeof(arrays[0]); i++) {
        OK(cuMemAlloc(arrays[i], BYTES));
        OK(cuMemsetD32Async(*arrays[i], 0, WORDS, s));
    }
    while (cuStreamQuery(s) == CUDA_ERROR_NOT_READY) { /* the waits that are left out are counted */
    }
    return program->run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies FIRST COUNT SEEDS [PLAN [large]]: generated programs that copy pageable and page-locked memory up and down, in streams of all kinds
 * and in threads, reuse host memory at once, free and allocate, capture, go beyond the end of allocations, and make
 * contexts anew. None has a conflict. Under each seed every byte is compared with what the calls say, and nothing may be
 * reported. With a plan (preload/apply/plan.h) and libgmtrace.so preloaded the fixes are on; what they did is printed.
 */
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define LANES 5
#define LARGE ((size_t)4 << 20)
#define STEPS 60

static bool is_large;

/* A stream and the memory that only it uses. */
struct lane {
    CUstream stream;
    bool is_free; /* the legacy stream and it do not wait for each other */
    CUdeviceptr memory;
    size_t bytes;
    uint8_t *model;  /* what the memory holds when all is done */
    uint8_t *host;   /* pageable */
    uint8_t *locked; /* page-locked */
};

/* Who makes calls: its lanes, and what it draws. */
struct actor {
    uint64_t random;
    struct lane *lanes;
    unsigned count;
    bool is_alone;
};

static CUcontext context;
static CUevent event;
static struct lane lanes[LANES];
static size_t bytes_of_lane = 4096;

static unsigned draw(struct actor *a, unsigned bound)
{
    return harness_draw(&a->random, bound);
}

static void fill(struct actor *a, uint8_t *at, size_t bytes)
{
    uint8_t value = (uint8_t)draw(a, 256), step = (uint8_t)(1 + draw(a, 255));
    for (size_t i = 0; i < bytes; i++) {
        at[i] = value;
        value = (uint8_t)(value + step);
    }
}

/* ---- the device's things ------------------------------------------------------------------------ */

static void open_lane(struct lane *lane, CUstream stream, bool is_free)
{
    *lane = (struct lane){.stream = stream, .is_free = is_free, .bytes = bytes_of_lane};
    OK(cuMemAlloc(&lane->memory, lane->bytes));
    OK(cuMemHostAlloc((void **)&lane->locked, lane->bytes, 0));
    OK(cuMemsetD8(lane->memory, 0, lane->bytes));
    lane->model = calloc(1, lane->bytes);
    lane->host = malloc(lane->bytes);
}

static void open_all(void)
{
    CUstream stream;
    context = harness_new_context();
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    open_lane(&lanes[0], CU_STREAM_LEGACY, false);
    open_lane(&lanes[1], CU_STREAM_PER_THREAD, false);
    for (unsigned i = 2; i < LANES; i++) {
        OK(cuStreamCreate(&stream, i == 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
        open_lane(&lanes[i], stream, i != 2);
    }
    OK(cuCtxSynchronize());
}

/* Before a call of the legacy stream that touches the lane's memory, and after it. */
static void before_legacy(const struct lane *lane)
{
    if (lane->is_free) {
        OK(cuStreamSynchronize(lane->stream));
    }
}
static void after_legacy(const struct lane *lane)
{
    if (lane->is_free) {
        OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    }
}

/* ---- steps -------------------------------------------------------------------------------------- */

struct range {
    size_t from, bytes;
};

static struct range draw_range(struct actor *a, const struct lane *lane)
{
    size_t bytes = draw(a, 3) == 0 ? 1 + draw(a, 80) : 1 + draw(a, (unsigned)lane->bytes);
    bytes = bytes > lane->bytes ? lane->bytes : bytes;
    return (struct range){draw(a, (unsigned)(lane->bytes - bytes + 1)), bytes};
}

static void upload(struct actor *a, struct lane *lane)
{
    struct range r = draw_range(a, lane);
    CUdeviceptr to = lane->memory + r.from;
    fill(a, lane->host, r.bytes);
    memcpy(lane->model + r.from, lane->host, r.bytes);
    switch (draw(a, 4)) {
    case 0: OK(cuMemcpyHtoDAsync(to, lane->host, r.bytes, lane->stream)); break;
    case 1: OK(cuMemcpyAsync(to, (CUdeviceptr)(uintptr_t)lane->host, r.bytes, lane->stream)); break;
    case 2:
        before_legacy(lane);
        OK(cuMemcpyHtoD(to, lane->host, r.bytes));
        after_legacy(lane);
        break;
    default:
        before_legacy(lane);
        OK(cuMemcpy(to, (CUdeviceptr)(uintptr_t)lane->host, r.bytes));
        after_legacy(lane);
        break;
    }
    memset(lane->host, 0xee, lane->bytes); /* it has been read */
}

static void download(struct actor *a, struct lane *lane)
{
    struct range r = draw_range(a, lane);
    CUdeviceptr from = lane->memory + r.from;
    memset(lane->host, 0xdd, r.bytes);
    switch (draw(a, 3)) {
    case 0: OK(cuMemcpyDtoHAsync(lane->host, from, r.bytes, lane->stream)); break;
    case 1:
        before_legacy(lane);
        OK(cuMemcpyDtoH(lane->host, from, r.bytes));
        break;
    default:
        before_legacy(lane);
        OK(cuMemcpy((CUdeviceptr)(uintptr_t)lane->host, from, r.bytes));
        break;
    }
    harness_same(lane->host, lane->model + r.from, r.bytes, "download");
}

static void work(struct actor *a, struct lane *lane)
{
    struct range r = draw_range(a, lane);
    uint8_t value = (uint8_t)draw(a, 256);
    size_t half = lane->bytes / 2;
    switch (draw(a, 4)) {
    case 0:
        OK(cuMemsetD8Async(lane->memory + r.from, value, r.bytes, lane->stream));
        memset(lane->model + r.from, value, r.bytes);
        break;
    case 1:
        OK(cuMemcpyDtoDAsync(lane->memory, lane->memory + half, half, lane->stream));
        memcpy(lane->model, lane->model + half, half);
        break;
    case 2: /* page-locked memory is written and read later: by way of it, without a wait */
        OK(cuStreamSynchronize(lane->stream));
        memset(lane->locked, 0xaa, lane->bytes);
        OK(cuMemcpyDtoHAsync(lane->locked, lane->memory + half, half, lane->stream));
        OK(cuMemcpyHtoDAsync(lane->memory, lane->locked, half, lane->stream));
        memcpy(lane->model, lane->model + half, half);
        break;
    default:
        OK(cuStreamSynchronize(lane->stream));
        fill(a, lane->locked, r.bytes);
        OK(cuMemcpyHtoDAsync(lane->memory + r.from, lane->locked, r.bytes, lane->stream));
        OK(cuStreamSynchronize(lane->stream));
        memcpy(lane->model + r.from, lane->locked, r.bytes);
        break;
    }
}

/* One lane gets a part of another one, in its own stream. */
static void cross(struct actor *a, struct lane *lane, struct lane *other)
{
    struct range r = draw_range(a, lane);
    if (lane == other || !a->is_alone) {
        return;
    }
    OK(cuEventRecord(event, other->stream));
    OK(cuStreamWaitEvent(lane->stream, event, 0));
    OK(cuMemcpyDtoDAsync(lane->memory + r.from, other->memory + r.from, r.bytes, lane->stream));
    OK(cuEventRecord(event, lane->stream));
    OK(cuStreamWaitEvent(other->stream, event, 0));
    memcpy(lane->model + r.from, other->model + r.from, r.bytes);
}

/* An upload without Async waits for its stream first: what that has written to the host is there. */
static void waits_first(struct actor *a)
{
    struct lane *lane = &lanes[0]; /* the stream of such a copy */
    uint8_t *before = malloc(lane->bytes);
    if (a->is_alone) {
        memcpy(before, lane->model, lane->bytes);
        OK(cuStreamSynchronize(lane->stream));
        memset(lane->locked, 0xcc, lane->bytes);
        OK(cuMemcpyDtoHAsync(lane->locked, lane->memory, lane->bytes, lane->stream));
        fill(a, lane->host, lane->bytes);
        OK(cuMemcpyHtoD(lane->memory, lane->host, lane->bytes));
        memcpy(lane->model, lane->host, lane->bytes);
        harness_same(lane->locked, before, lane->bytes, "written before an upload");
    }
    free(before);
}

/* What goes beyond the end of an allocation fails, and moves nothing. */
static void beyond(struct lane *lane)
{
    size_t bytes = lane->bytes;
    uint8_t *large = malloc(bytes * 2), *before = malloc(bytes * 2);
    memset(large, 0xbb, bytes * 2);
    memset(before, 0xbb, bytes * 2);
    if (cuMemcpyHtoDAsync(lane->memory + bytes / 2, large, bytes, lane->stream) == CUDA_SUCCESS ||
        cuMemcpyDtoHAsync(large, lane->memory + bytes / 2, bytes, lane->stream) == CUDA_SUCCESS) {
        harness_fail("a copy beyond the end of an allocation succeeded");
    }
    harness_same(large, before, bytes * 2, "a download that failed");
    free(large);
    free(before);
}

/* The source of a copy in a graph is read when the graph runs. */
static void capture(struct actor *a, struct lane *lane)
{
    CUgraph graph;
    CUgraphExec exec;
    struct lane *other = &lanes[draw(a, LANES)];
    if (!a->is_alone || !lane->is_free) {
        return;
    }
    OK(cuStreamBeginCapture(lane->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    memset(lane->host, 0x11, lane->bytes);
    OK(cuMemcpyHtoDAsync(lane->memory, lane->host, lane->bytes, lane->stream));
    if (other->is_free && other != lane) {
        upload(a, other);
    }
    OK(cuStreamEndCapture(lane->stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    fill(a, lane->host, lane->bytes);
    memcpy(lane->model, lane->host, lane->bytes);
    OK(cuGraphLaunch(exec, lane->stream));
    OK(cuStreamSynchronize(lane->stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Registered memory is not staged: such a copy is read later, and without Async it is done when it returns. */
static void registered(struct actor *a, struct lane *lane)
{
    fill(a, lane->host, lane->bytes);
    OK(cuMemHostRegister(lane->host, lane->bytes, 0));
    OK(cuMemcpyHtoDAsync(lane->memory, lane->host, lane->bytes, lane->stream));
    OK(cuStreamSynchronize(lane->stream));
    memcpy(lane->model, lane->host, lane->bytes);
    OK(cuMemcpyDtoHAsync(lane->host, lane->memory, lane->bytes, lane->stream));
    OK(cuStreamSynchronize(lane->stream));
    harness_same(lane->host, lane->model, lane->bytes, "registered memory");
    OK(cuMemHostUnregister(lane->host));
}

static void renew(struct actor *a, struct lane *lane)
{
    if (a->is_alone) {
        OK(cuMemFree(lane->memory));
        OK(cuMemAlloc(&lane->memory, lane->bytes));
        OK(cuMemsetD8Async(lane->memory, 9, lane->bytes, lane->stream));
        memset(lane->model, 9, lane->bytes);
    }
}

static void restart(struct actor *a)
{
    if (a->is_alone && draw(a, 4) == 0) {
        OK(cuCtxSynchronize());
        OK(cuCtxDestroy(context));
        open_all();
    }
}

/* Two contexts at once: what is in one is not staged by the ring of the other. */
static void second_context(struct actor *a)
{
    CUcontext second;
    uint8_t bytes[512], back[512];
    CUdeviceptr memory;
    if (!a->is_alone) {
        return;
    }
    second = harness_new_context();
    OK(cuMemAlloc(&memory, sizeof bytes));
    fill(a, bytes, sizeof bytes);
    OK(cuMemcpyHtoD(memory, bytes, sizeof bytes));
    OK(cuMemcpyDtoH(back, memory, sizeof bytes));
    harness_same(back, bytes, sizeof bytes, "a second context");
    OK(cuCtxDestroy(second));
    OK(cuCtxSetCurrent(context));
}

/* The error of a kernel comes back from the copy that waits for it. */
static void fault(struct actor *a)
{
    struct lane *lane = &lanes[0];
    OK(cuLaunchKernel(harness_failing_kernel(), 1, 1, 1, 1, 1, 1, 0, lane->stream, NULL, NULL));
    memset(lane->host, 0x77, lane->bytes);
    CUresult result = draw(a, 2) == 0 ? cuMemcpyHtoD(lane->memory, lane->host, lane->bytes)
                                      : cuMemcpyDtoH(lane->host, lane->memory, lane->bytes);
    if (result != CUDA_ERROR_ILLEGAL_ADDRESS) {
        harness_fail("a copy behind a kernel that failed returns %d", (int)result);
    }
    _exit(0);
}

static void step(struct actor *a)
{
    struct lane *lane = &a->lanes[draw(a, a->count)];
    unsigned what = draw(a, 32);
    if (what < 12) {
        upload(a, lane);
    } else if (what < 20) {
        download(a, lane);
    } else if (what < 24) {
        work(a, lane);
    } else if (what < 26) {
        cross(a, lane, &a->lanes[draw(a, a->count)]);
    } else if (what < 27) {
        waits_first(a);
    } else if (what < 28) {
        beyond(lane);
    } else if (what < 29) {
        capture(a, lane);
    } else if (what < 30) {
        registered(a, lane);
    } else if (what < 31) {
        renew(a, lane);
    } else if (draw(a, 2) == 0) {
        second_context(a);
    } else {
        restart(a);
    }
}

/* ---- the test ----------------------------------------------------------------------------------- */

static void *act(void *actor)
{
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < STEPS / 2; i++) {
        step(actor);
    }
    return NULL;
}

/* In a process of its own. */
static void run(void)
{
    unsigned program = harness_program;
    struct actor all = {program + 1, lanes, LANES, true};
    is_large = harness_word != NULL;
    bytes_of_lane = is_large ? LARGE : (size_t)256 << program % 5;
    OK(cuInit(0));
    open_all();
    if (program % 4 == 3) {
        pthread_t threads[2];
        struct actor own[2] = {{program + 1, lanes + 2, 2, false}, {~program, lanes + 4, 1, false}};
        for (int i = 0; i < 2; i++) {
            (void)pthread_create(&threads[i], NULL, act, &own[i]);
        }
        for (int i = 0; i < 2; i++) {
            (void)pthread_join(threads[i], NULL);
        }
    } else {
        for (int i = 0; i < (is_large ? STEPS / 4 : STEPS); i++) {
            step(&all);
        }
    }
    for (unsigned i = 0; i < LANES; i++) {
        before_legacy(&lanes[i]);
        OK(cuMemcpyDtoH(lanes[i].host, lanes[i].memory, lanes[i].bytes));
        harness_same(lanes[i].host, lanes[i].model, lanes[i].bytes, "the end");
    }
    OK(cuCtxSynchronize());
    harness_expect_no_conflict();
    if (program % 4 == 0) {
        fault(&all);
    }
}

int main(int argc, char **argv)
{
    static const enum gmt_fix fix = GMT_FIX_PAGEABLE_STAGING;
    return harness_main(argc, argv, run, &fix, 1);
}

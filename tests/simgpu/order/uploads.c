/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploads FIRST COUNT SEEDS [PLAN [time|streams]]: generated programs that copy small pieces and rows to the device, one behind the other, reuse host
 * memory at once, and look at what is there in every way: downloads, other streams behind an event, memsets, copies on the device, queries,
 * frees, captures, contexts, threads, children, IPC. None has a conflict. Under each seed every byte is compared with what the calls say, and nothing
 * may be reported. With a plan (preload/apply/plan.h) and libgmtrace.so preloaded the fixes are on; what they did is printed.
 * `time`: bytes arrive without a further call. `streams`: copies are held back, or not, as streams come, work and go.
 */
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "uploads.h"

#define PLACES 4
#define STEPS 60

static CUcontext context;
static CUstream waits, free_stream; /* for the legacy stream, and not */
static CUevent event;
static struct place places[PLACES];
static size_t bytes_of_place;

static void fill(struct actor *a, uint8_t *at, size_t bytes)
{
    uint8_t value = (uint8_t)draw(a, 256), step = (uint8_t)(1 + draw(a, 255));
    for (size_t i = 0; i < bytes; i++) {
        at[i] = value;
        value = (uint8_t)(value + step);
    }
}

/* ---- the device's things ------------------------------------------------------------------------ */

static void open_place(struct place *place)
{
    place->bytes = bytes_of_place;
    OK(cuMemAlloc(&place->memory, place->bytes));
    OK(cuMemsetD8(place->memory, 0, place->bytes));
    place->model = calloc(1, place->bytes);
}

static void open_all(void)
{
    context = harness_new_context();
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamCreate(&waits, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&free_stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < PLACES; i++) {
        open_place(&places[i]);
    }
    OK(cuCtxSynchronize());
}

static void open_actor(struct actor *a)
{
    a->host_bytes = 4 * bytes_of_place;
    a->host = malloc(a->host_bytes);
    OK(cuMemHostAlloc((void **)&a->locked, bytes_of_place, 0));
    a->registered = aligned_alloc(4096, 4096);
    OK(cuMemHostRegister(a->registered, 4096, 0));
}

/* ---- uploads ------------------------------------------------------------------------------------ */

void upload_bytes(struct actor *a, struct place *place, size_t to, uint8_t *from, size_t bytes)
{
    fill(a, from, bytes);
    memcpy(place->model + to, from, bytes);
    if (draw(a, 4) == 0) {
        OK(cuMemcpy(place->memory + to, (CUdeviceptr)(uintptr_t)from, bytes));
    } else {
        OK(cuMemcpyHtoD(place->memory + to, from, bytes));
    }
    memset(from, 0xee, bytes); /* it has been read */
}

/* Anywhere: side by side, apart, across each other. */
static void pieces(struct actor *a, struct place *place)
{
    size_t most = 1 + draw(a, (unsigned)place->bytes / 4), at = draw(a, (unsigned)place->bytes);
    bool follow = draw(a, 2) == 0;
    for (unsigned i = 0, count = 1 + draw(a, 12); i < count; i++) {
        size_t bytes = 1 + draw(a, (unsigned)most);
        at = follow && i != 0 && at + bytes <= place->bytes
                 ? at
                 : draw(a, (unsigned)(place->bytes - bytes + 1));
        upload_bytes(a, place, at, a->host + draw(a, (unsigned)place->bytes), bytes);
        at += bytes;
        place = draw(a, 6) == 0 ? &a->places[draw(a, a->count)] : place;
    }
}

/* Equal distances; some rows are longer than what lies between two of them, so that they overlap. */
static void rows(struct actor *a, struct place *place)
{
    size_t width = 1 + draw(a, 40), step = draw(a, 8) == 0 ? 1 + width / 2 : width + draw(a, 20);
    size_t src_step = width + draw(a, 20), count = 1 + draw(a, 12);
    count = count * step + width <= place->bytes ? count : (place->bytes - width) / step;
    size_t first = draw(a, (unsigned)(place->bytes - count * step - width + 1));
    unsigned odd = draw(a, 40); /* a row that lies elsewhere */
    for (size_t i = 0; i < count; i++) {
        upload_bytes(a, place, i == odd ? 0 : first + i * step, a->host + i * src_step, width);
    }
}

/* A copy that goes beyond the end says so itself, and comes to nothing; those around it arrive. */
static void beyond(struct actor *a, struct place *place)
{
    pieces(a, place);
    size_t bytes = 2 + draw(a, 30);
    harness_expect(cuMemcpyHtoD(place->memory + place->bytes - 1, a->host, bytes),
                   CUDA_ERROR_INVALID_VALUE, "an upload beyond the end of an allocation");
}

static void from_locked(struct actor *a, struct place *place)
{
    size_t bytes = draw(a, 2) == 0 ? place->bytes / 4 : 16;
    uint8_t *from = draw(a, 3) == 0 ? a->registered : a->locked;
    for (unsigned i = 0; i < 4; i++) {
        fill(a, from, bytes);
        memcpy(place->model + i * bytes, from, bytes);
        OK(cuMemcpyHtoD(place->memory + i * bytes, from, bytes));
        memset(from, 0xaa, bytes);
    }
}

/* In order with those without Async, and read in the call. */
static void asynchronous(struct actor *a, struct place *place)
{
    size_t bytes = 1 + draw(a, (unsigned)place->bytes / 2);
    fill(a, a->host, bytes);
    memcpy(place->model, a->host, bytes);
    OK(cuMemcpyHtoDAsync(place->memory, a->host, bytes, draw(a, 2) == 0 ? NULL : waits));
    memset(a->host, 0xee, bytes);
}

/* ---- who looks ---------------------------------------------------------------------------------- */

void upload_download(struct actor *a, const struct place *place)
{
    memset(a->host, 0xdd, place->bytes);
    OK(cuMemcpyDtoH(a->host, place->memory, place->bytes));
    harness_same(a->host, place->model, place->bytes, "a download");
}

/* Another stream, which waits for an event alone. */
static void behind_event(struct actor *a, const struct place *place)
{
    memset(a->locked, 0xcc, place->bytes);
    OK(cuEventRecord(event, CU_STREAM_LEGACY));
    OK(cuStreamWaitEvent(free_stream, event, 0));
    OK(cuMemcpyDtoHAsync(a->locked, place->memory, place->bytes, free_stream));
    OK(cuStreamSynchronize(free_stream));
    harness_same(a->locked, place->model, place->bytes, "another stream behind an event");
}

/* Any stream: copies from page-locked memory are there when they return. */
static void behind_locked(struct actor *a, struct place *place)
{
    size_t bytes = 1 + draw(a, 32);
    for (size_t i = 0; i < 6; i++) {
        fill(a, a->locked, bytes);
        memcpy(place->model + i * bytes, a->locked, bytes);
        OK(cuMemcpyHtoD(place->memory + i * bytes, a->locked, bytes));
    }
    OK(cuMemcpyDtoHAsync(a->registered, place->memory, place->bytes, free_stream));
    OK(cuStreamSynchronize(free_stream));
    harness_same(a->registered, place->model, place->bytes, "another stream behind copies");
}

static void work(struct actor *a, struct place *place)
{
    size_t half = place->bytes / 2, bytes = 1 + draw(a, (unsigned)half);
    uint8_t value = (uint8_t)draw(a, 256);
    switch (draw(a, 4)) {
    case 0:
        OK(cuMemsetD8Async(place->memory + half, value, bytes, waits));
        memset(place->model + half, value, bytes);
        break;
    case 1:
        OK(cuMemsetD8(place->memory, value, bytes));
        memset(place->model, value, bytes);
        break;
    case 2:
        OK(cuMemcpyDtoD(place->memory, place->memory + half, half));
        memcpy(place->model, place->model + half, half);
        break;
    default:
        OK(cuMemcpyDtoDAsync(place->memory + half, place->memory, half, waits));
        memcpy(place->model + half, place->model, half);
        break;
    }
}

/* Where all was done, a query says so, and what has not been asked for is not done. */
static void query(struct actor *a)
{
    CUresult result = CUDA_ERROR_NOT_READY;
    OK(cuEventRecord(event, CU_STREAM_LEGACY));
    for (int i = 0; i < 1000 && result == CUDA_ERROR_NOT_READY; i++) {
        result = draw(a, 2) == 0 ? cuEventQuery(event) : cuStreamQuery(CU_STREAM_LEGACY);
    }
    harness_expect(result, CUDA_SUCCESS, "a query that is repeated");
}

static void renew(struct actor *a, struct place *place)
{
    pieces(a, place);
    OK(cuMemFree(place->memory));
    OK(cuMemAlloc(&place->memory, place->bytes));
    OK(cuMemsetD8(place->memory, 9, place->bytes));
    memset(place->model, 9, place->bytes);
    upload_download(a, place);
}

/* Copies beside a capture are done, and are no part of the graph. */
static void capture(struct actor *a, struct place *place)
{
    CUgraph graph;
    CUgraphExec exec;
    size_t nodes = 0;
    pieces(a, place);
    OK(cuStreamBeginCapture(free_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD8Async(place->memory, 7, 1, free_stream));
    pieces(a, place);
    rows(a, place);
    OK(cuStreamEndCapture(free_stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    harness_expect(nodes == 1 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, CUDA_SUCCESS, "nodes");
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cuGraphLaunch(exec, free_stream));
    OK(cuStreamSynchronize(free_stream));
    place->model[0] = 7;
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void *without_context(void *unused)
{
    OK(cuEventSynchronize(event));
    return unused;
}

/* Who makes the next call has no context, or another one. */
static void elsewhere(struct actor *a, struct place *place)
{
    pthread_t thread;
    CUcontext second;
    OK(cuEventRecord(event, CU_STREAM_LEGACY));
    rows(a, place);
    if (draw(a, 4) == 0) {
        uint8_t bytes[64], back[64];
        CUdeviceptr memory;
        second = harness_new_context();
        OK(cuMemAlloc(&memory, sizeof bytes));
        for (size_t i = 0; i < sizeof bytes; i += 8) {
            fill(a, bytes + i, 8);
            OK(cuMemcpyHtoD(memory + i, bytes + i, 8));
        }
        OK(cuMemcpyDtoH(back, memory, sizeof back));
        harness_same(back, bytes, sizeof back, "a second context");
        OK(cuCtxDestroy(second));
        OK(cuCtxSetCurrent(context));
    } else {
        (void)pthread_create(&thread, NULL, without_context, NULL);
        (void)pthread_join(thread, NULL);
    }
    upload_download(a, place);
}

/* Without a context it fails, behind what was copied before. */
static void without_current(struct actor *a, struct place *place)
{
    rows(a, place);
    OK(cuCtxSetCurrent(NULL));
    harness_expect(cuMemcpyHtoD(place->memory, a->host, 8), CUDA_ERROR_INVALID_CONTEXT,
                   "an upload without a context");
    OK(cuCtxSetCurrent(context));
}

/* A stream that does not wait for the legacy one has work. */
static void beside_work(struct actor *a, struct place *place)
{
    CUdeviceptr other;
    rows(a, place);
    OK(cuMemAlloc(&other, 4096));
    for (size_t i = 0; i < 64; i++) {
        OK(cuMemsetD8Async(other + i * 64, 1, 64, free_stream));
    }
    pieces(a, place);
    rows(a, place);
    upload_download(a, place);
    OK(cuMemFree(other));
}

/* From now on another process may look. */
static void share(struct actor *a, struct place *place)
{
    CUipcMemHandle handle;
    rows(a, place);
    (void)cuIpcGetMemHandle(&handle,
                            place->memory); /* the software device has none for so small a block */
    rows(a, place);
}

static void restart(struct actor *a)
{
    if (draw(a, 4) == 0) {
        rows(a, &a->places[0]);
        OK(cuCtxDestroy(context));
        open_all();
        open_actor(a);
    }
}

/* A child has no CUDA, and ends. */
static void child(struct actor *a, struct place *place)
{
    int status = 1;
    rows(a, place);
    pid_t pid = fork();
    if (pid == 0) {
        (void)cuStreamQuery(CU_STREAM_LEGACY);
        _exit(0);
    }
    harness_expect(waitpid(pid, &status, 0) == pid && status == 0 ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_UNKNOWN,
                   CUDA_SUCCESS, "a child");
    upload_download(a, place);
}

/* The error of a kernel comes back from the copy that waits for it. */
static void fault(struct actor *a)
{
    CUfunction kernel = harness_failing_kernel();
    rows(a, &a->places[0]);
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, NULL, NULL));
    harness_expect(cuMemcpyHtoD(a->places[0].memory, a->host, 8), CUDA_ERROR_ILLEGAL_ADDRESS,
                   "an upload behind a kernel that failed");
    _exit(0);
}

/* ---- the test ----------------------------------------------------------------------------------- */

static void step_alone(struct actor *a, struct place *place)
{
    switch (draw(a, 15)) {
    case 0:
    case 1: behind_event(a, place); break;
    case 13:
    case 14: behind_locked(a, place); break;
    case 2: query(a); break;
    case 3:
    case 4: renew(a, place); break;
    case 5: capture(a, place); break;
    case 6: elsewhere(a, place); break;
    case 7: restart(a); break;
    case 8: child(a, place); break;
    case 9: without_current(a, place); break;
    case 10: beside_work(a, place); break;
    case 11:
        if (harness_program % 8 == 2) {
            share(a, place);
        }
        break;
    default: usleep(draw(a, 300)); break;
    }
}

static void step(struct actor *a)
{
    struct place *place = &a->places[draw(a, a->count)];
    unsigned what = draw(a, 32);
    if (what < 8) {
        pieces(a, place);
    } else if (what < 16) {
        rows(a, place);
    } else if (what < 20) {
        upload_download(a, place);
    } else if (what < 23) {
        work(a, place);
    } else if (what < 24) {
        beyond(a, place);
    } else if (what < 25) {
        from_locked(a, place);
    } else if (what < 26) {
        asynchronous(a, place);
    } else if (a->is_alone) {
        step_alone(a, place);
    }
}

static void *act(void *actor)
{
    OK(cuCtxSetCurrent(context));
    open_actor(actor);
    for (int i = 0; i < STEPS; i++) {
        step(actor);
    }
    return NULL;
}

/* What was copied last is there, though no call comes. */
static void wait_without_call(struct actor *a)
{
    struct place *place = &a->places[0];
    const volatile uint8_t *there = (const volatile uint8_t *)(uintptr_t)place->memory;
    for (size_t i = 0; i < 5; i++) {
        upload_bytes(a, place, i * 20, a->host + i * 16, 16);
    }
    for (int i = 0; i < 5000 && there[95] != place->model[95]; i++) {
        usleep(1000);
    }
    harness_expect(there[95] == place->model[95] ? CUDA_SUCCESS : CUDA_ERROR_TIMEOUT, CUDA_SUCCESS,
                   "waiting for the last row without a call");
}

/* In a process of its own. */
static void run(void)
{
    unsigned program = harness_program;
    struct actor all = {.random = program + 1, .places = places, .count = PLACES, .is_alone = true};
    bytes_of_place = (size_t)512 << program % 4;
    OK(cuInit(0));
    open_all();
    if (program % 4 == 3) {
        pthread_t threads[2];
        struct actor own[2] = {{.random = program + 1, .places = places, .count = 2},
                               {.random = ~program, .places = places + 2, .count = 2}};
        for (int i = 0; i < 2; i++) {
            (void)pthread_create(&threads[i], NULL, act, &own[i]);
        }
        for (int i = 0; i < 2; i++) {
            (void)pthread_join(threads[i], NULL);
        }
        open_actor(&all);
    } else {
        open_actor(&all);
        for (int i = 0; i < STEPS && harness_word == NULL; i++) {
            step(&all);
        }
    }
    if (harness_word != NULL && strcmp(harness_word, "time") == 0) {
        wait_without_call(&all);
    } else if (harness_word != NULL) {
        upload_beside_streams(&all);
    }
    for (unsigned i = 0; i < PLACES; i++) {
        upload_download(&all, &places[i]);
    }
    OK(cuCtxSynchronize());
    harness_expect_no_conflict();
    if (program % 4 == 0) {
        fault(&all);
    }
}

int main(int argc, char **argv)
{
    static const enum gmt_fix fixes[] = {GMT_FIX_ROWS_IN_ONE, GMT_FIX_GATHERED_COPIES};
    return harness_main(argc, argv, run, fixes, 2);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generated FIRST COUNT SEEDS: generated programs under SIMGPU_ORDER: streams of all kinds, events, graphs, waits, memory that is freed and reused, compared
 * with a reference (model.h). What must come first comes first; what the host waits for is done; memory of programs
 * without conflicts holds what it holds when all is done in the order of the calls; a conflict is reported if and only if
 * there is one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#include "harness.h"
#include "model.h"

#define STEPS 50
#define EVENTS 4
#define NODES 8

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry mix(.param .u64 out, .param .u64 in, .param .u32 value)\n"
    "{\n .reg .b32 %r<5>;\n .reg .b64 %rd<3>;\n"
    " ld.param.u64 %rd1, [out];\n ld.param.u64 %rd2, [in];\n ld.param.u32 %r1, [value];\n"
    " ld.global.u32 %r2, [%rd2];\n mad.lo.u32 %r3, %r2, 31, %r1;\n"
    " st.global.u32 [%rd1], %r3;\n ret;\n}\n";

static struct {
    uint64_t random;
    struct model model;
    CUstream streams[MODEL_STREAMS];
    CUevent events[EVENTS];
    int recorded[EVENTS]; /* the operation that did, -1: none */
    CUdeviceptr words[MODEL_WORDS];
    unsigned expected[MODEL_WORDS]; /* when all is done in the order of the calls */
    CUfunction mix;
    bool apart;                    /* each stream has a word of its own: nothing conflicts */
    volatile int done[MODEL_MOST]; /* log numbers, in the order in which they came */
    volatile int done_count;
    int logs, known; /* log numbers given out; how many of `done` the model knows */
    int operation_of[MODEL_MOST];
} t;

static unsigned draw(unsigned bound)
{
    return harness_draw(&t.random, bound);
}

static void CUDA_CB note(void *number)
{
    t.done[t.done_count++] = (int)(intptr_t)number;
}

/* Host functions that have run show the host that all before them is done. */
static void learn(void)
{
    for (; t.known < t.done_count; t.known++) {
        model_see(&t.model, t.operation_of[t.done[t.known]]);
    }
}

/* ---- operations -------------------------------------------------------------------------------- */

struct action {
    enum { LOG, SET, MIX, COPY, KINDS } kind;
    unsigned to, from, value;
};

static struct action draw_action(void)
{
    return (struct action){(int)draw(KINDS), draw(MODEL_WORDS), draw(MODEL_WORDS), draw(1000)};
}

static uint8_t reads_of(const struct action *action)
{
    return action->kind == MIX || action->kind == COPY ? (uint8_t)(1u << action->from) : 0;
}

static uint8_t writes_of(const struct action *action)
{
    return action->kind == LOG ? 0 : (uint8_t)(1u << action->to);
}

static void expect(const struct action *action)
{
    switch (action->kind) {
    case SET: t.expected[action->to] = action->value; break;
    case MIX: t.expected[action->to] = t.expected[action->from] * 31 + action->value; break;
    case COPY: t.expected[action->to] = t.expected[action->from]; break;
    default: break;
    }
}

static void call(const struct action *action, CUstream stream, int log)
{
    CUdeviceptr to = t.words[action->to], from = t.words[action->from];
    unsigned value = action->value;
    switch (action->kind) {
    case LOG: OK(cuLaunchHostFunc(stream, note, (void *)(intptr_t)log)); break;
    case SET: OK(cuMemsetD32Async(to, value, 1, stream)); break;
    case COPY: OK(cuMemcpyDtoDAsync(to, from, 4, stream)); break;
    default:
        OK(cuLaunchKernel(t.mix, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&to, &from, &value},
                          NULL));
        break;
    }
}

static void act(void)
{
    struct action action = draw_action();
    int stream = (int)draw(MODEL_STREAMS), log = action.kind == LOG ? t.logs++ : -1;
    if (t.apart) {
        action.to = action.from = (unsigned)stream;
    }
    int number = model_append(&t.model, stream, reads_of(&action), writes_of(&action), log);
    if (log >= 0) {
        t.operation_of[log] = number;
    }
    expect(&action);
    call(&action, t.streams[stream], log);
}

/* Captured over two streams that fork and join at random; launched in up to two streams, twice. */
static void launch_graph(void)
{
    struct action actions[NODES];
    bool edges[NODES][NODES] = {0};
    CUstream capture[2];
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamCreate(&capture[0], CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&capture[1], CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(capture[0], CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(event, capture[0]));
    OK(cuStreamWaitEvent(capture[1], event, 0));
    bool after[2][NODES] = {{false}}; /* nodes that the next one of the stream comes after */
    for (int i = 0; i < NODES; i++) {
        unsigned side = draw(2);
        if (draw(3) == 0) { /* one waits for the other */
            OK(cuEventRecord(event, capture[1 - side]));
            OK(cuStreamWaitEvent(capture[side], event, 0));
            for (int k = 0; k < i; k++) {
                after[side][k] |= after[1 - side][k];
            }
        }
        actions[i] = draw_action();
        actions[i].kind = actions[i].kind == LOG ? SET : actions[i].kind;
        call(&actions[i], capture[side], -1);
        memcpy(edges[i], after[side], sizeof edges[i]);
        memset(after[side], 0, sizeof after[side]);
        after[side][i] = true;
    }
    OK(cuEventRecord(event, capture[1]));
    OK(cuStreamWaitEvent(capture[0], event, 0));
    OK(cuStreamEndCapture(capture[0], &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    int last_end = -1;
    for (int launch = 0; launch < 2; launch++) {
        int stream = (int)draw(MODEL_STREAMS), numbers[NODES];
        int start = model_append(&t.model, stream, 0, 0, -1);
        model_after(&t.model, start, last_end);
        for (int i = 0; i < NODES; i++) {
            numbers[i] = model_node(&t.model, reads_of(&actions[i]), writes_of(&actions[i]), -1);
            model_after(&t.model, numbers[i], start);
            for (int k = 0; k < i; k++) {
                if (edges[i][k]) {
                    model_after(&t.model, numbers[i], numbers[k]);
                }
            }
            expect(&actions[i]);
        }
        last_end = model_append(&t.model, stream, 0, 0, -1);
        for (int i = 0; i < NODES; i++) {
            model_after(&t.model, last_end, numbers[i]);
        }
        OK(cuGraphLaunch(exec, t.streams[stream]));
    }
    OK(cuGraphExecDestroy(exec)); /* what is under way goes on */
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(capture[0]));
    OK(cuStreamDestroy(capture[1]));
}

static void reuse(void)
{
    unsigned word = draw(MODEL_WORDS);
    if (draw(2) == 0 && !t.apart) {
        OK(cuMemFree(t.words[word]));
        model_see_all(&t.model);
        OK(cuMemAlloc(&t.words[word], 4));
        OK(cuMemsetD32(t.words[word], 5, 1));
        (void)model_append(&t.model, 0, 0, (uint8_t)(1u << word), -1);
        t.expected[word] = 5;
        return;
    }
    /* In the order of one stream; nothing else has the memory in between. */
    int stream = (int)draw(MODEL_STREAMS);
    CUdeviceptr memory;
    OK(cuMemAllocAsync(&memory, 64, t.streams[stream]));
    OK(cuMemsetD32Async(memory, 7, 16, t.streams[stream]));
    OK(cuMemFreeAsync(memory, t.streams[stream]));
    for (int i = 0; i < 3; i++) {
        (void)model_append(&t.model, stream, 0, 0, -1);
    }
}

/* ---- waits ------------------------------------------------------------------------------------- */

/* All that the host has waited for, and has a log number, has logged it. */
static void check_done(void)
{
    for (int i = 0; i < t.model.count; i++) {
        if (t.model.operations[i].log >= 0 && t.model.seen[i]) {
            bool found = false;
            for (int k = 0; k < t.done_count; k++) {
                found |= t.done[k] == t.model.operations[i].log;
            }
            if (!found) {
                harness_fail("operation %d was waited for, and is not done", i);
            }
        }
    }
}

static void wait_for_something(void)
{
    int stream = (int)draw(MODEL_STREAMS), event = (int)draw(EVENTS);
    switch (draw(4)) {
    case 0:
        OK(cuStreamSynchronize(t.streams[stream]));
        model_see_stream(&t.model, stream);
        break;
    case 1:
        while (cuStreamQuery(t.streams[stream]) == CUDA_ERROR_NOT_READY) {
        }
        model_see_stream(&t.model, stream);
        break;
    case 2:
        OK(cuEventSynchronize(t.events[event]));
        model_see(&t.model, t.recorded[event]);
        break;
    default:
        while (cuEventQuery(t.events[event]) == CUDA_ERROR_NOT_READY) {
        }
        model_see(&t.model, t.recorded[event]);
        break;
    }
    check_done();
}

/* Waiting for an event that was never recorded is nothing. */
static void use_event(void)
{
    int stream = (int)draw(MODEL_STREAMS), event = (int)draw(EVENTS);
    if (draw(2) == 0) {
        OK(cuEventRecord(t.events[event], t.streams[stream]));
        t.recorded[event] = model_append(&t.model, stream, 0, 0, -1);
        return;
    }
    OK(cuStreamWaitEvent(t.streams[stream], t.events[event], 0));
    if (t.recorded[event] >= 0) {
        int number = model_append(&t.model, stream, 0, 0, -1);
        model_after(&t.model, number, t.recorded[event]);
    }
}

/* ---- the test ---------------------------------------------------------------------------------- */

static void begin(void)
{
    const enum model_stream kinds[MODEL_STREAMS] = {MODEL_LEGACY,   MODEL_BLOCKING, MODEL_BLOCKING,
                                                    MODEL_BLOCKING, MODEL_FREE,     MODEL_FREE};
    CUcontext context;
    CUmodule module;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    memcpy(t.model.kinds, kinds, sizeof kinds);
    t.streams[0] = CU_STREAM_LEGACY;
    t.streams[1] = CU_STREAM_PER_THREAD;
    for (int i = 2; i < MODEL_STREAMS; i++) {
        OK(cuStreamCreate(&t.streams[i],
                          kinds[i] == MODEL_FREE ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    }
    for (int i = 0; i < EVENTS; i++) {
        OK(cuEventCreate(&t.events[i], CU_EVENT_DISABLE_TIMING));
        t.recorded[i] = -1;
    }
    for (int i = 0; i < MODEL_WORDS; i++) {
        OK(cuMemAlloc(&t.words[i], 4));
        OK(cuMemsetD32(t.words[i], 0, 1));
    }
    OK(cuCtxSynchronize());
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&t.mix, module, "mix"));
}

static void check_order(void)
{
    for (int a = 0; a < t.done_count; a++) {
        for (int b = a + 1; b < t.done_count; b++) {
            int first = t.operation_of[t.done[a]], second = t.operation_of[t.done[b]];
            if (t.model.before[second][first]) {
                harness_fail("operation %d was done after %d", second, first);
            }
        }
    }
    if (t.done_count != t.logs) {
        harness_fail("%d of %d host functions have run", t.done_count, t.logs);
    }
}

/* In a process of its own. Exit status 0: no conflict; 2: one, and reported. */
static void run(const char *report)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", harness_seed);
    setenv("SIMGPU_ORDER", text, 1);
    setenv("SIMGPU_ORDER_REPORT", report, 1);
    t.random = harness_program + 1;
    t.apart = harness_program % 3 == 1;
    bool careful = harness_program % 3 ==
                   0; /* such programs wait often, and have no conflicts at times */
    begin();
    for (int step = 0; step < STEPS && t.model.count < MODEL_MOST - 30; step++) {
        learn();
        unsigned what = draw(20);
        if (what < 10) {
            act();
        } else if (what < 15) {
            use_event();
        } else if (what < 16 && !t.apart) {
            launch_graph();
        } else if (what < 17) {
            reuse();
        } else {
            wait_for_something();
        }
        if (careful && draw(12) != 0) {
            OK(cuCtxSynchronize());
            model_see_all(&t.model);
            check_done();
        }
    }
    OK(cuCtxSynchronize());
    check_order();
    bool conflicts = model_conflicts(&t.model), reported = access(report, F_OK) == 0;
    if (conflicts != reported) {
        harness_fail("conflicts: %d, reported: %d", conflicts, reported);
    }
    for (int i = 0; i < MODEL_WORDS && !conflicts; i++) {
        unsigned value = 0;
        OK(cuMemcpyDtoH(&value, t.words[i], sizeof value));
        if (value != t.expected[i]) {
            harness_fail("word %d is %u, expected %u", i, value, t.expected[i]);
        }
    }
    _exit(conflicts ? 2 : 0);
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 0, with = 0, without = 0;
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 100,
             seeds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
    char report[] = "/tmp/order_report.XXXXXX";
    int file = mkstemp(report), status = 0, failed = 0;
    if (file < 0) {
        return 1;
    }
    close(file);
    for (harness_program = first; harness_program < first + count; harness_program++) {
        for (harness_seed = 1; harness_seed <= seeds; harness_seed++) {
            unlink(report);
            pid_t child = fork();
            if (child == 0) {
                alarm(120);
                run(report);
            }
            if (waitpid(child, &status, 0) != child) {
                return 1;
            }
            bool exited = WIFEXITED(status) &&
                          (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
            if (!exited && failed++ < 5) {
                fprintf(stderr, "FAIL: program %u, seed %u: status 0x%x\n", harness_program,
                        harness_seed, (unsigned)status);
            }
            with += exited && WEXITSTATUS(status) == 2;
            without += exited && WEXITSTATUS(status) == 0;
        }
    }
    unlink(report);
    printf("with a conflict %u, without %u, failed %d\n", with, without, failed);
    return failed == 0 && (count < 10 || (with != 0 && without != 0)) ? 0 : 1;
}

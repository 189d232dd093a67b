/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules SEEDS: each rule of the order of work, as a small program and the orders that are legal. All of these are seen under
 * some seed, and no other under any.
 */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_ORDERS 32

static char
    *order; /* what was done, a letter each; shared with the process that runs the program */
static CUstream a, b, c, free_a, free_b;
static CUevent event, other_event;
static unsigned *pinned;
static CUdeviceptr memory;

static void ok(CUresult result, const char *call, int line)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "line %d: %s: error %d\n", line, call, (int)result);
        _exit(1);
    }
}
#define OK(call) ok((call), #call, __LINE__)

static void CUDA_CB note(void *letter)
{
    order[strlen(order)] = *(const char *)letter;
}

/* Notes the letter when the stream gets there. */
static void log_in(CUstream stream, const char *letter)
{
    OK(cuLaunchHostFunc(stream, note, (void *)(uintptr_t)letter));
}

/* The host itself. */
static void now(const char *letter)
{
    note((void *)(uintptr_t)letter);
}

/* ---- programs ---------------------------------------------------------------------------------- */

static void one_stream(void)
{
    log_in(a, "1");
    log_in(a, "2");
    log_in(a, "3");
}

static void two_streams(void)
{
    log_in(a, "1");
    log_in(a, "2");
    log_in(b, "x");
}

static void legacy_after_blocking(void)
{
    log_in(a, "1");
    log_in(b, "x");
    log_in(NULL, "L");
}

static void blocking_after_legacy(void)
{
    log_in(NULL, "L");
    log_in(a, "1");
    log_in(CU_STREAM_PER_THREAD, "p");
}

static void non_blocking_beside_legacy(void)
{
    log_in(free_a, "1");
    log_in(NULL, "L");
    log_in(free_a, "2");
}

static void event_orders(void)
{
    log_in(a, "1");
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    log_in(b, "x");
    log_in(a, "2");
}

static void event_of_last_record(void)
{
    log_in(a, "1");
    OK(cuEventRecord(event, a));
    OK(cuEventRecord(event, c));
    OK(cuStreamWaitEvent(b, event, 0));
    log_in(b, "x");
}

static void event_recorded_later_is_not_waited_for(void)
{
    OK(cuStreamWaitEvent(b, event, 0));
    log_in(b, "x");
    log_in(a, "1");
    OK(cuEventRecord(event, a));
}

static void events_chain(void)
{
    log_in(free_a, "1");
    OK(cuEventRecord(event, free_a));
    OK(cuStreamWaitEvent(free_b, event, 0));
    OK(cuEventRecord(other_event, free_b));
    OK(cuStreamWaitEvent(c, other_event, 0));
    log_in(c, "x");
}

static void stream_synchronize(void)
{
    log_in(a, "1");
    log_in(b, "x");
    OK(cuStreamSynchronize(a));
    now("h");
}

static void stream_query(void)
{
    log_in(a, "1");
    while (cuStreamQuery(a) == CUDA_ERROR_NOT_READY) {
    }
    now("h");
}

static void event_synchronize(void)
{
    log_in(a, "1");
    OK(cuEventRecord(event, a));
    log_in(a, "2");
    OK(cuEventSynchronize(event));
    now("h");
}

static void context_synchronize(void)
{
    log_in(a, "1");
    log_in(free_a, "x");
    OK(cuCtxSynchronize());
    now("h");
}

static void launch_returns(void)
{
    log_in(a, "1");
    now("h");
}

static void free_waits(void)
{
    CUdeviceptr gone;
    OK(cuMemAlloc(&gone, 64));
    log_in(free_a, "1");
    OK(cuMemFree(gone));
    now("h");
}

static void free_async_does_not_wait(void)
{
    CUdeviceptr gone;
    OK(cuMemAllocAsync(&gone, 64, a));
    log_in(a, "1");
    OK(cuMemFreeAsync(gone, a));
    now("h");
}

static void copy_to_pageable_waits(void)
{
    unsigned word;
    log_in(a, "1");
    OK(cuMemcpyDtoHAsync(&word, memory, sizeof word, a));
    now("h");
}

static void copy_to_page_locked_does_not_wait(void)
{
    log_in(a, "1");
    OK(cuMemcpyDtoHAsync(pinned, memory, sizeof *pinned, a));
    now("h");
}

static void copy_from_pageable_is_staged(void)
{
    unsigned word = 1;
    OK(cuMemcpyHtoDAsync(memory, &word, sizeof word, a));
    word = 2;
    OK(cuStreamSynchronize(a));
    OK(cuMemcpyDtoH(&word, memory, sizeof word));
    now(word == 1 ? "1" : "2");
}

static void copy_from_page_locked_is_late(void)
{
    unsigned word;
    *pinned = 1;
    OK(cuMemcpyHtoDAsync(memory, pinned, sizeof *pinned, a));
    *pinned = 2;
    OK(cuStreamSynchronize(a));
    OK(cuMemcpyDtoH(&word, memory, sizeof word));
    now(word == 1 ? "1" : "2");
}

static void blocking_copy_of_page_locked_waits(void)
{
    log_in(a, "1"); /* the legacy stream comes after it */
    OK(cuMemcpyHtoD(memory, pinned, sizeof *pinned));
    now("h");
}

static void copy_on_the_device_does_not_wait(void)
{
    log_in(a, "1");
    OK(cuMemcpyDtoD(memory, memory + 4, 4));
    now("h");
}

static void memset_does_not_wait(void)
{
    log_in(a, "1");
    OK(cuMemsetD32(memory, 0, 1));
    now("h");
}

static void memset_of_page_locked_waits(void)
{
    log_in(a, "1");
    OK(cuMemsetD32((CUdeviceptr)pinned, 0, 1));
    now("h");
}

static void destroyed_stream_goes_on(void)
{
    CUstream gone;
    OK(cuStreamCreate(&gone, CU_STREAM_DEFAULT));
    log_in(gone, "1");
    OK(cuStreamDestroy(gone));
    log_in(NULL, "L");
}

/* 1, then 2 and 3 in any order, then 4. */
static CUgraphExec diamond(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(free_a, CU_STREAM_CAPTURE_MODE_RELAXED));
    log_in(free_a, "1");
    OK(cuEventRecord(event, free_a));
    OK(cuStreamWaitEvent(free_b, event, 0));
    log_in(free_b, "2");
    log_in(free_a, "3");
    OK(cuEventRecord(event, free_b));
    OK(cuStreamWaitEvent(free_a, event, 0));
    log_in(free_a, "4");
    OK(cuStreamEndCapture(free_a, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void graph_branches(void)
{
    OK(cuGraphLaunch(diamond(), a));
}

static void graph_in_stream(void)
{
    CUgraphExec exec = diamond();
    log_in(a, "a");
    OK(cuGraphLaunch(exec, a));
    log_in(a, "z");
}

static void graph_launches_in_two_streams(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(free_a, CU_STREAM_CAPTURE_MODE_RELAXED));
    log_in(free_a, "1");
    log_in(free_a, "2");
    OK(cuStreamEndCapture(free_a, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, free_a));
    OK(cuGraphLaunch(exec, free_b));
}

static void CUDA_CB note_callback(CUstream stream, CUresult status, void *letter)
{
    (void)stream;
    note(status == CUDA_SUCCESS ? letter : (void *)(uintptr_t) "!");
}

static void callback_in_stream(void)
{
    log_in(a, "1");
    OK(cuStreamAddCallback(a, note_callback, (void *)(uintptr_t) "2", 0));
    log_in(a, "3");
}

/* ---- the table --------------------------------------------------------------------------------- */

static const struct rule {
    const char *name;
    void (*program)(void);
    const char *legal; /* with blanks between */
} rules[] = {
#define RULE(name, legal) \
    { \
#name, name, legal \
    }
    RULE(one_stream, "123"),
    RULE(two_streams, "12x 1x2 x12"),
    RULE(legacy_after_blocking, "1xL x1L"),
    RULE(blocking_after_legacy, "L1p Lp1"),
    RULE(non_blocking_beside_legacy, "1L2 12L L12"),
    RULE(event_orders, "1x2 12x"),
    RULE(event_of_last_record, "1x x1"),
    RULE(event_recorded_later_is_not_waited_for, "1x x1"),
    RULE(events_chain, "1x"),
    RULE(stream_synchronize, "1hx 1xh x1h"),
    RULE(stream_query, "1h"),
    RULE(event_synchronize, "1h2 12h"),
    RULE(context_synchronize, "1xh x1h"),
    RULE(launch_returns, "1h h1"),
    RULE(free_waits, "1h"),
    RULE(free_async_does_not_wait, "1h h1"),
    RULE(copy_to_pageable_waits, "1h"),
    RULE(copy_to_page_locked_does_not_wait, "1h h1"),
    RULE(copy_from_pageable_is_staged, "1"),
    RULE(copy_from_page_locked_is_late, "1 2"),
    RULE(blocking_copy_of_page_locked_waits, "1h"),
    RULE(copy_on_the_device_does_not_wait, "1h h1"),
    RULE(memset_does_not_wait, "1h h1"),
    RULE(memset_of_page_locked_waits, "1h"),
    RULE(destroyed_stream_goes_on, "1L"),
    RULE(graph_branches, "1234 1324"),
    RULE(graph_in_stream, "a1234z a1324z"),
    RULE(graph_launches_in_two_streams, "1212"),
    RULE(callback_in_stream, "123"),
};

static void run(const struct rule *rule, unsigned seed)
{
    char text[16];
    CUcontext context;
    (void)snprintf(text, sizeof text, "%u", seed);
    setenv("SIMGPU_ORDER", text, 1);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&c, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&free_a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&free_b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&other_event, CU_EVENT_DISABLE_TIMING));
    OK(cuMemHostAlloc((void **)&pinned, 64, 0));
    OK(cuMemAlloc(&memory, 64));
    rule->program();
    OK(cuCtxSynchronize());
    _exit(0);
}

static bool is_legal(const struct rule *rule, const char *seen)
{
    const char *at = strstr(rule->legal, seen);
    size_t length = strlen(seen);
    return at != NULL && length != 0 && (at[length] == ' ' || at[length] == '\0') &&
           (at == rule->legal || at[-1] == ' ');
}

/* How many orders were seen that are not in `seen` yet. */
static unsigned add(char seen[MOST_ORDERS][16], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(seen[i], order) == 0) {
            return 0;
        }
    }
    if (count < MOST_ORDERS) {
        (void)snprintf(seen[count], sizeof seen[count], "%s", order);
    }
    return 1;
}

static bool check(const struct rule *rule, unsigned seeds)
{
    char seen[MOST_ORDERS][16] = {{0}};
    unsigned count = 0, wanted = 1;
    for (const char *at = rule->legal; *at != '\0'; at++) {
        wanted += *at == ' ';
    }
    for (unsigned seed = 1; seed <= seeds && count <= wanted; seed++) {
        int status = 0;
        memset(order, 0, 4096);
        pid_t child = fork();
        if (child == 0) {
            alarm(120);
            run(rule, seed);
        }
        if (waitpid(child, &status, 0) != child || status != 0) {
            printf("FAIL: %s, seed %u: status 0x%x\n", rule->name, seed, (unsigned)status);
            return false;
        }
        if (!is_legal(rule, order)) {
            printf("FAIL: %s, seed %u: %s is not legal\n", rule->name, seed, order);
            return false;
        }
        count += add(seen, count);
    }
    if (count != wanted) {
        printf("FAIL: %s: %u of %u legal orders were seen\n", rule->name, count, wanted);
    }
    return count == wanted;
}

int main(int argc, char **argv)
{
    unsigned seeds = argc > 1 ? (unsigned)atoi(argv[1]) : 40, failed = 0;
    order = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; order != MAP_FAILED && i < sizeof rules / sizeof rules[0]; i++) {
        failed += !check(&rules[i], seeds);
    }
    printf("%zu rules, %u failed\n", sizeof rules / sizeof rules[0], failed);
    return failed == 0 && order != MAP_FAILED ? 0 : 1;
}

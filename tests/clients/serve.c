/* SPDX-License-Identifier: Apache-2.0 */
/* A server: what it loads at its start stays, and then it does the same for as long as it runs. */
#define _GNU_SOURCE
#include "client.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 256, BLOCKS = 4 };

static CUstream stream;
static CUdeviceptr blocks[BLOCKS];
static CUfunction add;
static CUgraphExec exec;
static unsigned *host;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline)) static void load_weights(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECK(cu.cuMemAlloc(&blocks[i], (i + 1) << 20));
    }
    CHECK(cu.cuMemAllocHost((void **)&host, COUNT * sizeof *host));
}

__attribute__((noinline)) static void load_code(void)
{
    CUmodule module;
    CUgraph graph;
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    CHECK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(client_vector_add(add, blocks[0], blocks[1], blocks[2], COUNT, stream));
    CHECK(cu.cuMemsetD32Async(blocks[3], 0, COUNT, stream));
    CHECK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
}

__attribute__((noinline)) static void answer(long step)
{
    CUdeviceptr scratch;
    host[0] = (unsigned)step;
    CHECK(cu.cuMemAlloc(&scratch, 1 << 16));
    CHECK(cu.cuMemcpyHtoDAsync(blocks[1], host, COUNT * sizeof *host, stream));
    CHECK(client_vector_add(add, scratch, blocks[1], blocks[2], COUNT, stream));
    if (step % 8 == 7) {
        CHECK(cu.cuGraphLaunch(exec, stream));
    }
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemFree(scratch));
}

/* For so long; 0: until standard input ends. */
static void serve(long ms, int rest_ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int64_t end_ms = now_ms() + ms;
    bool goes_on = true;
    for (long step = 0; goes_on; step++) {
        answer(step);
        if (ms == 0) {
            goes_on = poll(&input, 1, rest_ms) == 0;
        } else {
            nanosleep(&(struct timespec){.tv_nsec = rest_ms * 1000000L}, NULL);
            goes_on = now_ms() < end_ms;
        }
    }
}

static void start(void)
{
    client_start();
    load_weights();
    load_code();
    puts("serving");
    fflush(stdout);
}

int scenario_serve(long n)
{
    start();
    serve(n, 1);
    puts("ended");
    return 0;
}

int scenario_serve_busily(long n)
{
    start();
    serve(n, 0);
    puts("ended");
    return 0;
}

int scenario_serve_too_much(long n)
{
    CUdeviceptr huge;
    start();
    serve(n, 1);
    printf("error %d\n", (int)cu.cuMemAlloc(&huge, (size_t)1 << 60));
    fflush(stdout);
    serve(0, 1);
    puts("ended");
    return 0;
}

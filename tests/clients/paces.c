/* SPDX-License-Identifier: Apache-2.0 */
/* Short calls as fast as they go, from places that differ only in who called: what a limit of overhead has to shed. */
#define _GNU_SOURCE
#include "client.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 16, ROUND = 64 };

static CUdeviceptr block;
static CUstream stream;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* One call site, one depth: nothing short of a walk distinguishes its callers. The wait is the program's own work. */
__attribute__((noinline)) static void set(void)
{
    CHECK(cu.cuMemsetD32Async(block, 0, COUNT, stream));
    int64_t began_ns = now_ns();
    while (now_ns() - began_ns < 5000) {
    }
}

/* Behind the call, so that it is no tail call; of each its own, so that they are not made one function. */
static volatile long mostly_count, seldom_count;

__attribute__((noinline)) static void mostly(void)
{
    set();
    mostly_count++;
}

__attribute__((noinline)) static void seldom(void)
{
    set();
    seldom_count++;
}

/* For `ms` from then on; 0: until standard input ends. */
static bool goes_on(int64_t began_ns, long ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return ms != 0 ? now_ns() < began_ns + ms * 1000000 : poll(&input, 1, 0) == 0;
}

/* N ms; three of four calls come from mostly(), in an order that repeats. */
int scenario_paces(long n)
{
    client_start();
    CHECK(cu.cuMemAlloc(&block, COUNT * sizeof(unsigned)));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    int64_t began_ns = now_ns();
    long calls = 0;
    for (; goes_on(began_ns, n); calls += ROUND) {
        for (int i = 0; i < ROUND; i++) {
            if (i % 4 == 3) {
                seldom();
            } else {
                mostly();
            }
        }
        CHECK(cu.cuStreamSynchronize(stream));
    }
    CHECK(cu.cuMemFree(block));
    printf("calls %ld\n", calls);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of hardclient about threads. */
#define _GNU_SOURCE
#include "hard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool enough;
static atomic_long calling;

static void *call_until_enough(void *context)
{
    CUdeviceptr memory;
    char host[64] = {1};
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    atomic_fetch_add(&calling, 1);
    while (!atomic_load(&enough)) {
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
        pthread_testcancel();
    }
    CHECK(cu.cuMemFree(memory));
    return NULL;
}

static bool start_callers(pthread_t *threads, long n, CUcontext context)
{
    for (long i = 0; i < n; i++) {
        if (pthread_create(&threads[i], NULL, call_until_enough, context) != 0) {
            return false;
        }
    }
    while (atomic_load(&calling) < n) {
        usleep(100);
    }
    return true;
}

int scenario_cancel(long n)
{
    pthread_t threads[64];
    int cancelled = 0;
    CUcontext context = client_start();
    if (n > 64 || !start_callers(threads, n, context)) {
        return 2;
    }
    for (long i = 0; i < n; i++) {
        void *result = NULL;
        pthread_cancel(threads[i]);
        pthread_join(threads[i], &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    hard_copies(100);
    printf("%d cancelled\n", cancelled);
    return 0;
}

int scenario_fork_storm(long n)
{
    pthread_t threads[4];
    long ended = 0;
    if (!start_callers(threads, 4, client_start())) {
        return 2;
    }
    for (long i = 0; i < n; i++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(3);
        }
        int status = 0;
        ended += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3;
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld children\n", ended);
    return 0;
}

static void *first_calls(void *unused)
{
    (void)unused;
    client_start();
    hard_copies(10);
    return NULL;
}

int scenario_small_stack(long n)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, (size_t)n << 10);
    if (error == 0) {
        error = pthread_create(&thread, &attributes, first_calls, NULL);
    }
    if (error == 0) {
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
    printf("error %d\n", error);
    return 0;
}

static void *call_and_end(void *context)
{
    CHECK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < 50; i++) {
        hard_copies(5);
        usleep(100);
    }
    exit(4);
}

int scenario_main_leaves(long n)
{
    pthread_t thread;
    (void)n;
    if (pthread_create(&thread, NULL, call_and_end, client_start()) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}

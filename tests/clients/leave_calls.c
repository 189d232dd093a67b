/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are left before they end: by threads that are cancelled or end, and by jumps. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/clients/leaveclient.h"

/* ---- threads that are cancelled --------------------------------------------------------------- */

static volatile int returned;

/* The request waits before the first call is made: none of the calls is a cancellation point. */
static void *call_with_request(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    leave_begin();
    returned = 1;
    leave_copy_to_host(1);
    returned = 2;
    pthread_testcancel();
    returned = 3;
    return NULL;
}

int leave_pending(void)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, call_with_request, NULL);
    pthread_join(thread, &result);
    printf("returned %d, %s\n", returned,
           result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    leave_copy_to_host(2);
    return 0;
}

static sem_t under_way;

static void never_end(void)
{
    sem_post(&under_way);
    for (;;) {
        pause();
    }
}

/* Freeing memory in a handler of the cancellation is a call like any other. */
static void clean_up(void *unused)
{
    (void)unused;
    leave_copy_to_host(1);
}

static void *call_and_never_end(void *cleans_up)
{
    pthread_cleanup_push(clean_up, NULL);
    (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
    pthread_cleanup_pop(0);
    (void)cleans_up;
    return NULL;
}

int leave_cancelled(void)
{
    sem_init(&under_way, 0, 0);
    leave_begin();
    *leave_driver.during = never_end;
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, call_and_never_end, NULL);
        sem_wait(&under_way);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    *leave_driver.during = NULL;
    leave_copy_to_host(10);
    return 0;
}

/* A thread that ends by itself within a call. */
static void end_thread(void)
{
    pthread_exit(NULL);
}

static void *call_once(void *unused)
{
    (void)unused;
    (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
    return NULL;
}

int leave_ended(void)
{
    leave_begin();
    *leave_driver.during = end_thread;
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, call_once, NULL);
        pthread_join(thread, NULL);
    }
    *leave_driver.during = NULL;
    leave_copy_to_host(10);
    return 0;
}

/* Wherever the request meets it: in the program, in the driver, before or after its call. */
static void *call_forever(void *unused)
{
    uint64_t mine;
    (void)unused;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
        (void)leave_driver.to_host(&mine, leave_memory, sizeof mine);
    }
    return NULL;
}

int leave_asynchronous(void)
{
    leave_begin();
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, call_forever, NULL);
        usleep((useconds_t)(100 + 7 * i % 400));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    leave_copy_to_host(10);
    puts("300 ended");
    return 0;
}

/* ---- calls that are jumped out of ------------------------------------------------------------- */

static jmp_buf back;

static void jump_out(void)
{
    longjmp(back, 1);
}

static void leave_one(void)
{
    *leave_driver.during = jump_out;
    if (setjmp(back) == 0) {
        (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
    }
    *leave_driver.during = NULL;
}

/* From further in than the call that was left. */
static __attribute__((noinline)) int copy_deep(int depth)
{
    volatile char frame[200];
    memset((void *)(uintptr_t)frame, depth, sizeof frame);
    if (depth == 0) {
        leave_copy_to_host(1);
    } else {
        copy_deep(depth - 1);
    }
    return frame[depth];
}

int leave_jump(void)
{
    leave_begin();
    for (int i = 0; i < 5; i++) {
        leave_one();
        leave_copy_to_host(10);
        leave_one();
        copy_deep(20);
        leave_copy_to_host(9);
    }
    return 0;
}

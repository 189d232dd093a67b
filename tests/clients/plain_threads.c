/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of plainclient about threads, stacks and contexts. */
#define _GNU_SOURCE
#include "plain.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_THREADS = 2000, SMALL_STACK = 16 << 10 };

static pthread_barrier_t gate;

static void *pass_gate(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&gate);
    free(malloc(100));
    return NULL;
}

int plain_threads(long n)
{
    static pthread_t threads[MOST_THREADS];
    if (n > MOST_THREADS || pthread_barrier_init(&gate, NULL, (unsigned)n) != 0) {
        return 2;
    }
    for (long i = 0; i < n; i++) {
        int error = pthread_create(&threads[i], NULL, pass_gate, NULL);
        if (error != 0) {
            printf("thread %ld: error %d\n", i, error);
            return 1;
        }
    }
    for (long i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld threads\n", n);
    return 0;
}

static void *end_program(void *unused)
{
    (void)unused;
    usleep(10000);
    puts("the other thread ends the program");
    exit(4);
}

int plain_thread_exit(long n)
{
    pthread_t thread;
    (void)n;
    if (pthread_create(&thread, NULL, end_program, NULL) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}

static void count_one(void *counter)
{
    __atomic_fetch_add((int *)counter, 1, __ATOMIC_RELAXED);
}

static void *wait_for_cancel(void *counter)
{
    pthread_cleanup_push(count_one, counter);
    pthread_barrier_wait(&gate);
    for (;;) {
        pause();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int plain_cancel(long n)
{
    static pthread_t threads[MOST_THREADS];
    int cleaned = 0, cancelled = 0;
    if (n > MOST_THREADS || pthread_barrier_init(&gate, NULL, (unsigned)n + 1) != 0) {
        return 2;
    }
    for (long i = 0; i < n; i++) {
        if (pthread_create(&threads[i], NULL, wait_for_cancel, &cleaned) != 0) {
            return 1;
        }
    }
    pthread_barrier_wait(&gate);
    for (long i = 0; i < n; i++) {
        void *result = NULL;
        pthread_cancel(threads[i]);
        pthread_join(threads[i], &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("%d cancelled, %d cleaned up\n", cancelled, cleaned);
    return 0;
}

static void *return_stack(void *unused)
{
    volatile char used[4096];
    (void)unused;
    for (size_t i = 0; i < sizeof used; i++) {
        used[i] = (char)i;
    }
    return (void *)(uintptr_t)(used[100] + 1);
}

int plain_small_stack(long n)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    (void)n;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, SMALL_STACK);
    if (error == 0) {
        error = pthread_create(&thread, &attributes, return_stack, NULL);
    }
    if (error == 0) {
        pthread_join(thread, &result);
    }
    pthread_attr_destroy(&attributes);
    printf("error %d, %d\n", error, (int)(uintptr_t)result);
    return 0;
}

static ucontext_t here, there;
static int visits;

static void visit(void)
{
    for (;;) {
        visits++;
        swapcontext(&there, &here);
    }
}

int plain_contexts(long n)
{
    static char stack[64 << 10];
    (void)n;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    makecontext(&there, visit, 0);
    for (int i = 0; i < 1000; i++) {
        swapcontext(&here, &there);
    }
    printf("%d visits\n", visits);
    return 0;
}

/* A tracer may use a few; a program that is left without any would be disturbed. */
int plain_keys(long n)
{
    pthread_key_t key;
    long made = 0;
    (void)n;
    while (pthread_key_create(&key, NULL) == 0) {
        made++;
    }
    puts(made > 1000 ? "more than 1000 keys" : "few keys");
    return 0;
}

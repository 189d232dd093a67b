/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on other stacks than a thread's own, within calls, and on the smallest there is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/clients/leaveclient.h"

/* ---- calls within a call, which are the driver's own business --------------------------------- */

static void call_within(void)
{
    leave_copy_to_host(3);
}

int leave_nested(void)
{
    leave_begin();
    *leave_driver.during = call_within;
    for (int i = 0; i < 10; i++) {
        (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
    }
    *leave_driver.during = NULL;
    leave_copy_to_host(10);
    return 0;
}

static void on_signal(int number)
{
    (void)number;
    leave_copy_to_host(3);
}

static void raise_within(void)
{
    raise(SIGUSR1);
}

/* The handler's stack lies above the call's frame, in the same stack. */
int leave_alternate(void)
{
    char handlers[65536];
    stack_t stack = {.ss_sp = handlers, .ss_size = sizeof handlers};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    leave_begin();
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    *leave_driver.during = raise_within;
    for (int i = 0; i < 10; i++) {
        (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
    }
    *leave_driver.during = NULL;
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    leave_copy_to_host(10);
    return 0;
}

static ucontext_t outside, inside;

static void body(void)
{
    for (;;) {
        leave_copy_to_host(3);
        swapcontext(&inside, &outside);
    }
}

static void switch_within(void)
{
    swapcontext(&outside, &inside);
}

static char *make_coroutine(void)
{
    const size_t bytes = 256 << 10;
    char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = bytes;
    makecontext(&inside, body, 0);
    return stack;
}

int leave_coroutine(void)
{
    leave_begin();
    (void)make_coroutine();
    *leave_driver.during = switch_within;
    for (int i = 0; i < 10; i++) {
        (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
    }
    *leave_driver.during = NULL;
    leave_copy_to_host(10);
    return 0;
}

static void end_coroutine(void)
{
    setcontext(&outside);
}

static void call_in_coroutine(void)
{
    (void)leave_driver.to_device(leave_memory, leave_host, sizeof leave_host);
}

/* A call that is left on a stack which then goes. */
int leave_lost_coroutine(void)
{
    volatile int left = 0;
    leave_begin();
    *leave_driver.during = end_coroutine;
    for (int i = 0; i < 5; i++) {
        const size_t bytes = 256 << 10;
        char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack;
        inside.uc_stack.ss_size = bytes;
        makecontext(&inside, call_in_coroutine, 0);
        swapcontext(&outside, &inside);
        munmap(stack, bytes);
        left++;
        leave_copy_to_host(2);
    }
    *leave_driver.during = NULL;
    printf("left %d\n", left);
    return 0;
}

/* ---- small stacks ----------------------------------------------------------------------------- */

static void *first_calls(void *unused)
{
    leave_begin();
    leave_copy_to_host(10);
    return unused;
}

int leave_small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0 ||
        pthread_create(&thread, &attributes, first_calls, NULL) != 0) {
        return 6;
    }
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}

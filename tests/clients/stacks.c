/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the driver from stacks of all kinds. Built without frame pointers. The test finds lines by
 * the names in comments: the line of a call is marked "at NAME".
 */
#define _GNU_SOURCE
#include "client.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else /* no copies for constant arguments: they have other names */
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")
#define NO_TAIL_CALL() __asm__ volatile("" : : : "memory")

static CUdeviceptr memory;
static CUcontext context;

static void start(void)
{
    context = client_start();
    CHECK(cu.cuMemAlloc(&memory, 4096));
}

NOINLINE static void one(size_t bytes)
{
    CHECK(cu.cuMemsetD8(memory, 0, bytes)); /* at one */
    NO_TAIL_CALL();
}

NOINLINE static void two(size_t bytes)
{
    char *room = alloca(bytes * 100);
    memset(room, 0, bytes);
    one(bytes); /* at two */
    KEEP(room);
}

NOINLINE static void three(size_t bytes)
{
    volatile char room[20000] = {0};
    KEEP(room);
    two(bytes); /* at three */
    KEEP(room);
}

NOINLINE static void four(size_t bytes)
{
    volatile char room[64] __attribute__((aligned(128))) = {0};
    KEEP(room);
    three(bytes); /* at four */
    KEEP(room);
}

int scenario_depths(long n)
{
    (void)n;
    start();
    one(1);
    two(2);
    three(3);
    four(4);
    return 0;
}

NOINLINE static void recurse(long depth, size_t bytes)
{
    if (depth > 1) {
        recurse(depth - 1, bytes);
    } else {
        one(bytes);
    }
    NO_TAIL_CALL();
}

int scenario_recursion(long n)
{
    start();
    recurse(100, 1);
    recurse(n != 0 ? n : 20, 2);
    return 0;
}

NOINLINE static void copy(size_t bytes)
{
    char buffer[256] = {0};
    CHECK(cu.cuMemcpyHtoD(memory, buffer, bytes));
    NO_TAIL_CALL();
}

/* Frames of one size: the stack pointers at the call are the same on both ways. */
NOINLINE static void upload_weights(size_t bytes)
{
    copy(bytes);
    NO_TAIL_CALL();
}

NOINLINE static void upload_batch(size_t bytes)
{
    NO_TAIL_CALL();
    copy(bytes);
    NO_TAIL_CALL();
}

static void in_turn(long n, size_t bytes)
{
    for (long i = 0; i < n; i++) {
        void (*upload)(size_t) = i % 2 == 0 ? upload_weights : upload_batch;
        upload(bytes + (size_t)(i % 2) * 128);
    }
}

int scenario_paths(long n)
{
    start();
    in_turn(n != 0 ? n : 1000, 1);
    return 0;
}

static void *path_thread(void *bytes)
{
    CHECK(cu.cuCtxSetCurrent(context));
    in_turn(1000, *(size_t *)bytes);
    return NULL;
}

int scenario_path_threads(long n)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    size_t bytes[MOST];
    long count = n > 0 && n < MOST ? n : 8;
    start();
    for (long i = 0; i < count; i++) {
        bytes[i] = (size_t)i + 1;
        if (pthread_create(&threads[i], NULL, path_thread, &bytes[i]) != 0) {
            return 4;
        }
    }
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

typedef void generated_code(void (*function)(size_t), size_t bytes);

/* Calls its first argument with its second; no table describes it. */
static generated_code *generate(const uint8_t *code, size_t size)
{
    void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    generated_code *function;
    if (pages == MAP_FAILED) {
        exit(4);
    }
    memcpy(pages, code, size);
    if (mprotect(pages, 4096, PROT_READ | PROT_EXEC) != 0) {
        exit(4);
    }
    memcpy(&function, &pages, sizeof(function));
    return function;
}

NOINLINE static void call_generated(generated_code *code, size_t bytes)
{
    code(one, bytes); /* at generated */
    NO_TAIL_CALL();
}

/* One generated function calls another, as a loop calls what it was compiled with. */
static generated_code *inner;
NOINLINE static void call_inner(size_t bytes)
{
    inner(one, bytes);
    NO_TAIL_CALL();
}

NOINLINE static void call_nested(generated_code *code, size_t bytes)
{
    code(call_inner, bytes);
    NO_TAIL_CALL();
}

int scenario_generated(long n)
{
    /* sub $8,%rsp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; add $8,%rsp; ret */
    static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89,
                                         0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    /* push %rbp; mov %rsp,%rbp; sub $32,%rsp; ...; call *%rax; xor %eax,%eax; leave; ret */
    static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89,
                                     0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x31, 0xc0, 0xc9, 0xc3};
    /* push %rbp; sub $32,%rsp; mov $1,%ebp; ...; call *%rax; nop; ...: nobody can find the caller */
    static const uint8_t opaque[] = {0x55, 0x48, 0x83, 0xec, 0x20, 0xbd, 0x01, 0x00, 0x00,
                                     0x00, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0,
                                     0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};
    (void)n;
    start();
    generated_code *plain = generate(trampoline, sizeof(trampoline));
    call_generated(plain, 1);
    call_generated(generate(framed, sizeof(framed)), 2);
    call_generated(generate(opaque, sizeof(opaque)), 3);
    inner = plain;
    call_nested(generate(framed, sizeof(framed)), 4);
    return 0;
}

static ucontext_t thread_context, coroutine_context;
static long turns;

static void coroutine(void)
{
    for (long i = 0; i < turns; i++) {
        one(1);
        swapcontext(&coroutine_context, &thread_context);
    }
}

int scenario_coroutine(long n)
{
    size_t bytes = 1 << 18;
    start();
    turns = n != 0 ? n : 100;
    if (getcontext(&coroutine_context) != 0) {
        return 4;
    }
    void *stack = malloc(bytes);
    if (stack == NULL) {
        return 4;
    }
    coroutine_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = bytes};
    coroutine_context.uc_link = &thread_context;
    makecontext(&coroutine_context, coroutine, 0);
    for (long i = 0; i < turns; i++) {
        swapcontext(&thread_context, &coroutine_context);
        two(2);
    }
    free(stack);
    return 0;
}

static void on_signal(int number)
{
    one(number == SIGUSR1 ? 1 : 2);
}

int scenario_alternate(long n)
{
    size_t bytes = 1 << 16;
    stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    (void)n;
    start();
    if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0) {
        return 4;
    }
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = 0;
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2); /* at signal */
    return 0;
}

int scenario_nothing(long n)
{
    (void)n;
    return 0;
}

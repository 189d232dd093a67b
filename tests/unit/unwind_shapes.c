/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as a C compiler makes them, the table of them by the name SHAPES. */
#include "unwind_shapes.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")
#define NO_TAIL_CALL() __asm__ volatile("" : : : "memory")

NOINLINE static void plain(unwind_probe *probe)
{
    probe();
    NO_TAIL_CALL();
}

NOINLINE static void deep(unwind_probe *probe, int depth)
{
    if (depth > 0) {
        deep(probe, depth - 1);
    } else {
        plain(probe);
    }
    NO_TAIL_CALL();
}

static void deep_10(unwind_probe *probe)
{
    deep(probe, 10);
}

static void deep_100(unwind_probe *probe)
{
    deep(probe, 100);
}

NOINLINE static void with_alloca(unwind_probe *probe, size_t bytes)
{
    char *room = alloca(bytes);
    memset(room, 1, bytes);
    KEEP(room);
    plain(probe);
    NO_TAIL_CALL();
}

static void variable(unwind_probe *probe)
{
    for (size_t bytes = 1; bytes < 100000; bytes *= 7) {
        with_alloca(probe, bytes);
    }
}

NOINLINE static void large_frame(unwind_probe *probe)
{
    volatile char room[300000];
    room[0] = room[sizeof(room) - 1] = 1;
    plain(probe);
    KEEP(room);
}

/* The stack pointer is rounded down: the CFA cannot be derived from it. */
NOINLINE static void realigned(unwind_probe *probe)
{
    volatile char room[64] __attribute__((aligned(256))) = {0};
    KEEP(room);
    plain(probe);
    KEEP(room);
}

NOINLINE static void realigned_variable(unwind_probe *probe)
{
    volatile char room[64] __attribute__((aligned(128))) = {0};
    KEEP(room);
    for (size_t bytes = 1; bytes < 5000; bytes *= 13) {
        char *more = alloca(bytes);
        memset(more, 1, bytes);
        KEEP(more);
        plain(probe);
    }
    KEEP(room);
}

/* Arguments on the stack: the stack pointer moves between calls. */
NOINLINE static long many_arguments(unwind_probe *probe, long b, long c, long d, long e, long f,
                                    long g, long h, long i, long j)
{
    probe();
    NO_TAIL_CALL();
    return b + c + d + e + f + g + h + i + j;
}

static void arguments(unwind_probe *probe)
{
    long sum = many_arguments(probe, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    sum += many_arguments(probe, sum, 2, sum, 4, sum, 6, 7, sum, 9);
    KEEP(sum);
}

/* Every callee-saved register is in use. */
NOINLINE static void many_registers(unwind_probe *probe)
{
    long a = (long)(size_t)probe, b = a * 3, c = b ^ a, d = c * 5, e = d ^ b, f = e * 7;
    for (int i = 0; i < 2; i++) {
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
        plain(probe);
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
}

/* The call is the last instruction of its function. */
static jmp_buf back;
__attribute__((noinline, noreturn)) static void leave(unwind_probe *probe)
{
    probe();
    longjmp(back, 1);
}

__attribute__((noinline, noreturn, cold)) static void never_returns(unwind_probe *probe)
{
    leave(probe);
}

static void without_return(unwind_probe *probe)
{
    if (setjmp(back) == 0) {
        never_returns(probe);
    }
}

NOINLINE static int tail(unwind_probe *probe, int depth)
{
    if (depth == 0) {
        plain(probe);
        return 1;
    }
    return tail(probe, depth - 1);
}

static void tail_calls(unwind_probe *probe)
{
    int one = tail(probe, 5);
    KEEP(one);
}

/* Two functions that leave the same stack pointer at the call, in turn. */
NOINLINE static void one_way(unwind_probe *probe)
{
    plain(probe);
    NO_TAIL_CALL();
}

NOINLINE static void other_way(unwind_probe *probe)
{
    NO_TAIL_CALL();
    plain(probe);
    NO_TAIL_CALL();
}

static void two_ways(unwind_probe *probe)
{
    void (*const ways[])(unwind_probe *) = {one_way, other_way};
    for (unsigned i = 0; i < 6; i++) {
        void (*volatile way)(unwind_probe *) = ways[i % 2];
        way(probe);
    }
}

/* The C library calls back. */
static unwind_probe *compared;
static int compare(const void *a, const void *b)
{
    compared();
    return *(const int *)a - *(const int *)b;
}

static void through_library(unwind_probe *probe)
{
    int values[3] = {3, 1, 2};
    compared = probe;
    qsort(values, 3, sizeof(values[0]), compare);
    KEEP(values);
}

static unwind_probe *handled;
static void handle(int signal)
{
    KEEP(signal);
    handled();
    NO_TAIL_CALL();
}

static void with_handler(unwind_probe *probe, int number, void (*raise_it)(void))
{
    struct sigaction action = {.sa_handler = handle}, before;
    handled = probe;
    sigaction(number, &action, &before);
    raise_it();
    sigaction(number, &before, NULL);
}

static void raise_usr1(void)
{
    raise(SIGUSR1);
    NO_TAIL_CALL();
}

static void in_handler(unwind_probe *probe)
{
    with_handler(probe, SIGUSR1, raise_usr1);
}

static void step_over(int signal, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    KEEP(signal);
    KEEP(info);
    handled();
#if defined(__x86_64__)
    interrupted->uc_mcontext.gregs[REG_RIP] += 2;
#elif defined(__aarch64__)
    interrupted->uc_mcontext.pc += 4;
#endif
}

static void in_handler_of_fault(unwind_probe *probe)
{
    struct sigaction action = {.sa_sigaction = step_over, .sa_flags = SA_SIGINFO}, before;
    handled = probe;
    sigaction(SIGILL, &action, &before);
    unwind_asm_fault();
    sigaction(SIGILL, &before, NULL);
}

/* The thread ends, and its frames are being left, the cleanup is called from the unwinder. */
static void clean_up(void *probe)
{
    unwind_probe *function;
    memcpy(&function, &probe, sizeof(function));
    function();
    NO_TAIL_CALL();
}

static void *end_thread(void *probe)
{
    pthread_cleanup_push(clean_up, probe);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *call_in_thread(void *probe)
{
    unwind_probe *function;
    memcpy(&function, &probe, sizeof(function));
    deep(function, 3);
    return NULL;
}

static void run_thread(void *(*start)(void *), unwind_probe *probe)
{
    pthread_t thread;
    void *argument;
    memcpy(&argument, &probe, sizeof(argument));
    if (pthread_create(&thread, NULL, start, argument) == 0) {
        pthread_join(thread, NULL);
    }
}

static void in_thread(unwind_probe *probe)
{
    run_thread(call_in_thread, probe);
}

static void in_ending_thread(unwind_probe *probe)
{
    run_thread(end_thread, probe);
}

const struct unwind_shape SHAPES[] = {
    {"a plain call", plain},
    {"a recursion", deep_10},
    {"a deep recursion", deep_100},
    {"alloca", variable},
    {"a large frame", large_frame},
    {"a realigned frame", realigned},
    {"a realigned frame with alloca", realigned_variable},
    {"arguments on the stack", arguments},
    {"all registers in use", many_registers},
    {"calls that do not return", without_return},
    {"tail calls", tail_calls},
    {"two ways in turn", two_ways},
    {"a callback of the C library", through_library},
    {"a signal handler", in_handler},
    {"a fault at a first instruction", in_handler_of_fault},
    {"a thread", in_thread},
    {"a thread that is being left", in_ending_thread},
    {0},
};

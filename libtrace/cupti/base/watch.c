/* SPDX-License-Identifier: Apache-2.0 */
/* Helper threads of the collector (watch.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/base/watch.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "libtrace/cupti/base/real_dlsym.h"
#include "libtrace/record/clock.h"

#define STACK_BYTES ((size_t)512 * 1024) /* CUPTI's decoding runs on it */
#define POLL_NS UINT64_C(200000)
#define PLACES 8u /* for work that is waited for, or was */

static _Atomic bool ticking;
static bool (*tick_function)(void);
static uint64_t tick_period_ns;

static void sleep_ns(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
                            .tv_nsec = (long)(ns % UINT64_C(1000000000))};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* pthread_create is looked up: its symbol version would keep the library from loading before glibc
 * 2.34, and a process that uses CUDA has it. */
static bool spawn(void *(*function)(void *), void *data)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    void *symbol = gmt_dlsym_past_us(RTLD_DEFAULT, "pthread_create");
    memcpy(&create, &symbol, sizeof(create));
    pthread_attr_t attributes;
    if (create == NULL || pthread_attr_init(&attributes) != 0) {
        return false;
    }
    sigset_t all, before;
    sigfillset(&all);
    bool masked = sigprocmask(SIG_SETMASK, &all, &before) == 0; /* this thread's, on Linux */
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_t thread;
    int error = create(&thread, &attributes, function, data);
    if (masked) {
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
    }
    (void)pthread_attr_destroy(&attributes);
    return error == 0;
}

static void *tick_loop(void *unused)
{
    (void)unused;
    (void)prctl(PR_SET_NAME, "gmtrace-watch");
    do {
        sleep_ns(tick_period_ns);
    } while (tick_function());
    atomic_store(&ticking, false);
    return NULL;
}

void gmt_watch_start(bool (*tick)(void), uint64_t period_ns)
{
    if (!atomic_exchange(&ticking, true)) {
        tick_function = tick;
        tick_period_ns = period_ns;
        if (!spawn(tick_loop, NULL)) {
            atomic_store(&ticking, false);
        }
    }
}

static void (*side_function)(void);

static void *side_once(void *unused)
{
    (void)unused;
    (void)prctl(PR_SET_NAME, "gmtrace-load");
    side_function();
    return NULL;
}

void gmt_watch_spawn(void (*work)(void))
{
    side_function = work;
    (void)spawn(side_once, NULL);
}

/* Who waits gives a place back, or, having given up, leaves that to the thread. */
enum slot_state { PLACE_FREE, PLACE_RUNS, PLACE_DONE, PLACE_LEFT };
static struct {
    _Atomic int state; /* enum slot_state */
    void (*work)(void);
} places[PLACES];

static void *work_once(void *data)
{
    size_t at = (size_t)(uintptr_t)data;
    int runs = PLACE_RUNS;
    (void)prctl(PR_SET_NAME, "gmtrace-flush");
    places[at].work();
    if (!atomic_compare_exchange_strong(&places[at].state, &runs, PLACE_DONE)) {
        atomic_store(&places[at].state, PLACE_FREE);
    }
    return NULL;
}

static bool wait_for(size_t at, uint64_t deadline_ns)
{
    uint64_t until_ns = gmt_clock_monotonic_ns() + deadline_ns;
    while (atomic_load(&places[at].state) == PLACE_RUNS && gmt_clock_monotonic_ns() < until_ns) {
        sleep_ns(POLL_NS);
    }
    int runs = PLACE_RUNS;
    if (atomic_compare_exchange_strong(&places[at].state, &runs, PLACE_LEFT)) {
        return false;
    }
    atomic_store(&places[at].state, PLACE_FREE);
    return true;
}

bool gmt_watch_run(void (*work)(void), uint64_t deadline_ns)
{
    for (size_t at = 0; at < PLACES; at++) {
        int empty = PLACE_FREE;
        if (atomic_compare_exchange_strong(&places[at].state, &empty, PLACE_RUNS)) {
            places[at].work = work;
            if (spawn(work_once, (void *)(uintptr_t)at)) {
                return wait_for(at, deadline_ns);
            }
            atomic_store(&places[at].state, PLACE_FREE);
            break;
        }
    }
    work();
    return true;
}

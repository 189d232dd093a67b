/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that issues a batch to which no other call comes in time (gather.h). It blocks all signals. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "preload/apply/gather.h"
#include "preload/apply/state.h"

#define STACK_BYTES ((size_t)1 << 20) /* it calls the driver */
#define SLACK_NS 1000UL               /* threads usually wake up to 50 us late */

static _Atomic uint32_t begun;  /* the last batch */
static _Atomic uint64_t due_ns; /* of that one, or of one before */
static _Atomic uint32_t is_waiting;
static bool is_started, is_refused;
static void (*issue_due)(uint32_t number);

static void sleep_until(uint64_t at_ns)
{
    const struct timespec at = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
    }
}

static void *serve(void *unused)
{
    uint32_t seen = 0;
    (void)prctl(PR_SET_TIMERSLACK, SLACK_NS, 0UL, 0UL, 0UL);
    for (;;) {
        uint32_t number = atomic_load(&begun);
        if (number == seen) {
            atomic_store(&is_waiting, 1);
            if (atomic_load(&begun) == seen) {
                (void)syscall(SYS_futex, &begun, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
            }
            atomic_store(&is_waiting, 0);
            continue;
        }
        seen = number;
        sleep_until(atomic_load(&due_ns));
        if (!GMT_APPLY_MUTANT(gather_no_timer)) {
            issue_due(number);
        }
    }
    return unused;
}

static bool start(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    (void)sigfillset(&all);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, &attributes, serve, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return started;
}

bool gmt_gather_timer_begin(uint32_t number, uint64_t longest_ns, void (*due)(uint32_t number))
{
    if (!is_started && !is_refused) {
        issue_due = due;
        is_started = start();
        is_refused = !is_started;
    }
    if (!is_started) {
        return false;
    }
    atomic_store(&due_ns, gmt_clock_monotonic_ns() + longest_ns);
    atomic_store(&begun, number);
    if (atomic_load(&is_waiting) != 0) {
        (void)syscall(SYS_futex, &begun, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return true;
}

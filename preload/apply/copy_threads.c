/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that copy (copy_threads.h). They touch no memory but what they copy, use no CUDA, and block all signals but those of their own
 * faults: of memory that the program protects, its handler knows what to do (write barriers), in whichever thread. A handler that is blocked would be the end of
 * the program.
 */
#include "preload/apply/copy_threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/apply/state.h"

#define LEAST_BYTES \
    ((size_t)262144) /* for one thread: waking one takes as long as copying half of it */
#define PART_BYTES \
    ((size_t)65536) /* taken at once, so that a thread that comes late holds nobody up */
#define MOST_THREADS 16
#define STACK_BYTES \
    ((size_t)1048576) /* handlers of the program run on it; only what they touch is memory */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

static struct {
    uint8_t *dst;
    const uint8_t *src;
    size_t bytes;
    _Atomic size_t next;     /* of the bytes, not taken yet */
    _Atomic uint32_t number; /* of the job, changes when one begins */
    _Atomic unsigned open;   /* there is one: threads may enter */
    _Atomic unsigned inside; /* threads that may look at it */
} job;
static unsigned threads; /* besides the caller */
static bool is_started;

static void take_parts(void)
{
    size_t at;
    while ((at = atomic_fetch_add(&job.next, PART_BYTES)) < job.bytes) {
        size_t left = job.bytes - at;
        if (GMT_APPLY_MUTANT(no_join)) {
            (void)usleep(200); /* so that the others take parts on a busy machine, too */
        }
        memcpy(job.dst + at, job.src + at, left < PART_BYTES ? left : PART_BYTES);
    }
}

static void *serve(void *unused)
{
    uint32_t seen = 0;
    for (;;) {
        uint32_t number = atomic_load(&job.number);
        if (number == seen) {
            (void)syscall(SYS_futex, &job.number, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
            continue;
        }
        seen = number;
        atomic_fetch_add(&job.inside, 1);
        if (atomic_load(&job.open) != 0) {
            take_parts();
        }
        atomic_fetch_sub(&job.inside, 1);
    }
    return unused;
}

static unsigned wanted(void)
{
    cpu_set_t cpus;
    unsigned most = (unsigned)gmt_apply_plan.values[GMT_FIX_PAGEABLE_STAGING_threads];
    unsigned there = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus)
                                                                    : 1;
    return (most < there ? most : there) - 1;
}

static void start(void)
{
    sigset_t blocked, before;
    pthread_attr_t attributes;
    is_started = true;
    if (pthread_attr_init(&attributes) != 0) {
        return;
    }
    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        (void)sigdelset(&blocked, faults[i]);
    }
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    for (unsigned i = 0, most = wanted(); i < most && i < MOST_THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, serve, NULL) != 0) {
            break;
        }
        threads++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

void gmt_copy_threads_copy(void *dst, const void *src, size_t bytes)
{
    int saved_errno = errno;
    if (!is_started) {
        start();
    }
    if (threads == 0 || bytes < 2 * LEAST_BYTES) {
        memcpy(dst, src, bytes);
        errno = saved_errno;
        return;
    }
    job.dst = dst;
    job.src = src;
    job.bytes = bytes;
    atomic_store(&job.next, 0);
    atomic_store(&job.open, 1);
    atomic_fetch_add(&job.number, 1);
    (void)syscall(SYS_futex, &job.number, FUTEX_WAKE_PRIVATE, (int)threads, NULL, NULL, 0);
    take_parts();
    atomic_store(&job.open, 0);
    while (!GMT_APPLY_MUTANT(no_join) && atomic_load(&job.inside) != 0) { /* 64 KiB at most */
        (void)sched_yield();
    }
    errno = saved_errno;
}

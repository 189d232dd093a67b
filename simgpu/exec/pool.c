/* SPDX-License-Identifier: Apache-2.0 */
/* Helper threads: made when a launch first wants them, parked in between. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "simgpu/exec/run.h"

enum { MAX_HELPERS = 255 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    void (*work)(void *argument, unsigned number);
    void *argument;
    uint64_t round;   /* of work given out */
    unsigned wanted;  /* helpers 1 to wanted take part in this round */
    unsigned running; /* still at work */
    unsigned helpers; /* threads there are */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void *help(void *argument)
{
    const unsigned number = (unsigned)(uintptr_t)argument;
    uint64_t seen = 0;

    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.round == seen || number > pool.wanted) {
            seen = pool.round;
            pthread_cond_wait(&pool.wake, &pool.lock);
        }
        seen = pool.round;
        void (*work)(void *, unsigned) = pool.work;
        void *what = pool.argument;
        pthread_mutex_unlock(&pool.lock);
        work(what, number);
        pthread_mutex_lock(&pool.lock);
        if (--pool.running == 0) {
            pthread_cond_signal(&pool.done);
        }
    }
    return NULL;
}

/* Signals are the program's: none is delivered to a helper. */
static unsigned start_helpers(unsigned wanted)
{
    sigset_t all, before;
    pthread_attr_t attributes;

    if (pool.helpers >= wanted || pthread_attr_init(&attributes) != 0) {
        return pool.helpers;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.helpers < wanted) {
        pthread_t thread;

        if (pthread_create(&thread, &attributes, help, (void *)(uintptr_t)(pool.helpers + 1)) !=
            0) {
            break;
        }
        pool.helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return pool.helpers;
}

unsigned sim_pool_workers(unsigned wanted)
{
    const char *text = getenv("SIMGPU_THREADS");
    cpu_set_t cpus;

    if (wanted == 0 && text != NULL) {
        const unsigned long threads = strtoul(text, NULL, 10);

        wanted = threads > MAX_HELPERS ? MAX_HELPERS : (unsigned)threads;
    }
    if (wanted == 0) {
        const long online = sysconf(_SC_NPROCESSORS_ONLN);

        wanted = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus)
                 : online > 0                                   ? (unsigned)online
                                                                : 1;
    }
    return wanted > MAX_HELPERS ? MAX_HELPERS : wanted;
}

void sim_pool_run(unsigned workers, void (*work)(void *argument, unsigned number), void *argument)
{
    unsigned helpers = 0;

    pthread_mutex_lock(&pool.lock);
    if (workers > 1) {
        /* With fewer threads than wanted, those there are do all the work. */
        helpers = start_helpers(workers - 1);
        helpers = helpers < workers - 1 ? helpers : workers - 1;
    }
    if (helpers != 0) {
        pool.work = work;
        pool.argument = argument;
        pool.wanted = helpers;
        pool.running = helpers;
        pool.round++;
        pthread_cond_broadcast(&pool.wake);
    }
    pthread_mutex_unlock(&pool.lock);
    work(argument, 0);
    if (helpers != 0) {
        pthread_mutex_lock(&pool.lock);
        while (pool.running != 0) {
            pthread_cond_wait(&pool.done, &pool.lock);
        }
        pthread_mutex_unlock(&pool.lock);
    }
}

void sim_pool_after_fork(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.helpers = pool.running = pool.wanted = 0;
}

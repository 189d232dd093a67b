/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches records that it does not have, in a thread of its own (cupti_worker.h). */
#define _GNU_SOURCE
#include "cupti_worker.h"

#include <cupti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORK_US 200
#define SOON_MS 1000u /* the thread works again before a launch may have been made */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t period_ms; /* 0: until it is woken */
static bool wake, works;
static _Atomic bool must_sleep;

/* With CUPTI_STANDIN_WORKER=busy. */
static bool never_rests(void)
{
    const char *worker = getenv("CUPTI_STANDIN_WORKER");
    return worker != NULL && strcmp(worker, "busy") == 0;
}

static void *worker(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += period_ms / 1000;
        until.tv_nsec += (long)(period_ms % 1000) * 1000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        works = false;
        int ended = 0;
        while (!wake && ended == 0) {
            ended = period_ms == 0 ? pthread_cond_wait(&woken, &mutex)
                                   : pthread_cond_timedwait(&woken, &mutex, &until);
        }
        wake = false;
        works = true;
        if (atomic_load(&must_sleep)) {
            abort();
        }
        pthread_mutex_unlock(&mutex);
        (void)usleep(never_rests() ? 1000 * WORK_US : WORK_US);
        pthread_mutex_lock(&mutex);
    }
    return unused;
}

static void begin(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL) != 0) {
        abort();
    }
    (void)pthread_detach(thread);
}

static CUptiResult answer(void)
{
    if (getenv("CUPTI_STANDIN_WORKER") == NULL) {
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    (void)pthread_once(&once, begin);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
    (void)request;
    (void)complete;
    return answer();
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
    (void)clock;
    return answer();
}

CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds)
{
    pthread_mutex_lock(&mutex);
    period_ms = milliseconds;
    wake |= milliseconds != 0;
    works |= wake; /* it will, and nothing keeps it from that */
    pthread_cond_signal(&woken);
    pthread_mutex_unlock(&mutex);
    return answer();
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    (void)kind;
    return answer();
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    (void)kind;
    return answer();
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    return answer();
}

void worker_must_sleep(bool begins)
{
    atomic_store(&must_sleep, begins && answer() == CUPTI_SUCCESS);
}

bool worker_may_work(void)
{
    if (answer() != CUPTI_SUCCESS) {
        return false;
    }
    pthread_mutex_lock(&mutex);
    bool may = works || (period_ms != 0 && period_ms < SOON_MS);
    pthread_mutex_unlock(&mutex);
    return may;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A second thread that does one piece of work (worker.h). */
#include "analyzer/base/worker.h"

#include <errno.h>
#include <time.h>

static void *run(void *data)
{
    struct gmt_worker *worker = data;

    worker->work(worker->data);
    (void)pthread_mutex_lock(&worker->mutex);
    worker->is_done = true;
    (void)pthread_cond_broadcast(&worker->has_ended);
    (void)pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

void gmt_worker_begin(struct gmt_worker *worker, size_t stack_bytes, void (*work)(void *data),
                      void *data)
{
    pthread_attr_t attributes;

    *worker = (struct gmt_worker){.work = work, .data = data, .is_begun = true};
    (void)pthread_mutex_init(&worker->mutex, NULL);
    (void)pthread_cond_init(&worker->has_ended, NULL);
    if (pthread_attr_init(&attributes) == 0) {
        (void)pthread_attr_setstacksize(&attributes, stack_bytes);
        worker->is_thread = pthread_create(&worker->thread, &attributes, run, worker) == 0;
        (void)pthread_attr_destroy(&attributes);
    }
    if (!worker->is_thread) {
        (void)run(worker);
    }
}

bool gmt_worker_wait_ns(struct gmt_worker *worker, long ns)
{
    struct timespec until;

    if (!worker->is_begun) {
        return true;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&worker->mutex);
    while (!worker->is_done &&
           pthread_cond_timedwait(&worker->has_ended, &worker->mutex, &until) != ETIMEDOUT) {
    }
    bool is_done = worker->is_done;
    (void)pthread_mutex_unlock(&worker->mutex);
    return is_done;
}

void gmt_worker_wait(struct gmt_worker *worker)
{
    if (!worker->is_begun) {
        return;
    }
    (void)pthread_mutex_lock(&worker->mutex);
    while (!worker->is_done) {
        (void)pthread_cond_wait(&worker->has_ended, &worker->mutex);
    }
    (void)pthread_mutex_unlock(&worker->mutex);
}

void gmt_worker_end(struct gmt_worker *worker)
{
    if (worker->is_thread) {
        (void)pthread_join(worker->thread, NULL);
    }
    if (worker->is_begun) {
        (void)pthread_cond_destroy(&worker->has_ended);
        (void)pthread_mutex_destroy(&worker->mutex);
    }
    *worker = (struct gmt_worker){.work = NULL};
}

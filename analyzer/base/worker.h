/* SPDX-License-Identifier: Apache-2.0 */
/* A second thread that does one piece of work, and whoever waits for it. */
#ifndef GMT_ANALYZER_BASE_WORKER_H
#define GMT_ANALYZER_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeros: nothing was begun, and nobody waits. Not to be moved between gmt_worker_begin and gmt_worker_end. */
struct gmt_worker {
    void (*work)(void *data);
    void *data;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t has_ended;
    bool is_begun, is_thread, is_done;
};

/*
 * Does `work` in a thread of its own, with a stack of so many bytes: of little memory, the whole of a stack counts as taken. Where
 * there can be no thread, it is done before this returns.
 */
void gmt_worker_begin(struct gmt_worker *worker, size_t stack_bytes, void (*work)(void *data),
                      void *data);
/* Until the work is done; any thread but the worker's, as often as it likes. */
void gmt_worker_wait(struct gmt_worker *worker);
/* The same, at most so long. Whether the work is done. */
bool gmt_worker_wait_ns(struct gmt_worker *worker, long ns);
/* Waits, and gives back what the worker took. Nobody else waits any more. */
void gmt_worker_end(struct gmt_worker *worker);

#endif

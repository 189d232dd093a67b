/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's worker thread (here also: its own), which fetches records of kernels from the device: every flush period, and whenever one is set.
 *
 * A launch whose instructions are counted holds a lock of the driver and wants a mutex of CUPTI; while it fetches, that thread holds
 * the mutex and wants the lock (docs/cupti-notes.md). So it has to sleep while such a launch is made. cuptiActivityFlushAll is no
 * way to have it fetch before: after it, the first launch of a graph can end a program.
 *
 * Everything here is for one thread at a time, and keeps errno.
 */
#ifndef GMT_CUPTI_BASE_FETCH_THREAD_H
#define GMT_CUPTI_BASE_FETCH_THREAD_H

#include <stdbool.h>

#include "libtrace/cupti/base/loader.h"

/* Of records, ms. */
#define GMT_FETCH_THREAD_PERIOD_MS 100u

enum gmt_fetch_thread {
    GMT_FETCH_THREAD_SLEEPS,
    GMT_FETCH_THREAD_BUSY, /* or not found yet: later it may */
    GMT_FETCH_THREAD_UNKNOWN, /* which of the process's threads it is was not found in eight searches */
};

/* Around the first calls of CUPTI: the thread is one of those that begin meanwhile. Without them, or where the program used CUPTI
 * before, it is looked for among all. */
void gmt_fetch_thread_starting(void);
void gmt_fetch_thread_started(void);

/* Looks for it, unless it is known, or was looked for a moment ago: 30 ms, with hundreds of threads to look at more. It sleeps no
 * longer afterwards than before. */
void gmt_fetch_thread_find(const struct gmt_cupti_api *api);

/* False: gmt_fetch_thread_pause would be in vain, as one was a moment ago. */
bool gmt_fetch_thread_may_pause(void);

/* Lets it fetch what there is. Where the result is GMT_FETCH_THREAD_SLEEPS, it sleeps until gmt_fetch_thread_resume, as long as no
 * buffer of records gets full; else it goes on as before. No other thread may be in CUPTI. Some 0.2 ms; 20 ms in vain, and then it
 * is not tried again for 50 times that. */
enum gmt_fetch_thread gmt_fetch_thread_pause(const struct gmt_cupti_api *api);
void gmt_fetch_thread_resume(const struct gmt_cupti_api *api);

#endif

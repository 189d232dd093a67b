/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the threads that write into a spool: gmt_thread.id, from 1 in each spool. */
#ifndef GMT_THREADS_THREAD_NUMBER_H
#define GMT_THREADS_THREAD_NUMBER_H

#include <stdint.h>

#include "libtrace/threads/epoch.h"

struct gmt_thread_number {
    uint32_t number; /* 0: none yet */
    uint32_t epoch;  /* of the spool that it belongs to (epoch.h) */
};
/* This thread's. Initial-exec: the library is preloaded, never loaded late by dlopen. */
extern _Thread_local __attribute__((
    tls_model("initial-exec"), visibility("hidden"))) struct gmt_thread_number gmt_thread_number;

/* This thread's number in the present spool; 0: it has none yet. */
static inline uint32_t gmt_thread_number_known(void)
{
    return gmt_thread_number.epoch == gmt_epoch() ? gmt_thread_number.number : 0;
}

/* Gives this thread the next number, and returns it. */
uint32_t gmt_thread_number_take(void);

/* The next thread is the first of another spool. */
void gmt_thread_numbers_reset(void);

#endif

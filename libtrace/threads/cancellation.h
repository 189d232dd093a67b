/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the calling thread from being cancelled while it has locks, or tables that are half written.
 *
 * The state alone does not: up to glibc 2.36 at least, who cancels a thread looks at its state before sending a signal, and
 * the signal's handler looks at the type only. A thread that disables asynchronous cancellation in between ends all the
 * same (100 of 20,000 in a loop; 0 where the type is deferred, too).
 */
#ifndef GMT_THREADS_CANCELLATION_H
#define GMT_THREADS_CANCELLATION_H

#include <pthread.h>

/* As the program has it. */
struct gmt_cancellation {
    int state, type;
};

static inline struct gmt_cancellation gmt_cancellation_hold(void)
{
    struct gmt_cancellation of_program;
    (void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &of_program.type);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &of_program.state);
    return of_program;
}

/* Where a request is waiting and cancellation is asynchronous, the thread ends in here. */
static inline void gmt_cancellation_allow(struct gmt_cancellation of_program)
{
    (void)pthread_setcancelstate(of_program.state, NULL);
    if (of_program.type != PTHREAD_CANCEL_DEFERRED) {
        (void)pthread_setcanceltype(of_program.type, NULL);
    }
}

#endif

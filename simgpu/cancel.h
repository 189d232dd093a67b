/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points are no cancellation points, as a driver's are not. They lock, wait and write; a thread
 * that was cancelled there would leave locks held, and every later call of the process would wait. A
 * request that comes meanwhile stays pending and acts at the program's own next cancellation point.
 */
#ifndef SIMGPU_CANCEL_H
#define SIMGPU_CANCEL_H

#include <pthread.h>

static inline int sim_cancel_off(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void sim_cancel_restore(const int *before)
{
    pthread_setcancelstate(*before, NULL);
}

/* From here to the end of the block. */
#define SIM_UNCANCELLABLE \
    __attribute__((cleanup(sim_cancel_restore))) const int sim_cancel_before = sim_cancel_off()

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When CUPTI's records of devices are to be on: always, in turns to learn what they cost, or for a share of the time.
 *
 * Learning: on, off, off, on and so forth, each of GMT_DUTY_HALF_NS or more until enough calls were timed, so that a pair is as
 * often on first as off first, and drift cancels. A share of the time: cycles that are on first, of varying length, as the program's
 * own steps may have a period. These are pairs, too. Pure functions of the time and of what device_cost.h has noted.
 */
#ifndef GMT_PRELOAD_OVERHEAD_DEVICE_DUTY_H
#define GMT_PRELOAD_OVERHEAD_DEVICE_DUTY_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/overhead/device_cost.h"

#define GMT_DUTY_HALF_NS UINT64_C(40000000)
#define GMT_DUTY_HALF_MOST_NS UINT64_C(400000000) /* then the pair is given up */
#define GMT_DUTY_HALF_CALLS 24u                   /* timed, in half of a pair */
#define GMT_DUTY_AGAIN_NS UINT64_C(30000000000)   /* from one time of learning to the next one */
#define GMT_DUTY_TRIES 40u                        /* pairs, in one time of learning */
#define GMT_DUTY_ON_NS UINT64_C(25000000)         /* the least that a cycle is on, on average */
#define GMT_DUTY_CYCLE_NS UINT64_C(250000000) /* its length, on average, unless that needs more */
#define GMT_DUTY_LEAST 0.02 /* of the time: kernels have times to be estimated by */

struct gmt_device_duty {
    struct gmt_device_cost cost;
    bool on; /* are they, now */
    bool learning;
    uint8_t quarter;   /* of on, off, off, on */
    uint32_t tries;    /* pairs of this time of learning */
    uint64_t since_ns; /* they are, or the quarter has begun */
    uint64_t learn_ns; /* may be learnt from then on */
    double cycle;      /* length of the one at hand, by the mean of 1 */
};

void gmt_duty_begin(struct gmt_device_duty *duty, uint64_t now_ns);
/*
 * Should they be on? `level`: share of the time, 1: always. `matters`: they could cost too much, so it is to be learnt what they do.
 * `random`: from 0 to 1, for the length of the next cycle.
 */
bool gmt_duty_wants(struct gmt_device_duty *duty, uint64_t now_ns, double level, bool matters,
                    double random);
/* They are, or are not, since then. Not part of the plan, as when a kernel is measured: the pair is given up. */
void gmt_duty_switched(struct gmt_device_duty *duty, bool on, bool planned, uint64_t now_ns);

#endif

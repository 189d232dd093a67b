/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what gmtrace costs, and what is left out for that, into the spool and its control page. */
#ifndef GMT_PRELOAD_OVERHEAD_PUBLISH_H
#define GMT_PRELOAD_OVERHEAD_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/overhead/govern.h"

/* Sums over all threads of a process (overhead.c). */
struct gmt_overhead_sums {
    uint64_t at_ns;        /* CLOCK_MONOTONIC */
    uint64_t calls, timed; /* intercepted calls, by those that were timed; these */
    uint64_t own_ticks;    /* of the calls, without the stacks and fingerprints of these */
    uint64_t own_squares;  /* of the timed ones alone */
    uint64_t stack_ticks, stacks_read, stacks_walked, stacks_taken;
    uint64_t taken_squares; /* of how many calls each stack stands for besides its own */
    uint64_t hashing_ticks;
    uint64_t
        counters_ns; /* measuring, loading of code: known exactly; without the start allowance */
};

/* CUPTI's records of devices in a time. */
struct gmt_overhead_device {
    bool is_governed; /* else they are on, or there are none */
    bool is_known;    /* what they cost; it may be nothing */
    uint64_t calls, on_ns, cost_ns, error_ns;
    uint32_t pairs; /* that it was learnt from so far */
};

/* What lies between two steps. */
struct gmt_overhead_period {
    uint64_t begin_ns, end_ns;
    const struct gmt_overhead_sums *since;
    const uint64_t *cost_ns; /* by part */
    const struct gmt_overhead_device *device;
    double variance; /* of the hooks' cost, ns^2 */
};

void gmt_overhead_publish_start(void);

/* `govern`: with the levels that were in force in the period. One thread at a time. */
void gmt_overhead_publish(const struct gmt_overhead_period *period, const struct gmt_govern *govern,
                          bool is_last);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads launch kernels at once, and one launch is measured at a time, by itself. A class may be launched once only,
 * so that a thread whose launch would be the first sample waits for its turn: for 2 ms at most, since a kernel may wait for what
 * another thread does next, and within what may be waited for in vain (gmt_sampling_may_hold).
 */
#ifndef GMT_CUPTI_MEASURE_TURNS_H
#define GMT_CUPTI_MEASURE_TURNS_H

#include <stdbool.h>

#include "libtrace/record/collector.h"

/* Take the lock (gmt_measuring.lock), which another thread has while it measures. The launch is counted already. False: it
 * is not measured. */
bool gmt_turn_take(const struct gmt_collector_class *cls, enum gmt_counter_group group);

/* With the lock. True when no other launch is between its two counts, but for those that wait for this one; waits
 * for that. */
bool gmt_turn_is_alone(const struct gmt_collector_class *cls, enum gmt_counter_group group);

/* With the lock. Has no other launch been made since gmt_turn_is_alone was true? Those that were counted since, and wait for
 * the end of this one, have not. `own`: launches of the caller that were counted since, and are not made. */
bool gmt_turn_was_alone(unsigned own);

#endif

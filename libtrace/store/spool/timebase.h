/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks of the hooks -> CLOCK_MONOTONIC ns: piecewise linear between clock pairs, and along the mean
 * rate outside of them.
 */
#ifndef GMT_STORE_SPOOL_TIMEBASE_H
#define GMT_STORE_SPOOL_TIMEBASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

#define GMT_TIMEBASE_PAIRS 512u

struct gmt_timebase {
    bool ticks_are_ns;
    size_t count; /* pairs, ascending in both clocks                                        */
    size_t hint;  /* segment of the last conversion                                         */
    double rate;  /* ns per tick outside the pairs; 0 = not known yet                       */
    struct gmt_clock_pair pair[GMT_TIMEBASE_PAIRS];
};

void gmt_timebase_init(struct gmt_timebase *base, bool ticks_are_ns);

/* Add a pair. Pairs closer than 10 ms to the latest (but the first few), or not after it on both
 * clocks, are left out; when the table is full the older half is thinned. */
void gmt_timebase_add(struct gmt_timebase *base, struct gmt_clock_pair pair);

/* Add the pairs in the control page. */
void gmt_timebase_add_control(struct gmt_timebase *base, const struct gmt_control *control);

/* Add this instant, read here; only if this machine's clocks are the ones of the trace (same boot),
 * which is found out by comparing rates. */
void gmt_timebase_add_now(struct gmt_timebase *base);

/* The latest pair; zeros if there is none. */
struct gmt_clock_pair gmt_timebase_latest(const struct gmt_timebase *base);

uint64_t gmt_timebase_ns(struct gmt_timebase *base, uint64_t ticks);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Launches chosen variants a given number of times, untimed: for a profiler, or for a trace. */
#ifndef GMT_KERNELS_UNTIMED_H
#define GMT_KERNELS_UNTIMED_H

#include "kernels/bench/bench.h"

struct gmt_untimed {
    const char *wanted; /* FAMILY:NAME[,FAMILY:NAME...]; FAMILY and NAME may each be all */
    unsigned launches;  /* of each variant, one after the other */
    /*
     * Before that, so many times all variants of a family in turn: a tool that samples launches of
     * each kernel then finds them all within a few of its phases. Where there are rounds, an empty
     * kernel of its own name, gmt_mark, precedes each variant in the first round and in the launches
     * that follow the rounds: what lies behind the n-th of the latter belongs to the n-th line that
     * is printed.
     */
    unsigned rounds;
};

/* 0, or -EINVAL with the item that is in no row of the table in bench->error. Needs no device. */
int gmt_untimed_check(struct gmt_bench *bench, const struct gmt_untimed *untimed);

/*
 * Prints one line per variant: its name, what was launched, and what the counters of one launch must
 * show. 0 or a negative errno with bench->error set.
 */
int gmt_untimed_run(struct gmt_bench *bench, const struct gmt_untimed *untimed);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Places before which the device waits, again and again, for code of the host that is more than what a launch takes. */
#ifndef GMT_ANALYZER_RULES_COMMON_HOST_WAITS_H
#define GMT_ANALYZER_RULES_COMMON_HOST_WAITS_H

#include "analyzer/rules/common/host_loops.h"
#include "analyzer/summary/idle_causes.h"

/*
 * Idle pieces of code of the host (idle_causes.h) that end at one place, and of calls that load code. Those in waits of loops that GM512 reports, and those
 * that follow a read-back or a wait, are not among them. Those before a call that loads code are places of their own, by stack, and
 * count where the program is in a loop that it has been through (host_loads.h).
 */
struct gmt_host_wait {
    struct gmt_where before, after;   /* which the code comes before, and after: of one of them */
    const struct gmt_host_call *call; /* that it comes before */
    bool is_load;                     /* which loads code: the host's code makes or reads it */
    const struct gmt_interval *gaps;
    size_t count; /* of the gaps; ascending */
    double
        idle_ns; /* all of them; below, none of them counts more than GMT_HOST_WAIT_MOST times their median */
    double high_ns, best_ns; /* the latter: but for what a launch takes, recorded */
    double
        low_ns; /* what one thread can prepare while the device works on the step before; of loads: half of it all */
    double span_ns; /* from the first to the last */
};

/* Calls `found` for each place at which they are a loop's and long enough to be worth a word. 0, -ENOMEM or -EIO. */
int gmt_host_waits_find(struct gmt_analysis *analysis, const struct gmt_host_loops *loops,
                        void (*found)(struct gmt_analysis *analysis,
                                      const struct gmt_host_wait *wait));

#endif

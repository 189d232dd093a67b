/* SPDX-License-Identifier: Apache-2.0 */
/* Places before which the device waits, again and again, for code of the host that is more than what a launch takes. */
#ifndef GMT_ANALYZER_RULES_COMMON_HOST_WAITS_H
#define GMT_ANALYZER_RULES_COMMON_HOST_WAITS_H

#include "analyzer/rules/common/host_loops.h"
#include "analyzer/summary/idle_causes.h"

/*
 * Idle pieces of code of the host (idle_causes.h) that end at one place. Those in waits of loops that GM512 reports, and those
 * that follow a read-back or a wait, are not among them.
 */
struct gmt_host_wait {
    struct gmt_where before, after;   /* which the code comes before, and after: of one of them */
    const struct gmt_host_call *call; /* that it comes before */
    const struct gmt_interval *gaps;
    size_t count; /* of the gaps; ascending */
    double
        idle_ns; /* all of them; below, none of them counts more than GMT_HOST_WAIT_MOST times their median */
    double high_ns, best_ns; /* the latter: but for what a launch takes, recorded */
    double low_ns;  /* what one thread can prepare while the device works on the step before */
    double span_ns; /* from the first to the last */
};

/* Calls `found` for each place at which they are a loop's and long enough to be worth a word. 0, -ENOMEM or -EIO. */
int gmt_host_waits_find(struct gmt_analysis *analysis, const struct gmt_host_loops *loops,
                        void (*found)(struct gmt_analysis *analysis,
                                      const struct gmt_host_wait *wait));

#endif

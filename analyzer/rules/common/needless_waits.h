/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the host for the device after which it reads nothing of what it waited for, and what they cost. */
#ifndef GMT_ANALYZER_RULES_COMMON_NEEDLESS_WAITS_H
#define GMT_ANALYZER_RULES_COMMON_NEEDLESS_WAITS_H

#include "analyzer/findings/rule_context.h"

/*
 * A synchronization of a stream, or of the device, that is followed by a launch; and between the wait before it and that launch
 * nothing is seen that needs it: no copy between host and device that may not have been done, no kernel that is given memory of
 * the host, no function of the host in a stream, no graph that may hold one or such a copy, no allocation, no release, no loading of code. Waits for events are none:
 * they may be there for what the events measured.
 */
struct gmt_needless_wait {
    struct gmt_tl_call call;
    struct gmt_interval idle; /* as long as idle_ns, until the next launch began on the device */
    double
        idle_ns; /* no device worked, from the end of what is waited for to there; without gmtrace's own work and what
                       recording adds */
    double waited_ns; /* what the call took, without gmtrace's own work; 0 where idle_ns is */
    double best_ns; /* of idle_ns, as the host, not having waited anywhere, would have been ahead */
    size_t stretch; /* number of that between two calls that have to wait */
    bool needed;    /* it is none */
};

struct gmt_needless_waits {
    struct gmt_needless_wait *rows; /* those that are needed among them; by begin */
    size_t count;
};

/* 0, -ENOMEM or -EIO; gmt_needless_waits_free in every case. */
int gmt_needless_waits_find(struct gmt_needless_waits *waits, const struct gmt_timeline *timeline);
void gmt_needless_waits_free(struct gmt_needless_waits *waits);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of launches of one thread that a CUDA graph could hold, and how long the device waited for them. */
#ifndef GMT_ANALYZER_RULES_COMMON_HOST_STRETCHES_H
#define GMT_ANALYZER_RULES_COMMON_HOST_STRETCHES_H

#include "analyzer/findings/common_place.h"

/*
 * A stretch ends where its thread waits for the device, copies so that it must wait, allocates or loads code, where a graph is launched,
 * where calls are missing, and where the thread does not launch for GMT_HOST_STRETCH_NS.
 */
struct gmt_host_stretch {
    size_t first;             /* index of its first launch */
    struct gmt_interval span; /* from its first call to its last */
    double launches,
        links; /* the latter: to the launch before it, both timed and nothing of gmtrace's between */
    double late; /* of the links: launched when the device had nothing left to do */
    double kernel_ns,
        idle_ns; /* of the links: the kernel; how long the device waited, of those that were late */
    double period_ns;       /* of the links: from call to call */
    double code_ns;         /* ... of that between the calls */
    double best_ns, low_ns; /* what a graph of the same launches saves of idle_ns */
    bool has_place;         /* a function that all launches have on their stacks */
    struct gmt_common_place place;
    struct gmt_interval *waits; /* when the device waited; valid until the callback returns */
    size_t wait_count;
};

/*
 * How far apart, on average, launches are that no code of the host but the loop itself separates, as recorded: twice a launched step of
 * the calibration, and the recording.
 */
double gmt_host_bare_period_ns(const struct gmt_model *model);

/* Calls `found` for each, thread by thread. 0, -ENOMEM or -EIO. */
int gmt_host_stretches_find(struct gmt_analysis *analysis,
                            void (*found)(void *user, const struct gmt_host_stretch *stretch),
                            void *user);

#endif

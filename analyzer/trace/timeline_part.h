/* SPDX-License-Identifier: Apache-2.0 */
/* A part of loading a timeline that another thread does, with a connection of its own. */
#ifndef GMT_ANALYZER_TRACE_TIMELINE_PART_H
#define GMT_ANALYZER_TRACE_TIMELINE_PART_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/base/worker.h"
#include "analyzer/trace/timeline.h"

struct gmt_timeline_part {
    struct gmt_timeline rows; /* what it loads; functions and stacks are those of the whole */
    struct gmt_worker worker;
    pthread_t owner; /* who has begun it */
    bool loads;
    atomic_flag ops_taken; /* who is done with its rows first loads the records of the device */
    bool has_ops;          /* they are among `rows` */
    int rc, ops_rc;        /* of values, copies and allocations; of records of the device */
    char why[256];
};

/*
 * Checks all values; `loads`: and loads copies and allocations, for which the timeline must have its functions and stacks, and records of
 * the device unless somebody else does. Where there can be no thread, it is done before this returns.
 */
void gmt_timeline_begin_part(struct gmt_timeline_part *part, const struct gmt_timeline *timeline,
                             sqlite3 *beside, bool loads);

/* True once: then the caller loads the records of the device. */
bool gmt_timeline_part_takes_ops(struct gmt_timeline_part *part);

/*
 * Waits, and gives the timeline what was loaded. `error`: what the rest of loading came to. 0; or the first error in the order in which
 * one thread loads, with the reason in message unless it is that one.
 */
int gmt_timeline_end_part(struct gmt_timeline_part *part, struct gmt_timeline *timeline, int error,
                          char *message, size_t bytes);

#endif

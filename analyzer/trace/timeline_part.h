/* SPDX-License-Identifier: Apache-2.0 */
/* A part of loading a timeline that another thread does, with a connection of its own. */
#ifndef GMT_ANALYZER_TRACE_TIMELINE_PART_H
#define GMT_ANALYZER_TRACE_TIMELINE_PART_H

#include <pthread.h>

#include "analyzer/trace/timeline.h"

struct gmt_timeline_part {
    struct gmt_timeline rows; /* what it loads; functions and stacks are those of the whole */
    pthread_t thread;
    bool is_beside, loads;
    int rc;
    char why[256];
};

/*
 * Checks all values; `loads`: and loads copies and allocations, for which the timeline must have its functions and stacks. Where there
 * can be no thread, it is done before this returns.
 */
void gmt_timeline_begin_part(struct gmt_timeline_part *part, const struct gmt_timeline *timeline,
                             sqlite3 *beside, bool loads);

/* Waits, and gives the timeline what was loaded. 0; or negative errno, with the reason in message. */
int gmt_timeline_end_part(struct gmt_timeline_part *part, struct gmt_timeline *timeline,
                          char *message, size_t bytes);

#endif

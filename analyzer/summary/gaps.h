/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace does not have: parts of gmt_gaps_fill. */
#ifndef GMT_ANALYZER_SUMMARY_GAPS_H
#define GMT_ANALYZER_SUMMARY_GAPS_H

#include <stdbool.h>

#include "analyzer/trace/timeline.h"

/* A line under "could not check"; remedy may be NULL. */
void gmt_gap_add(struct gmt_report *report, const char *what, const char *why, const char *remedy);
void gmt_gaps_add_losses(const struct gmt_timeline *timeline, struct gmt_report *report);
/* Calls that a recording lost. text: the largest of its losses, "46,304 records were dropped: File too
 * large"; "" where it lost none. all: no call is left, so that a report would tell of an empty run. */
struct gmt_lost_calls {
    char text[200];
    bool all;
};
struct gmt_lost_calls gmt_lost_calls(sqlite3 *db);

/* What helps against the first of such reasons that anything helps against; NULL: nothing does. */
const char *gmt_gaps_remedy_unmeasured(const char *reasons);

/* Why kernels were never measured; NULL: the trace does not say. */
const char *gmt_gaps_reason_unmeasured(const struct gmt_timeline *timeline,
                                       struct gmt_report *report);
/* Demangled, without return type, template arguments and parameters. */
const char *gmt_short_kernel_name(struct gmt_arena *arena, const char *mangled);

#endif

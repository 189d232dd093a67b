/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of the whole run, beside its findings. */
#ifndef GMT_ANALYZER_SUMMARY_SUMMARY_H
#define GMT_ANALYZER_SUMMARY_SUMMARY_H

#include "analyzer/findings/rule_context.h"

void gmt_details_fill(const struct gmt_timeline *timeline, struct gmt_report *report);

/* How long devices were busy, and for how much of the time that is known; and why not for all of it. */
void gmt_device_seen_fill(const struct gmt_timeline *timeline, struct gmt_report *report);
void gmt_device_seen_add_gap(const struct gmt_timeline *timeline, struct gmt_report *report);

int gmt_verdict_fill(const struct gmt_timeline *timeline, struct gmt_report *report);

/* What occupancy.h says of a class, for a report, in its arena. NULL: no memory. */
const struct gmt_report_occupancy *gmt_occupancy_report(struct gmt_arena *arena,
                                                        const struct gmt_timeline *timeline,
                                                        const struct gmt_tl_class *class);

/* Peak memory, who made it, and who held memory when there was none left. */
int gmt_memory_report(struct gmt_analysis *analysis);

/* Which calls failed, and whether the program could go on after that. 0, -ENOMEM or -EIO. */
int gmt_failed_calls_report(struct gmt_analysis *analysis);

/* What the recorded time went to, what the device was idle for, and the calls by function: after gmt_verdict_fill. */
struct gmt_host_basis;
int gmt_host_report(struct gmt_analysis *analysis, const struct gmt_host_basis *basis);

/* Names in each finding and note the group that most of its claims lie in, and lists the groups. */
int gmt_report_name_ranges(const struct gmt_timeline *timeline, struct gmt_report *report);

/* What could not be checked, and why. */
void gmt_gaps_fill(const struct gmt_timeline *timeline, const struct gmt_model *model,
                   struct gmt_report *report);

#endif

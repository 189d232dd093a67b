/* SPDX-License-Identifier: Apache-2.0 */
/* The recording's check of itself, from the trace into the report. */
#ifndef GMT_ANALYZER_SUMMARY_COVERAGE_H
#define GMT_ANALYZER_SUMMARY_COVERAGE_H

#include "analyzer/trace/timeline.h"

void gmt_coverage_fill(const struct gmt_timeline *timeline, struct gmt_report *report);
/* What follows from it that no loss says. */
void gmt_coverage_add_gaps(struct gmt_report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Adds calls, and what findings claim, to the paths of the ranges that they lie in. */
#ifndef GMT_ANALYZER_SUMMARY_RANGE_SUMS_H
#define GMT_ANALYZER_SUMMARY_RANGE_SUMS_H

#include "analyzer/summary/range_claims.h"
#include "analyzer/summary/range_paths.h"

/* Calls that succeeded and were executed. */
void gmt_range_sums_add_calls(struct gmt_range_paths *paths, const struct gmt_timeline *timeline);
/* Findings only, no notes. */
void gmt_range_sums_add_findings(struct gmt_range_paths *paths,
                                 const struct gmt_range_claims *claims,
                                 const struct gmt_report *report);

/* gmt_range_paths_visit, of the call that a claim belongs to. */
size_t gmt_range_sums_visit(struct gmt_range_paths *paths, const struct gmt_range_claim *claim);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace does not have: parts of gmt_gaps_fill. */
#ifndef GMT_ANALYZER_SUMMARY_GAPS_H
#define GMT_ANALYZER_SUMMARY_GAPS_H

#include "analyzer/trace/timeline.h"

void gmt_gaps_add_losses(const struct gmt_timeline *timeline, struct gmt_report *report);

/* What helps against the first of such reasons that anything helps against; NULL: nothing does. */
const char *gmt_gaps_remedy_unmeasured(const char *reasons);

/* Why kernels were never measured, of several reasons how many each is of; NULL: the trace does not say. */
const char *gmt_gaps_reason_unmeasured(const struct gmt_timeline *timeline,
                                       struct gmt_report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What single instructions show of the whole report. */
#ifndef GMT_ANALYZER_FINDINGS_INSTRUCTIONS_H
#define GMT_ANALYZER_FINDINGS_INSTRUCTIONS_H

#include "analyzer/trace/timeline.h"

/* Lists the races that were counted between threads. */
void gmt_races_fill(const struct gmt_timeline *timeline, struct gmt_report *report);

#endif

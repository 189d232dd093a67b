/* SPDX-License-Identifier: Apache-2.0 */
/* What became of each finding between two traces. */
#ifndef GMT_ANALYZER_COMPARE_COMPARE_FINDINGS_H
#define GMT_ANALYZER_COMPARE_COMPARE_FINDINGS_H

#include "reports/model/comparison.h"

/* Fills comparison->findings from its a and b. */
void gmt_compare_findings(struct gmt_comparison *comparison, struct gmt_arena *arena);

#endif

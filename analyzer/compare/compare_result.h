/* SPDX-License-Identifier: Apache-2.0 */
/* What became of what was predicted, in numbers and in a sentence; and kernels, copies and memory of both. */
#ifndef GMT_ANALYZER_COMPARE_COMPARE_RESULT_H
#define GMT_ANALYZER_COMPARE_COMPARE_RESULT_H

#include "reports/model/comparison.h"

/* After gmt_compare_findings. */
void gmt_compare_result(struct gmt_comparison *comparison, struct gmt_arena *arena);
void gmt_compare_parts(struct gmt_comparison *comparison, struct gmt_arena *arena);

#endif

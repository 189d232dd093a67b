/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of gmt_gaps_fill. */
#ifndef GMT_ANALYZER_GAPS_H
#define GMT_ANALYZER_GAPS_H

#include "analyzer/timeline.h"

/* A line under "could not check"; remedy may be NULL. */
void gmt_gap_add(struct gmt_report *report, const char *what, const char *why, const char *remedy);
void gmt_gaps_add_losses(const struct gmt_timeline *timeline, struct gmt_report *report);
/* Why kernels were never measured; NULL: the trace does not say. */
const char *gmt_gaps_reason_unmeasured(const struct gmt_timeline *timeline,
                                       struct gmt_report *report);
/* Demangled, without return type, template arguments and parameters. */
const char *gmt_short_kernel_name(struct gmt_arena *arena, const char *mangled);

#endif

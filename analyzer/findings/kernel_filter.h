/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves in a report what is about kernels whose names match. */
#ifndef GMT_ANALYZER_FINDINGS_KERNEL_FILTER_H
#define GMT_ANALYZER_FINDINGS_KERNEL_FILTER_H

#include <regex.h>

#include "analyzer/trace/timeline.h"

/* 0, or -ENOENT with a message, which names some there are: no kernel of the trace matches. */
int gmt_kernels_match(const struct gmt_timeline *timeline, const regex_t *kernels, char *message,
                      size_t bytes);

void gmt_report_keep_kernels(const struct gmt_timeline *timeline, struct gmt_report *report,
                             const regex_t *kernels);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* From a loaded trace and a device model to a report. */
#ifndef GMT_ANALYZER_RUN_ANALYSIS_H
#define GMT_ANALYZER_RUN_ANALYSIS_H

#include <regex.h>

#include "analyzer/findings/rule.h"
#include "analyzer/model/device_model.h"
#include "analyzer/trace/timeline.h"

/* Which rules run, and what of the report stays. `only` and `skip` hold ids or slugs. */
struct gmt_rule_filter {
    const char *const *only, *const *skip;
    size_t only_count, skip_count;
    const regex_t *kernels; /* names of the kernels to report on; NULL: all, and what is not one */
};

/*
 * Fills report, whose arena and trace_path are set. The report points into timeline and model,
 * which must live as long. 0 or -ENOMEM, -EIO.
 */
int gmt_analyze(struct gmt_timeline *timeline, const struct gmt_model *model,
                const struct gmt_rule_filter *filter, struct gmt_report *report);

/* Parts of it. */
void gmt_races_fill(const struct gmt_timeline *timeline, struct gmt_report *report);
void gmt_details_fill(const struct gmt_timeline *timeline, struct gmt_report *report);
int gmt_verdict_fill(const struct gmt_timeline *timeline, struct gmt_report *report);
/* Peak memory, who made it, and who held memory when there was none left. */
int gmt_memory_report(struct gmt_analysis *analysis);
/* 0, or -ENOENT with a message, which names some there are: no kernel of the trace matches. */
int gmt_kernels_match(const struct gmt_timeline *timeline, const regex_t *kernels, char *message,
                      size_t bytes);

void gmt_report_keep_kernels(const struct gmt_timeline *timeline, struct gmt_report *report,
                             const regex_t *kernels);
void gmt_gaps_fill(const struct gmt_timeline *timeline, const struct gmt_model *model,
                   struct gmt_report *report);

#endif

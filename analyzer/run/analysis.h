/* SPDX-License-Identifier: Apache-2.0 */
/* From a loaded trace and a device model to a report. */
#ifndef GMT_ANALYZER_RUN_ANALYSIS_H
#define GMT_ANALYZER_RUN_ANALYSIS_H

#include <regex.h>

#include "analyzer/findings/rule.h"
#include "analyzer/model/device_model.h"
#include "analyzer/snapshot/snapshot.h"
#include "analyzer/summary/host_basis.h"
#include "analyzer/trace/timeline.h"
#include "analyzer/tried/tried.h"

/* Which rules run, and what of the report stays. `only` and `skip` hold ids or slugs. */
struct gmt_rule_filter {
    const char *const *only, *const *skip;
    size_t only_count, skip_count;
    const struct gmt_torch_snapshot *snapshot; /* of an allocator, beside the trace; NULL: none */
    struct gmt_tried_file *tried;              /* of gmtrace try, on this program; NULL: none */
    const regex_t *kernels; /* names of the kernels to report on; NULL: all, and what is not one */
    bool long_names;        /* reports show the names of kernels, not their titles */
    /* What is begun as soon as the report has its kernels; NULL: nothing. 0 or a negative errno. */
    int (*begin_beside)(void *context, const struct gmt_report *report);
    void *context;
    struct gmt_host_basis *
        basis; /* begun before; it is asked for when the rules have run. NULL: it is gathered before them */
};

/*
 * Fills report, whose arena and trace_path are set. The report points into timeline and model,
 * which must live as long. 0 or -ENOMEM, -EIO.
 */
int gmt_analyze(struct gmt_timeline *timeline, const struct gmt_model *model,
                const struct gmt_rule_filter *filter, struct gmt_report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a rule is given: the trace, the model, and the report under way. */
#ifndef GMT_ANALYZER_FINDINGS_RULE_CONTEXT_H
#define GMT_ANALYZER_FINDINGS_RULE_CONTEXT_H

#include "analyzer/memory/memory.h"
#include "analyzer/model/device_model.h"
#include "analyzer/trace/runs.h"
#include "analyzer/trace/timeline.h"
#include "reports/model/report.h"

struct gmt_copy_content;
struct gmt_rule;
struct gmt_launch_rows;
struct gmt_host_basis;
struct gmt_host_loops;
struct gmt_kernel_origins;
struct gmt_known_stack;
struct gmt_torch_snapshot;

struct gmt_analysis {
    const struct gmt_timeline *timeline;
    const struct gmt_model *model;
    const struct gmt_runs *runs;
    const struct gmt_memory *memory;
    const struct gmt_torch_snapshot *snapshot; /* that was given beside the trace; NULL: none */
    struct gmt_report *report;                 /* where findings go */
    const struct gmt_rule *rule;               /* the one that runs */
    struct gmt_rule_result *result;
    struct gmt_finding *pending; /* what the rule has said so far */
    size_t pending_count;
    struct gmt_launch_rows *launch_rows;       /* see gmt_analysis_launch_rows */
    struct gmt_copy_content *contents;         /* see gmt_analysis_contents    */
    struct gmt_host_loops *host_loops;         /* see gmt_analysis_host_loops  */
    struct gmt_host_basis *host_basis;         /* ready after gmt_host_basis_end (host_basis.h) */
    struct gmt_kernel_origins *kernel_origins; /* see kernel_origin.h */
    bool long_names;                /* reports show the names of kernels, not their titles */
    struct gmt_known_stack *stacks; /* see where.c; NULL: none so far */
    int64_t modelled_end_ns;        /* of what findings claimed beyond timeline->modelled_end_ns */
};

/* Launches by stream, loaded when a rule first asks for them; NULL: they could not be. */
const struct gmt_launch_rows *gmt_analysis_launch_rows(struct gmt_analysis *analysis);

/* gmt_contents_find, of which the same holds. */
const struct gmt_copy_content *gmt_analysis_contents(struct gmt_analysis *analysis);

/* Frees all of these. */
void gmt_analysis_free_shared(struct gmt_analysis *analysis);

#endif

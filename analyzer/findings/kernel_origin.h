/* SPDX-License-Identifier: Apache-2.0 */
/* For each kernel of a trace: who made it, and what reports call it. */
#ifndef GMT_ANALYZER_FINDINGS_KERNEL_ORIGIN_H
#define GMT_ANALYZER_FINDINGS_KERNEL_ORIGIN_H

#include "analyzer/base/kernel_title.h"
#include "analyzer/findings/makers.h"
#include "analyzer/findings/rule_context.h"

struct gmt_kernel_origin {
    struct gmt_made_by made;
    const char *title; /* no two kernels of a report have the same */
};

/* Of a class of the timeline, found when the first one is asked for; NULL: it has no name, or no memory. */
const struct gmt_kernel_origin *gmt_kernel_origin_of(struct gmt_analysis *analysis,
                                                     const struct gmt_tl_class *class);

/* What to call it in a sentence: its title, or its name where that is asked for. */
const char *gmt_kernel_label(struct gmt_analysis *analysis, const struct gmt_tl_class *class);

/* Fills in title, origin and origin_by of a place that is about the class; of the report's table of kernels. */
void gmt_kernel_origin_say(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                           struct gmt_where *where);
void gmt_kernel_origins_report(struct gmt_analysis *analysis);

/* NULL is allowed. */
void gmt_kernel_origins_free(struct gmt_kernel_origins *origins);

/* A bit for each origin whose files are in the trace's process: `loaded` of gmt_made_by_stack. */
unsigned gmt_origins_loaded(sqlite3 *db);

/* As gmt_kernel_title, with the library's name behind it where that is a maker of kernels: "gemm 64x64 f32 (cuBLAS)". */
const char *gmt_kernel_title_of(struct gmt_arena *arena, const char *name, enum gmt_origin origin,
                                enum gmt_title_detail detail);

#endif

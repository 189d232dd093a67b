/* SPDX-License-Identifier: Apache-2.0 */
/* What findings about the shape of a launch have in common. */
#ifndef GMT_ANALYZER_RULES_COMMON_LAUNCH_FINDING_H
#define GMT_ANALYZER_RULES_COMMON_LAUNCH_FINDING_H

#include "analyzer/findings/rule.h"
#include "analyzer/price/launch_shape.h"
#include "analyzer/price/price.h"

/*
 * A finding about a class of launches: its place, cost, claims, its shape as evidence, and a
 * statement that shows the shape. NULL: no memory; gmt_launch_finding_emit takes it.
 */
struct gmt_finding *gmt_launch_finding(struct gmt_analysis *analysis,
                                       const struct gmt_tl_class *class,
                                       const struct gmt_shape *shape);

/* Puts the saving of all launches from the gain of one, and sends the finding off. */
void gmt_launch_finding_emit(struct gmt_analysis *analysis, struct gmt_finding *finding,
                             const struct gmt_tl_class *class, struct gmt_gain gain);

/* True where the finding would say less than that: its time is not known, or hardly any is spent. */
static inline bool gmt_launch_is_short(const struct gmt_tl_class *class, double least_ns)
{
    return !(class->median_ns >= least_ns);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of copies summed up by call site: what GM101 and GM104 have in common. */
#ifndef GMT_ANALYZER_RULES_COMMON_COPY_SITES_H
#define GMT_ANALYZER_RULES_COMMON_COPY_SITES_H

#include "analyzer/findings/rule.h"
#include "libtrace/base/format.h"

/* All runs of one rule from one place. */
struct gmt_copy_site {
    size_t first; /* index of a copy that stands for all     */
    size_t runs, copies;
    double bytes, cost_ns, hidden_ns, largest_bytes; /* hidden_ns: of cost_ns, behind kernels */
    const struct gmt_run *example;
    const bool *wanted; /* by run index: which runs are meant      */
};

/* True for a run of copies far too small for the bus, of several places, that is no pattern of rows. */
bool gmt_run_is_small(const struct gmt_analysis *analysis, const struct gmt_run *run);

/*
 * Calls report for each call site with runs that `wants` accepts, the costliest first is not
 * promised. PASS, or COULD_NOT_CHECK without memory.
 */
enum gmt_outcome gmt_copy_sites_report(struct gmt_analysis *analysis,
                                       bool (*wants)(const struct gmt_analysis *analysis,
                                                     const struct gmt_run *run),
                                       void (*report)(struct gmt_analysis *analysis,
                                                      const struct gmt_copy_site *site));

/* Where, cost, evidence, SQL and claims. */
void gmt_copy_site_fill(struct gmt_analysis *analysis, const struct gmt_copy_site *site,
                        struct gmt_finding *finding);

/* Saving of merging each run into one copy: 1-D or 2-D. */
void gmt_copy_site_price(struct gmt_analysis *analysis, const struct gmt_copy_site *site,
                         struct gmt_finding *finding, bool two_d);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What findings claim, and the ranges that the calls behind it lie in. */
#ifndef GMT_ANALYZER_SUMMARY_RANGE_CLAIMS_H
#define GMT_ANALYZER_SUMMARY_RANGE_CLAIMS_H

#include "analyzer/trace/named_ranges.h"

/* One claim of a finding. Claims are made of what rows say: each ends when a call ended, or when its work on
 * the device did, in a graph too; so the end identifies the call. A launch of a class that has its time by cycles
 * claims that time from its begin on. */
struct gmt_range_claim {
    int64_t end_ns;
    double ns;
    int64_t called_ns; /* when the call began */
    int32_t range;     /* the innermost one then; -1: none */
};

struct gmt_range_claims {
    struct gmt_range_claim *items; /* finding by finding, then note by note */
    uint32_t *order;               /* by end */
    size_t count, at;              /* `at`: where the last search ended */
};

/* 0 or -ENOMEM; no items where they would be too many. Zeros before; gmt_range_claims_free in any case. */
int gmt_range_claims_find(struct gmt_range_claims *claims, const struct gmt_named_ranges *all,
                          const struct gmt_timeline *timeline, const struct gmt_report *report);
void gmt_range_claims_free(struct gmt_range_claims *claims);

/* How many items a finding has: a class's claim is that of each of its launches; there is none where only graphs launch it. */
size_t gmt_range_claims_of(const struct gmt_timeline *timeline, const struct gmt_finding *finding);

#endif

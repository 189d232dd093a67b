/* SPDX-License-Identifier: Apache-2.0 */
/* What findings about global accesses have in common: evidence, excess, price. */
#ifndef GMT_ANALYZER_RULES_COMMON_ACCESS_FINDING_H
#define GMT_ANALYZER_RULES_COMMON_ACCESS_FINDING_H

#include "analyzer/findings/rule.h"
#include "analyzer/price/pattern.h"

/* A kernel, and which of its accesses a finding is about. */
struct gmt_access_subject {
    const struct gmt_tl_class *class;
    struct gmt_access load, store;
    bool loads, stores;
    struct gmt_pattern pattern;
};

struct gmt_access_subject gmt_access_subject_of(const struct gmt_analysis *analysis,
                                                const struct gmt_tl_class *class);

/* Sectors of one launch beyond the ideal. */
double gmt_access_excess(const struct gmt_access_subject *subject);

/* With its place, cost, evidence, lines, claims and SQL. NULL: no memory. */
struct gmt_finding *gmt_access_finding(struct gmt_analysis *analysis,
                                       const struct gmt_access_subject *subject);

/* Saving of all launches from the gain of one; method says how it was reckoned. */
void gmt_access_put_gain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                         const struct gmt_access_subject *subject, const struct gmt_gain *gain,
                         const char *method);

/* gmt_finding_judge_part by the sectors in excess, of all sectors of that kind of access. */
void gmt_access_judge_part(struct gmt_analysis *analysis, struct gmt_finding *finding,
                           const struct gmt_access_subject *subject);

/* "loads", "stores", or "loads and stores". */
const char *gmt_access_words(const struct gmt_access_subject *subject);

/* What gmt_price_access did, as the method of a finding. */
const char *gmt_access_method(const struct gmt_gain *gain);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A budget: assertions about figures and rules in a JSON file of the shape that lighthouse-ci has.
 *
 *   { "assertions": { "pageable_bytes": ["error", { "maxNumericValue": 0 }],
 *                     "GM101": "warn",
 *                     "bank-conflict": ["error", { "maxLength": 2 }] } }
 *
 * or the same below "ci": { "assert": ... }. A key is a figure of reports/model/figures.def, or a rule's id
 * or slug; its value a level (off, warn, error), or a level and limits.
 */
#ifndef GMT_ANALYZER_COMPARE_BUDGET_H
#define GMT_ANALYZER_COMPARE_BUDGET_H

#include "analyzer/compare/gates.h"

/* What is asked of a figure or rule. */
enum gmt_limit {
    GMT_LIMIT_NUMERIC, /* maxNumericValue: the figure; of a rule the saving of its findings, ns    */
    GMT_LIMIT_LENGTH, /* maxLength: findings of a rule                                            */
    GMT_LIMIT_SCORE,  /* minScore: 1 where a rule has no finding or nothing to look at, else 0    */
    GMT_LIMITS
};

struct gmt_assertion {
    const char *key;  /* as written */
    int figure;       /* -1: a rule */
    const char *rule; /* its id     */
    enum gmt_level level;
    double limits[GMT_LIMITS]; /* NAN: not asked for */
};

struct gmt_budget {
    struct gmt_assertion *assertions;
    size_t count;
};

/* 0; else negative errno and one line in message, which does not name the file. */
int gmt_budget_read(struct gmt_budget *budget, const char *path, struct gmt_arena *arena,
                    char *message, size_t bytes);

void gmt_budget_check(const struct gmt_budget *budget, const struct gmt_summary *summary,
                      struct gmt_gates *gates);

#endif

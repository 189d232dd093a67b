/* SPDX-License-Identifier: Apache-2.0 */
/* Fixes that are proven one by one are applied together: what a plan has applied, and what stays of it where that differs. */
#include <string.h>

#include "launcher/try/try.h"

bool gmt_try_is_for_plan(const struct gmt_try_report *report, size_t outcome)
{
    const struct gmt_try_outcome *of = &report->outcomes[outcome];
    return of->fix != GMT_FIX_COUNT && (outcome == 0 || of[-1].fix != of->fix);
}

static bool is_kept(const struct gmt_try_report *report, size_t outcome)
{
    return gmt_try_is_for_plan(report, outcome) &&
           report->outcomes[outcome].state == GMT_FIX_PROVEN;
}

unsigned gmt_try_proven_set(const struct gmt_try_report *report, struct gmt_try_set *set)
{
    unsigned fixes = 0;
    *set = (struct gmt_try_set){0};
    for (size_t i = 0; i < report->count; i++) {
        if (is_kept(report, i)) {
            enum gmt_fix fix = report->outcomes[i].fix;
            set->fixes[fix] = true;
            set->swept[fix] = report->outcomes[i].set.swept[fix];
            fixes++;
        }
    }
    return fixes;
}

bool gmt_try_is_same_set(const struct gmt_try_set *a, const struct gmt_try_set *b)
{
    bool same = true;
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        same = same && a->fixes[i] == b->fixes[i] && a->swept[i] == b->swept[i];
    }
    return same;
}

const struct gmt_try_outcome *gmt_try_find_set(const struct gmt_try_report *report,
                                               const struct gmt_try_set *set)
{
    for (size_t i = 0; i < report->count; i++) {
        if (gmt_try_is_same_set(&report->outcomes[i].set, set)) {
            return &report->outcomes[i];
        }
    }
    return NULL;
}

void gmt_try_keep_best(struct gmt_try_report *report)
{
    const struct gmt_try_outcome *best = NULL;
    for (size_t i = 0; i < report->count; i++) {
        const struct gmt_try_outcome *outcome = &report->outcomes[i];
        if (is_kept(report, i) && (best == NULL || outcome->gain.median_s > best->gain.median_s)) {
            best = outcome;
        }
    }
    for (size_t i = 0; i < report->count && best != NULL; i++) {
        struct gmt_try_outcome *outcome = &report->outcomes[i];
        if (outcome->state == GMT_FIX_PROVEN && outcome->fix != GMT_FIX_COUNT &&
            outcome->fix != best->fix) {
            outcome->state = GMT_FIX_TRIED;
            outcome->why =
                "results are equal with it alone, and are not shown to be where all that is "
                "proven is on together; of these the one that gains most is kept";
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL that finds again what was called at one place, whichever way led there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/findings/rule.h"

enum {
    STACKS = 16,
    DIGITS = 24
}; /* ids that a statement lists where it can say it shorter; of an id */

static size_t count_stacks(const struct gmt_timeline *tl, uint64_t site)
{
    size_t count = 0;

    for (size_t i = 0; i < tl->stack_site_count; i++) {
        count += tl->stack_sites[i].site == site;
    }
    return count;
}

static const char *list_stacks(struct gmt_analysis *analysis, uint64_t site, size_t count)
{
    const struct gmt_timeline *tl = analysis->timeline;
    char *ids = malloc(count * DIGITS + 1);
    size_t used = 0;

    analysis->report->arena->failed |= ids == NULL;
    for (size_t i = 0; ids != NULL && i < tl->stack_site_count; i++) {
        if (tl->stack_sites[i].site == site) {
            used += (size_t)snprintf(ids + used, DIGITS, "%s%" PRId64, used > 0 ? ", " : "",
                                     tl->stack_sites[i].stack_id);
        }
    }
    const char *text = gmt_text(analysis, "stack_id IN (%s)", ids != NULL ? ids : "");
    free(ids);
    return text;
}

const char *gmt_call_condition(struct gmt_analysis *analysis, int64_t stack_id, int64_t caller)
{
    const struct gmt_timeline *tl = analysis->timeline;

    if (stack_id <= 0 && caller == 0) {
        return "caller IS NULL";
    }
    if (stack_id <= 0) {
        return gmt_text(analysis, "caller = %" PRId64, caller);
    }
    uint64_t site = gmt_timeline_site(tl, stack_id, 0);
    size_t count = count_stacks(tl, site);
    if (count <= 1) {
        return gmt_text(analysis, "stack_id = %" PRId64, stack_id);
    }
    /* They meet in the innermost frame outside of the CUDA runtime, if it is a frame that makes the site
     * (timeline.c). */
    if (count > STACKS && site >> 62 == 2) {
        return gmt_text(analysis,
                        "stack_id IN (SELECT stack_id FROM (SELECT s.stack_id, s.frame_id, "
                        "min(s.position) FROM stack_frame s JOIN frame f ON f.id = s.frame_id "
                        "WHERE f.runtime = 0 GROUP BY s.stack_id) WHERE frame_id = %" PRIu64 ")",
                        site & ~(UINT64_C(3) << 62));
    }
    return list_stacks(analysis, site, count);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL that finds again what was called at one place, whichever way led there. */
#include <inttypes.h>

#include "analyzer/analysis.h"

enum { STACKS = 16 }; /* that a statement lists: more is no reading matter */

/* Ids of the stacks that meet in the frame of `stack_id`; at most STACKS + 1 are counted. */
static size_t stacks_of(const struct gmt_timeline *tl, int64_t stack_id, int64_t *stacks)
{
    uint64_t site = gmt_timeline_site(tl, stack_id, 0);
    size_t count = 0;

    for (size_t i = 0; i < tl->stack_site_count && count <= STACKS; i++) {
        if (tl->stack_sites[i].site == site)
            stacks[count++] = tl->stack_sites[i].stack_id;
    }
    return count;
}

const char *gmt_place_condition(struct gmt_analysis *analysis, int64_t stack_id, int64_t caller)
{
    const struct gmt_timeline *tl = analysis->timeline;
    int64_t stacks[STACKS + 1];
    const char *ids = "";

    if (stack_id <= 0 && caller == 0)
        return "caller IS NULL";
    if (stack_id <= 0)
        return gmt_text(analysis, "caller = %" PRId64, caller);
    size_t count = stacks_of(tl, stack_id, stacks);
    if (count <= 1)
        return gmt_text(analysis, "stack_id = %" PRId64, stack_id);
    /* The frame in which they meet is the innermost one outside of the CUDA runtime. */
    if (count > STACKS)
        return gmt_text(analysis,
                        "stack_id IN (SELECT stack_id FROM (SELECT s.stack_id, s.frame_id, "
                        "min(s.position) FROM stack_frame s JOIN frame f ON f.id = s.frame_id "
                        "WHERE f.runtime = 0 GROUP BY s.stack_id) WHERE frame_id = %" PRIu64 ")",
                        gmt_timeline_site(tl, stack_id, 0) & ~(UINT64_C(3) << 62));
    for (size_t i = 0; i < count; i++)
        ids = gmt_text(analysis, "%s%s%" PRId64, ids, i > 0 ? ", " : "", stacks[i]);
    return gmt_text(analysis, "stack_id IN (%s)", ids);
}

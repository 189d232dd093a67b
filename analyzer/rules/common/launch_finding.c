/* SPDX-License-Identifier: Apache-2.0 */
/* What findings about the shape of a launch have in common. */
#include "analyzer/rules/common/launch_finding.h"

#include <inttypes.h>

struct gmt_finding *gmt_launch_finding(struct gmt_analysis *analysis,
                                       const struct gmt_tl_class *class,
                                       const struct gmt_shape *shape)
{
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return NULL;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    gmt_finding_evidence(finding, "blocks", "count", shape->blocks);
    gmt_finding_evidence(finding, "threads_per_block", "count", shape->threads);
    gmt_finding_evidence(finding, "resident_blocks", "count", shape->resident);
    gmt_finding_evidence(finding, "waves", "ratio", shape->waves);
    gmt_finding_evidence(finding, "launches", "count", (double)class->launches);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->sql = gmt_text(analysis,
                            "SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z, "
                            "max_blocks_per_sm, theoretical_occupancy FROM kernel_class "
                            "WHERE id = %" PRId64,
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    return finding;
}

void gmt_launch_finding_emit(struct gmt_analysis *analysis, struct gmt_finding *finding,
                             const struct gmt_tl_class *class, struct gmt_gain gain)
{
    if (finding == NULL) {
        return;
    }
    if (isnan(gain.best_ns)) {
        finding->confidence = GMT_CONFIDENCE_HEURISTIC;
        finding->method = gmt_unpriced(analysis);
    } else {
        finding->confidence = finding->guess     ? GMT_CONFIDENCE_HEURISTIC
                              : gain.from_family ? gmt_confidence_of_model(analysis->model)
                                                 : GMT_CONFIDENCE_MODELLED;
    }
    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    gmt_finding_emit(analysis, finding);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GM502: blocks whose threads do not fill their warps. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "libtrace/base/format.h"

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_shape shape = gmt_shape_of(tl, class);
    double lanes = 32 * shape.warps, idle = 1 - shape.threads / lanes;
    struct gmt_gain gain = {NAN, NAN, NAN, false};
    char percent[GMT_FORMAT_BYTES];

    /* A launch of a single block is GM510's. */
    if (!(idle > 0) || shape.blocks < 2 || class->launches == 0) {
        return;
    }
    if (analysis->model->provenance != GMT_MODEL_NONE && isfinite(class->median_ns)) {
        gain = gmt_price_whole_warps(analysis->model, tl, class, &shape);
    }
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, &shape);
    if (finding == NULL) {
        return;
    }
    gmt_finding_evidence(finding, "idle_lanes", "percent", 100 * idle);
    finding->headline = gmt_text(analysis, "blocks of %.0f threads leave %s of their lanes idle%s",
                                 shape.threads, gmt_format_percent(percent, 100 * idle),
                                 gmt_kernel_time(analysis, class));
    finding->fix = gmt_text(
        analysis,
        "Launch blocks of %.0f threads: whole warps. Keep the bounds check, and "
        "divide the same elements by the new size.",
        lanes);
    finding->sketch = gmt_text(analysis,
                               "kernel<<<(n + %.0f - 1) / %.0f, %.0f>>>(...);  /* was %.0f */",
                               lanes, lanes, lanes, shape.threads);
    finding->method = shape.waves < 1
                          ? "all blocks are resident at once: only what L1, shared memory and the "
                            "schedulers take shrinks with the warps"
                          : "time that device memory does not explain shrinks with the warps";
    if ((isnan(gain.best_ns) || analysis->timeline->simulated) &&
        lanes < GMT_EXCESS_RATIO * shape.threads) {
        finding->note_why = "more than half of the lanes are in use";
    }
    if (idle < GMT_IDLE_LANES) {
        gmt_finding_note_small(finding,
                               gmt_text(analysis, "less than %s of the lanes are idle",
                                        gmt_format_percent(percent, 100 * GMT_IDLE_LANES)));
    }
    gmt_launch_finding_emit(analysis, finding, class, gain);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        check(analysis, &analysis->timeline->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_partial_warp_block;
const struct gmt_rule gmt_rule_partial_warp_block = {.id = "GM502",
                                                     .slug = "partial-warp-block",
                                                     .title = "Blocks that leave lanes idle",
                                                     .category = "occupancy",
                                                     .about_code = true,
                                                     .needs = GMT_NEED_LAUNCHES,
                                                     .touches = GMT_TOUCHES_LANES,
                                                     .run = run};

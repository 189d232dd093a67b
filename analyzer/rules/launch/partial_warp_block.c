/* SPDX-License-Identifier: Apache-2.0 */
/* GM502: blocks whose threads do not fill their warps. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "libtrace/base/format.h"

static const char explain[] =
    "What    A block runs in warps of 32 threads. With 33 threads it takes two warps, and 31 "
    "lanes\n"
    "        of the second one do nothing, but take issue slots, registers and residency.\n"
    "Seen    Threads per block that are no multiple of 32, and leave at least 5 % of the lanes\n"
    "        idle; fewer are a note.\n"
    "Saving  With r = lanes in use / lanes of the warps, time that device memory does not explain\n"
    "        shrinks to r of itself, because as many fewer warps do the same work; bytes take as\n"
    "        long as before, at the calibrated rate for one load in flight at this occupancy. "
    "Lower\n"
    "        end: only the issue of instructions shrinks. Upper end: all but the roof of device\n"
    "        memory does. A kernel that is bound by device memory becomes a note. In a grid below "
    "a\n"
    "        wave only what L1, shared memory and the schedulers take shrinks.\n"
    "        One that starts its blocks as fast as the calibrated device can takes r of its time.\n"
    "Fix     Round the block size up to a multiple of 32, and the grid down accordingly.\n"
    "Limits  Where a block's threads are tied to a shape (33 x 1 for a halo), the fix is another\n"
    "        mapping. Without times (software device) blocks that use at most half of their lanes\n"
    "        are shown; others are notes.\n";

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_shape shape = gmt_shape_of(tl, class);
    double lanes = 32 * shape.warps, idle = 1 - shape.threads / lanes;
    struct gmt_gain gain = {NAN, NAN, NAN, false};
    char percent[GMT_FORMAT_BYTES];

    /* A launch of a single block is GM510's. */
    if (!(idle > 0) || shape.blocks < 2 || class->launches == 0)
        return;
    if (analysis->model->provenance != GMT_MODEL_NONE && isfinite(class->median_ns))
        gain = gmt_price_whole_warps(analysis->model, tl, class, &shape);
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, &shape);
    if (finding == NULL)
        return;
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
    if (isnan(gain.best_ns) && lanes < GMT_EXCESS_RATIO * shape.threads)
        finding->note_why = "more than half of the lanes are in use";
    if (idle < GMT_IDLE_LANES)
        gmt_finding_note_small(finding,
                               gmt_text(analysis, "less than %s of the lanes are idle",
                                        gmt_format_percent(percent, 100 * GMT_IDLE_LANES)));
    gmt_launch_finding_emit(analysis, finding, class, gain);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++)
        check(analysis, &analysis->timeline->classes[i]);
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_partial_warp_block;
const struct gmt_rule gmt_rule_partial_warp_block = {.id = "GM502",
                                                     .slug = "partial-warp-block",
                                                     .title = "Blocks that leave lanes idle",
                                                     .category = "occupancy",
                                                     .needs = GMT_NEED_LAUNCHES,
                                                     .touches = GMT_TOUCHES_LANES,
                                                     .run = run,
                                                     .explain = explain};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM503: a few registers per thread too many for one more resident block. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "libtrace/base/format.h"

/* Of a warp: 32 lanes x 4 bytes. */
enum { SECTORS_PER_WORD = 4 };

/* Time of one launch for storing the registers that are too many once. */
static double spills_ns(const struct gmt_model *model, const struct gmt_tl_class *class,
                        const struct gmt_shape *shape)
{
    double words = ((double)class->registers - shape->next_registers) * shape->blocks *
                   shape->warps;

    return gmt_known(words * SECTORS_PER_WORD * 1e9 / model->write_sectors_per_s);
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_shape shape = gmt_shape_of(tl, class);
    double occupancy = gmt_shape_occupancy(class);
    double after = fmin(1, occupancy * (shape.resident + 1) / shape.resident);

    /* The launch may have no block more for each multiprocessor. */
    after = fmin(after, fmax(occupancy, gmt_price_most_occupancy(tl, class, &shape)));
    struct gmt_position position = gmt_shape_position(analysis->model, tl, class, after);
    char has[GMT_FORMAT_BYTES], could[GMT_FORMAT_BYTES];

    if (class->launches == 0 || isnan(class->median_ns) || !gmt_shape_at_cliff(class, &shape) ||
        after < GMT_OCCUPANCY_MIN_GAIN * occupancy) {
        return;
    }
    struct gmt_gain gain = gmt_price_occupancy(analysis->model, tl, class, occupancy, after);
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, &shape);
    if (finding == NULL) {
        return;
    }
    gmt_finding_evidence(finding, "registers", "count", (double)class->registers);
    gmt_finding_evidence(finding, "registers_of_next_step", "count", shape.next_registers);
    gmt_finding_evidence(finding, "spills_at_worst", "ns",
                         spills_ns(analysis->model, class, &shape));
    gmt_finding_evidence(finding, "occupancy", "percent", 100 * occupancy);
    gmt_finding_evidence(finding, "occupancy_after_fix", "percent", 100 * after);
    finding->headline = gmt_text(
        analysis,
        "%d registers per thread: %.0f resident block%s, %.0f with %.0f "
        "registers (%s of the warps, not %s)",
        (int)class->registers, shape.resident, shape.resident == 1 ? "" : "s", shape.resident + 1,
        shape.next_registers, gmt_format_percent(could, 100 * shape.next_occupancy),
        gmt_format_percent(has, 100 * class->theoretical_occupancy));
    finding->fix = gmt_text(
        analysis,
        "Reduce the kernel to %.0f registers per thread, and check that it does not spill.",
        shape.next_registers);
    finding->sketch = gmt_text(analysis,
                               "__global__ void __launch_bounds__(%.0f, %.0f) kernel(...)",
                               shape.threads, shape.resident + 1);
    finding->method = GMT_OCCUPANCY_METHOD;
    finding->note_why = gmt_shape_enough_warps(&position);
    if (finding->note_why != NULL) {
        gain.low_ns = gain.best_ns = gain.high_ns = 0;
    }
    if (!gmt_price_has_warps(tl, &shape, after)) {
        gain.low_ns = 0;
        finding->method = GMT_OCCUPANCY_METHOD GMT_OCCUPANCY_SPLIT;
    }
    double spilled_ns = spills_ns(analysis->model, class, &shape);
    gain.low_ns = fmax(0, gain.low_ns - spilled_ns);
    if (finding->note_why == NULL && gain.best_ns <= spilled_ns) {
        finding->note_why = "all registers are in use and would be spilled: the stores alone take "
                            "longer than more warps save";
    }
    gain.best_ns = fmax(0, gain.best_ns - spilled_ns);
    gmt_launch_finding_emit(analysis, finding, class, gain);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    if (analysis->model->in_flight.n == 0) {
        return gmt_could_not(analysis, "the device model has no curve of bandwidth over occupancy");
    }
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        check(analysis, &analysis->timeline->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_register_cliff;
const struct gmt_rule gmt_rule_register_cliff = {
    .id = "GM503",
    .slug = "register-cliff",
    .title = "A few registers keep a block from being resident",
    .category = "occupancy",
    .about_code = true,
    .needs = GMT_NEED_LAUNCHES | GMT_NEED_HARDWARE | GMT_NEED_TIMES | GMT_NEED_MODEL,
    .touches = GMT_TOUCHES_IN_FLIGHT,
    .run = run};

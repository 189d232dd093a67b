/* SPDX-License-Identifier: Apache-2.0 */
/* GM511: few warps, each of which waits for one load at a time. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "libtrace/base/format.h"

static double loads_per_thread(const struct gmt_tl_class *class, const struct gmt_shape *shape)
{
    return class->counter[GMT_M_global_load_requests] / (shape->blocks * shape->warps);
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_model *model = analysis->model;
    struct gmt_shape shape = gmt_shape_of(tl, class);
    double occupancy = gmt_shape_occupancy(class);
    double as_if = GMT_UNROLLED_LOADS * occupancy;
    struct gmt_position position = gmt_shape_position(model, tl, class, as_if);
    char has[GMT_FORMAT_BYTES], loads[GMT_FORMAT_BYTES];

    if (class->launches == 0 || !gmt_shape_low_ilp(model, tl, class, &shape) ||
        !(position.there >= GMT_OCCUPANCY_MIN_GAIN * position.rate)) {
        return;
    }
    double in_flight = gmt_shape_loads_in_flight(model, tl, class);
    struct gmt_gain gain = gmt_price_occupancy(model, tl, class, occupancy, as_if);
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, &shape);
    if (finding == NULL) {
        return;
    }
    gmt_finding_evidence(finding, "registers", "count", (double)class->registers);
    gmt_finding_evidence(finding, "achieved_occupancy", "percent", 100 * occupancy);
    gmt_finding_evidence(finding, "loads_in_flight", "ratio", in_flight);
    gmt_finding_evidence(finding, "loads_per_thread", "count", loads_per_thread(class, &shape));
    gmt_finding_evidence(finding, "waiting_for_loads", "percent",
                         100 * gmt_shape_waiting(tl, class));
    finding->headline = gmt_text(analysis,
                                 "%d registers per thread limit the kernel to %s of the warps, "
                                 "each with about one load in flight (%s)%s",
                                 (int)class->registers, gmt_format_percent(has, 100 * occupancy),
                                 gmt_format_decimal(loads, in_flight, 1),
                                 gmt_kernel_time(analysis, class));
    finding->fix =
        "Let each thread issue four independent loads before it uses the first: unroll, or load "
        "float4. Or use fewer registers (__launch_bounds__), so that more warps are resident.";
    finding->sketch = "float a[4];\n"
                      "for (int j = 0; j < 4; j++) a[j] = in[i + j * step];   /* all under way */\n"
                      "for (int j = 0; j < 4; j++) out[i + j * step] = f(a[j]);";
    bool alone = loads_per_thread(class, &shape) < GMT_SEVERAL_LOADS;
    if (!alone) {
        gain.low_ns = 0;
    }
    finding->method =
        alone ? "four loads keep three times the bytes in flight; from the kernel's own place on "
                "the calibrated curve of bandwidth over bytes in flight"
              : "four loads keep three times the bytes in flight; from the kernel's own place on "
                "the calibrated curve of bandwidth over bytes in flight; 0 if each load of a "
                "thread depends on the one before";
    gmt_launch_finding_emit(analysis, finding, class, gain);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    if (analysis->model->in_flight.n == 0) {
        return gmt_could_not(analysis, "the device model has no curve of bandwidth over occupancy");
    }
    if (isnan(analysis->model->dram_load_ns)) {
        return gmt_could_not(analysis, "the device model has no latency of a load");
    }
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        check(analysis, &analysis->timeline->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_low_ilp;
const struct gmt_rule gmt_rule_low_ilp = {.id = "GM511",
                                          .slug = "low-ilp",
                                          .title = "Few warps, and one load at a time in each",
                                          .category = "occupancy",
                                          .about_code = true,
                                          .needs = GMT_NEED_LAUNCHES | GMT_NEED_HARDWARE |
                                                   GMT_NEED_TIMES | GMT_NEED_PATCHED |
                                                   GMT_NEED_MODEL,
                                          .touches = GMT_TOUCHES_IN_FLIGHT,
                                          .run = run};

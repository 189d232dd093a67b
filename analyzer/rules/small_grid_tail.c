/* SPDX-License-Identifier: Apache-2.0 */
/* GM504: grids that do not fill the device, and last waves that fill little of it. */
#include <math.h>

#include "analyzer/price_launch.h"
#include "analyzer/rules/launch_finding.h"
#include "analyzer/rules/small_rows.h"
#include "analyzer/thresholds.h"
#include "reports/format.h"

static const char explain[] =
    "What    Blocks run in waves of as many as are resident at once. A grid below one wave leaves\n"
    "        multiprocessors or warps idle throughout; a last wave of a few blocks leaves nearly\n"
    "        all of them idle until it is done.\n"
    "Seen    Blocks against multiprocessors x resident blocks, and where they were counted the\n"
    "        active cycles of the busiest multiprocessor against the mean. Kernels below 10 us "
    "are\n"
    "        left alone: their grid is small because their job is. One block is GM510, and\n"
    "        rows of independent small kernels are GM506.\n"
    "Saving  Below a wave: the time shrinks with the blocks, down to the calibrated roof of the\n"
    "        kernel's work on all multiprocessors. Last wave: 1 - mean / most active cycles, as\n"
    "        counted; else the model of waves, in which a block alone on a multiprocessor is "
    "faster\n"
    "        where throughput binds. Upper end: the last wave takes as long as a full one. Half "
    "of\n"
    "        it where the threads of a block share tiles: smaller blocks are all that helps then.\n"
    "Fix     A grid of whole waves with a grid-stride loop; smaller blocks; less work per thread.\n"
    "Limits  Blocks count as equal. Kernels that mostly run beside those of other streams are "
    "left\n"
    "        alone, and so are those on a megabyte of mapped host memory and more: what they wait "
    "for\n"
    "        is the bus, however many blocks there are (GM112).\n";

static const char sketch[] =
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes);\n"
    "kernel<<<min((n + threads - 1) / threads, resident * multiprocessors), threads>>>(...);\n"
    "for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)";

static const char *headline(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                            const struct gmt_shape *shape)
{
    double full = floor(shape->waves), sms = (double)analysis->timeline->device.sm_count;
    char share[GMT_FORMAT_BYTES];

    if (shape->blocks < sms)
        return gmt_text(analysis, "%.0f blocks for %.0f multiprocessors%s", shape->blocks, sms,
                        gmt_kernel_time(analysis, class));
    if (full < 1)
        return gmt_text(analysis, "%.0f blocks fill %s of the %.0f that can be resident%s",
                        shape->blocks, gmt_format_percent(share, 100 * shape->waves), shape->wave,
                        gmt_kernel_time(analysis, class));
    double more = shape->blocks - full * shape->wave;
    return gmt_text(analysis, "%.0f wave%s and %.0f block%s more, filling %s of another%s", full,
                    full == 1 ? "" : "s", more, more == 1 ? "" : "s",
                    gmt_format_percent(share, 100 * (shape->waves - full)),
                    gmt_kernel_time(analysis, class));
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_model *model = analysis->model;
    struct gmt_shape shape = gmt_shape_of(tl, class);
    bool small = shape.waves < 1 - GMT_TAIL_MIN_LOSS;

    if (class->launches == 0 || isnan(shape.waves) || shape.blocks < 2 ||
        gmt_launch_is_short(class, GMT_SHORT_KERNEL_NS) ||
        class->mapped_bytes >= GMT_MAPPED_MIN_BYTES)
        return;
    struct gmt_gain gain = small ? gmt_price_full_grid(model, tl, class, &shape)
                                 : gmt_price_no_tail(model, tl, class, &shape);
    if (!(gain.best_ns >= GMT_TAIL_MIN_LOSS * class->median_ns) ||
        gain.best_ns * (double)class->launches < GMT_FLOOR_NOISE_NS)
        return;
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, &shape);
    if (finding == NULL)
        return;
    gmt_finding_evidence(finding, "wave", "count", shape.wave);
    gmt_finding_evidence(finding, "sm_cycles_active_mean", "cycles",
                         class->counter[GMT_M_sm_cycles_active]);
    gmt_finding_evidence(finding, "sm_cycles_active_most", "cycles",
                         class->counter[GMT_M_sm_cycles_active_max]);
    finding->headline = headline(analysis, class, &shape);
    finding->fix = small ? gmt_text(analysis,
                                    "Launch %.0f blocks (%.0f per multiprocessor) and give each "
                                    "thread less to do.",
                                    shape.wave, shape.resident)
                         : gmt_text(analysis,
                                    "Launch a multiple of %.0f blocks, for instance %.0f, with a "
                                    "grid-stride loop, or smaller blocks.",
                                    shape.wave, floor(shape.waves) * shape.wave);
    finding->sketch = sketch;
    finding->method = small
                          ? "time shrinks with the blocks, down to the calibrated roof of the work "
                            "on all multiprocessors"
                          : "idle cycles of the multiprocessors behind the busiest one, or what "
                            "the shape of the last wave says";
    gmt_launch_finding_emit(analysis, finding, class, gain);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    return gmt_check_outside_small_rows(analysis, check);
}

extern const struct gmt_rule gmt_rule_small_grid_tail;
const struct gmt_rule gmt_rule_small_grid_tail = {.id = "GM504",
                                                  .slug = "small-grid-tail",
                                                  .title = "The grid leaves multiprocessors idle",
                                                  .category = "occupancy",
                                                  .needs = GMT_NEED_LAUNCHES | GMT_NEED_TIMES |
                                                           GMT_NEED_MODEL,
                                                  .touches = GMT_TOUCHES_WAVES,
                                                  .run = run,
                                                  .explain = explain};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM501: too few resident warps to hide the latency of memory, where more would help. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "libtrace/base/format.h"

enum { WARP_LANES = 32 };

static const char *const fixes[GMT_OCCUPANCY_LIMITER_COUNT] = {
    [GMT_OCCUPANCY_SHARED] =
        "Use less shared memory per block: a smaller tile, or only what is read.",
    [GMT_OCCUPANCY_REGISTERS] =
        "Use fewer registers per thread: __launch_bounds__, smaller loop bodies.",
    [GMT_OCCUPANCY_WARPS] = "Choose a block size that divides the warps of a multiprocessor.",
    [GMT_OCCUPANCY_BLOCKS] = "Use larger blocks: the number of resident blocks is at its limit.",
    [GMT_OCCUPANCY_BARRIERS] = "Use fewer named barriers per block, or larger blocks."};

/* Other rules know better what to do about it: GM404, GM503, GM504, GM510 and GM511. */
static bool others_speak(const struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                         const struct gmt_shape *shape)
{
    return shape->occupancy.limiter == GMT_OCCUPANCY_SHARED || shape->small_grid ||
           gmt_shape_at_cliff(class, shape) ||
           gmt_shape_low_ilp(analysis->model, analysis->timeline, class, shape);
}

/*
 * Nobody gets rid of all registers: one block more is what can be hoped for. And no more warps are
 * resident than the launch has work for.
 */
static double occupancy_after(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                              const struct gmt_shape *shape)
{
    double most = fmin(shape->occupancy.without_limiter,
                       gmt_price_most_occupancy(tl, class, shape));

    return shape->occupancy.limiter == GMT_OCCUPANCY_REGISTERS ? fmin(most, shape->next_occupancy)
                                                               : most;
}

static void say(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                const struct gmt_shape *shape, const struct gmt_position *p)
{
    char has[GMT_FORMAT_BYTES], could[GMT_FORMAT_BYTES], time[GMT_FORMAT_BYTES];
    char moved[GMT_FORMAT_BYTES];
    double n = (double)class->launches;
    struct gmt_gain gain = gmt_price_occupancy(analysis->model, analysis->timeline, class,
                                               p->achieved, fmax(p->achieved, p->after));
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    gmt_finding_evidence(finding, "achieved_occupancy", "percent", 100 * p->achieved);
    gmt_finding_evidence(finding, "theoretical_occupancy", "percent",
                         100 * class->theoretical_occupancy);
    gmt_finding_evidence(finding, "occupancy_after_fix", "percent", 100 * p->after);
    gmt_finding_evidence(finding, "traffic", "bytes_per_s", p->rate);
    gmt_finding_evidence(finding, "calibrated_here", "bytes_per_s", p->here);
    gmt_finding_evidence(finding, "calibrated_after_fix", "bytes_per_s", p->there);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->headline = gmt_text(
        analysis,
        "%s of the warps are resident in blocks of %.0f threads, limited by %s (%s without); %s; "
        "kernel time %s",
        gmt_format_percent(has, 100 * p->achieved), shape->threads,
        gmt_occupancy_limiter_words(shape->occupancy.limiter),
        gmt_format_percent(could, 100 * p->after), gmt_format_rate(moved, p->rate),
        gmt_format_ns(time, class->total_ns));
    finding->sql = gmt_text(analysis,
                            "SELECT achieved_occupancy, theoretical_occupancy FROM v_kernel "
                            "WHERE class_id = %" PRId64,
                            class->id);
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = fixes[shape->occupancy.limiter];
    finding->method = GMT_OCCUPANCY_METHOD;
    if (!gmt_price_has_warps(analysis->timeline, shape, p->after)) {
        gain.low_ns = 0;
        finding->method = GMT_OCCUPANCY_METHOD GMT_OCCUPANCY_SPLIT;
    }
    finding->confidence = gmt_confidence_of_model(analysis->model);
    finding->note_why = gmt_shape_enough_warps(p);
    if (finding->note_why == NULL) {
        gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    }
    gmt_finding_emit(analysis, finding);
}

/* Whole warps, of which there are so few that blocks end faster than the device starts others. */
static bool starts_bind(const struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                        const struct gmt_shape *shape)
{
    double start_ns = gmt_price_block_start_ns(analysis->model);

    return shape->threads < GMT_SMALL_BLOCK_THREADS &&
           shape->threads == WARP_LANES * shape->warps &&
           shape->blocks * start_ns >= GMT_AT_ROOF * class->median_ns;
}

static void say_starts(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                       const struct gmt_shape *shape, const struct gmt_position *p)
{
    char has[GMT_FORMAT_BYTES], could[GMT_FORMAT_BYTES], each[GMT_FORMAT_BYTES];
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, shape);
    double start_ns = class->median_ns / shape->blocks;

    if (finding == NULL) {
        return;
    }
    gmt_finding_evidence(finding, "achieved_occupancy", "percent", 100 * p->achieved);
    gmt_finding_evidence(finding, "time_per_block", "ns", start_ns);
    finding->headline = gmt_text(
        analysis,
        "%s of the warps are resident (%s could be): blocks of %.0f threads end faster than the "
        "device starts them, one in %s ns%s",
        gmt_format_percent(has, 100 * p->achieved),
        gmt_format_percent(could, 100 * class->theoretical_occupancy), shape->threads,
        gmt_format_decimal(each, start_ns, 2), gmt_kernel_time(analysis, class));
    finding->fix = gmt_text(analysis,
                            "Launch blocks of %d threads, or let each thread handle several "
                            "elements: fewer blocks have to start.",
                            GMT_SMALL_BLOCK_THREADS);
    finding->sketch = gmt_text(analysis, "kernel<<<(n + %d - 1) / %d, %d>>>(...);  // was %.0f",
                               GMT_SMALL_BLOCK_THREADS, GMT_SMALL_BLOCK_THREADS,
                               GMT_SMALL_BLOCK_THREADS, shape->threads);
    finding->method = "the time of the block starts that are saved, down to the time at the "
                      "calibrated bandwidth with as many warps as can be resident";
    gmt_launch_finding_emit(analysis, finding, class,
                            gmt_price_larger_blocks(analysis->model, analysis->timeline, class,
                                                    shape, GMT_SMALL_BLOCK_THREADS));
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_shape shape = gmt_shape_of(analysis->timeline, class);
    struct gmt_position p = gmt_shape_position(analysis->model, analysis->timeline, class,
                                               occupancy_after(analysis->timeline, class, &shape));

    if (shape.occupancy.unknown != NULL || isnan(p.achieved) || isnan(p.rate) || isnan(p.here)) {
        return;
    }
    if (!shape.occupancy.limited && starts_bind(analysis, class, &shape)) {
        say_starts(analysis, class, &shape, &p);
        return;
    }
    if (!shape.occupancy.limited || others_speak(analysis, class, &shape)) {
        return;
    }
    /* Blocks that come and go, not a limiter, keep a kernel below its theoretical occupancy. */
    if (class->theoretical_occupancy > p.after / GMT_OCCUPANCY_MIN_GAIN) {
        return;
    }
    /* What keeps the device busy is no news above half of the warps. */
    if (gmt_shape_enough_warps(&p) != NULL && p.achieved > GMT_LOW_OCCUPANCY) {
        return;
    }
    say(analysis, class, &shape, &p);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    if (analysis->model->in_flight.n == 0) {
        return gmt_could_not(analysis, "the device model has no curve of bandwidth over occupancy");
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_low_occupancy;
const struct gmt_rule gmt_rule_low_occupancy = {.id = "GM501",
                                                .slug = "low-occupancy",
                                                .title = "Too few warps to hide memory latency",
                                                .category = "occupancy",
                                                .about_code = true,
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_HARDWARE |
                                                         GMT_NEED_TIMES | GMT_NEED_MODEL,
                                                .touches = GMT_TOUCHES_IN_FLIGHT,
                                                .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM504: grids that do not fill the device, and last waves that fill little of it. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "analyzer/rules/common/small_rows.h"
#include "libtrace/base/format.h"

enum { WARP_LANES = 32 };

static const char stride_loop[] =
    "for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)";

static const char whole_waves[] =
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes);\n"
    "kernel<<<min((n + threads - 1) / threads, resident * multiprocessors), threads>>>(...);\n"
    "for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)";

static const char *headline(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                            const struct gmt_shape *shape)
{
    double full = floor(shape->waves), sms = (double)analysis->timeline->device.sm_count;
    char share[GMT_FORMAT_BYTES];

    if (shape->blocks < sms) {
        return gmt_text(analysis, "%.0f blocks for %.0f multiprocessors%s", shape->blocks, sms,
                        gmt_kernel_time(analysis, class));
    }
    if (full < 1) {
        return gmt_text(analysis, "%.0f blocks fill %s of the %.0f that can be resident%s",
                        shape->blocks, gmt_format_percent(share, 100 * shape->waves), shape->wave,
                        gmt_kernel_time(analysis, class));
    }
    double more = shape->blocks - full * shape->wave;
    return gmt_text(analysis, "%.0f wave%s and %.0f block%s more, filling %s of another%s", full,
                    full == 1 ? "" : "s", more, more == 1 ? "" : "s",
                    gmt_format_percent(share, 100 * (shape->waves - full)),
                    gmt_kernel_time(analysis, class));
}

static void advise_small(struct gmt_analysis *analysis, struct gmt_finding *finding,
                         const struct gmt_tl_class *class, const struct gmt_shape *shape,
                         const struct gmt_launch_grid *grid)
{
    double threads = shape->blocks * shape->threads;
    const char *before = gmt_text(analysis, "kernel<<<%.0f, %.0f>>>(...);  // was <<<%.0f, %.0f>>>",
                                  grid->blocks, grid->threads, shape->blocks, shape->threads);

    if (grid->split) {
        finding->fix = gmt_text(analysis,
                                "Launch %.0f blocks of %.0f threads and give each thread less to "
                                "do: it stores %.0f words now.",
                                grid->blocks, grid->threads, gmt_price_items(class, shape).likely);
        finding->sketch = gmt_text(analysis, "%s\n%s", before, stride_loop);
        finding->method = gmt_text(
            analysis,
            "kernel time divided by the factor of blocks, at most the number of words that a "
            "thread stores now (%.0f), down to the calibrated roof of the work%s; 0 if each word "
            "depends on the one before",
            gmt_price_items(class, shape).likely,
            grid->guess ? ", and half of that, because each word takes so many instructions that "
                          "it may be a step of one item"
                        : "");
    } else if (grid->blocks > shape->blocks) {
        finding->fix = gmt_text(analysis,
                                "Launch the same %.0f threads in %.0f blocks of %.0f%s. Nothing "
                                "shows that there is work for more threads.",
                                threads, grid->blocks, grid->threads,
                                gmt_price_shares_tiles(class) ? ", with tiles of that size" : "");
        finding->sketch = before;
        finding->method =
            isnan(class->counter[GMT_M_instructions])
                ? "half of the most that the same threads in smaller blocks could save: the work "
                  "inside the multiprocessors was not counted"
                : "L1, shared memory and the schedulers of the busiest multiprocessor serve fewer "
                  "warps in smaller blocks; the rest of the time stays, because the stores of a "
                  "thread show no items to divide";
    } else {
        finding->fix = gmt_text(analysis,
                                "Run it beside other kernels, in a stream of its own, or give one "
                                "launch more to do: nothing shows that there is work for more "
                                "than %.0f threads.",
                                threads);
        finding->method = "nothing shows work that more blocks could take";
    }
}

/* For a last wave that is short. */
static void advise_whole(struct gmt_analysis *analysis, struct gmt_finding *finding,
                         const struct gmt_tl_class *class, const struct gmt_shape *shape)
{
    double items = gmt_price_items(class, shape).likely;

    if (items > 1) {
        finding->fix = gmt_text(analysis,
                                "Launch a multiple of %.0f blocks, for instance %.0f, with a "
                                "grid-stride loop, or smaller blocks.",
                                shape->wave, floor(shape->waves) * shape->wave);
        finding->sketch = whole_waves;
    } else {
        finding->fix = gmt_text(analysis,
                                "Launch smaller blocks, which end less far apart: nothing shows "
                                "that a thread has several items. If it has, launch a multiple of "
                                "%.0f blocks, for instance %.0f, with a grid-stride loop.",
                                shape->wave, floor(shape->waves) * shape->wave);
        finding->sketch = gmt_text(
            analysis, "kernel<<<%.0f, %.0f>>>(...);  // was <<<%.0f, %.0f>>>", 2 * shape->blocks,
            ceil(shape->warps / 2) * WARP_LANES, shape->blocks, shape->threads);
    }
    finding->method =
        finding->guess
            ? "half of the idle time in the last wave: the work of its threads was not counted"
            : gmt_text(analysis,
                       "idle time of the multiprocessors until the busiest one ends, by their "
                       "cycles or by the shape of the last wave; where threads wait for their own "
                       "loads, only as much of it as whole items can fill (a thread has %.0f: the "
                       "words that it stores)",
                       floor(items));
}

/* Why a grid below a wave is only a note, or NULL. */
static const char *too_little(const struct gmt_tl_class *class, const struct gmt_gain *gain)
{
    if (gain->best_ns >= GMT_TAIL_MIN_LOSS * class->median_ns) {
        return NULL;
    }
    return "smaller blocks would hardly help, and nothing shows that there is work for more";
}

static const char *too_short(const struct gmt_tl_class *class, const struct gmt_gain *gain)
{
    if (gain->best_ns >= GMT_TAIL_MIN_LOSS * class->median_ns) {
        return NULL;
    }
    return "a thread has too few items to spread them over whole waves";
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_model *model = analysis->model;
    struct gmt_shape shape = gmt_shape_of(tl, class);
    bool small = shape.waves < 1 - GMT_TAIL_MIN_LOSS;

    if (class->launches == 0 || isnan(shape.waves) || shape.blocks < 2 ||
        gmt_launch_is_short(class, GMT_SHORT_KERNEL_NS) ||
        class->mapped_bytes >= GMT_MAPPED_MIN_BYTES) {
        return;
    }
    struct gmt_launch_grid grid = {.guess = false};
    struct gmt_tail tail = {.guess = false};
    struct gmt_gain gain = small ? gmt_price_full_grid(model, tl, class, &shape, &grid)
                                 : gmt_price_no_tail(model, tl, class, &shape, &tail);
    const char *why = small ? too_little(class, &gain) : too_short(class, &gain);
    if (isnan(gain.best_ns) || (!small && tail.idle_ns < GMT_TAIL_MIN_LOSS * class->median_ns)) {
        return;
    }
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, &shape);
    if (finding == NULL) {
        return;
    }
    gmt_finding_evidence(finding, "wave", "count", shape.wave);
    gmt_finding_evidence(finding, "sm_cycles_active_mean", "cycles",
                         class->counter[GMT_M_sm_cycles_active]);
    gmt_finding_evidence(finding, "sm_cycles_active_most", "cycles",
                         class->counter[GMT_M_sm_cycles_active_max]);
    finding->headline = headline(analysis, class, &shape);
    finding->note_why = why;
    finding->small = why != NULL ||
                     gain.best_ns * gmt_class_typical_launches(class) < GMT_FLOOR_NOISE_NS;
    double warps = shape.blocks * shape.warps;
    finding->guess = small ? grid.guess : tail.guess;
    gmt_finding_evidence(finding, "stores_per_thread", "count",
                         class->counter[GMT_M_global_store_requests] / warps);
    gmt_finding_evidence(finding, "instructions_per_thread", "count",
                         class->counter[GMT_M_instructions] / warps);
    if (small) {
        advise_small(analysis, finding, class, &shape, &grid);
    } else {
        advise_whole(analysis, finding, class, &shape);
    }
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
                                                  .about_code = true,
                                                  .needs = GMT_NEED_LAUNCHES | GMT_NEED_TIMES |
                                                           GMT_NEED_MODEL,
                                                  .touches = GMT_TOUCHES_WAVES,
                                                  .run = run};

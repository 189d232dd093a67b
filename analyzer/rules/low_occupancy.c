/* SPDX-License-Identifier: Apache-2.0 */
/* GM501: too few resident warps to hide the latency of memory, where more would help. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/price.h"
#include "analyzer/rule.h"
#include "analyzer/thresholds.h"
#include "reports/format.h"

static const char explain[] =
    "What    A multiprocessor hides the hundreds of cycles of a memory access behind other warps.\n"
    "        With few resident warps it waits.\n"
    "Seen    Kernels whose achieved occupancy lies on the part of the calibrated curve, bandwidth\n"
    "        over occupancy, where more occupancy gives at least 10 % more bandwidth, and whose\n"
    "        own traffic is a good part of what that curve allows there. Kernels at 90 % of the\n"
    "        calibrated roof are left alone, whatever their occupancy.\n"
    "Saving  Between two answers. Waiting shrinks in proportion to the resident warps, down to "
    "the\n"
    "        roofs of device memory, L2, L1 and issue. And: time shrinks by the ratio of the "
    "curve\n"
    "        at both occupancies. The lower end lets only the traffic follow the curve, the upper\n"
    "        end is the roof. The occupancy after the fix is what the next limiter allows.\n"
    "Fix     Depends on the limiter, which is named: shared memory, registers, block size, grid.\n"
    "Limits  The curve has one load in flight per thread. A kernel with more needs fewer warps:\n"
    "        then its traffic is above the curve and nothing is said.\n";

enum limiter { LIMIT_SHARED, LIMIT_REGISTERS, LIMIT_WARPS, LIMIT_BLOCKS, LIMIT_GRID, LIMITS };

static const char *const limiter_names[LIMITS] = {[LIMIT_SHARED] = "shared memory",
                                                  [LIMIT_REGISTERS] = "registers",
                                                  [LIMIT_WARPS] = "warps per multiprocessor",
                                                  [LIMIT_BLOCKS] = "blocks per multiprocessor",
                                                  [LIMIT_GRID] = "the size of the grid"};

static const char *const fixes[LIMITS] = {
    [LIMIT_SHARED] = "Use less shared memory per block: a smaller tile, or only what is read.",
    [LIMIT_REGISTERS] = "Use fewer registers per thread: __launch_bounds__, smaller loop bodies.",
    [LIMIT_WARPS] = "Choose a block size that divides the warps of a multiprocessor.",
    [LIMIT_BLOCKS] = "Use larger blocks: the number of resident blocks is at its limit.",
    [LIMIT_GRID] = "Launch more blocks: some multiprocessors have no work."};

/* Allocation granularity of registers (per warp) and shared memory, the same since Volta. */
enum { REGISTER_UNIT = 256, SHARED_UNIT = 128 };

static double round_up(double value, double unit)
{
    return ceil(value / unit) * unit;
}

/* Resident blocks that each resource allows; INFINITY where it sets no limit or is unknown. */
static void block_limits(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                         double warps, double limits[LIMITS])
{
    const struct gmt_tl_device *d = &tl->device;
    double registers = round_up((double)class->registers * 32, REGISTER_UNIT) * warps;
    double shared = round_up((double)(class->static_shared_bytes + class->dynamic_shared_bytes +
                                      d->reserved_shared_bytes_per_block),
                             SHARED_UNIT);
    double blocks = (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2];

    for (int i = 0; i < LIMITS; i++)
        limits[i] = INFINITY;
    if (d->shared_bytes_per_sm > 0 && shared > 0)
        limits[LIMIT_SHARED] = floor((double)d->shared_bytes_per_sm / shared);
    if (d->registers_per_sm > 0 && registers > 0)
        limits[LIMIT_REGISTERS] = floor((double)d->registers_per_sm / registers);
    if (d->max_threads_per_sm > 0)
        limits[LIMIT_WARPS] = floor((double)d->max_threads_per_sm / 32 / warps);
    if (d->max_blocks_per_sm > 0)
        limits[LIMIT_BLOCKS] = (double)d->max_blocks_per_sm;
    if (d->sm_count > 0)
        limits[LIMIT_GRID] = ceil(blocks / (double)d->sm_count);
}

/* The tightest limit, and the occupancy if it were gone. */
static enum limiter find_limiter(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                                 double *occupancy_after)
{
    double warps = ceil((double)(class->block[0] * class->block[1] * class->block[2]) / 32);
    double limits[LIMITS], next = INFINITY;
    int tightest = 0;

    block_limits(tl, class, warps, limits);
    for (int i = 1; i < LIMITS; i++) {
        if (limits[i] < limits[tightest])
            tightest = i;
    }
    for (int i = 0; i < LIMITS; i++) {
        /* Larger blocks would lift the limit of blocks: it does not stay in the way. */
        if (i != tightest && i != LIMIT_BLOCKS)
            next = fmin(next, limits[i]);
    }
    double most = tl->device.max_threads_per_sm > 0 ? (double)tl->device.max_threads_per_sm / 32
                                                    : INFINITY;
    *occupancy_after = isfinite(next) && isfinite(most) ? fmin(1.0, next * warps / most) : 1.0;
    return (enum limiter)tightest;
}

/* What a launch moves per second beyond L1, in bytes: the larger of L2 and device memory. */
static double traffic(const struct gmt_timeline *tl, const struct gmt_tl_class *class)
{
    struct gmt_work work = gmt_work_of_class(tl, class);

    return fmax(work.dram_bytes, work.l2_sectors * GMT_SECTOR_BYTES) * 1e9 / class->median_ns;
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_model_curve *curve = &analysis->model->occupancy;
    double achieved = class->counter[GMT_M_achieved_occupancy_percent] / 100;
    double here = gmt_curve_linear(curve, achieved), rate = traffic(analysis->timeline, class);
    double after_occupancy, n = (double)class->launches;
    char has[GMT_FORMAT_BYTES], could[GMT_FORMAT_BYTES], time[GMT_FORMAT_BYTES];
    char moved[GMT_FORMAT_BYTES];

    if (isnan(achieved) || isnan(rate) || isnan(here) || rate >= GMT_AT_ROOF * gmt_curve_max(curve))
        return;
    enum limiter limiter = find_limiter(analysis->timeline, class, &after_occupancy);
    double there = gmt_curve_linear(curve, fmax(achieved, after_occupancy));
    /* Blocks that come and go, not a limiter, keep a kernel below its theoretical occupancy. */
    if (class->theoretical_occupancy > after_occupancy / GMT_OCCUPANCY_MIN_GAIN)
        return;
    if (there < GMT_OCCUPANCY_MIN_GAIN * here || rate < GMT_MEMORY_BOUND_SHARE * here)
        return;
    struct gmt_gain gain = gmt_price_occupancy(analysis->model, analysis->timeline, class, achieved,
                                               after_occupancy);
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL)
        return;
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    gmt_finding_evidence(finding, "achieved_occupancy", "percent", 100 * achieved);
    gmt_finding_evidence(finding, "theoretical_occupancy", "percent",
                         100 * class->theoretical_occupancy);
    gmt_finding_evidence(finding, "occupancy_after_fix", "percent", 100 * after_occupancy);
    gmt_finding_evidence(finding, "traffic", "bytes_per_s", rate);
    gmt_finding_evidence(finding, "calibrated_here", "bytes_per_s", here);
    gmt_finding_evidence(finding, "calibrated_after_fix", "bytes_per_s", there);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->headline = gmt_text(
        analysis, "%s of the warps are resident, limited by %s (%s without); %s; kernel time %s",
        gmt_format_percent(has, 100 * achieved), limiter_names[limiter],
        gmt_format_percent(could, 100 * after_occupancy), gmt_format_rate(moved, rate),
        gmt_format_ns(time, class->total_ns));
    finding->sql = gmt_text(analysis,
                            "SELECT achieved_occupancy, theoretical_occupancy FROM v_kernel "
                            "WHERE class_id = %" PRId64,
                            class->id);
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = fixes[limiter];
    finding->method =
        "waiting shrinks with the resident warps down to the calibrated roofs, or the "
        "time by the curve of bandwidth over occupancy: the mean of both";
    finding->confidence = gmt_confidence_of_model(analysis->model);
    gmt_finding_saving(finding, gain.low_ns * n, gain.best_ns * n, gain.high_ns * n);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    if (analysis->model->occupancy.n == 0)
        return gmt_could_not(analysis, "the device model has no curve of bandwidth over occupancy");
    for (size_t i = 0; i < tl->class_count; i++)
        check(analysis, &tl->classes[i]);
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_low_occupancy;
const struct gmt_rule gmt_rule_low_occupancy = {.id = "GM501",
                                                .slug = "low-occupancy",
                                                .title = "Too few warps to hide memory latency",
                                                .category = "occupancy",
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_HARDWARE |
                                                         GMT_NEED_TIMES | GMT_NEED_MODEL,
                                                .run = run,
                                                .explain = explain};

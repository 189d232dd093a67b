/* SPDX-License-Identifier: Apache-2.0 */
/* GM404: shared memory per block, or the carve-out for it, keeps blocks off the multiprocessors. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/price/price_shared.h"
#include "libtrace/base/format.h"

enum { WARP_LANES = 32 };

/* Of the kernel at hand. */
struct limit {
    struct gmt_occupancy now;
    double achieved, after;         /* occupancy, 0..1                                       */
    double more;                    /* resident blocks then / now                            */
    double rate, here, there, roof; /* bytes per second: moved, as many narrow loads, then   */
    int64_t shared_bytes;           /* per block, static and dynamic            */
    int64_t blocks_after, bytes_after;
    bool split; /* so many blocks need loops of threads that are split */
};

static int64_t next_limit(const struct gmt_occupancy *o)
{
    int64_t next = INT64_MAX;

    for (int i = 0; i < GMT_OCCUPANCY_LIMITER_COUNT; i++) {
        if (i != GMT_OCCUPANCY_SHARED && o->limit[i] < next) {
            next = o->limit[i];
        }
    }
    return next;
}

static bool is_limited(const struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                       struct limit *l)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_model_curve *curve = &analysis->model->in_flight;
    struct gmt_work work = gmt_work_of_class(tl, class);
    struct gmt_shape shape = gmt_shape_of(tl, class);
    double most = gmt_price_most_occupancy(tl, class, &shape);
    double blocks = ceil(most * (double)tl->device.max_threads_per_sm / WARP_LANES / shape.warps);

    l->now = shape.occupancy;
    l->achieved = class->counter[GMT_M_achieved_occupancy_percent] / 100;
    l->after = fmin(l->now.without_limiter, most);
    l->rate = fmax(work.dram_bytes, work.l2_sectors * GMT_SECTOR_BYTES) * 1e9 / class->median_ns;
    l->split = !gmt_price_has_warps(tl, &shape, l->after);
    l->here = gmt_curve_linear(curve, l->achieved);
    l->more = fmax(1, l->after / l->now.occupancy);
    l->there = gmt_curve_lifted(curve, l->rate, l->more);
    l->roof = gmt_curve_max(curve);
    l->shared_bytes = class->static_shared_bytes + class->dynamic_shared_bytes;
    if (l->now.unknown != NULL || !l->now.limited || l->now.limiter != GMT_OCCUPANCY_SHARED ||
        isnan(l->rate) || isnan(l->here)) {
        return false;
    }
    /* GM505 says it: smaller blocks, with smaller tiles. */
    if (gmt_is_idle_at_barriers(tl, class)) {
        return false;
    }
    l->blocks_after = next_limit(&l->now);
    /* No more than the launch has work for. */
    if (most < 1 && blocks >= 1 && blocks < (double)l->blocks_after) {
        l->blocks_after = (int64_t)blocks;
    }
    l->bytes_after = gmt_occupancy_shared_for(tl, class, l->blocks_after);
    return l->after > l->now.occupancy;
}

/* Why it is not worth a change, or NULL. */
static const char *no_gain(const struct limit *l)
{
    if (l->there < GMT_OCCUPANCY_MIN_GAIN * l->rate) {
        return l->rate >= GMT_AT_ROOF * l->roof
                   ? "device memory is at its roof already: more warps would not help"
                   : "more warps would not give more bandwidth";
    }
    if (l->rate < GMT_MEMORY_BOUND_SHARE * l->here) {
        return "the kernel waits for something other than memory";
    }
    return NULL;
}

/* What-ifs for the reader: steps of at least half as many blocks again, and the last that helps. */
static const char *steps(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                         const struct limit *l)
{
    struct gmt_occupancy_point points[GMT_OCCUPANCY_POINTS];
    size_t n = gmt_occupancy_curve(analysis->timeline, class, GMT_OCCUPANCY_SHARED_AXIS, points,
                                   GMT_OCCUPANCY_POINTS);
    const char *text = "// shared memory per block: resident blocks";
    char bytes[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    int64_t last = l->now.blocks;

    for (size_t i = n; i-- > 0;) {
        int64_t blocks = points[i].blocks;

        if (blocks <= last || blocks > l->blocks_after ||
            (2 * blocks < 3 * last && blocks != l->blocks_after)) {
            continue;
        }
        text = gmt_text(analysis, "%s\n// up to %s: %" PRId64 ", %s of the warps", text,
                        gmt_format_bytes(bytes, (double)points[i].value), blocks,
                        gmt_format_percent(share, 100 * points[i].occupancy));
        last = blocks;
    }
    return text;
}

static void advise(struct gmt_analysis *analysis, struct gmt_finding *finding,
                   const struct gmt_tl_class *class, const struct limit *l)
{
    char bytes[GMT_FORMAT_BYTES];

    if (l->now.carveout_percent >= 0) {
        finding->effort = GMT_EFFORT_SMALL;
        finding->fix = "Ask for a larger carve-out of shared memory, or for none: by default the "
                       "driver gives what the blocks need.";
        finding->sketch =
            "cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,\n"
            "                     cudaSharedmemCarveoutMaxShared);";
        return;
    }
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = gmt_text(analysis,
                            "Use less shared memory per block: a smaller tile, a narrower type, or "
                            "only what is read. With %s, %" PRId64 " blocks fit.",
                            gmt_format_bytes(bytes, (double)l->bytes_after), l->blocks_after);
    finding->sketch = steps(analysis, class, l);
}

static void add_evidence(struct gmt_finding *finding, const struct gmt_tl_class *class,
                         const struct limit *l)
{
    gmt_finding_evidence(finding, "shared_bytes_per_block", "bytes", (double)l->shared_bytes);
    gmt_finding_evidence(finding, "blocks_per_multiprocessor", "count", (double)l->now.blocks);
    gmt_finding_evidence(finding, "achieved_occupancy", "percent", 100 * l->achieved);
    gmt_finding_evidence(finding, "theoretical_occupancy", "percent", 100 * l->now.occupancy);
    gmt_finding_evidence(finding, "occupancy_after_fix", "percent", 100 * l->after);
    gmt_finding_evidence(finding, "shared_bytes_after_fix", "bytes", (double)l->bytes_after);
    gmt_finding_evidence(finding, "carveout", "percent",
                         l->now.carveout_percent >= 0 ? (double)l->now.carveout_percent
                                                      : (double)NAN);
    gmt_finding_evidence(finding, "traffic", "bytes_per_s", l->rate);
    gmt_finding_evidence(finding, "calibrated_here", "bytes_per_s", l->here);
    gmt_finding_evidence(finding, "calibrated_after_fix", "bytes_per_s", l->there);
    gmt_finding_evidence(finding, "launches", "count", (double)class->launches);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
}

static const char *headline(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                            const struct limit *l)
{
    char bytes[GMT_FORMAT_BYTES], now[GMT_FORMAT_BYTES], after[GMT_FORMAT_BYTES];
    char moved[GMT_FORMAT_BYTES];
    const char *why = l->now.carveout_percent >= 0
                          ? gmt_text(analysis, ", a carve-out of about %" PRId64 " %%",
                                     l->now.carveout_percent)
                          : "";

    return gmt_text(analysis,
                    "shared memory (%s per block%s) holds %" PRId64
                    " block%s per multiprocessor, %s of the warps (%s without); %s%s",
                    gmt_format_bytes(bytes, (double)l->shared_bytes), why, l->now.blocks,
                    l->now.blocks == 1 ? "" : "s", gmt_format_percent(now, 100 * l->now.occupancy),
                    gmt_format_percent(after, 100 * l->after), gmt_format_rate(moved, l->rate),
                    gmt_kernel_time(analysis, class));
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct limit l;

    if (!is_limited(analysis, class, &l)) {
        return;
    }
    const char *why = no_gain(&l);
    if (why != NULL && l.now.occupancy >= GMT_LOW_OCCUPANCY) {
        return;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    struct gmt_gain gain = gmt_price_occupancy(analysis->model, analysis->timeline, class,
                                               l.achieved, l.achieved * l.more);
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->note_why = why;
    add_evidence(finding, class, &l);
    gmt_finding_claim_class(analysis, finding, class);
    finding->headline = headline(analysis, class, &l);
    finding->sql = gmt_text(analysis,
                            "SELECT static_shared_bytes, dynamic_shared_bytes, max_blocks_per_sm, "
                            "theoretical_occupancy, achieved_occupancy FROM v_kernel "
                            "WHERE class_id = %" PRId64,
                            class->id);
    advise(analysis, finding, class, &l);
    finding->method = l.split ? GMT_OCCUPANCY_METHOD GMT_OCCUPANCY_SPLIT : GMT_OCCUPANCY_METHOD;
    if (l.split) {
        gain.low_ns = 0;
    }
    finding->confidence = gmt_confidence_of_model(analysis->model);
    if (why == NULL) {
        gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    }
    gmt_finding_lines(analysis, finding, class, GMT_LINES_SHARED);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    bool used = false;

    if (analysis->model->in_flight.n == 0) {
        return gmt_could_not(analysis, "the device model has no curve of bandwidth over occupancy");
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        used |= class->static_shared_bytes + class->dynamic_shared_bytes > 0;
        check(analysis, class);
    }
    return used ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_shared_limits_occupancy;
const struct gmt_rule gmt_rule_shared_limits_occupancy = {
    .id = "GM404",
    .slug = "shared-limits-occupancy",
    .title = "Shared memory limits resident blocks",
    .category = "shared memory",
    .about_code = true,
    .needs = GMT_NEED_LAUNCHES | GMT_NEED_HARDWARE | GMT_NEED_TIMES | GMT_NEED_MODEL,
    .touches = GMT_TOUCHES_IN_FLIGHT,
    .run = run};

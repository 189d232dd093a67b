/* SPDX-License-Identifier: Apache-2.0 */
/* GM402: one thread or one warp fills a tile in shared memory while the rest of the block waits. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/model/occupancy.h"
#include "analyzer/price/price_shared.h"
#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"

/* What makes a kernel one of these. */
struct fill {
    double stores, bytes_per_store; /* of one launch; bytes of one instruction */
    double barrier_share;           /* NAN: not measured                       */
    double speedup;                 /* lanes, or warps, that could share it    */
    bool few_lanes;
};

static double blocks_of(const struct gmt_tl_class *class)
{
    return (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2];
}

static bool is_fill(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                    struct fill *fill)
{
    const double *c = class->counter;
    double loads = gmt_known(c[GMT_M_global_load_requests]);
    double all = loads + gmt_known(c[GMT_M_global_store_requests]) +
                 gmt_known(c[GMT_M_shared_load_requests]);
    double threads = (double)class->block[0] * (double)class->block[1] * (double)class->block[2];
    double warps = gmt_block_warps(class);

    fill->stores = gmt_known(c[GMT_M_shared_store_requests]);
    fill->bytes_per_store = c[GMT_M_shared_store_bytes] / fill->stores;
    fill->barrier_share = gmt_barrier_share(tl, class);
    if (!(fill->stores > 0) || !(loads > 0) || warps < 2) {
        return false;
    }
    fill->few_lanes = fill->bytes_per_store <= GMT_SERIAL_STORE_BYTES &&
                      fill->stores >= GMT_SERIAL_STORES_PER_BLOCK * blocks_of(class) &&
                      fill->stores >= GMT_SERIAL_STORE_SHARE * (all + fill->stores);
    if (fill->few_lanes) {
        /* Four bytes are the usual word: what is wider is copied by fewer lanes still. */
        fill->speedup = threads / fmax(1.0, fill->bytes_per_store / 4);
        /* Measured, and nobody waits: the lanes are few, but of every warp. */
        return isnan(fill->barrier_share) || fill->barrier_share >= GMT_BARRIER_MIN_SHARE;
    }
    fill->speedup = warps;
    double staged = c[GMT_M_shared_store_bytes] / c[GMT_M_global_load_bytes];
    return fill->barrier_share >= GMT_BARRIER_FILL_SHARE && staged >= GMT_FILL_LEAST &&
           staged <= GMT_FILL_MOST && gmt_occupancy_of(tl, class, NULL).blocks > 1;
}

static double excess_of(const struct fill *fill)
{
    return fill->few_lanes ? fill->stores * (1 - fill->bytes_per_store / GMT_WAVEFRONT_BYTES) : 0;
}

static const char *headline(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                            const struct fill *fill)
{
    char bytes[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    const char *waits = isnan(fill->barrier_share)
                            ? ""
                            : gmt_text(analysis, "; its warps wait at barriers %s of their time",
                                       gmt_format_percent(share, 100 * fill->barrier_share));

    if (!fill->few_lanes) {
        return gmt_text(analysis, "few of the %.0f warps of a block fill shared memory%s%s",
                        gmt_block_warps(class), waits, gmt_kernel_time(analysis, class));
    }
    return gmt_text(analysis, "shared memory is filled by stores of %s, %s in each block%s%s",
                    gmt_format_bytes(bytes, fill->bytes_per_store),
                    gmt_format_count(count, floor(fill->stores / blocks_of(class))), waits,
                    gmt_kernel_time(analysis, class));
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class, double all)
{
    struct fill fill;
    double n = (double)class->launches;

    if (!is_fill(analysis->timeline, class, &fill)) {
        return;
    }
    struct gmt_gain gain = gmt_price_fill(analysis->model, analysis->timeline, class, fill.speedup);
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = excess_of(&fill) * GMT_WAVEFRONT_BYTES * n;
    gmt_finding_evidence(finding, "shared_stores", "instructions", fill.stores);
    gmt_finding_evidence(finding, "bytes_per_shared_store", "bytes", fill.bytes_per_store);
    gmt_finding_evidence(finding, "shared_stores_per_block", "instructions",
                         fill.stores / blocks_of(class));
    gmt_finding_evidence(finding, "barrier_wait", "percent", 100 * fill.barrier_share);
    gmt_finding_evidence(finding, "could_share", "ratio", fill.speedup);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->headline = headline(analysis, class, &fill);
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND (metric LIKE 'shared_store_%%' OR metric LIKE 'barrier_%%')",
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Let all threads of the block fill the tile, each its own part.";
    finding->sketch = gmt_text(analysis,
                               "for (int i = threadIdx.x; i < words; i += blockDim.x)  // %" PRId64
                               " threads\n    tile[i] = in[first + i];\n__syncthreads();",
                               gmt_volume_clamped(class->block));
    finding->method = isnan(gain.best_ns)
                          ? gmt_unpriced(analysis)
                          : "time in which few lanes fill and the others wait, divided among all "
                            "lanes, down to the time of the bytes with a few loads in flight";
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC : GMT_CONFIDENCE_MODELLED;
    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    gmt_finding_lines(analysis, finding, class, GMT_LINES_FILL);
    gmt_finding_judge_part(analysis, finding, excess_of(&fill) * n, all);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double all = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        all += gmt_known(tl->classes[i].counter[GMT_M_shared_store_requests]) *
               (double)tl->classes[i].launches;
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i], all);
    }
    return all > 0 ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_serialized_fill;
const struct gmt_rule gmt_rule_serialized_fill = {.id = "GM402",
                                                  .slug = "serialized-fill",
                                                  .title = "Few threads fill shared memory",
                                                  .category = "shared memory",
                                                  .about_code = true,
                                                  .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                  .touches = GMT_TOUCHES_BARRIERS,
                                                  .run = run};

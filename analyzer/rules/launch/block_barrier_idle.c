/* SPDX-License-Identifier: Apache-2.0 */
/* GM505: one large block per multiprocessor, which has nothing to do while it waits at a barrier. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/model/occupancy.h"
#include "analyzer/price/price_shared.h"
#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double barrier = gmt_barrier_share(tl, class), fence = gmt_known(gmt_fence_share(tl, class));
    double n = (double)class->launches;
    int64_t threads = gmt_volume_clamped(class->block);
    int64_t parts = threads / GMT_SMALL_BLOCK_THREADS;
    char share[GMT_FORMAT_BYTES];

    if (!gmt_is_idle_at_barriers(tl, class)) {
        return;
    }
    int64_t part_bytes = (class->static_shared_bytes + class->dynamic_shared_bytes) / parts;
    struct gmt_occupancy_whatif smaller = {.block_threads = GMT_SMALL_BLOCK_THREADS,
                                           .shared_bytes = part_bytes};
    struct gmt_occupancy after = gmt_occupancy_of(tl, class, &smaller);
    struct gmt_gain gain = gmt_price_smaller_blocks(analysis->model, tl, class, (double)parts);
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    gmt_finding_evidence(finding, "threads_per_block", "count", (double)threads);
    gmt_finding_evidence(finding, "blocks_per_multiprocessor", "count", 1);
    gmt_finding_evidence(finding, "barrier_wait", "percent", 100 * barrier);
    gmt_finding_evidence(finding, "fence_wait", "percent", 100 * fence);
    gmt_finding_evidence(finding, "blocks_after_fix", "count", (double)after.blocks);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->headline = gmt_text(analysis,
                                 "one block of %" PRId64
                                 " threads per multiprocessor; its warps wait at barriers %s of "
                                 "their time%s",
                                 threads, gmt_format_percent(share, 100 * (barrier + fence)),
                                 gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric IN ('barrier_stall_cycles', 'fence_stall_cycles', "
                            "'sm_cycles_active', 'achieved_occupancy_percent')",
                            class->id);
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = "Launch more and smaller blocks, so that one works while another waits.";
    finding->sketch = gmt_text(analysis,
                               "kernel<<<%" PRId64 " * blocks, %d, %" PRId64
                               ">>>(...);  // was %" PRId64 " threads; %" PRId64 " fit",
                               parts, GMT_SMALL_BLOCK_THREADS, class->dynamic_shared_bytes / parts,
                               threads, after.blocks);
    finding->method = "time at barriers, which shrinks because the slowest of fewer warps arrives "
                      "earlier, down to the calibrated roofs";
    finding->confidence = GMT_CONFIDENCE_MODELLED;
    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    bool measured = false;

    for (size_t i = 0; i < tl->class_count; i++) {
        measured |= !isnan(tl->classes[i].counter[GMT_M_barrier_stall_cycles]);
        check(analysis, &tl->classes[i]);
    }
    return measured ? GMT_OUTCOME_PASS
                    : gmt_could_not(analysis, "no counts of cycles at barriers in this trace");
}

extern const struct gmt_rule gmt_rule_block_barrier_idle;
const struct gmt_rule gmt_rule_block_barrier_idle = {
    .id = "GM505",
    .slug = "block-barrier-idle",
    .title = "A single large block waits at barriers",
    .category = "occupancy",
    .about_code = true,
    .needs = GMT_NEED_LAUNCHES | GMT_NEED_HARDWARE | GMT_NEED_TIMES | GMT_NEED_MODEL,
    .touches = GMT_TOUCHES_BARRIERS,
    .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM403: a tile is filled in shared memory, and its data is read from global memory again. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price_shared.h"
#include "libtrace/base/format.h"

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                  double all_sectors)
{
    struct gmt_reread reread = gmt_reread_of(class);
    const double *c = class->counter;
    double n = (double)class->launches;
    char staged[GMT_FORMAT_BYTES], read[GMT_FORMAT_BYTES], again[GMT_FORMAT_BYTES];

    if (!gmt_is_staged_unread(class, &reread)) {
        return;
    }
    struct gmt_gain gain = gmt_price_unread(analysis->model, analysis->timeline, class);
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = reread.sectors * GMT_SECTOR_BYTES * n;
    gmt_finding_evidence(finding, "staged", "bytes", reread.staged_bytes);
    gmt_finding_evidence(finding, "read_from_tile", "bytes", gmt_known(c[GMT_M_shared_load_bytes]));
    gmt_finding_evidence(finding, "loaded", "bytes", c[GMT_M_global_load_bytes]);
    gmt_finding_evidence(finding, "loaded_again", "bytes", reread.bytes);
    gmt_finding_evidence(finding, "loads_again", "instructions", reread.requests);
    gmt_finding_evidence(finding, "footprint", "bytes", gmt_bytes_to_read(class));
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->headline = gmt_text(
        analysis, "%s staged in shared memory, %s read from there, %s loaded again%s",
        gmt_format_bytes(staged, reread.staged_bytes),
        gmt_format_bytes(read, gmt_known(c[GMT_M_shared_load_bytes])),
        gmt_format_bytes(again, reread.bytes), gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric LIKE '%%_bytes'",
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Read the tile that was filled, not the array again; or remove the fill and its "
                   "barrier.";
    finding->sketch = "tile[threadIdx.x] = in[i];\n__syncthreads();\n"
                      "sum += tile[threadIdx.x + k];  // was: in[i + k]";
    finding->method = isnan(gain.best_ns)
                          ? gmt_unpriced(analysis)
                          : "the loads after the fill become shared loads of one wavefront each, "
                            "and wait shorter by the difference in latency";
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC : GMT_CONFIDENCE_MODELLED;
    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    gmt_finding_lines(analysis, finding, class, GMT_LINES_LOADED);
    gmt_finding_judge_part(analysis, finding, reread.sectors * n, all_sectors);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double all = 0;
    bool used = false;

    for (size_t i = 0; i < tl->class_count; i++) {
        const double *c = tl->classes[i].counter;

        all += gmt_known(c[GMT_M_global_load_sectors]) * (double)tl->classes[i].launches;
        used |= c[GMT_M_shared_store_bytes] > 0;
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i], all);
    }
    return used ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_staged_but_unread;
const struct gmt_rule gmt_rule_staged_but_unread = {.id = "GM403",
                                                    .slug = "staged-but-unread",
                                                    .title = "A tile is filled and hardly read",
                                                    .category = "shared memory",
                                                    .about_code = true,
                                                    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                    .touches = GMT_TOUCHES_LOADS,
                                                    .run = run};

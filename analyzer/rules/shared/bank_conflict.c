/* SPDX-License-Identifier: Apache-2.0 */
/* GM401: shared-memory accesses of one warp that meet in the same bank and wait. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "libtrace/base/format.h"

enum { WARP_LANES = 32 };

static double ways_of(const struct gmt_shared_access *shared)
{
    return shared->ideal > 0 ? shared->wavefronts / shared->ideal : NAN;
}

/* "4-way", "4.6-way on average"; the degree of the worst pass where the trace has it. */
static const char *degree(struct gmt_analysis *analysis, double ways)
{
    char text[GMT_FORMAT_BYTES];
    double whole = round(ways);

    if (fabs(ways - whole) <= GMT_WHOLE_WAYS * whole) {
        return gmt_text(analysis, "%.0f-way", whole);
    }
    gmt_format_decimal(text, ways, 1);
    return gmt_text(analysis, "%s-way on average", text);
}

/* " of 8-byte words" where full warps of them explain the bytes asked for, else "". */
static const char *width(double bytes, double requests)
{
    static const struct {
        double bytes;
        const char *words;
    } widths[] = {{8, " of 8-byte words"}, {16, " of 16-byte words"}};
    double each = bytes / requests / WARP_LANES;

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        if (fabs(each - widths[i].bytes) <= GMT_WHOLE_WAYS * widths[i].bytes) {
            return widths[i].words;
        }
    }
    return "";
}

static const char *headline(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                            const struct gmt_shared_access *load,
                            const struct gmt_shared_access *store)
{
    const double *c = class->counter;
    double load_ways = ways_of(load), store_ways = ways_of(store);
    const char *loads = width(c[GMT_M_shared_load_bytes], c[GMT_M_shared_load_requests]);
    const char *stores = width(c[GMT_M_shared_store_bytes], c[GMT_M_shared_store_requests]);

    /* One that is free of conflicts is not worth the reader's time. */
    if (!(store_ways >= GMT_CONFLICT_RATIO)) {
        return gmt_text(analysis, "shared loads%s conflict %s", loads, degree(analysis, load_ways));
    }
    if (!(load_ways >= GMT_CONFLICT_RATIO)) {
        return gmt_text(analysis, "shared stores%s conflict %s", stores,
                        degree(analysis, store_ways));
    }
    return gmt_text(analysis, "shared loads%s conflict %s, stores%s %s", loads,
                    degree(analysis, load_ways), stores, degree(analysis, store_ways));
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                  double all_excess)
{
    const struct gmt_model *model = analysis->model;
    struct gmt_shared_access load = gmt_shared_loads(class), store = gmt_shared_stores(class);
    double worst = fmax(ways_of(&load), ways_of(&store)), n = (double)class->launches;
    double wavefronts = gmt_known(load.wavefronts) + gmt_known(store.wavefronts);
    double ideal = gmt_known(load.ideal) + gmt_known(store.ideal);

    if (!(worst >= GMT_CONFLICT_RATIO) || !(wavefronts > ideal)) {
        return;
    }
    struct gmt_gain gain = gmt_price_conflicts(model, analysis->timeline, class);
    if ((isnan(gain.best_ns) || analysis->timeline->simulated) && worst < GMT_EXCESS_RATIO) {
        return;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = (wavefronts - ideal) * GMT_WAVEFRONT_BYTES * n;
    gmt_finding_evidence(finding, "load_ways", "ratio", ways_of(&load));
    gmt_finding_evidence(finding, "store_ways", "ratio", ways_of(&store));
    gmt_finding_evidence(finding, "worst_degree", "ways",
                         class->counter[GMT_M_shared_conflict_degree]);
    gmt_finding_evidence(finding, "wavefronts", "wavefronts", wavefronts);
    gmt_finding_evidence(finding, "ideal_wavefronts", "wavefronts", ideal);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    gmt_finding_lines(analysis, finding, class, GMT_EXCESS_SHARED);
    finding->headline = gmt_text(analysis, "%s%s", headline(analysis, class, &load, &store),
                                 gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric LIKE 'shared_%%'",
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix =
        "Pad each row of the tile by one word (of the width accessed), or swizzle the index, so "
        "that a column spreads over all banks.";
    finding->sketch = "__shared__ float tile[32][32 + 1];";
    finding->method = isnan(gain.best_ns)
                          ? gmt_unpriced(analysis)
                          : "wavefronts at the calibrated rate of shared memory, overlapped with "
                            "the other memory work; time that this does not explain shrinks by the "
                            "share of excess wavefronts";
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC
                          : gain.from_family  ? gmt_confidence_of_model(model)
                                              : GMT_CONFIDENCE_MODELLED;
    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    gmt_finding_judge_part(analysis, finding, (wavefronts - ideal) * n, all_excess);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double all = 0;
    bool used = false;

    for (size_t i = 0; i < tl->class_count; i++) {
        double wavefronts = gmt_work_of_class(tl, &tl->classes[i]).shared_wavefronts;

        all += gmt_known(wavefronts) * (double)tl->classes[i].launches;
        used |= wavefronts > 0;
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i], all);
    }
    return used ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_bank_conflict;
const struct gmt_rule gmt_rule_bank_conflict = {.id = "GM401",
                                                .slug = "bank-conflict",
                                                .title = "Bank conflicts in shared memory",
                                                .category = "shared memory",
                                                .about_code = true,
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                .touches = GMT_TOUCHES_BANKS,
                                                .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM401: shared-memory accesses of one warp that meet in the same bank and wait. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/price.h"
#include "analyzer/rule.h"
#include "analyzer/thresholds.h"
#include "reports/format.h"

static const char explain[] =
    "What    Shared memory has 32 banks of 4 bytes. Lanes that access different words of one bank\n"
    "        wait for each other: an n-way conflict takes n passes instead of one.\n"
    "Seen    Passes (wavefronts) of shared loads and stores, against max(requests, bytes / 128):\n"
    "        wide accesses and broadcasts are no conflicts. From 1.25 times the ideal on.\n"
    "Saving  Wavefronts over the rate that the calibrated bank family reached, beside the work on\n"
    "        the other levels of memory, combined as (sum t^3)^(1/3). Time that this does not\n"
    "        explain shrinks by the share of passes that are excess; at the lower end of the\n"
    "        interval it stays. Where a kernel is bound by something else, it becomes a note.\n"
    "Fix     Pad the row by one word (tile[32][33]), or swizzle the index.\n"
    "Limits  Per kernel, not per instruction, except on the software device, which has no times:\n"
    "        there from twice the ideal and 5 % of all passes on. Accesses by TMA and LDGSTS are\n"
    "        not counted.\n";

static double ways_of(const struct gmt_shared_access *shared)
{
    return shared->ideal > 0 ? shared->wavefronts / shared->ideal : NAN;
}

static const char *headline(struct gmt_analysis *analysis, const struct gmt_shared_access *load,
                            const struct gmt_shared_access *store)
{
    char ways[GMT_FORMAT_BYTES], other[GMT_FORMAT_BYTES];

    gmt_format_decimal(ways, ways_of(load), 1);
    gmt_format_decimal(other, ways_of(store), 1);
    if (isnan(ways_of(store)))
        return gmt_text(analysis, "shared loads conflict %s-way", ways);
    if (isnan(ways_of(load)))
        return gmt_text(analysis, "shared stores conflict %s-way", other);
    return gmt_text(analysis, "shared loads conflict %s-way, stores %s-way", ways, other);
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                  double all_excess)
{
    const struct gmt_model *model = analysis->model;
    struct gmt_shared_access load = gmt_shared_loads(class), store = gmt_shared_stores(class);
    double worst = fmax(ways_of(&load), ways_of(&store)), n = (double)class->launches;
    double wavefronts = gmt_known(load.wavefronts) + gmt_known(store.wavefronts);
    double ideal = gmt_known(load.ideal) + gmt_known(store.ideal);

    if (!(worst >= GMT_CONFLICT_RATIO) || !(wavefronts > ideal))
        return;
    struct gmt_gain gain = gmt_price_conflicts(model, analysis->timeline, class);
    if (isnan(gain.best_ns) &&
        (worst < GMT_EXCESS_RATIO || (wavefronts - ideal) * n < GMT_EXCESS_SHARE * all_excess))
        return;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL)
        return;
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = (wavefronts - ideal) * GMT_WAVEFRONT_BYTES * n;
    gmt_finding_evidence(finding, "load_ways", "ratio", ways_of(&load));
    gmt_finding_evidence(finding, "store_ways", "ratio", ways_of(&store));
    gmt_finding_evidence(finding, "wavefronts", "wavefronts", wavefronts);
    gmt_finding_evidence(finding, "ideal_wavefronts", "wavefronts", ideal);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    gmt_finding_lines(analysis, finding, class, GMT_EXCESS_SHARED);
    finding->headline = gmt_text(analysis, "%s%s", headline(analysis, &load, &store),
                                 gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric LIKE 'shared_%%'",
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Pad each row of the tile by one word, so that a column spreads over all banks.";
    finding->sketch = "__shared__ float tile[32][32 + 1];";
    finding->method =
        isnan(gain.best_ns)
            ? gmt_unpriced(analysis)
            : "wavefronts over the rate of the calibrated bank family, beside the other "
              "memory work; time that it does not explain shrinks by the share of "
              "excess passes";
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC
                          : gain.from_family  ? gmt_confidence_of_model(model)
                                              : GMT_CONFIDENCE_MODELLED;
    gmt_finding_saving(finding, gain.low_ns * n, gain.best_ns * n, gain.high_ns * n);
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
    for (size_t i = 0; i < tl->class_count; i++)
        check(analysis, &tl->classes[i], all);
    return used ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_bank_conflict;
const struct gmt_rule gmt_rule_bank_conflict = {.id = "GM401",
                                                .slug = "bank-conflict",
                                                .title = "Bank conflicts in shared memory",
                                                .category = "shared memory",
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                .run = run,
                                                .explain = explain};

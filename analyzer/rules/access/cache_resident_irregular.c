/* SPDX-License-Identifier: Apache-2.0 */
/* GM309: scattered reads of data that the caches hold, as look-ups in tables make. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "libtrace/base/format.h"

static const char *level_of(const struct gmt_cached *cached)
{
    return cached->l1 >= cached->l2 ? "L1" : "L2";
}

static void put_gain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_class *class)
{
    struct gmt_gain gain = gmt_price_gather(analysis->model, analysis->timeline, class);

    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC
                          : gain.from_family  ? gmt_confidence_of_model(analysis->model)
                                              : GMT_CONFIDENCE_MODELLED;
    finding->method = isnan(gain.best_ns) ? gmt_unpriced(analysis)
                      : gain.from_family
                          ? "excess sectors times the calibrated cost of one at the cache level "
                            "that serves it"
                          : "kernel time minus the calibrated time of the useful bytes; time that "
                            "the sectors do not explain shrinks by the share of excess sectors";
}

static void put_fix(struct gmt_analysis *analysis, struct gmt_finding *finding,
                    const struct gmt_cached *cached)
{
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix =
        cached->l1 >= cached->l2
            ? "Keep the table, which fits L1, in shared memory, where 32 lanes read 32 words at "
              "once; or sort the indices, so that neighbouring threads read neighbouring words."
            : "Sort the indices once (thrust::sort_by_key), or order the work by them; "
              "a smaller type lets more of the table fit L1.";
    finding->sketch = gmt_text(
        analysis, "%s",
        cached->l1 >= cached->l2
            ? "__shared__ float table[N];  // filled by all threads of the block\n"
              "value = table[index[i]];    // instead of global[index[i]]"
            : "thrust::sort_by_key(index, index + n, position);  // once\n"
              "out[position[i]] = table[index[i]];  // neighbours read neighbours");
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_access load = gmt_access_of_loads(class);
    struct gmt_cached cached = gmt_cached_loads(class);
    double n = (double)class->launches;
    char sectors[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    if (!gmt_is_irregular(analysis->timeline, class)) {
        return;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = (load.sectors - load.ideal) * GMT_SECTOR_BYTES * n;
    gmt_finding_evidence(finding, "load_sectors", "sectors", load.sectors);
    gmt_finding_evidence(finding, "load_ideal_sectors", "sectors", load.ideal);
    gmt_finding_evidence(finding, "load_sectors_per_request", "ratio",
                         load.sectors / load.requests);
    gmt_finding_evidence(finding, "served_by_l1", "percent", 100 * cached.l1);
    gmt_finding_evidence(finding, "served_by_l2", "percent", 100 * cached.l2);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    gmt_finding_lines(analysis, finding, class, GMT_EXCESS_LOADS);
    finding->headline = gmt_text(
        analysis, "scattered look-ups touch %s sectors per request, %s of them in %s%s",
        gmt_format_decimal(sectors, load.sectors / load.requests, 1),
        gmt_format_percent(share, 100 * fmax(cached.l1, cached.l2)), level_of(&cached),
        gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND (metric LIKE 'global_load%%' OR metric LIKE 'l1_load%%' OR "
                            "metric LIKE 'dram_read%%')",
                            class->id);
    put_fix(analysis, finding, &cached);
    put_gain(analysis, finding, class);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_cache_resident_irregular;
const struct gmt_rule gmt_rule_cache_resident_irregular = {
    .id = "GM309",
    .slug = "cache-resident-irregular",
    .title = "Scattered look-ups in cached data",
    .category = "global memory",
    .about_code = true,
    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED | GMT_NEED_HARDWARE,
    .touches = GMT_TOUCHES_LOADS,
    .run = run};

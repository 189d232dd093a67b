/* SPDX-License-Identifier: Apache-2.0 */
/* GM306: spilled registers and arrays in local memory, as far as they are executed. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/price.h"
#include "analyzer/rule.h"
#include "analyzer/thresholds.h"
#include "reports/format.h"

static const char explain[] =
    "What    Local memory is device memory: spilled registers and arrays with an index known only\n"
    "        at run time live there.\n"
    "Seen    Executed local loads and stores as a share of all memory instructions, from 5 % on.\n"
    "        Bytes per thread prove nothing: they may belong to a path that is never taken.\n"
    "Saving  What remains takes its calibrated time on each level of memory. Of the time that the\n"
    "        levels do not explain, the same share goes as of the memory instructions; at the\n"
    "        lower end of the interval all of it stays.\n"
    "Fix     Index arrays by constants (unroll the loops), or keep them in shared memory; for\n"
    "        spills: __launch_bounds__ or a larger -maxrregcount.\n"
    "Limits  Whether a spill or an array is meant is not told here. The software device sees "
    "arrays\n"
    "        (spills are the assembler's work); without times, half of the instructions and 5 % "
    "of\n"
    "        all sectors must be local.\n";

static double sum_of(const struct gmt_tl_class *class, int a, int b)
{
    return gmt_known(class->counter[a]) + gmt_known(class->counter[b]);
}

/* Without times: local accesses at least double the memory instructions, and are a part of the run. */
static bool is_excess(const struct gmt_tl_class *class, double share, double sectors,
                      double all_sectors)
{
    return share >= 1 - 1 / GMT_EXCESS_RATIO &&
           sectors * (double)class->launches >= GMT_EXCESS_SHARE * all_sectors;
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                  double all_sectors)
{
    double local = sum_of(class, GMT_M_local_load_requests, GMT_M_local_store_requests);
    double n = (double)class->launches;
    double global = sum_of(class, GMT_M_global_load_requests, GMT_M_global_store_requests);
    double shared = sum_of(class, GMT_M_shared_load_requests, GMT_M_shared_store_requests);
    double sectors = sum_of(class, GMT_M_local_load_sectors, GMT_M_local_store_sectors);
    double share = local / (local + global + shared);
    char percent[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES];

    if (!(share >= GMT_LOCAL_MIN_SHARE))
        return;
    if (analysis->timeline->simulated && !is_excess(class, share, sectors, all_sectors))
        return;
    struct gmt_gain gain = gmt_price_local(analysis->model, analysis->timeline, class);
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL)
        return;
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = sectors * GMT_SECTOR_BYTES * n;
    gmt_finding_evidence(finding, "local_instructions", "instructions", local);
    gmt_finding_evidence(finding, "share_of_memory_instructions", "percent", 100 * share);
    gmt_finding_evidence(finding, "local_sectors", "sectors", sectors);
    gmt_finding_evidence(finding, "local_bytes_per_thread", "bytes", (double)class->local_bytes);
    gmt_finding_evidence(finding, "registers", "count",
                         class->registers > 0 ? (double)class->registers : NAN);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    gmt_finding_lines(analysis, finding, class, GMT_EXCESS_LOCAL);
    finding->headline = gmt_text(
        analysis, "%s of the executed memory instructions are local (%s per thread)%s",
        gmt_format_percent(percent, 100 * share),
        gmt_format_bytes(bytes, (double)class->local_bytes), gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND (metric LIKE 'local_%%' OR metric LIKE '%%_requests')",
                            class->id);
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = "Index the array by constants (unroll the loop over it), or move it to shared "
                   "memory; for spills raise the register limit with __launch_bounds__.";
    finding->sketch = "#pragma unroll\nfor (int i = 0; i < N; i++)  // N known to the compiler\n"
                      "    sum += values[i];";
    finding->method = isnan(gain.best_ns)
                          ? gmt_unpriced(analysis)
                          : "resource model of the remaining work; time that work does not explain "
                            "shrinks by the share of memory instructions that are local";
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC : GMT_CONFIDENCE_MODELLED;
    gmt_finding_saving(finding, gain.low_ns * n, gain.best_ns * n, gain.high_ns * n);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    double all = 0;

    for (size_t i = 0; i < tl->class_count; i++)
        all += gmt_known(gmt_work_of_class(tl, &tl->classes[i]).l1_sectors) *
               (double)tl->classes[i].launches;
    for (size_t i = 0; i < tl->class_count; i++)
        check(analysis, &tl->classes[i], all);
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_local_memory;
const struct gmt_rule gmt_rule_local_memory = {.id = "GM306",
                                               .slug = "local-memory",
                                               .title = "Spills and arrays in local memory",
                                               .category = "local memory",
                                               .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                               .run = run,
                                               .explain = explain};

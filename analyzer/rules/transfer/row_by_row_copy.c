/* SPDX-License-Identifier: Apache-2.0 */
/* GM104: an image copied row by row, where one 2-D copy does it. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/findings/rule.h"
#include "analyzer/rules/common/copy_sites.h"

static bool is_rows(const struct gmt_analysis *analysis, const struct gmt_run *run)
{
    (void)analysis;
    return gmt_run_is_rows(run);
}

static void report_site(struct gmt_analysis *analysis, const struct gmt_copy_site *site)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[site->first];
    const struct gmt_run *run = site->example;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    char bytes[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    gmt_copy_site_fill(analysis, site, finding);
    gmt_finding_evidence(finding, "width", "bytes", run->largest_bytes);
    gmt_finding_evidence(finding, "rows", "count", (double)run->count);
    gmt_finding_evidence(finding, "destination_pitch", "bytes", (double)run->dst_stride);
    gmt_finding_evidence(finding, "source_pitch", "bytes", (double)run->src_stride);
    finding->headline = gmt_text(
        analysis, "%s rows of %s are copied %s one by one, in %zu run%s%s%s",
        gmt_format_count(count, (double)site->copies), gmt_format_bytes(bytes, run->largest_bytes),
        gmt_name_direction(copy->direction), site->runs, site->runs == 1 ? "" : "s",
        isnan(site->cost_ns) ? "" : ": ",
        isnan(site->cost_ns) ? "" : gmt_time_words(analysis, site->cost_ns));
    finding->method = "measured time of the row copies, less what tracing added, minus the model's "
                      "time of one 2-D copy of "
                      "the same bytes per run";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Replace the loop by one 2-D copy.";
    finding->sketch = gmt_text(
        analysis,
        "cudaMemcpy2D%s(dst, %" PRId64 ", src, %" PRId64 ", %.0f, %zu,\n             %s%s);",
        copy->blocking ? "" : "Async", run->dst_stride, run->src_stride, run->largest_bytes,
        run->count,
        copy->direction == GMT_DIR_H2D ? "cudaMemcpyHostToDevice" : "cudaMemcpyDeviceToHost",
        copy->blocking ? "" : ", stream");
    gmt_copy_site_price(analysis, site, finding, true);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run_rule(struct gmt_analysis *analysis)
{
    return gmt_copy_sites_report(analysis, is_rows, report_site);
}

extern const struct gmt_rule gmt_rule_row_by_row_copy;
const struct gmt_rule gmt_rule_row_by_row_copy = {.id = "GM104",
                                                  .slug = "row-by-row-copy",
                                                  .title = "A 2-D array copied row by row",
                                                  .category = "transfers",
                                                  .needs = GMT_NEED_COPIES | GMT_NEED_MODEL |
                                                           GMT_NEED_ALL_CALLS,
                                                  .run = run_rule};

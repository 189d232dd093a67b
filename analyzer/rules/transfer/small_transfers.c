/* SPDX-License-Identifier: Apache-2.0 */
/* GM101: many small copies in a row, which one copy would carry for the price of one. */
#include <math.h>

#include "analyzer/findings/rule.h"
#include "analyzer/rules/common/copy_sites.h"

/* One run, with its numbers: the first one. */
static const char *sketch_of(struct gmt_analysis *analysis, const struct gmt_copy_site *site)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[site->first];
    const struct gmt_run *run = site->example;
    bool up = copy->direction == GMT_DIR_H2D;
    const char *piece = run->equal_sizes
                            ? gmt_text(analysis, "staging + %.0f * i", run->largest_bytes)
                            : "staging + offset[i]";
    const char *size = run->equal_sizes ? gmt_text(analysis, "%.0f", run->largest_bytes)
                                        : "size[i]";
    const char *gather = gmt_text(analysis, "for (i = 0; i < %zu; i++)\n    memcpy(%s, %s, %s);",
                                  run->count, up ? piece : "piece[i]", up ? "piece[i]" : piece,
                                  size);
    const char *once = gmt_text(
        analysis, "cudaMemcpy%s(%s, %.0f, cudaMemcpy%s%s);", copy->blocking ? "" : "Async",
        up ? "device, staging" : "staging, device", run->bytes,
        up ? "HostToDevice" : "DeviceToHost", copy->blocking ? "" : ", stream");

    if (up) {
        return gmt_text(analysis, "%s\n%s", gather, once);
    }
    return gmt_text(analysis, copy->blocking ? "%s\n%s" : "%s\ncudaStreamSynchronize(stream);\n%s",
                    once, gather);
}

static void report_site(struct gmt_analysis *analysis, const struct gmt_copy_site *site)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[site->first];
    struct gmt_finding *finding = gmt_finding_new(analysis);
    char bytes[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    char per[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    gmt_copy_site_fill(analysis, site, finding);
    const char *took = isnan(site->cost_ns)
                           ? ", where one copy per run would do"
                           : gmt_text(analysis, " took %s, %s each",
                                      gmt_time_words(analysis, site->cost_ns),
                                      gmt_format_ns(per, site->cost_ns / (double)site->copies));
    finding->headline = gmt_text(
        analysis, "%s %s copies of %s or less in %zu run%s%s",
        gmt_format_count(count, (double)site->copies), gmt_name_direction(copy->direction),
        gmt_format_bytes(bytes, site->largest_bytes), site->runs, site->runs == 1 ? "" : "s", took);
    finding->method = "measured time of the copies, less what tracing added, minus the time of one "
                      "copy of all their bytes per run, from the model's curve for such copies";
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = gmt_text(
        analysis, "Gather the %zu pieces of a run in one buffer and copy it once (%s).",
        site->copies / site->runs, gmt_format_bytes(bytes, site->bytes / (double)site->runs));
    finding->sketch = sketch_of(analysis, site);
    gmt_copy_site_price(analysis, site, finding, false);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    return gmt_copy_sites_report(analysis, gmt_run_is_small, report_site);
}

extern const struct gmt_rule gmt_rule_small_transfers;
const struct gmt_rule gmt_rule_small_transfers = {.id = "GM101",
                                                  .slug = "small-transfers",
                                                  .title = "Many small copies",
                                                  .category = "transfers",
                                                  .needs = GMT_NEED_COPIES | GMT_NEED_MODEL |
                                                           GMT_NEED_ALL_CALLS,
                                                  .run = run};

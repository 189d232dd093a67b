/* SPDX-License-Identifier: Apache-2.0 */
/* GM506: small independent kernels that run one after the other in a stream. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/small_rows.h"
#include "libtrace/base/format.h"

/* All rows that begin with launches of one class. */
struct kernel_sum {
    double rows, kernels, share;
    double total_ns, low_ns, best_ns, high_ns;
    struct gmt_finding *finding; /* claims, so far */
};

static void add_row(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                    const struct gmt_small_row *row, void *user)
{
    const struct gmt_tl_launch *first = gmt_launch_rows_at(rows, row->first);
    struct gmt_gain gain = gmt_price_side_by_side(analysis->model, &row->sizes);
    struct kernel_sum *sum = (struct kernel_sum *)user + first->class_index;

    if (sum->finding == NULL) {
        sum->finding = gmt_finding_new(analysis);
    }
    gmt_finding_claim(
        analysis, sum->finding,
        (struct gmt_interval){first->device_start_ns,
                              gmt_launch_rows_at(rows, row->first + row->n - 1)->device_end_ns});
    sum->rows++;
    sum->kernels += row->sizes.kernels;
    sum->share += row->sizes.share * row->sizes.kernels;
    sum->total_ns += row->sizes.total_ns;
    sum->low_ns += gain.low_ns;
    sum->best_ns += gain.best_ns;
    sum->high_ns += gain.high_ns;
}

static void report(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                   const struct kernel_sum *sum)
{
    struct gmt_finding *finding = sum->finding;
    char time[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = sum->total_ns;
    gmt_finding_evidence(finding, "rows", "count", sum->rows);
    gmt_finding_evidence(finding, "kernels", "count", sum->kernels);
    gmt_finding_evidence(finding, "share_of_device", "percent", 100 * sum->share / sum->kernels);
    gmt_finding_evidence(finding, "time_of_rows", "ns", sum->total_ns);
    finding->headline = gmt_text(
        analysis,
        "%.0f kernels in rows of %.0f, one after the other, fill %s of the device each; %s",
        sum->kernels, round(sum->kernels / sum->rows),
        gmt_format_percent(share, 100 * sum->share / sum->kernels),
        gmt_format_ns(time, sum->total_ns));
    finding->sql = gmt_text(analysis,
                            "SELECT stream_id, device_start_ns, device_end_ns, grid_x, block_x, "
                            "argument_set_id FROM launch WHERE class_id = %" PRId64
                            " ORDER BY device_start_ns",
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(
        analysis,
        "Launch them in up to %.0f streams, or as parallel branches of a graph, "
        "and let what comes after wait for all of them.",
        fmax(2, round(fmin(sum->kernels / sum->rows, sum->kernels / sum->share))));
    finding->sketch =
        "for (int i = 0; i < n; i++) kernel<<<grid, block, 0, streams[i % 16]>>>(...);";
    finding->method =
        "time of the row less the same kernels side by side, as many as fit the device";
    finding->confidence = GMT_CONFIDENCE_MODELLED;
    gmt_finding_saving(finding, sum->low_ns, sum->best_ns, sum->high_ns);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_launch_rows *rows = gmt_analysis_launch_rows(analysis);
    struct kernel_sum *sums = calloc(tl->class_count + 1, sizeof(*sums));
    bool loaded = rows != NULL && sums != NULL;

    if (loaded) {
        gmt_small_rows_find(analysis, rows, add_row, sums);
        for (size_t i = 0; i < tl->class_count; i++) {
            report(analysis, &tl->classes[i], &sums[i]);
        }
    }
    bool unknown = loaded && !rows->arguments_known;
    free(sums);
    if (unknown) {
        return gmt_could_not(analysis, "the trace has no pointer arguments of launches");
    }
    return loaded ? GMT_OUTCOME_PASS : gmt_could_not(analysis, "the launches could not be read");
}

extern const struct gmt_rule gmt_rule_serial_small_kernels;
const struct gmt_rule gmt_rule_serial_small_kernels = {
    .id = "GM506",
    .slug = "serial-small-kernels",
    .title = "Independent small kernels wait for each other",
    .category = "launches",
    .needs = GMT_NEED_LAUNCHES | GMT_NEED_TIMES | GMT_NEED_MODEL | GMT_NEED_ALL_CALLS,
    .run = run};

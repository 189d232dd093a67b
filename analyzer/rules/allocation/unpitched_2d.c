/* SPDX-License-Identifier: Apache-2.0 */
/* GM203: matrices whose rows start inside sectors, because they follow each other without a pitch. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_layout.h"
#include "analyzer/rules/common/access_finding.h"
#include "libtrace/base/format.h"

static double padded(double bytes)
{
    return ceil(bytes / GMT_ALLOCATION_ALIGNMENT) * GMT_ALLOCATION_ALIGNMENT;
}

static void put_row_evidence(struct gmt_finding *finding, const struct gmt_pattern *pattern)
{
    gmt_finding_evidence(finding, "row_bytes", "bytes", pattern->row_bytes);
    gmt_finding_evidence(finding, "rows", "count", pattern->rows);
    gmt_finding_evidence(finding, "padding_bytes", "bytes",
                         (padded(pattern->row_bytes) - pattern->row_bytes) * pattern->rows);
}

static void put_fix(struct gmt_analysis *analysis, struct gmt_finding *finding,
                    const struct gmt_pattern *pattern)
{
    char bytes[GMT_FORMAT_BYTES];
    double padding = (padded(pattern->row_bytes) - pattern->row_bytes) * pattern->rows;

    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = gmt_text(analysis,
                            "Allocate with cudaMallocPitch, so that each row of %.0f bytes starts "
                            "aligned, %.0f bytes apart or more: %s of padding per array.",
                            pattern->row_bytes, padded(pattern->row_bytes),
                            gmt_format_bytes(bytes, padding));
    finding->sketch = gmt_text(analysis,
                               "cudaMallocPitch(&base, &pitch, %.0f, %.0f);\n"
                               "T *row = (T *)((char *)base + y * pitch);  // pitch is in bytes\n"
                               "v = row[x];",
                               pattern->row_bytes, pattern->rows);
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_access_subject subject = gmt_access_subject_of(analysis, class);
    const struct gmt_access *access = subject.loads ? &subject.load : &subject.store;
    const struct gmt_pattern *pattern = &subject.pattern;
    char extra[GMT_FORMAT_BYTES];

    if (pattern->kind != GMT_PATTERN_ROWS) {
        return;
    }
    struct gmt_finding *finding = gmt_access_finding(analysis, &subject);
    if (finding == NULL) {
        return;
    }
    finding->headline = gmt_text(
        analysis,
        "%.0f rows of %.0f words of %.0f bytes start inside sectors: %s touch %s sectors "
        "per request more than needed%s",
        pattern->rows, pattern->row_bytes / pattern->width_bytes, pattern->width_bytes,
        gmt_access_words(&subject),
        gmt_format_decimal(extra, (access->sectors - access->ideal) / access->requests, 2),
        gmt_kernel_time(analysis, class));
    put_row_evidence(finding, pattern);
    put_fix(analysis, finding, pattern);
    struct gmt_gain gain = gmt_price_rows(analysis->model, analysis->timeline, class, pattern);
    gmt_access_put_gain(analysis, finding, &subject, &gain,
                        "the calibrated cost of an offset of one element, scaled by excess "
                        "sectors, minus the device memory time of the padding");
    if (analysis->timeline->simulated) {
        finding->note_why = "less than twice the ideal, and no times to show its cost";
    } else if (gain.best_ns < GMT_MISALIGNED_MIN_COST * class->median_ns) {
        finding->note_why = "on this GPU the neighbouring access hits the sector in L1";
    } else if (isnan(gain.best_ns)) {
        finding->note_why = "not priced: no device time or no device model";
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        check(analysis, &analysis->timeline->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_unpitched_2d;
const struct gmt_rule gmt_rule_unpitched_2d = {.id = "GM203",
                                               .slug = "unpitched-2d",
                                               .title = "Rows of a matrix start misaligned",
                                               .category = "allocations",
                                               .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                               .touches = GMT_TOUCHES_LOADS,
                                               .run = run};

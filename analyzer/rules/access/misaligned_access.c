/* SPDX-License-Identifier: Apache-2.0 */
/* GM303: accesses that start inside a sector, and so touch one more than they need. */
#include <math.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/launch_shape.h"
#include "analyzer/rules/common/access_finding.h"
#include "libtrace/base/format.h"

/* Whether GM202 has found the pointer that is the cause. */
static bool is_explained(const struct gmt_analysis *analysis, const struct gmt_finding *finding)
{
    const struct gmt_report *report = analysis->report;

    for (size_t i = 0; i < report->finding_count; i++) {
        const struct gmt_finding *other = &report->findings[i];

        if (strcmp(other->rule, "GM202") == 0 && other->where.kernel != NULL &&
            strcmp(other->where.kernel, finding->where.kernel) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * ": 1 to 7 words of 4 bytes into one" where every access starts inside a sector: then all offsets cost
 * one sector more, and sectors show no more than that. "" elsewhere.
 */
static const char *into_sector(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                               const struct gmt_access *access, double extra)
{
    double width = gmt_access_width(class, access);
    double most = GMT_SECTOR_BYTES / width - 1;

    if (!(fabs(extra - 1) < GMT_STRUCT_MATCH) || !(most >= 1)) {
        return "";
    }
    return gmt_text(analysis, ": they start %s%.0f word%s of %.0f bytes into one",
                    most > 1 ? "1 to " : "", most, most > 1 ? "s" : "", width);
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_access_subject subject = gmt_access_subject_of(analysis, class);
    const struct gmt_access *access = subject.loads ? &subject.load : &subject.store;
    double more = (access->sectors - access->ideal) / access->requests;
    char extra[GMT_FORMAT_BYTES];

    if (subject.pattern.kind != GMT_PATTERN_MISALIGNED) {
        return;
    }
    struct gmt_finding *finding = gmt_access_finding(analysis, &subject);
    if (finding == NULL) {
        return;
    }
    finding->headline = gmt_text(analysis, "%s touch %s sectors per request more than needed%s%s",
                                 gmt_access_words(&subject), gmt_format_decimal(extra, more, 2),
                                 into_sector(analysis, class, access, more),
                                 gmt_kernel_time(analysis, class));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Start each array, and each row of it, at a multiple of 32 bytes; cudaMalloc "
                   "and cudaMallocPitch give 256 or more.";
    finding->sketch =
        "offset = (offset + 255) & ~(size_t)255;  // before carving out the next array";
    struct gmt_gain gain = gmt_price_misaligned(analysis->model, analysis->timeline, class);
    gmt_access_put_gain(analysis, finding, &subject, &gain,
                        "the calibrated cost of an offset of one element, scaled by excess "
                        "sectors");
    if (analysis->timeline->simulated) {
        finding->note_why = "less than twice the ideal, and no times to show its cost";
    } else if (gain.best_ns < GMT_MISALIGNED_MIN_COST * class->median_ns) {
        finding->note_why = "on this GPU the neighbouring access hits the sector in L1";
    } else if (gmt_shape_waiting(analysis->timeline, class) < GMT_WAITING_SHARE) {
        finding->note_why = "its warps wait for loads less than half of the time: other work hides "
                            "the cost of the excess sectors";
    } else if (isnan(gain.best_ns)) {
        finding->note_why = "not priced: no device time or no device model";
    }
    if (is_explained(analysis, finding)) {
        finding->note_why = "GM202 reports and prices the pointer that causes this";
    }
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

extern const struct gmt_rule gmt_rule_misaligned_access;
const struct gmt_rule gmt_rule_misaligned_access = {.id = "GM303",
                                                    .slug = "misaligned-access",
                                                    .title = "Accesses start inside a sector",
                                                    .category = "global memory",
                                                    .about_code = true,
                                                    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                    .touches = GMT_TOUCHES_LOADS,
                                                    .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM301, GM303 and GM310: global accesses that touch more sectors than they need. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/launch_shape.h"
#include "analyzer/price/pattern.h"
#include "analyzer/rules/common/access_finding.h"
#include "libtrace/base/format.h"

/* ": lanes are 4 words of 4 bytes apart"; "" where counters do not show how wide words are. */
static const char *apart(struct gmt_analysis *analysis, const struct gmt_access_subject *subject)
{
    const double *c = subject->class->counter;
    const struct gmt_access *access = subject->loads ? &subject->load : &subject->store;
    double lines = c[subject->loads ? GMT_M_global_load_lines : GMT_M_global_store_lines];
    double width = gmt_access_width(subject->class, access);
    bool at_least;
    double stride = gmt_access_stride(subject->class, access, lines, &at_least);

    if (isnan(stride) && isfinite(width)) {
        return ", at no single stride";
    }
    if (!(stride >= 2)) {
        return "";
    }
    return gmt_text(analysis, ": lanes are %.0f%s words of %.0f bytes apart", stride,
                    at_least ? " or more" : "", width);
}

static const char *strided_headline(struct gmt_analysis *analysis,
                                    const struct gmt_access_subject *subject)
{
    const struct gmt_access *access = subject->loads ? &subject->load : &subject->store;
    char efficiency[GMT_FORMAT_BYTES], other[GMT_FORMAT_BYTES];
    char ratio[GMT_FORMAT_BYTES], also[96] = "";

    if (subject->loads && subject->stores) {
        const struct gmt_access *stores = &subject->store;

        gmt_format_decimal(ratio, gmt_access_ratio(stores), 1);
        gmt_format_percent(other, 100 * stores->bytes / (GMT_SECTOR_BYTES * stores->sectors));
        snprintf(also, sizeof(also), ", stores %s (%s x)", other, ratio);
    }
    gmt_format_percent(efficiency, 100 * access->bytes / (GMT_SECTOR_BYTES * access->sectors));
    return gmt_text(analysis, "%s use %s of the sectors they touch (%s x the ideal)%s%s%s",
                    subject->loads ? "loads" : "stores", efficiency,
                    gmt_format_decimal(ratio, gmt_access_ratio(access), 1), also,
                    apart(analysis, subject), gmt_kernel_time(analysis, subject->class));
}

static void put_strided_fix(struct gmt_finding *finding, const struct gmt_access_subject *subject)
{
    finding->effort = GMT_EFFORT_MEDIUM;
    if (!subject->loads) {
        finding->fix = "Let neighbouring threads write neighbouring words: stage the tile in "
                       "shared memory and write it out row by row.";
        finding->sketch = "tile[threadIdx.y][threadIdx.x] = value;\n"
                          "__syncthreads();\n"
                          "out[(size_t)row * width + x0 + threadIdx.x] = "
                          "tile[threadIdx.x][threadIdx.y];";
        return;
    }
    finding->fix =
        subject->stores
            ? "Swap the mapping, so that threadIdx.x runs along the contiguous dimension of "
              "both arrays: loads and stores are strided alike."
            : "Let neighbouring threads read neighbouring words: index the contiguous "
              "dimension by threadIdx.x, or tile through shared memory.";
    finding->sketch = subject->stores
                          ? "x = blockIdx.x * blockDim.x + threadIdx.x;  // contiguous\n"
                            "y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                            "out[(size_t)y * width + x] = f(in[(size_t)y * width + x]);"
                          : "x = blockIdx.x * blockDim.x + threadIdx.x;  // contiguous\n"
                            "y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                            "v = in[(size_t)y * width + x];";
}

/* As GM301 sees it, with the stores where they are strided, too; or as GM310 does. */
static void strided(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                    enum gmt_pattern_kind kind)
{
    struct gmt_access_subject subject = gmt_access_subject_of(analysis, class);

    /* Look-ups in what the caches hold are GM309's. */
    if (subject.pattern.kind != kind ||
        (subject.loads && gmt_is_irregular(analysis->timeline, class))) {
        return;
    }
    struct gmt_gain gain = gmt_price_access(analysis->model, analysis->timeline, class,
                                            subject.loads, subject.stores);
    struct gmt_finding *finding = gmt_access_finding(analysis, &subject);
    if (finding == NULL) {
        return;
    }
    if (subject.loads && subject.stores) {
        finding->title = "Neighbouring threads read and write far apart";
    }
    finding->headline = strided_headline(analysis, &subject);
    put_strided_fix(finding, &subject);
    gmt_access_put_gain(analysis, finding, &subject, &gain, gmt_access_method(&gain));
    gmt_access_judge_part(analysis, finding, &subject);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run_strided(struct gmt_analysis *analysis)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        strided(analysis, &analysis->timeline->classes[i], GMT_PATTERN_STRIDED);
    }
    return GMT_OUTCOME_PASS;
}

static enum gmt_outcome run_store(struct gmt_analysis *analysis)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        strided(analysis, &analysis->timeline->classes[i], GMT_PATTERN_SCATTERED);
    }
    return GMT_OUTCOME_PASS;
}

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

static void misaligned(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
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
        finding->note_why = "on this GPU the neighbouring access finds the sector in L1";
    } else if (gmt_shape_waiting(analysis->timeline, class) < GMT_WAITING_SHARE) {
        finding->note_why = "its warps wait for loads less than half of their time: what more "
                            "sectors cost is hidden behind other work";
    } else if (isnan(gain.best_ns)) {
        finding->note_why = "not priced: no device time or no device model";
    }
    if (is_explained(analysis, finding)) {
        finding->note_why = "GM202 names and prices the pointer that is the cause";
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run_misaligned(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    for (size_t i = 0; i < tl->class_count; i++) {
        misaligned(analysis, &tl->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_strided_access, gmt_rule_misaligned_access,
    gmt_rule_uncoalesced_store;
const struct gmt_rule gmt_rule_strided_access = {.id = "GM301",
                                                 .slug = "strided-access",
                                                 .title = "Neighbouring threads read far apart",
                                                 .category = "global memory",
                                                 .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                 .touches = GMT_TOUCHES_LOADS,
                                                 .run = run_strided};
const struct gmt_rule gmt_rule_misaligned_access = {.id = "GM303",
                                                    .slug = "misaligned-access",
                                                    .title = "Accesses start inside a sector",
                                                    .category = "global memory",
                                                    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                    .touches = GMT_TOUCHES_LOADS,
                                                    .run = run_misaligned};
const struct gmt_rule gmt_rule_uncoalesced_store = {.id = "GM310",
                                                    .slug = "uncoalesced-store",
                                                    .title = "Neighbouring threads write far apart",
                                                    .category = "global memory",
                                                    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                    .touches = GMT_TOUCHES_STORES,
                                                    .run = run_store};

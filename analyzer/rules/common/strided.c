/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose neighbouring threads access words far apart: findings of GM301 and GM310. */
#include "analyzer/rules/common/strided.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/base/thresholds.h"
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

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
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

enum gmt_outcome gmt_strided_run(struct gmt_analysis *analysis, enum gmt_pattern_kind kind)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        check(analysis, &analysis->timeline->classes[i], kind);
    }
    return GMT_OUTCOME_PASS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GM304: arrays of structs of which warps use a part, or which they go over word by word. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_layout.h"
#include "analyzer/rules/common/access_finding.h"
#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"

static const char *headline(struct gmt_analysis *analysis, const struct gmt_access_subject *subject)
{
    const struct gmt_pattern *pattern = &subject->pattern;
    const struct gmt_access *access = subject->loads ? &subject->load : &subject->store;
    const char *time = gmt_kernel_time(analysis, subject->class);
    char each[GMT_FORMAT_BYTES], sectors[GMT_FORMAT_BYTES];

    if (pattern->kind == GMT_PATTERN_FIELD) {
        return gmt_text(analysis,
                        "%s use %.0f bytes of each struct of %.0f: %s sectors per request%s",
                        gmt_access_words(subject), pattern->fields * pattern->width_bytes,
                        pattern->struct_bytes,
                        gmt_format_decimal(sectors, access->sectors / access->requests, 1), time);
    }
    return gmt_text(
        analysis,
        "%s go over structs of %.0f bytes word by word: %s requests of %s sectors per thread%s",
        gmt_access_words(subject), pattern->struct_bytes,
        gmt_format_decimal(each, gmt_access_per_thread(subject->class, access), 0),
        gmt_format_decimal(sectors, access->sectors / access->requests, 1), time);
}

static void put_fix(struct gmt_analysis *analysis, struct gmt_finding *finding,
                    const struct gmt_access_subject *subject)
{
    const struct gmt_pattern *pattern = &subject->pattern;
    const struct gmt_access *access = subject->loads ? &subject->load : &subject->store;
    int64_t words = gmt_integer_clamped(pattern->struct_bytes / pattern->width_bytes);
    int64_t each = pattern->kind == GMT_PATTERN_FIELD ? gmt_integer_clamped(pattern->fields)
                                                      : words;
    int64_t elements = gmt_integer_clamped(access->bytes / pattern->width_bytes / (double)each);

    finding->effort = GMT_EFFORT_LARGE;
    if (pattern->kind == GMT_PATTERN_FIELD) {
        finding->fix = "Keep each field in an array of its own: the kernel then fetches only "
                       "what it needs.";
        finding->sketch = gmt_text(analysis,
                                   "struct points { float *x, *y, *z; };  // instead of %" PRId64
                                   " structs of %.0f bytes\nv = points.x[i];  // %" PRId64
                                   " x %.0f bytes in a row",
                                   elements, pattern->struct_bytes, elements, pattern->width_bytes);
        return;
    }
    finding->fix = "Keep each field in an array of its own, or move each struct with aligned "
                   "accesses of 16 bytes.";
    finding->sketch = gmt_text(
        analysis,
        "struct points { float *x, *y, *z; };  // %" PRId64 " arrays of %" PRId64
        " words\nsum = points.x[i] + points.y[i];  // each load: 32 words in a row",
        words, elements);
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_access_subject subject = gmt_access_subject_of(analysis, class);
    const struct gmt_pattern *pattern = &subject.pattern;
    bool field = pattern->kind == GMT_PATTERN_FIELD;

    if (!field && pattern->kind != GMT_PATTERN_FIELDS) {
        return;
    }
    struct gmt_gain gain = field ? gmt_price_access(analysis->model, analysis->timeline, class,
                                                    subject.loads, subject.stores)
                                 : gmt_price_whole_structs(analysis->model, analysis->timeline,
                                                           class, pattern);
    struct gmt_finding *finding = gmt_access_finding(analysis, &subject);
    if (finding == NULL) {
        return;
    }
    finding->headline = headline(analysis, &subject);
    gmt_finding_evidence(finding, "struct_bytes", "bytes", pattern->struct_bytes);
    gmt_finding_evidence(finding, "word_bytes", "bytes", pattern->width_bytes);
    put_fix(analysis, finding, &subject);
    gmt_access_put_gain(analysis, finding, &subject, &gain,
                        field ? gmt_access_method(&gain)
                              : "calibrated L1 time of the requests minus that of coalesced ones, "
                                "overlapped with the time in L2 and device memory");
    /* Sizes of arrays are circumstantial. */
    if (!pattern->counted && finding->confidence < GMT_CONFIDENCE_MODELLED) {
        finding->confidence = GMT_CONFIDENCE_MODELLED;
    }
    gmt_access_judge_part(analysis, finding, &subject);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        check(analysis, &analysis->timeline->classes[i]);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_aos_access;
const struct gmt_rule gmt_rule_aos_access = {.id = "GM304",
                                             .slug = "aos-access",
                                             .title = "Array of structs, read field by field",
                                             .category = "global memory",
                                             .about_code = true,
                                             .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                             .touches = GMT_TOUCHES_LOADS,
                                             .run = run};

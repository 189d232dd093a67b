/* SPDX-License-Identifier: Apache-2.0 */
/* GM305: elements moved in more pieces than an aligned type of their size would need. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_layout.h"
#include "analyzer/rules/common/access_finding.h"
#include "libtrace/base/format.h"

/* By the requests beyond those that words of 4 bytes would need. */
static void judge_requests(struct gmt_analysis *analysis, struct gmt_finding *finding,
                           const struct gmt_access_subject *subject)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double all = 0, own = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        struct gmt_access load = gmt_access_of_loads(&tl->classes[i]);
        struct gmt_access store = gmt_access_of_stores(&tl->classes[i]);

        all += (gmt_known(load.requests) + gmt_known(store.requests)) *
               (double)tl->classes[i].launches;
    }
    own = (subject->loads ? subject->load.requests : 0) +
          (subject->stores ? subject->store.requests : 0);
    gmt_finding_judge_part(
        analysis, finding,
        own * (1 - subject->pattern.width_bytes / 4) * (double)subject->class->launches, all);
}

static void emit(struct gmt_analysis *analysis, struct gmt_finding *finding,
                 const struct gmt_access_subject *subject, const struct gmt_gain *gain,
                 bool by_requests, const char *method)
{
    gmt_finding_evidence(finding, "word_bytes", "bytes", subject->pattern.width_bytes);
    finding->effort = GMT_EFFORT_SMALL;
    gmt_access_put_gain(analysis, finding, subject, gain, method);
    if (by_requests) {
        judge_requests(analysis, finding, subject);
    } else {
        gmt_access_judge_part(analysis, finding, subject);
    }
    gmt_finding_emit(analysis, finding);
}

static void pieces(struct gmt_analysis *analysis, const struct gmt_access_subject *subject)
{
    const struct gmt_pattern *pattern = &subject->pattern;
    const struct gmt_access *access = subject->loads ? &subject->load : &subject->store;
    struct gmt_gain gain = gmt_price_whole_structs(analysis->model, analysis->timeline,
                                                   subject->class, pattern);
    bool padded = pattern->struct_bytes == 12;
    char each[GMT_FORMAT_BYTES], sectors[GMT_FORMAT_BYTES];

    struct gmt_finding *finding = gmt_access_finding(analysis, subject);
    if (finding == NULL) {
        return;
    }
    finding->headline = gmt_text(
        analysis,
        "%s move structs of %.0f bytes in pieces of %.0f: %s requests of %s sectors per thread%s",
        gmt_access_words(subject), pattern->struct_bytes, pattern->width_bytes,
        gmt_format_decimal(each, gmt_access_per_thread(subject->class, access), 0),
        gmt_format_decimal(sectors, access->sectors / access->requests, 1),
        gmt_kernel_time(analysis, subject->class));
    gmt_finding_evidence(finding, "struct_bytes", "bytes", pattern->struct_bytes);
    finding->fix = padded ? "Keep each field in an array of its own, which needs no padding. Or, "
                            "if the kernel does not wait for device memory, pad the struct to 16 "
                            "bytes and align it, so that one access moves it."
                          : "Align the struct to its size, so that one access moves it.";
    finding->sketch = padded ? "struct __align__(16) point { float x, y, z, unused; };\n"
                               "struct point p = points[i];  // one load of 16 bytes"
                      : pattern->struct_bytes == 8
                          ? "struct __align__(8) pair { float x, y; };\n"
                            "struct pair p = pairs[i];  // one load of 8 bytes"
                          : "struct __align__(16) quad { float x, y, z, w; };\n"
                            "struct quad q = quads[i];  // one load of 16 bytes";
    emit(analysis, finding, subject, &gain, false,
         "calibrated L1 and L2 time of the pieces, less that of whole accesses, beside what "
         "device memory takes for the struct with its padding");
}

static void narrow(struct gmt_analysis *analysis, const struct gmt_access_subject *subject)
{
    double width = subject->pattern.width_bytes;
    struct gmt_gain gain = gmt_price_narrow(analysis->model, subject->class, width);

    struct gmt_finding *finding = gmt_access_finding(analysis, subject);
    if (finding == NULL) {
        return;
    }
    finding->title = "Words narrower than a thread can load";
    if (finding->line_count == 0) {
        gmt_finding_lines(analysis, finding, subject->class, GMT_LINES_NARROW);
    }
    finding->headline = gmt_text(analysis,
                                 "%s of %.0f byte%s each: %.0f bytes per request of 128%s",
                                 gmt_access_words(subject), width, width > 1 ? "s" : "", width * 32,
                                 gmt_kernel_time(analysis, subject->class));
    finding->fix = "Let each thread handle 4 bytes or more at a time, through a vector type.";
    finding->sketch = width > 1 ? "const ushort2 *in2 = (const ushort2 *)in;  // half the threads\n"
                                  "ushort2 v = in2[i];"
                                : "const uchar4 *in4 = (const uchar4 *)in;  // a quarter of the "
                                  "threads\nuchar4 v = in4[i];";
    emit(analysis, finding, subject, &gain, true,
         "calibrated time of these requests at this occupancy minus that of the same bytes in "
         "words of 4, which is at least the time in device memory");
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        struct gmt_access_subject subject = gmt_access_subject_of(analysis,
                                                                  &analysis->timeline->classes[i]);

        if (subject.pattern.kind == GMT_PATTERN_PIECES) {
            pieces(analysis, &subject);
        } else if (subject.pattern.kind == GMT_PATTERN_NARROW) {
            narrow(analysis, &subject);
        }
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_unsuitable_type;
const struct gmt_rule gmt_rule_unsuitable_type = {.id = "GM305",
                                                  .slug = "unsuitable-type",
                                                  .title = "Elements move in pieces",
                                                  .category = "global memory",
                                                  .about_code = true,
                                                  .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                  .touches = GMT_TOUCHES_LOADS,
                                                  .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM302: threadIdx.x runs along the index of a matrix whose elements lie far apart. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_layout.h"
#include "analyzer/rules/common/access_finding.h"
#include "libtrace/base/format.h"

static void put_fix(struct gmt_analysis *analysis, struct gmt_finding *finding,
                    const struct gmt_access_subject *subject)
{
    const int64_t *block = subject->class->block;

    if (subject->loads && subject->stores) {
        finding->effort = GMT_EFFORT_SMALL;
        finding->fix = "Swap the mapping: let threadIdx.x run along the contiguous index of the "
                       "arrays, threadIdx.y along the other.";
        finding->sketch = gmt_text(analysis,
                                   "dim3 block(%" PRId64 ", %" PRId64 ");  // as it is\n"
                                   "column = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                                   "out[(size_t)row * width + column] = "
                                   "f(in[(size_t)row * width + column]);",
                                   block[0], block[1]);
        return;
    }
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = "Go through a tile of shared memory: fill it along rows of the source, read it "
                   "by columns, write along rows of the target.";
    finding->sketch = "__shared__ float tile[32][32 + 1];  // + 1: no bank conflicts\n"
                      "tile[threadIdx.y][threadIdx.x] = in[(y0 + threadIdx.y) * width + x0 + "
                      "threadIdx.x];\n"
                      "__syncthreads();\n"
                      "out[(x0 + threadIdx.y) * height + y0 + threadIdx.x] = "
                      "tile[threadIdx.x][threadIdx.y];";
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_access_subject subject = gmt_access_subject_of(analysis, class);
    const struct gmt_access *access = subject.loads ? &subject.load : &subject.store;
    char sectors[GMT_FORMAT_BYTES], ratio[GMT_FORMAT_BYTES];

    if (subject.pattern.kind != GMT_PATTERN_TRANSPOSED) {
        return;
    }
    struct gmt_gain gain = gmt_price_columns(analysis->model, analysis->timeline, class,
                                             &subject.pattern);
    struct gmt_finding *finding = gmt_access_finding(analysis, &subject);
    if (finding == NULL) {
        return;
    }
    finding->headline = gmt_text(
        analysis,
        "%s go down columns: %s sectors per request (%s x the ideal), blocks of %" PRId64
        " x %" PRId64 " threads%s",
        gmt_access_words(&subject),
        gmt_format_decimal(sectors, access->sectors / access->requests, 1),
        gmt_format_decimal(ratio, gmt_access_ratio(access), 1), class->block[0], class->block[1],
        gmt_kernel_time(analysis, class));
    gmt_finding_evidence(finding, "block_columns", "count", (double)class->block[0]);
    gmt_finding_evidence(finding, "block_rows", "count", (double)class->block[1]);
    put_fix(analysis, finding, &subject);
    gmt_access_put_gain(
        analysis, finding, &subject, &gain,
        "kernel time minus the time of the useful bytes, which lies between the roof of device "
        "memory and one load in flight per thread; of the time that the calibrated costs of lines, "
        "partial sectors and bytes do not explain, the share that is not excess stays");
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

extern const struct gmt_rule gmt_rule_transposed_mapping;
const struct gmt_rule gmt_rule_transposed_mapping = {
    .id = "GM302",
    .slug = "transposed-mapping",
    .title = "Neighbouring threads go down the columns of a matrix",
    .category = "global memory",
    .about_code = true,
    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
    .touches = GMT_TOUCHES_LOADS,
    .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM510: one block, or one thread, does everything while the rest of the device waits. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "analyzer/rules/common/small_rows.h"
#include "libtrace/base/format.h"

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_shape shape = gmt_shape_of(tl, class);
    char time[GMT_FORMAT_BYTES];

    if (shape.blocks != 1 || class->launches == 0 ||
        gmt_launch_is_short(class, GMT_SHORT_KERNEL_NS)) {
        return;
    }
    bool guess = false;
    struct gmt_gain gain = gmt_price_parallel(analysis->model, tl, class, &shape, &guess);
    struct gmt_finding *finding = gmt_launch_finding(analysis, class, &shape);
    if (finding == NULL) {
        return;
    }
    gmt_finding_evidence(finding, "multiprocessors", "count", (double)tl->device.sm_count);
    gmt_finding_evidence(finding, "time_of_one_launch", "ns", class->median_ns);
    finding->headline = shape.threads == 1
                            ? gmt_text(analysis, "one thread works for %s per launch",
                                       gmt_format_ns(time, class->median_ns))
                            : gmt_text(analysis,
                                       "one block of %.0f threads works for %s per launch",
                                       shape.threads, gmt_format_ns(time, class->median_ns));
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = gmt_text(analysis,
                            "Spread the loop over threads and blocks: there are %.0f "
                            "multiprocessors. If it must be serial, do it on the host.",
                            (double)tl->device.sm_count);
    finding->sketch = "for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                      "     i += gridDim.x * blockDim.x)  /* <<<(n + 255) / 256, 256>>> */";
    finding->guess = guess;
    finding->method =
        guess ? "half of what as many threads as it could have items for would save: whether the "
                "work can be parallel is not known"
              : "kernel time minus the same work on one thread per stored word, or on as many as "
                "the device holds; an upper bound, because the work may be serial";
    gmt_launch_finding_emit(analysis, finding, class, gain);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    return gmt_check_outside_small_rows(analysis, check);
}

extern const struct gmt_rule gmt_rule_serial_kernel;
const struct gmt_rule gmt_rule_serial_kernel = {.id = "GM510",
                                                .slug = "serial-kernel",
                                                .title = "One block does all the work",
                                                .category = "occupancy",
                                                .about_code = true,
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_TIMES |
                                                         GMT_NEED_MODEL,
                                                .run = run};

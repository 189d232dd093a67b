/* SPDX-License-Identifier: Apache-2.0 */
/* GM102: copies from and to pageable host memory that page-locked memory would make faster. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/copy_sites.h"
#include "analyzer/rules/common/pinning.h"

static const char *sketch_of(struct gmt_analysis *analysis, const size_t *members, size_t n,
                             const struct gmt_pinning *pin)
{
    const struct gmt_tl_copy *copies = analysis->timeline->copies, *copy = &copies[members[0]];
    bool equal = true;

    for (size_t i = 1; i < n; i++) {
        equal &= copies[members[i]].bytes == copy->bytes;
    }
    const char *size = equal ? gmt_text(analysis, "%" PRId64, copy->bytes) : "bytes";
    return gmt_text(analysis,
                    "cudaHostRegister(buffer, %.0f, cudaHostRegisterDefault);  // %s\n"
                    "cudaMemcpy%s(..., %s, cudaMemcpy%s%s);  // %zu times, as before\n"
                    "cudaHostUnregister(buffer);",
                    pin->bytes / (double)pin->ranges, gmt_pinning_once(analysis, pin),
                    copy->blocking ? "" : "Async", size,
                    copy->direction == GMT_DIR_H2D ? "HostToDevice" : "DeviceToHost",
                    copy->blocking ? "" : ", stream", n);
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const size_t *members, size_t n, double bytes, const struct gmt_pinning *pin)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[members[0]];
    char size[GMT_FORMAT_BYTES], rate[GMT_FORMAT_BYTES];
    char count[GMT_FORMAT_BYTES];
    const char *in = isnan(finding->cost_ns)
                         ? ""
                         : gmt_text(analysis, " in %s (%s)",
                                    gmt_time_words(analysis, finding->cost_ns),
                                    gmt_format_rate(rate, bytes * 1e9 / finding->cost_ns));

    finding->headline = gmt_text(analysis, "%s %s cop%s of pageable memory moved %s%s",
                                 gmt_format_count(count, (double)n),
                                 gmt_name_direction(copy->direction), n == 1 ? "y" : "ies",
                                 gmt_format_bytes(size, bytes), in);
    finding->method = "measured time minus the model's time of pinned copies of the same sizes, "
                      "minus the cost of registering the host buffers once";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Allocate the host buffer%s (%s) with cudaMallocHost, or register "
                            "once before the loop.",
                            pin->bytes > bytes / (double)n * 1.5 ? "s" : "",
                            gmt_format_bytes(size, pin->bytes));
    finding->sketch = sketch_of(analysis, members, n, pin);
    finding->sql = gmt_text(analysis,
                            "SELECT count(*), sum(bytes), sum(end_ns - begin_ns) FROM transfer "
                            "WHERE %s",
                            gmt_copy_group_condition(analysis, "id", members, n));
}

static double host_bytes(const struct gmt_timeline *tl)
{
    double sum = 0;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];

        if (copy->direction == GMT_DIR_H2D || copy->direction == GMT_DIR_D2H) {
            sum += (double)copy->bytes;
        }
    }
    return sum;
}

/* Without times: the bytes that pass a staging buffer, where the buffers are worth pinning. Copies that are not
 * worth it by themselves are reported all the same, as a note. */
static void report_bytes(struct gmt_analysis *analysis, size_t *members, size_t n)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_copy *copy = &tl->copies[members[0]];
    struct gmt_pinning pin = gmt_pinning_cost(analysis, members, n);
    double bytes = 0;

    for (size_t i = 0; i < n; i++) {
        bytes += (double)tl->copies[members[i]].bytes;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_call(analysis, &copy->call);
    finding->excess_bytes = bytes;
    gmt_finding_evidence(finding, "copies", "count", (double)n);
    gmt_finding_evidence(finding, "bytes", "bytes", bytes);
    gmt_finding_evidence(finding, "host_buffers", "count", (double)pin.ranges);
    gmt_finding_evidence(finding, "host_bytes", "bytes", pin.bytes);
    describe(analysis, finding, members, n, bytes, &pin);
    finding->note_why = gmt_pinning_is_for_once(&pin, bytes) ? gmt_pinning_once_why : NULL;
    finding->method = gmt_unpriced(analysis);
    gmt_finding_judge_part(analysis, finding, bytes, host_bytes(tl));
    gmt_finding_emit(analysis, finding);
}

static void report_site(struct gmt_analysis *analysis, size_t *members, size_t n,
                        const struct gmt_cover *kernels)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_copy *copy = &tl->copies[members[0]];
    double bytes = 0, cost_ns = 0, pinned_ns = 0, pageable_ns = 0, doubt_ns = 0, hidden_ns = 0;
    struct gmt_finding *finding = gmt_finding_new(analysis);

    for (size_t i = 0; finding != NULL && i < n; i++) {
        const struct gmt_tl_copy *one = &tl->copies[members[i]];
        const struct gmt_model_curve *pinned = gmt_price_registered_curve(analysis->model, one);
        const struct gmt_model_curve *pageable = gmt_price_curve(analysis->model, one, false);
        double now_ns = gmt_copy_cost_ns(tl, one);
        double size = (double)one->bytes, then_ns = gmt_curve_at(pinned, size);

        /* How long it waited for a kernel is not known: take what such a copy costs. */
        if (one->blocking && one->after_launch && one->device_end_ns == GMT_NO_TIME) {
            now_ns = fmin(now_ns, gmt_curve_at(pageable, size));
        }
        bytes += size;
        cost_ns += now_ns;
        hidden_ns += fmin(now_ns, gmt_copy_hidden_ns(tl, kernels, one));
        pinned_ns += then_ns;
        pageable_ns += gmt_curve_at(pageable, size);
        doubt_ns += then_ns * fmax(GMT_MODEL_UNCERTAINTY, gmt_curve_relative_spread(pinned, size));
        gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, one));
    }
    if (finding == NULL || isnan(pinned_ns)) {
        return;
    }
    struct gmt_pinning pin = gmt_pinning_cost(analysis, members, n);
    double measured = cost_ns - pinned_ns - pin.least_ns;
    double modelled = pageable_ns - pinned_ns - pin.least_ns;

    bool once = gmt_pinning_is_for_once(&pin, bytes);

    /* Whether pinned ones would have been as slow is not known beyond the model. */
    if (once) {
        measured = fmin(measured, modelled);
    }
    /* cudaMallocHost takes far longer than registering; but malloc is not free, either. */
    double dearer_ns = pin.most_ns - pin.least_ns;
    /* Not worth pinning: the good case of this rule. */
    bool worth = tl->simulated ? !once : measured > 0;
    if (!worth && !once) {
        return;
    }
    finding->where = gmt_where_of_call(analysis, &copy->call);
    finding->cost_ns = cost_ns;
    gmt_finding_evidence(finding, "copies", "count", (double)n);
    gmt_finding_evidence(finding, "bytes", "bytes", bytes);
    gmt_finding_evidence(finding, "time", "ns", cost_ns);
    gmt_finding_evidence(finding, "pinned_time", "ns", pinned_ns);
    gmt_finding_evidence(finding, "pinning", "ns", pin.least_ns);
    gmt_finding_evidence(finding, "host_buffers", "count", (double)pin.ranges);
    gmt_finding_evidence(finding, "host_bytes", "bytes", pin.bytes);
    describe(analysis, finding, members, n, bytes, &pin);
    finding->note_why = worth ? NULL : gmt_pinning_once_why;
    /* Of the pinned copies as much would be hidden; pinning comes before. */
    double hidden = (cost_ns - pinned_ns) *
                    (1 - gmt_finding_hidden(analysis, finding, hidden_ns, cost_ns));
    /* Pages of a fresh buffer must be made in any case: then pinning them costs hardly more. */
    gmt_finding_saving(finding, fmin(measured, modelled) - hidden - dearer_ns - doubt_ns,
                       measured - hidden, fmax(measured, modelled) + pin.least_ns + doubt_ns);
    finding->confidence = gmt_confidence_of_model(analysis->model);
    finding->excess_bytes = tl->simulated ? bytes : NAN;
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, bytes, host_bytes(tl));
    }
    gmt_finding_emit(analysis, finding);
}

/* GM109 and GM101 report single words in a loop; this rule notes one, two or three of them. */
static size_t without_scalars(const struct gmt_timeline *tl, size_t *members, size_t n)
{
    size_t scalars = 0, kept = 0;

    for (size_t i = 0; i < n; i++) {
        scalars += tl->copies[members[i]].bytes <= GMT_SCALAR_BYTES;
    }
    if (scalars < GMT_TRIP_MIN) {
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        if (tl->copies[members[i]].bytes > GMT_SCALAR_BYTES) {
            members[kept++] = members[i];
        }
    }
    return kept;
}

static void report(struct gmt_analysis *analysis, size_t *members, size_t n, void *kernels)
{
    n = without_scalars(analysis->timeline, members, n);
    if (n == 0) {
        return;
    }
    if (gmt_timeline_is_untimed(analysis->timeline)) {
        report_bytes(analysis, members, n);
    } else {
        report_site(analysis, members, n, kernels);
    }
}

/* Copies that another rule would merge, or speaks of: pinning alone would be the lesser fix. */
static bool is_of_another(const struct gmt_analysis *analysis, const struct gmt_tl_copy *copy)
{
    const struct gmt_run *run = copy->run >= 0 ? &analysis->runs->runs[copy->run] : NULL;

    if (gmt_copy_is_blocked_async(analysis, copy)) {
        return true;
    }
    return run != NULL && (gmt_run_is_rows(run) || gmt_run_is_small(analysis, run));
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    size_t n = 0, host_copies = 0;
    struct gmt_cover kernels = {0};

    if (members == NULL || gmt_cover_make(&kernels, tl, GMT_COVER_KERNELS) != 0) {
        free(members);
        gmt_cover_free(&kernels);
        return gmt_could_not(analysis, "not enough memory");
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        bool host = copy->direction == GMT_DIR_H2D || copy->direction == GMT_DIR_D2H;

        host_copies += host;
        if (host && copy->host_class == GMT_MEM_PAGEABLE && copy->bytes > 0 &&
            gmt_copy_host_address(copy) != 0 && !is_of_another(analysis, copy)) {
            members[n++] = i;
        }
    }
    gmt_copy_groups(analysis, members, n, report, &kernels);
    free(members);
    gmt_cover_free(&kernels);
    return host_copies > 0 ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_pageable_transfer;
const struct gmt_rule gmt_rule_pageable_transfer = {.id = "GM102",
                                                    .slug = "pageable-transfer",
                                                    .title = "Copies of pageable host memory",
                                                    .category = "transfers",
                                                    .needs = GMT_NEED_COPIES | GMT_NEED_MODEL,
                                                    .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads of bytes that another buffer of the device holds: a part of GM105. */
#include "analyzer/rules/common/redundant_elsewhere.h"

#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/copy_group.h"
#include "libtrace/base/format.h"

/* Of the uploads of one place. */
struct found_uploads {
    struct gmt_copy_sum sum, sure;
    size_t verified;
    double on_device_ns; /* what copies on the device take in their place; NAN: not known */
};

static bool is_elsewhere(const struct gmt_elsewhere *look, size_t i)
{
    const struct gmt_timeline *tl = look->analysis->timeline;
    const struct gmt_copy_content *content = &look->contents[i];

    /* What has come from a device is a round trip, and its way back another rule's. */
    if (content->twin < 0 || content->trip == GMT_CONTENT_SAME) {
        return false;
    }
    const struct gmt_tl_copy *twin = &tl->copies[content->twin];
    int64_t device = gmt_devices_of(&look->devices, tl->copies[i].dst_allocation);
    int64_t other = gmt_devices_of(&look->devices, twin->direction == GMT_DIR_H2D
                                                       ? twin->dst_allocation
                                                       : twin->src_allocation);
    return tl->device_count < 2 || (device >= 0 && device == other);
}

static void describe_elsewhere(const struct gmt_elsewhere *look, const struct found_uploads *found,
                               double uploads, struct gmt_finding *finding)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_timeline *tl = analysis->timeline;
    size_t first = look->chosen[0], n = found->sum.copies;
    const struct gmt_tl_copy *copy = &tl->copies[first];
    const struct gmt_tl_copy *twin = &tl->copies[look->contents[first].twin];
    char size[GMT_FORMAT_BYTES], each[GMT_FORMAT_BYTES];

    finding->where = gmt_where_of_call(analysis, &copy->call);
    finding->headline = gmt_text(
        analysis,
        "%zu of %.0f uploads (%s) bring%s bytes that another buffer of the device holds%s%s%s", n,
        uploads, gmt_format_bytes(size, found->sum.bytes), n == 1 ? "s" : "",
        found->verified < n ? ", judged by samples" : "", isnan(found->sum.cost_ns) ? "" : ": ",
        isnan(found->sum.cost_ns) ? "" : gmt_time_words(analysis, found->sum.cost_ns));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Copy the %s on the device, from the buffer that was %s at %s.",
                            gmt_format_bytes(each, (double)copy->bytes),
                            twin->direction == GMT_DIR_H2D ? "uploaded" : "downloaded",
                            gmt_where_of_call(analysis, &twin->call).label);
    finding->sketch = gmt_text(analysis,
                               "cudaMemcpyAsync(device, held, %" PRId64
                               ", cudaMemcpyDeviceToDevice, stream);  // %zu uploads less",
                               copy->bytes, n);
    finding->sql = gmt_text(analysis,
                            "SELECT count(*), sum(bytes), sum(end_ns - begin_ns) FROM transfer "
                            "WHERE %s",
                            gmt_copy_group_condition(analysis, "id", look->chosen, n));
    gmt_finding_evidence(finding, "held_elsewhere", "count", (double)n);
    gmt_finding_evidence(finding, "uploads", "count", uploads);
    gmt_finding_evidence(finding, "bytes", "bytes", found->sum.bytes);
    gmt_finding_evidence(finding, "verified_copies", "count", (double)found->verified);
}

static void price_elsewhere(const struct gmt_elsewhere *look, const struct found_uploads *found,
                            struct gmt_finding *finding)
{
    struct gmt_analysis *analysis = look->analysis;
    double doubt_ns = GMT_MODEL_UNCERTAINTY * found->on_device_ns;

    gmt_finding_evidence(finding, "time", "ns", found->sum.cost_ns);
    gmt_finding_evidence(finding, "hidden_behind_kernels", "ns", found->sum.hidden_ns);
    gmt_finding_evidence(finding, "added_by_tracing", "ns", found->sum.traced_ns);
    gmt_finding_evidence(finding, "on_the_device", "ns", found->on_device_ns);
    finding->method = gmt_text(analysis,
                               "measured time of the uploads, without waiting for kernels, less "
                               "what tracing added, minus the model's time of copies on the "
                               "device%s",
                               gmt_copy_sum_hidden(analysis, &found->sum));
    gmt_finding_saving(finding, found->sure.low_ns - found->on_device_ns - doubt_ns,
                       found->sum.best_ns - found->on_device_ns,
                       gmt_copy_sum_high(&found->sum) - found->on_device_ns + doubt_ns);
    finding->confidence = found->verified == found->sum.copies
                              ? gmt_confidence_of_model(analysis->model)
                              : GMT_CONFIDENCE_HEURISTIC;
}

void gmt_elsewhere_report(const struct gmt_elsewhere *look, const size_t *members, size_t n,
                          double all_bytes)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_timeline *tl = analysis->timeline;
    struct found_uploads found = {0};

    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[members[i]];
        const struct gmt_print *print = &look->contents[members[i]].print;

        if (!is_elsewhere(look, members[i])) {
            continue;
        }
        look->chosen[found.sum.copies] = members[i];
        gmt_copy_sum_add(&found.sum, analysis, look->kernels, copy, print);
        found.on_device_ns += gmt_curve_at(&analysis->model->on_device, (double)copy->bytes);
        found.verified += print->whole == 1;
        if (print->whole == 1) {
            gmt_copy_sum_add(&found.sure, analysis, look->kernels, copy, print);
        }
    }
    if (found.sum.copies == 0) {
        return;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->cost_ns = found.sum.cost_ns;
    finding->excess_bytes = found.sum.bytes;
    describe_elsewhere(look, &found, (double)n, finding);
    for (size_t i = 0; i < found.sum.copies; i++) {
        gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, &tl->copies[look->chosen[i]]));
    }
    finding->confidence = GMT_CONFIDENCE_HEURISTIC;
    finding->method = gmt_unpriced(analysis);
    if (!gmt_timeline_is_untimed(tl) && isfinite(found.on_device_ns)) {
        price_elsewhere(look, &found, finding);
    }
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, found.sum.bytes, all_bytes);
    } else if (found.sum.best_ns <= found.on_device_ns) {
        gmt_finding_note_small(finding, "a copy on the device would hardly be faster");
    }
    gmt_finding_emit(analysis, finding);
}

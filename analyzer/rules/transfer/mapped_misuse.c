/* SPDX-License-Identifier: Apache-2.0 */
/* GM112: kernels that go over mapped host memory more than once, or not coalesced. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price_mapped.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"

/* A class of launches, and the host memory that each of them works on. */
struct mapped_use {
    const struct gmt_tl_class *class;
    double bytes;   /* of the buffers that is its own; on the software device what was touched */
    double traffic; /* bytes over the bus in one launch; NAN: not measured             */
};

static const struct gmt_tl_class *class_of(const struct gmt_timeline *tl, int64_t id)
{
    for (size_t i = 0; i < tl->class_count; i++) {
        if (tl->classes[i].id == id) {
            return &tl->classes[i];
        }
    }
    return NULL;
}

static double sum_known(double a, double b)
{
    if (isnan(a)) {
        return b;
    }
    return isnan(b) ? a : a + b;
}

/* What launches really touched: on the software device, which counts it. */
static size_t read_footprints(const struct gmt_timeline *tl, struct mapped_use *uses)
{
    struct gmt_query query;
    size_t count = 0;
    int rc = gmt_query_open(&query, tl->db, GMT_HOST_FOOTPRINTS);

    while (rc == 0 && count < tl->class_count && gmt_query_next(&query)) {
        const struct gmt_tl_class *class = class_of(tl, gmt_query_id(&query, 0));

        if (class != NULL && gmt_query_real(&query, 1) > 0) {
            uses[count++] = (struct mapped_use){class, gmt_query_real(&query, 1),
                                                gmt_query_real(&query, 2)};
        }
    }
    gmt_query_close(&query, rc);
    return count;
}

/*
 * Bytes of host memory that a launch of the class has for itself, the most of any: where launches step
 * through a buffer, each has the part of it that it got pointers for, of as many places as all got.
 */
static double own_bytes(const struct gmt_timeline *tl, const struct gmt_tl_class *class)
{
    static const char sql[] =
        "WITH p AS (SELECT DISTINCT a.set_id, h.id, h.bytes, a.allocation_offset AS place "
        "FROM launch_argument a JOIN host_allocation h ON h.id = a.allocation_id WHERE a.set_id IN "
        "(SELECT argument_set_id FROM launch WHERE class_id = ?1)), "
        "part AS (SELECT id, (max(bytes) - min(place)) * 1.0 / count(DISTINCT place) AS bytes "
        "FROM p GROUP BY id) "
        "SELECT max(own) FROM (SELECT sum(part.bytes) AS own FROM p JOIN part ON part.id = p.id "
        "GROUP BY p.set_id)";
    struct gmt_query query;
    double bytes = NAN;
    int rc = gmt_query_open(&query, tl->db, sql);

    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, class->id);
    }
    if (rc == 0 && gmt_query_next(&query)) {
        bytes = gmt_query_real(&query, 0);
    }
    gmt_query_close(&query, rc);
    return fmin(bytes, class->mapped_bytes);
}

/* NULL where there is not enough memory. */
static struct mapped_use *read_uses(const struct gmt_timeline *tl, size_t *count)
{
    struct mapped_use *uses = calloc(tl->class_count + 1, sizeof(*uses));

    *count = 0;
    if (uses != NULL && tl->simulated) {
        *count = read_footprints(tl, uses);
    }
    for (size_t i = 0; uses != NULL && !tl->simulated && i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        if (class->mapped_bytes > 0) {
            uses[(*count)++] = (struct mapped_use){
                class, own_bytes(tl, class),
                GMT_SECTOR_BYTES * sum_known(class->counter[GMT_M_host_read_sectors],
                                             class->counter[GMT_M_host_write_sectors])};
        }
    }
    return uses;
}

/* Times that the launch goes over the buffers, as far as bytes or time show; NAN: they do not. */
static double times_over(const struct gmt_analysis *analysis, const struct mapped_use *use)
{
    const struct gmt_model *model = analysis->model;

    if (isfinite(use->traffic)) {
        return use->traffic / use->bytes;
    }
    double others = gmt_known(use->class->footprint_bytes - use->class->mapped_bytes);
    double elsewhere_ns = gmt_known(fmax(0, others) * 1e9 / model->dram_bytes_per_s);
    double once_ns = gmt_price_mapped_once(model, GMT_MAPPED_EITHER, use->bytes);
    return (use->class->median_ns - elsewhere_ns) / once_ns;
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct mapped_use *use, double times)
{
    char size[GMT_FORMAT_BYTES];

    finding->where = gmt_where_of_class(analysis, use->class);
    gmt_finding_evidence(finding, "launches", "count", (double)use->class->launches);
    gmt_finding_evidence(finding, "host_memory", "bytes", use->bytes);
    gmt_finding_evidence(finding, "times_over", "ratio", times);
    if (isfinite(use->traffic)) {
        gmt_finding_evidence(finding, "moved_over_the_bus", "bytes", use->traffic);
    }
    finding->headline = gmt_text(analysis, "goes %s%.1f times over %s of mapped host memory%s",
                                 isfinite(use->traffic) ? "" : "as if ", times,
                                 gmt_format_bytes(size, use->bytes),
                                 gmt_kernel_time(analysis, use->class));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(
        analysis, "Copy the %s to the device once and let the kernel work on the copy.", size);
    finding->sketch = gmt_text(
        analysis,
        "cudaMemcpyAsync(device, host, %.0f, cudaMemcpyHostToDevice, stream);\n"
        "%s<<<%" PRId64 ", %" PRId64 ", 0, stream>>>(device, ...);  // in place of host",
        use->bytes, gmt_short_kernel_name(analysis->report->arena, use->class->name),
        use->class->grid[0], use->class->block[0]);
    finding->sql = gmt_text(
        analysis,
        "SELECT h.id, h.kind, h.bytes, count(*) FROM launch l JOIN launch_argument a ON "
        "a.set_id = l.argument_set_id JOIN host_allocation h ON h.id = a.allocation_id "
        "WHERE l.class_id = %" PRId64 " GROUP BY h.id",
        use->class->id);
    gmt_finding_claim_class(analysis, finding, use->class);
}

/* Why it is too little to matter, or NULL. */
static const char *too_little(struct gmt_analysis *analysis, const struct mapped_use *use,
                              double times)
{
    char size[GMT_FORMAT_BYTES];

    if (!analysis->timeline->simulated && use->bytes < GMT_MAPPED_MIN_BYTES) {
        return gmt_text(analysis, "less than %s of mapped memory is a flag or a result",
                        gmt_format_bytes(size, GMT_MAPPED_MIN_BYTES));
    }
    return times < GMT_EXCESS_RATIO ? "less than two passes over it: a copy would save little"
                                    : NULL;
}

/* A few bytes show nothing: the kernel takes its time for other things. */
static void note_small_use(struct gmt_analysis *analysis, const struct mapped_use *use)
{
    struct gmt_finding *finding = gmt_finding_new(analysis);
    char size[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    describe(analysis, finding, use, NAN);
    finding->headline = gmt_text(analysis, "works on %s of mapped host memory%s",
                                 gmt_format_bytes(size, use->bytes),
                                 gmt_kernel_time(analysis, use->class));
    finding->cost_ns = use->class->total_ns;
    finding->method = "not priced: the bytes that went over the bus were not counted, and the time "
                      "of the kernel does not show so few";
    gmt_finding_note_small(finding, too_little(analysis, use, NAN));
    gmt_finding_emit(analysis, finding);
}

static void report_use(struct gmt_analysis *analysis, const struct mapped_use *use, double times,
                       double all_bytes)
{
    const struct gmt_tl_class *class = use->class;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    struct gmt_gain gain = gmt_price_with_copy(analysis->model, class->median_ns, use->bytes,
                                               use->traffic);
    double launches = (double)class->launches;

    if (finding == NULL) {
        return;
    }
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = (times - 1) * use->bytes * launches;
    describe(analysis, finding, use, times);
    if (isnan(gain.best_ns)) {
        finding->method = gmt_unpriced(analysis);
        gmt_finding_note_small(finding, too_little(analysis, use, times));
        if (analysis->timeline->simulated) {
            gmt_finding_judge_part(analysis, finding, finding->excess_bytes, all_bytes);
        }
        gmt_finding_emit(analysis, finding);
        return;
    }
    gmt_finding_evidence(finding, "going_over_it_once", "ns",
                         gmt_price_mapped_once(analysis->model, GMT_MAPPED_EITHER, use->bytes));
    gmt_finding_evidence(finding, "copying_it_once", "ns",
                         gmt_price_pinned_copy(analysis->model, GMT_MAPPED_READ, use->bytes));
    finding->method =
        isfinite(use->traffic)
            ? "time of the counted bus traffic minus one pinned copy and the same "
              "traffic in device memory"
            : "at most: kernel time minus one pinned copy and the traffic that the "
              "time allows in device memory; nothing if the kernel computes that long";
    gmt_finding_saving(finding, gain.low_ns * launches, gain.best_ns * launches,
                       gain.high_ns * launches);
    finding->confidence = isfinite(use->traffic) ? gmt_confidence_of_model(analysis->model)
                                                 : GMT_CONFIDENCE_HEURISTIC;
    gmt_finding_note_small(finding, too_little(analysis, use, times));
    if (analysis->timeline->simulated) {
        gmt_finding_judge_part(analysis, finding, finding->excess_bytes, all_bytes);
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    size_t count, unknown = 0;
    struct mapped_use *uses = read_uses(tl, &count);
    double all = 0;

    if (uses == NULL) {
        return gmt_could_not(analysis, "not enough memory");
    }
    for (size_t i = 0; i < count; i++) {
        all += gmt_known(uses[i].traffic) * (double)uses[i].class->launches;
    }
    for (size_t i = 0; i < count; i++) {
        double times = times_over(analysis, &uses[i]);
        bool counted = isfinite(uses[i].traffic);

        unknown += isnan(times) ? 1 : 0;
        if (!counted && uses[i].bytes < GMT_MAPPED_MIN_BYTES) {
            note_small_use(analysis, &uses[i]);
        } else if (times >= (counted ? GMT_MAPPED_ONCE : GMT_EXCESS_RATIO)) {
            report_use(analysis, &uses[i], times, all);
        }
    }
    free(uses);
    if (count == 0) {
        return GMT_OUTCOME_NOT_APPLICABLE;
    }
    return unknown > 0 ? gmt_could_not(analysis,
                                       "%zu kernel%s on host memory ha%s neither times nor counts",
                                       unknown, unknown == 1 ? "" : "s", unknown == 1 ? "s" : "ve")
                       : GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_mapped_misuse;
const struct gmt_rule gmt_rule_mapped_misuse = {.id = "GM112",
                                                .slug = "mapped-misuse",
                                                .title = "Mapped host memory used again and again",
                                                .category = "transfers",
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_MODEL,
                                                .touches = GMT_TOUCHES_LOADS,
                                                .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
/* GM202: arrays carved out of one allocation that start where no allocation would start. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/makers.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"

struct pointer {
    int64_t allocation_id, offset, extent; /* extent: bytes to the next pointer or the end */
};

static const struct gmt_tl_allocation *find_allocation(const struct gmt_timeline *tl, int64_t id)
{
    for (size_t i = 0; i < tl->allocation_count; i++) {
        if (tl->allocations[i].call.id == id) {
            return &tl->allocations[i];
        }
    }
    return NULL;
}

/* All pointers into device allocations that are not aligned as an allocation is. */
static struct pointer *read_pointers(struct gmt_analysis *analysis, size_t *count, size_t *seen)
{
    struct gmt_arena *arena = analysis->report->arena;
    struct pointer *pointers = NULL, *last = NULL;
    struct gmt_query query;
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT DISTINCT allocation_id, allocation_offset FROM launch_argument "
                            "ORDER BY allocation_id, allocation_offset");

    *count = *seen = 0;
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t id = gmt_query_id(&query, 0), offset = gmt_query_bytes(&query, 1);

        (*seen)++;
        if (last != NULL && last->allocation_id == id && last->extent == 0) {
            last->extent = offset - last->offset;
        }
        last = NULL;
        if (offset % GMT_ALLOCATION_ALIGNMENT == 0) {
            continue;
        }
        last = GMT_PUSH(arena, pointers, *count);
        if (last == NULL) {
            break;
        }
        *last = (struct pointer){id, offset, 0};
    }
    gmt_query_close(&query, rc);
    return pointers;
}

/* Marks the classes whose launches got the pointer. */
static void mark_classes(const struct gmt_timeline *tl, const struct pointer *pointer, bool *marked)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT DISTINCT class_id FROM launch WHERE class_id IS NOT NULL AND "
                            "argument_set_id IN (SELECT set_id FROM launch_argument "
                            "WHERE allocation_id = ?1 AND allocation_offset = ?2)");

    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, pointer->allocation_id);
        sqlite3_bind_int64(query.statement, 2, pointer->offset);
    }
    while (rc == 0 && gmt_query_next(&query)) {
        for (size_t i = 0; i < tl->class_count; i++) {
            marked[i] |= tl->classes[i].id == gmt_query_int(&query, 0) &&
                         !tl->classes[i].communicates;
        }
    }
    gmt_query_close(&query, rc);
}

/* Sectors beyond the ideal, relative; NAN where nothing was measured. */
static double excess_of(const struct gmt_tl_class *class)
{
    struct gmt_access loads = gmt_access_of_loads(class), stores = gmt_access_of_stores(class);

    return fmax(gmt_access_ratio(&loads), gmt_access_ratio(&stores)) - 1;
}

static void price(struct gmt_analysis *analysis, struct gmt_finding *finding, const bool *marked)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double cost_ns = 0, low_ns = 0, saved_ns = 0, high_ns = 0, worst = NAN;
    bool priced = false, calibrated = true;

    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];
        double excess = excess_of(class);

        if (!marked[i]) {
            continue;
        }
        worst = fmax(worst, excess);
        if (isnan(class->total_ns)) {
            continue;
        }
        cost_ns += class->total_ns;
        struct gmt_gain gain = gmt_price_misaligned(analysis->model, tl, class);
        if (isfinite(gain.best_ns)) {
            priced = true;
            calibrated &= gain.from_family;
            low_ns += gain.low_ns * gmt_class_typical_launches(class);
            saved_ns += gain.best_ns * gmt_class_typical_launches(class);
            high_ns += gain.high_ns * gmt_class_typical_launches(class);
        }
        gmt_finding_claim_class(analysis, finding, class);
    }
    gmt_finding_evidence(finding, "excess_sectors", "percent", 100 * worst);
    if (worst < 0.02) {
        finding->note_why = "no kernel's accesses are split by it";
    }
    if (!(cost_ns > 0)) {
        return;
    }
    finding->cost_ns = cost_ns;
    if (priced) {
        gmt_finding_saving(finding, low_ns, saved_ns, high_ns);
        finding->confidence = calibrated ? gmt_confidence_of_model(analysis->model)
                                         : GMT_CONFIDENCE_MODELLED;
    }
}

/* PyTorch, CuPy and JAX hand out aligned parts of what they allocate, however few of them kernels got. */
static bool is_frameworks(struct gmt_analysis *analysis, const struct gmt_tl_allocation *allocation)
{
    struct gmt_where where = gmt_where_of_call(analysis, &allocation->call);
    enum gmt_framework framework = gmt_framework_of_call(where.stack, where.stack_depth);

    return framework != GMT_FRAMEWORK_NONE && framework != GMT_FRAMEWORK_PYTHON;
}

static void report_pointer(struct gmt_analysis *analysis, const struct pointer *pointer,
                           const struct gmt_tl_allocation *allocation, bool *marked)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_class *longest = NULL;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    size_t kernels = 0;
    char size[GMT_FORMAT_BYTES];

    for (size_t i = 0; i < tl->class_count; i++) {
        kernels += marked[i];
        if (marked[i] && (longest == NULL || tl->classes[i].total_ns > longest->total_ns)) {
            longest = &tl->classes[i];
        }
    }
    if (finding == NULL || longest == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, longest);
    gmt_finding_evidence(finding, "allocation_offset", "bytes", (double)pointer->offset);
    gmt_finding_evidence(finding, "allocation_bytes", "bytes", (double)allocation->bytes);
    gmt_finding_evidence(finding, "offset_within_sector", "bytes",
                         (double)(pointer->offset % GMT_SECTOR_BYTES));
    gmt_finding_evidence(finding, "kernel_classes", "count", (double)kernels);
    finding->headline = gmt_text(analysis,
                                 "a kernel argument starts %" PRId64
                                 " bytes into an allocation of %s: %" PRId64
                                 " past a sector's start",
                                 pointer->offset, gmt_format_bytes(size, (double)allocation->bytes),
                                 pointer->offset % GMT_SECTOR_BYTES);
    finding->part = finding->headline; /* identified by the pointer, not by the launch */
    finding->sql = gmt_text(analysis,
                            "SELECT a.allocation_offset, m.bytes, a.allocation_offset %% 32, "
                            "count(DISTINCT l.class_id) FROM launch_argument a JOIN allocation m "
                            "ON m.id = a.allocation_id JOIN launch l ON l.argument_set_id = "
                            "a.set_id WHERE a.allocation_id = %" PRId64
                            " AND a.allocation_offset = %" PRId64,
                            pointer->allocation_id, pointer->offset);
    finding->method = "the calibrated cost of an offset of one element, scaled by excess sectors; "
                      "stores by their share of all sectors";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Round the offset of each array up to a multiple of 256 bytes.";
    finding->sketch = gmt_text(
        analysis, "offset = (offset + 255) & ~(size_t)255;  // %" PRId64 " -> %" PRId64,
        pointer->offset,
        (pointer->offset + GMT_ALLOCATION_ALIGNMENT - 1) / GMT_ALLOCATION_ALIGNMENT *
            GMT_ALLOCATION_ALIGNMENT);
    if (pointer->offset % GMT_SECTOR_BYTES == 0) {
        finding->note_why = "aligned to a sector: no access is split";
    } else if (gmt_memory_is_segment(analysis->memory, pointer->allocation_id)) {
        finding->note_why = "a segment of the program's own allocator, which aligns its blocks: "
                            "the pointer points into an array";
    } else if (is_frameworks(analysis, allocation)) {
        finding->note_why =
            "memory of a framework's allocator, which aligns its blocks: the pointer "
            "points into an array";
    }
    /* Wrong alignment is worth fixing before someone reads a float4 through it. */
    finding->severity = GMT_SEVERITY_LOW;
    price(analysis, finding, marked);
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    size_t n = 0, seen = 0;
    struct pointer *pointers = read_pointers(analysis, &n, &seen);
    bool *marked = calloc(tl->class_count + 1, sizeof(*marked));
    uint64_t last_site = 0;
    bool reported = false;

    if (marked == NULL) {
        return gmt_could_not(analysis, "not enough memory");
    }
    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_allocation *allocation = find_allocation(tl, pointers[i].allocation_id);

        if (allocation == NULL) {
            continue;
        }
        int64_t extent = pointers[i].extent > 0
                             ? pointers[i].extent
                             : gmt_sub_clamped(allocation->bytes, pointers[i].offset);
        /* One finding per arena: its other pieces have the same repair. */
        if (extent < GMT_ARRAY_MIN_BYTES || (reported && allocation->call.site == last_site)) {
            continue;
        }
        for (size_t k = 0; k < tl->class_count; k++) {
            marked[k] = false;
        }
        mark_classes(tl, &pointers[i], marked);
        report_pointer(analysis, &pointers[i], allocation, marked);
        reported = true;
        last_site = allocation->call.site;
    }
    free(marked);
    if (seen == 0) {
        return gmt_could_not(analysis, "the trace holds no pointer arguments of kernels");
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_misaligned_suballocation;
const struct gmt_rule gmt_rule_misaligned_suballocation = {
    .id = "GM202",
    .slug = "misaligned-suballocation",
    .title = "An array starts misaligned in its allocation",
    .category = "allocations",
    .needs = GMT_NEED_ALLOCATIONS | GMT_NEED_LAUNCHES,
    .touches = GMT_TOUCHES_LOADS,
    .run = run};

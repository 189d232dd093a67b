/* SPDX-License-Identifier: Apache-2.0 */
/* GM405: tensor maps that make bulk copies move more than they deliver, or are encoded in a loop. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "analyzer/trace/tensor_maps.h"
#include "libtrace/base/format.h"

/* ---- descriptors encoded again and again ------------------------------------------------------ */

/* The calls at one place that made what an earlier one had made. */
struct again {
    const struct gmt_tensor_map_call *example;
    double calls, descriptors, most; /* most: encodings of one descriptor */
    double total_ns, hidden_ns;
};

static void add_call(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                     struct gmt_finding *finding, struct again *again)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_interval time = {call->begin_ns, call->end_ns};

    again->calls++;
    if (tl->simulated) {
        return;
    }
    again->total_ns += (double)(time.end_ns - time.begin_ns);
    again->hidden_ns += gmt_intervals_overlap(tl->maybe_busy, tl->maybe_busy_count, time);
    gmt_finding_claim(analysis, finding, time);
}

static void price_again(struct gmt_analysis *analysis, const struct again *again,
                        struct gmt_finding *finding)
{
    char hidden[GMT_FORMAT_BYTES];

    if (analysis->timeline->simulated) {
        finding->method = analysis->timeline->modelled
                              ? "not modelled: no device model has the host time of calls; the "
                                "number of calls is exact"
                              : "n/a: no times (software device); calls are exact";
        return;
    }
    double open_ns = again->total_ns - again->hidden_ns;
    finding->cost_ns = again->total_ns;
    finding->confidence = GMT_CONFIDENCE_MEASURED;
    gmt_finding_evidence(finding, "encoding_again", "ns", again->total_ns);
    gmt_finding_evidence(finding, "hidden_behind_gpu_work", "ns", again->hidden_ns);
    /* The host may be what the device waits for next: then hidden time counts after all. */
    gmt_finding_saving(finding, open_ns / 2, open_ns, again->total_ns);
    finding->method =
        "measured host time of the calls to remove, without the time that device work hides";
    if (again->hidden_ns > 0) {
        finding->method = gmt_text(analysis,
                                   "%s (%s: removing them there saves nothing, unless the device "
                                   "waits for the host afterwards)",
                                   finding->method, gmt_format_ns(hidden, again->hidden_ns));
    }
}

static void report_again(struct gmt_analysis *analysis, const struct again *again, double all,
                         struct gmt_finding *finding)
{
    const struct gmt_tl_call *call = &again->example->call;
    char calls[GMT_FORMAT_BYTES], maps[GMT_FORMAT_BYTES], time[GMT_FORMAT_BYTES];

    finding->where = gmt_where_of_call(analysis, call);
    gmt_finding_evidence(finding, "encoded_again", "count", again->calls);
    gmt_finding_evidence(finding, "descriptors", "count", again->descriptors);
    gmt_finding_evidence(finding, "most_of_one", "count", again->most);
    price_again(analysis, again, finding);
    finding->headline = gmt_text(
        analysis, "%s tensor map%s encoded again %s times%s%s",
        gmt_format_count(maps, again->descriptors), again->descriptors > 1 ? "s are" : " is",
        gmt_format_count(calls, again->calls), isnan(finding->cost_ns) ? "" : ": ",
        isnan(finding->cost_ns) ? "" : gmt_format_ns(time, finding->cost_ns));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Encode each descriptor once, before the loop, and keep it; where only the "
                   "address changes, cuTensorMapReplaceAddress makes the next one of it.";
    finding->sketch =
        "cuTensorMapEncodeTiled(&map, ...);  // once, before the loop\n"
        "for (...)\n"
        "    kernel<<<grid, block>>>(map, ...);  // __grid_constant__ const CUtensorMap";
    finding->sql = gmt_text(
        analysis,
        "SELECT e.tensor_map_id, count(*), sum(c.end_ns - c.begin_ns) FROM tensor_map_encoding e "
        "JOIN api_call c ON c.id = e.call_id WHERE %s GROUP BY 1 ORDER BY 2 DESC",
        gmt_call_condition(analysis, call->stack_id, (int64_t)call->caller));
    if (again->most < GMT_CHURN_MIN_PAIRS) {
        gmt_finding_note_small(
            finding, gmt_text(analysis, "fewer than %d of the same may be set-up, and no loop",
                              GMT_CHURN_MIN_PAIRS));
    }
    gmt_finding_judge_part(analysis, finding, again->calls, all);
    gmt_finding_emit(analysis, finding);
}

/* Calls [first, end) are those of one place. */
static void check_place(struct gmt_analysis *analysis, const struct gmt_tensor_maps *maps,
                        size_t first, size_t end)
{
    struct gmt_finding *finding = NULL;
    struct again again = {.example = &maps->calls[first]};

    for (size_t i = first, last; i < end; i = last) {
        for (last = i + 1; last < end && maps->calls[last].map == maps->calls[i].map; last++) {
            if (finding == NULL && (finding = gmt_finding_new(analysis)) == NULL) {
                return;
            }
            add_call(analysis, &maps->calls[last].call, finding, &again);
        }
        again.descriptors += last - i > 1 ? 1 : 0;
        again.most = fmax(again.most, (double)(last - i));
    }
    if (finding != NULL) {
        report_again(analysis, &again, (double)maps->call_count, finding);
    }
}

/* ---- boxes and swizzles ----------------------------------------------------------------------- */

/* What a kernel was given that is worth a word. */
struct given {
    const struct gmt_tensor_map_row *narrow; /* the most wasteful one; NULL: none */
    double ratio;                            /* of that one */
    double narrow_count;                     /* maps that waste bandwidth */
    const struct gmt_tensor_map_row *plain;  /* unswizzled, of rows that a swizzle would take */
};

static bool is_plain(const struct gmt_tensor_map_row *map)
{
    double inner = gmt_tensor_map_inner_bytes(map);

    /* Packed types of 4 and 6 bits: in shared memory their rows are wider, and take few swizzles. */
    return !map->swizzled && map->element_bits >= 8 && inner >= GMT_SECTOR_BYTES &&
           inner <= GMT_WAVEFRONT_BYTES;
}

static void look_at(struct given *given, const struct gmt_tensor_map_row *map)
{
    double ratio = gmt_tensor_map_sector_ratio(map);

    given->narrow_count += ratio > 1 ? 1 : 0;
    if (ratio > 1 && (given->narrow == NULL || ratio > given->ratio)) {
        given->narrow = map;
        given->ratio = ratio;
    }
    if (is_plain(map)) {
        given->plain = map;
    }
}

static double conflicts_of(const struct gmt_tl_class *class)
{
    struct gmt_shared_access loads = gmt_shared_loads(class);

    return loads.ideal > 0 ? loads.wavefronts / loads.ideal : NAN;
}

static void describe_narrow(struct gmt_analysis *analysis, struct gmt_finding *finding,
                            const struct given *given)
{
    char row[GMT_FORMAT_BYTES], ratio[GMT_FORMAT_BYTES];

    gmt_finding_evidence(finding, "inner_box", "bytes", gmt_tensor_map_inner_bytes(given->narrow));
    gmt_finding_evidence(finding, "moved_per_byte", "ratio", given->ratio);
    finding->headline = gmt_text(
        analysis, "bulk copies of boxes with rows of %s touch %s times their bytes in sectors",
        gmt_format_bytes(row, gmt_tensor_map_inner_bytes(given->narrow)),
        gmt_format_decimal(ratio, given->ratio, 2));
    finding->fix = "Make the innermost dimension of the box a multiple of 32 bytes, as wide as the "
                   "kernel can use, and begin tensor and rows at multiples of 32 bytes. A tensor "
                   "whose own rows are that narrow is better stored with a longer dimension "
                   "innermost.";
    finding->sketch = "cuuint32_t box[2] = {64, rows};  // half floats: 128 bytes of each row";
    finding->method = "not priced: sectors are counted from the arguments, and nothing counts the "
                      "bytes of bulk copies";
}

static void describe_plain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                           const struct given *given, double ways)
{
    double inner = gmt_tensor_map_inner_bytes(given->plain);
    int width = inner <= 32 ? 32 : inner <= 64 ? 64 : 128;
    char row[GMT_FORMAT_BYTES], passes[GMT_FORMAT_BYTES];
    const char *before = finding->headline;

    gmt_finding_evidence(finding, "unswizzled_row", "bytes", inner);
    gmt_finding_evidence(finding, "load_ways", "ratio", ways);
    finding->headline = gmt_text(
        analysis,
        "%s%sa tensor map of rows of %s has no swizzle, and shared loads take %s times "
        "the passes they need",
        before != NULL ? before : "", before != NULL ? "; " : "", gmt_format_bytes(row, inner),
        gmt_format_decimal(passes, ways, 1));
    if (before != NULL) {
        return;
    }
    finding->fix = gmt_text(analysis,
                            "Encode the map with CU_TENSOR_MAP_SWIZZLE_%dB and read the tile by "
                            "swizzled addresses. GM401 prices the conflicts.",
                            width);
    finding->sketch = "// 16-byte chunk c of row r lies at chunk c ^ (r % 8) of a row of 128 bytes";
    finding->method = "not priced: which of the kernel's conflicts are of this tile is not known";
}

/* Never more than low: nothing is priced. What is small beside the run is judged as all else. */
static void file_unpriced(struct gmt_analysis *analysis, struct gmt_finding *finding)
{
    double wall_ns = gmt_timeline_wall_ns(analysis->timeline);

    if (analysis->timeline->simulated) {
        finding->method = analysis->timeline->modelled
                              ? "not modelled: no device model has the time of bulk copies; the "
                                "arguments are exact"
                              : "n/a: no times (software device); the arguments are exact";
    }
    finding->effort = GMT_EFFORT_MEDIUM;
    if (isnan(finding->cost_ns) || finding->cost_ns >= GMT_SHARE_MEDIUM * wall_ns) {
        finding->severity = GMT_SEVERITY_LOW;
    }
    gmt_finding_emit(analysis, finding);
}

static const char *note_of(double ratio)
{
    return ratio < GMT_EXCESS_RATIO ? "less than twice the bytes that were asked for" : NULL;
}

static void check_class(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                        const struct given *given)
{
    double ways = given->plain != NULL ? conflicts_of(class) : NAN;
    bool conflicts = ways >= GMT_CONFLICT_RATIO;
    struct gmt_finding *finding;

    if ((given->narrow == NULL && !conflicts) || (finding = gmt_finding_new(analysis)) == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    if (given->narrow != NULL) {
        describe_narrow(analysis, finding, given);
    }
    if (conflicts) {
        describe_plain(analysis, finding, given, ways);
    } else {
        gmt_finding_note_small(finding, note_of(given->ratio));
    }
    finding->headline = gmt_text(analysis, "%s%s", finding->headline,
                                 gmt_kernel_time(analysis, class));
    gmt_finding_evidence(finding, "launches", "count", (double)class->launches);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->sql = gmt_text(
        analysis,
        "SELECT * FROM v_tensor_map WHERE id IN (SELECT t.tensor_map_id FROM launch_tensor_map t "
        "JOIN launch l ON l.argument_set_id = t.set_id WHERE l.class_id = %" PRId64 ")",
        class->id);
    file_unpriced(analysis, finding);
}

/* The same of maps that no launch is known to have got: at the place that encodes them. */
static void check_unused(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                         const struct given *given)
{
    struct gmt_finding *finding;

    if (given->narrow == NULL || (finding = gmt_finding_new(analysis)) == NULL) {
        return;
    }
    finding->where = gmt_where_of_call(analysis, call);
    describe_narrow(analysis, finding, given);
    finding->headline = gmt_text(analysis, "%s; which kernel makes them is not known",
                                 finding->headline);
    gmt_finding_evidence(finding, "tensor_maps", "count", given->narrow_count);
    gmt_finding_note_small(finding, note_of(given->ratio));
    finding->sql = gmt_text(analysis, "SELECT * FROM v_tensor_map WHERE id = %" PRId64,
                            given->narrow->id);
    file_unpriced(analysis, finding);
}

/* ---- the rule --------------------------------------------------------------------------------- */

/* What could not be looked at. */
struct unchecked {
    size_t maps,
        classes; /* unswizzled maps of no known kernel; kernels with such maps and no counters */
};

static void check_uses(struct gmt_analysis *analysis, const struct gmt_tensor_maps *maps,
                       struct unchecked *unchecked)
{
    for (size_t i = 0, end; i < maps->use_count; i = end) {
        const struct gmt_tl_class *class = &analysis->timeline->classes[maps->uses[i].class_index];
        struct given given = {0};

        for (end = i;
             end < maps->use_count && maps->uses[end].class_index == maps->uses[i].class_index;
             end++) {
            look_at(&given, &maps->maps[maps->uses[end].map]);
        }
        if (given.plain != NULL && isnan(class->counter[GMT_M_shared_load_wavefronts])) {
            unchecked->classes++;
        }
        check_class(analysis, class, &given);
    }
}

/* Calls [first, end) are those of one place. */
static struct given unused_of(const struct gmt_tensor_maps *maps, size_t first, size_t end,
                              struct unchecked *unchecked)
{
    struct given given = {0};

    for (size_t i = first; i < end; i++) {
        const struct gmt_tensor_map_row *map = &maps->maps[maps->calls[i].map];

        if (map->used || (i > first && maps->calls[i].map == maps->calls[i - 1].map)) {
            continue;
        }
        look_at(&given, map);
        unchecked->maps += is_plain(map) ? 1 : 0;
    }
    return given;
}

static void check_calls(struct gmt_analysis *analysis, const struct gmt_tensor_maps *maps,
                        struct unchecked *unchecked)
{
    for (size_t i = 0, end; i < maps->call_count; i = end) {
        for (end = i + 1;
             end < maps->call_count && maps->calls[end].call.site == maps->calls[i].call.site;
             end++) {
        }
        struct given given = unused_of(maps, i, end, unchecked);
        check_unused(analysis, &maps->calls[i].call, &given);
        check_place(analysis, maps, i, end);
    }
}

static enum gmt_outcome outcome_of(struct gmt_analysis *analysis, const struct unchecked *unchecked)
{
    if (unchecked->classes > 0) {
        return gmt_could_not(analysis,
                             "%zu kernel class%s with unswizzled tensor maps ha%s no counters of "
                             "shared memory",
                             unchecked->classes, unchecked->classes == 1 ? "" : "es",
                             unchecked->classes == 1 ? "s" : "ve");
    }
    if (unchecked->maps > 0) {
        return gmt_could_not(analysis, "which kernels use %zu unswizzled tensor map%s is not known",
                             unchecked->maps, unchecked->maps == 1 ? "" : "s");
    }
    return GMT_OUTCOME_PASS;
}

/* Of a trace of a version that recorded no tensor maps. */
static enum gmt_outcome outcome_before(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    for (size_t i = 0; i < tl->class_count; i++) {
        /* Not measured is not none. */
        if (!(tl->classes[i].counter[GMT_M_tma_instructions] <= 0)) {
            return gmt_could_not(analysis, "the trace was made before tensor maps were recorded");
        }
    }
    analysis->result->why = "no kernel makes bulk copies";
    return GMT_OUTCOME_NOT_APPLICABLE;
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct unchecked unchecked = {0};
    struct gmt_tensor_maps maps;

    if (tl->device.compute_major > 0 && tl->device.compute_major < 9) {
        analysis->result->why = "the device has no bulk tensor copies";
        return GMT_OUTCOME_NOT_APPLICABLE;
    }
    if (!gmt_tensor_maps_recorded(tl)) {
        return outcome_before(analysis);
    }
    int rc = gmt_tensor_maps_load(&maps, tl, analysis->report->arena);
    if (rc == 0) {
        check_uses(analysis, &maps, &unchecked);
        check_calls(analysis, &maps, &unchecked);
    }
    bool any = maps.count > 0;
    if (rc != 0) {
        return gmt_could_not(analysis, "the tensor maps could not be read");
    }
    if (!any) {
        analysis->result->why = "the trace has no tensor map";
        return GMT_OUTCOME_NOT_APPLICABLE;
    }
    return outcome_of(analysis, &unchecked);
}

extern const struct gmt_rule gmt_rule_bulk_copy_misuse;
const struct gmt_rule gmt_rule_bulk_copy_misuse = {.id = "GM405",
                                                   .slug = "bulk-copy-misuse",
                                                   .title = "Tensor maps that do not fit their use",
                                                   .category = "shared memory",
                                                   .about_code = true,
                                                   .run = run};

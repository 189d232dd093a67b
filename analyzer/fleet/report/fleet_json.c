/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet for scripts. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/memory_short.h"
#include "reports/json/json_stream.h"
#include "reports/json/json_values.h"

static const char *unit_word(enum gmt_fleet_unit unit)
{
    static const char *const words[] = {[GMT_FLEET_UNIT_NS] = "ns",
                                        [GMT_FLEET_UNIT_BYTES] = "bytes",
                                        [GMT_FLEET_UNIT_COUNT] = "count",
                                        [GMT_FLEET_UNIT_RATE] = "ns per 10^6 bytes"};

    return words[unit];
}

/* JSON has no infinity: the others are equal. */
static json_t *number_or_null(double value)
{
    return isfinite(value) ? gmt_json_number(value) : json_null();
}

static json_t *of_difference(const struct gmt_fleet_difference *difference)
{
    const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[difference->measure];

    return json_pack(
        "{ss, ss, so, so, so, so, so, sI, sI}", "measure", row->name, "unit", unit_word(row->unit),
        "value", number_or_null(difference->value), "usual", number_or_null(difference->middle),
        "difference", number_or_null(difference->by), "score", number_or_null(difference->score),
        "limit", number_or_null(difference->limit), "first_step",
        (json_int_t)difference->first_step + 1, "last_step", (json_int_t)difference->last_step + 1);
}

static json_t *of_odd(const struct gmt_fleet_view *view, const struct gmt_fleet_odd *odd)
{
    const struct gmt_fleet_rank *rank = &view->fleet.ranks[odd->rank];
    json_t *json = json_object(), *differences = json_array();

    for (size_t i = 0; i < odd->difference_count; i++) {
        json_array_append_new(differences, of_difference(&odd->differences[i]));
    }
    json_object_set_new(json, "rank", gmt_json_text(rank->rank));
    json_object_set_new(json, "host", gmt_json_text(rank->host));
    json_object_set_new(json, "trace", gmt_json_text(rank->trace));
    json_object_set_new(json, "cause", gmt_json_text(gmt_fleet_cause_rows[odd->cause].word));
    json_object_set_new(json, "waited_for_ns",
                        isnan(odd->waited_ns) ? json_null() : gmt_json_ns(odd->waited_ns));
    if (odd->trait >= 0) {
        json_object_set_new(json, "trait", gmt_json_text(gmt_fleet_trait_word(odd->trait)));
        json_object_set_new(json, "has", gmt_json_text(rank->traits[odd->trait]));
        json_object_set_new(json, "usual", gmt_json_text(odd->usual));
    }
    json_object_set_new(json, "differences", differences);
    return json;
}

static json_t *of_spread(const struct gmt_fleet_view *view)
{
    json_t *json = json_object();

    for (int m = 0; m < GMT_FLEET_MEASURES; m++) {
        const struct gmt_fleet_spread *spread = &view->result.spread[m];

        if (isnan(spread->median)) {
            continue;
        }
        json_object_set_new(
            json, gmt_fleet_measure_rows[m].name,
            json_pack("{ss, so, so, so, so, so}", "unit", unit_word(gmt_fleet_measure_rows[m].unit),
                      "least", number_or_null(spread->least), "least_rank",
                      gmt_json_text(view->fleet.ranks[spread->least_rank].rank), "median",
                      number_or_null(spread->median), "most", number_or_null(spread->most),
                      "most_rank", gmt_json_text(view->fleet.ranks[spread->most_rank].rank)));
    }
    return json;
}

static json_t *of_memory(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_imbalance *memory = &view->memory;

    if (memory->ranks == 0) {
        return json_null();
    }
    const struct gmt_fleet_rank *least = &view->fleet.ranks[memory->least_rank];
    const struct gmt_fleet_rank *most = &view->fleet.ranks[memory->most_rank];
    return json_pack("{so, so, so, so, so, so, so}", "ranks", gmt_json_integer(memory->ranks),
                     "least_bytes", number_or_null(memory->least), "least_rank",
                     gmt_json_text(least->rank), "median_bytes", number_or_null(memory->median),
                     "most_bytes", number_or_null(memory->most), "most_rank",
                     gmt_json_text(most->rank), "most_trace", gmt_json_text(most->trace));
}

static json_t *of_findings(const struct gmt_fleet_view *view)
{
    json_t *list = json_array();

    for (size_t i = 0; i < view->common.count; i++) {
        const struct gmt_common_finding *common = &view->common.findings[i];
        const struct gmt_fleet_rank *rank = &view->fleet.ranks[common->worst_rank];
        const struct gmt_fleet_finding *worst = common->worst;

        json_array_append_new(
            list,
            json_pack(
                "{so, so, so, so, so, so, so, so, so, so}", "fingerprint",
                gmt_json_text(worst->fingerprint), "rule", gmt_json_text(worst->rule), "title",
                gmt_json_text(worst->title), "place", gmt_json_text(worst->place), "ranks",
                gmt_json_integer(common->ranks), "total_saving_ns",
                common->priced > 0 ? gmt_json_ns(common->total_ns) : json_null(), "worst_saving_ns",
                common->priced > 0 ? gmt_json_ns(worst->saves_ns) : json_null(), "worst_rank",
                gmt_json_text(rank->rank), "worst_trace", gmt_json_text(rank->trace), "modelled",
                common->priced > 0 ? json_boolean(common->is_modelled) : json_null()));
    }
    return list;
}

static json_t *of_changes(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_changes *changes = &view->changes;
    json_t *json = json_object(), *list = json_array();

    if (view->against == NULL) {
        json_decref(json);
        json_decref(list);
        return json_null();
    }
    for (size_t i = 0; i < changes->count; i++) {
        const struct gmt_fleet_change *change = &changes->changes[i];
        const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[change->measure];

        json_array_append_new(
            list, json_pack("{ss, ss, so, so, so, so}", "measure", row->name, "unit",
                            unit_word(row->unit), "before", number_or_null(change->before), "after",
                            number_or_null(change->after), "more", gmt_json_integer(change->more),
                            "less", gmt_json_integer(change->less)));
    }
    json_object_set_new(json, "folder", gmt_json_text(view->against));
    json_object_set_new(json, "paired", gmt_json_integer(changes->paired));
    json_object_set_new(json, "needed", gmt_json_integer(changes->needed));
    json_object_set_new(json, "changes", list);
    return json;
}

static json_t *of_rank(const struct gmt_fleet_view *view, size_t index)
{
    static const char *const confidence[] = {
        [GMT_FLEET_NO_MATCH] = "none", [GMT_FLEET_LOW] = "low", [GMT_FLEET_GOOD] = "good"};
    const struct gmt_fleet_rank *rank = &view->fleet.ranks[index];
    const struct gmt_fleet_clock *clock = &view->clocks.ranks[index];
    json_t *json = json_object();

    json_object_set_new(json, "rank", gmt_json_text(rank->rank));
    json_object_set_new(json, "host", gmt_json_text(rank->host));
    json_object_set_new(json, "trace", gmt_json_text(rank->trace));
    json_object_set_new(json, "compared", json_boolean(rank->trouble == NULL));
    json_object_set_new(json, "why_not", gmt_json_text(rank->trouble));
    json_object_set_new(json, "remark", gmt_json_text(rank->remark));
    int code = gmt_fleet_exit_code(rank), signal = gmt_fleet_exit_signal(rank);
    json_object_set_new(json, "end_reason", gmt_json_text(rank->end_reason));
    json_object_set_new(json, "exit_status", code >= 0 ? json_integer(code) : json_null());
    json_object_set_new(json, "signal", signal != 0 ? json_integer(signal) : json_null());
    json_object_set_new(json, "steps", gmt_json_integer(rank->step_count));
    for (int i = 0; i < GMT_FLEET_TRAITS; i++) {
        json_object_set_new(json, gmt_fleet_trait_word(i), gmt_json_text(rank->traits[i]));
    }
    json_object_set_new(
        json, "clock",
        json_pack("{so, so, so, so, so, ss}", "offset_ns", gmt_json_ns(clock->offset_ns),
                  "drift_ppm", number_or_null(clock->drift_ppm), "error_ns",
                  gmt_json_ns(clock->error_ns), "matched", gmt_json_integer(clock->matched),
                  "ambiguous", gmt_json_integer(clock->ambiguous), "confidence",
                  confidence[clock->confidence]));
    json_object_set_new(json, "collectives", gmt_fleet_json_wait(&view->waits.ranks[index]));
    return json;
}

void gmt_fleet_json(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_result *result = &view->result;
    json_t *root = json_object(), *odd = json_array(), *ranks = json_array();

    for (size_t i = 0; i < result->odd_count; i++) {
        json_array_append_new(odd, of_odd(view, &result->odd[i]));
    }
    for (size_t r = 0; r < view->fleet.count; r++) {
        json_array_append_new(ranks, of_rank(view, r));
    }
    json_object_set_new(root, "folder", gmt_json_text(view->folder));
    json_object_set_new(root, "compared", gmt_json_integer(result->compared));
    json_object_set_new(root, "steps", gmt_json_integer(result->step_count));
    json_object_set_new(root, "few_ranks", json_boolean(result->few_ranks));
    /* Of few ranks no rate is known. */
    json_object_set_new(root, "false_alarms",
                        result->few_ranks || result->few_in_part
                            ? json_null()
                            : gmt_json_number(result->false_alarms));
    json_object_set_new(root, "missing", gmt_fleet_json_missing(&view->job));
    json_object_set_new(root, "several_traces", gmt_fleet_json_reruns(&view->job));
    json_object_set_new(root, "odd", odd);
    json_object_set_new(root, "spread", of_spread(view));
    json_object_set_new(root, "memory", of_memory(view));
    json_object_set_new(root, "collectives", gmt_fleet_json_traffic(view));
    /* What was copied, only whole traces have. */
    bool any_whole = view->common.analysed > 0;
    json_object_set_new(root, "staged", any_whole ? gmt_fleet_json_staged(view) : json_null());
    json_object_set_new(root, "direct", any_whole ? gmt_fleet_json_direct(view) : json_null());
    bool is_asked = !view->fleet.is_parquet;
    json_object_set_new(root, "analysed",
                        is_asked ? gmt_json_integer(view->common.analysed) : json_null());
    json_object_set_new(root, "findings", is_asked ? of_findings(view) : json_null());
    json_object_set_new(root, "against", of_changes(view));
    json_object_set_new(root, "ranks", ranks);
    /* With a part missing it would look whole. */
    if (!gmt_memory_short()) {
        json_dumpf(root, stdout, GMT_JSON_INDENTED);
        putchar('\n');
    }
    json_decref(root);
}

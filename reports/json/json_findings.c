/* SPDX-License-Identifier: Apache-2.0 */
/* Findings, notes and races in the JSON report. */
#include <jansson.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/inlining.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"

json_t *gmt_json_saving(const struct gmt_saving *saving)
{
    return json_pack("{so, so, so, so}", "low_ns", gmt_json_ns(saving->low_ns), "best_ns",
                     gmt_json_ns(saving->best_ns), "high_ns", gmt_json_ns(saving->high_ns),
                     "share_of_wall", gmt_json_number(saving->share));
}

json_t *gmt_json_where(const struct gmt_where *where)
{
    json_t *stack = json_array();

    for (size_t i = 0; i < where->stack_depth; i++) {
        const struct gmt_report_frame *f = &where->stack[i];

        json_array_append_new(
            stack, json_pack("{so, so, so, so, so, sb, sb}", "function", gmt_json_text(f->function),
                             "file", gmt_json_text(f->file), "line", gmt_json_line(f->line),
                             "module", gmt_json_text(f->module), "offset", json_integer(f->offset),
                             "runtime", (int)f->runtime, "inlined", (int)f->inlined));
    }
    json_t *json = json_pack(
        "{so, so, so, so, so, so, so, so}", "label", gmt_json_text(where->label), "function",
        gmt_json_text(where->function), "file", gmt_json_text(where->file), "line",
        gmt_json_line(where->line), "module", gmt_json_text(where->module), "api",
        gmt_json_text(where->api), "kernel", gmt_json_text(where->kernel), "stack", stack);
    if (where->note != NULL) {
        json_object_set_new(json, "note", gmt_json_text(where->note));
    }
    if (where->title != NULL) {
        json_object_set_new(json, "kernel_title", gmt_json_text(where->title));
    }
    if (where->origin != NULL) {
        json_object_set_new(json, "origin", gmt_json_text(where->origin));
        json_object_set_new(json, "origin_by", gmt_json_text(where->origin_by));
    }
    if (where->graph != NULL) {
        json_object_set_new(json, "graph", gmt_json_text(where->graph));
    }
    return json;
}

static json_t *of_parts(const struct gmt_finding *f)
{
    json_t *array = json_array();

    for (size_t i = 0; i < f->part_count; i++) {
        const struct gmt_finding_part *part = &f->parts[i];

        json_array_append_new(
            array, json_pack("{so, so, so, so}", "label", gmt_json_text(part->label), "headline",
                             gmt_json_text(part->headline), "cost_ns", gmt_json_ns(part->cost_ns),
                             "best_ns", gmt_json_ns(part->best_ns)));
    }
    return array;
}

static json_t *of_line(const struct gmt_finding_line *line)
{
    return json_pack("{so, so, so, so, so, so}", "file", gmt_json_text(line->file), "line",
                     gmt_json_line(line->line), "caller_file", gmt_json_text(line->caller_file),
                     "caller_line", gmt_json_line(line->caller_line), "ptx_line",
                     gmt_json_line(line->ptx_line), "opcode", gmt_json_text(line->opcode));
}

static json_t *of_lines(const struct gmt_finding *f)
{
    json_t *array = json_array();

    for (size_t i = 0; i < f->line_count; i++) {
        json_t *json = of_line(&f->lines[i]);

        json_object_set_new(json, "function", gmt_json_text(f->lines[i].chain.function));
        json_object_set_new(json, "inlined_at", gmt_json_chain(&f->lines[i].chain));
        json_object_set_new(json, "chain_count",
                            json_integer(f->lines[i].chain.call_count > 0
                                             ? (json_int_t)f->lines[i].chain_count
                                             : 0));
        json_object_set_new(json, "excess_bytes", gmt_json_number(f->lines[i].excess_bytes));
        json_object_set_new(json, "share", gmt_json_number(f->lines[i].share));
        json_object_set_new(json, "per_request", gmt_json_number(f->lines[i].per_request));
        json_object_set_new(json, "ideal_per_request",
                            gmt_json_number(f->lines[i].ideal_per_request));
        json_object_set_new(json, "code", gmt_json_text(f->lines[i].code));
        json_object_set_new(json, "caller_code", gmt_json_text(f->lines[i].caller_code));
        json_array_append_new(array, json);
    }
    return array;
}

json_t *gmt_json_race(const void *races, size_t i)
{
    const struct gmt_race_row *race = (const struct gmt_race_row *)races + i;

    return json_pack("{so, so, so, so}", "kernel", gmt_json_text(race->kernel), "first",
                     of_line(&race->first), "second", of_line(&race->second), "count",
                     gmt_json_number(race->count));
}

static json_t *of_place(const struct gmt_source_quote *place)
{
    json_t *lines = json_array();

    for (size_t i = 0; i < place->line_count; i++) {
        json_array_append_new(lines, gmt_json_code(place->lines[i]));
    }
    return json_pack("{so, so, so, so, so}", "label", gmt_json_text(place->label), "file",
                     gmt_json_text(place->file), "line", gmt_json_line(place->line), "first_line",
                     gmt_json_line(place->first_line), "lines", lines);
}

json_t *gmt_json_evidence(const struct gmt_finding *finding)
{
    json_t *evidence = json_object();

    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct gmt_evidence *one = &finding->evidence[i];

        json_object_set_new(
            evidence, one->name,
            json_pack("{so, ss}", "value", gmt_json_number(one->value), "unit", one->unit));
    }
    return evidence;
}

json_t *gmt_json_finding(const void *findings, size_t at)
{
    const struct gmt_finding *f = (const struct gmt_finding *)findings + at;
    json_t *json = json_pack(
        "{ss, ss, ss, ss, so, so, so, so, so, so, so}", "rule", f->rule, "slug", f->slug, "title",
        f->title, "severity", gmt_severity_name(f->severity), "fingerprint",
        gmt_json_text(f->fingerprint), "headline", gmt_json_text(f->headline), "where",
        gmt_json_where(&f->where), "evidence", gmt_json_evidence(f), "sql", gmt_json_text(f->sql),
        "cost_ns", gmt_json_ns(f->cost_ns), "excess_bytes", gmt_json_number(f->excess_bytes));
    json_object_set_new(json, "saving", gmt_json_saving(&f->saving));
    json_object_set_new(json, "at_most_ns", gmt_json_ns(f->at_most_ns));
    json_object_set_new(json, "guess", json_boolean(f->guess));
    json_object_set_new(json, "modelled", json_boolean(f->modelled));
    json_object_set_new(json, "method", gmt_json_text(f->method));
    json_object_set_new(json, "confidence", json_string(gmt_finding_confidence(f)));
    json_object_set_new(json, "effort", json_string(gmt_effort_name(f->effort)));
    json_object_set_new(json, "action", gmt_json_text(f->action));
    json_object_set_new(json, "place", of_place(&f->place));
    json_object_set_new(json, "fix", gmt_json_text(f->fix));
    json_object_set_new(json, "sketch", gmt_json_code(f->sketch));
    if (f->tried != NULL) {
        json_object_set_new(json, "saving_confidence",
                            json_string(gmt_confidence_name(f->confidence)));
        json_object_set_new(json, "tried", gmt_json_tried(f->tried));
    }
    if (f->framework != NULL) {
        json_object_set_new(json, "framework", gmt_json_text(f->framework));
    }
    if (f->patch != NULL) {
        json_object_set_new(json, "patch", gmt_json_code(f->patch));
    }
    if (f->line_count > 0) {
        json_object_set_new(json, "lines", of_lines(f));
        json_object_set_new(json, "lines_of", json_string(gmt_lines_of(f)));
    }
    if (f->part_count > 0) {
        json_object_set_new(json, "parts", of_parts(f));
    }
    if (f->saved_peak_of != NULL) {
        json_object_set_new(json, "saved_peak_bytes", gmt_json_number(f->saved_peak_bytes));
        json_object_set_new(json, "saved_peak_of", gmt_json_text(f->saved_peak_of));
    }
    if (f->range != NULL) {
        json_object_set_new(json, "range", gmt_json_text(f->range));
    }
    if (f->note_why != NULL) {
        json_object_set_new(json, "note", gmt_json_text(f->note_why));
    }
    return json;
}

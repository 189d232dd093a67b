/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON; docs/json.md documents the shape. Unknown numbers are null. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "reports/format.h"
#include "reports/json_occupancy.h"
#include "reports/writers.h"

enum { GMT_JSON_VERSION = 1 };
/* Of docs/report.schema.json: the second number grows when fields are added. */
#define GMT_JSON_SCHEMA_VERSION "1.0"

static json_t *text(const char *value)
{
    char *clean = value != NULL ? gmt_clean_copy(value) : NULL;
    json_t *json = clean != NULL ? json_string(clean) : json_null();

    free(clean);
    return json;
}

/* Code keeps its lines. */
static json_t *code(const char *value)
{
    return value != NULL ? json_string(value) : json_null();
}

/* Whole numbers stay whole: counts and bytes are no measurements. */
static json_t *number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 9e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *ns(double value)
{
    return isfinite(value) ? json_integer((json_int_t)llround(value)) : json_null();
}

static json_t *of_saving(const struct gmt_saving *saving)
{
    return json_pack("{so, so, so, so}", "low_ns", ns(saving->low_ns), "best_ns",
                     ns(saving->best_ns), "high_ns", ns(saving->high_ns), "share_of_wall",
                     number(saving->share));
}

static json_t *of_where(const struct gmt_where *where)
{
    json_t *stack = json_array();

    for (size_t i = 0; i < where->stack_depth; i++) {
        const struct gmt_report_frame *f = &where->stack[i];

        json_array_append_new(stack,
                              json_pack("{so, so, so, so, so, sb}", "function", text(f->function),
                                        "file", text(f->file), "line",
                                        f->line > 0 ? json_integer(f->line) : json_null(), "module",
                                        text(f->module), "offset", json_integer(f->offset),
                                        "runtime", (int)f->runtime));
    }
    return json_pack("{so, so, so, so, so, so, so, so}", "label", text(where->label), "function",
                     text(where->function), "file", text(where->file), "line",
                     where->line > 0 ? json_integer(where->line) : json_null(), "module",
                     text(where->module), "api", text(where->api), "kernel", text(where->kernel),
                     "stack", stack);
}

static json_t *of_parts(const struct gmt_finding *f)
{
    json_t *array = json_array();

    for (size_t i = 0; i < f->part_count; i++) {
        const struct gmt_finding_part *part = &f->parts[i];

        json_array_append_new(array, json_pack("{so, so, so, so}", "label", text(part->label),
                                               "headline", text(part->headline), "cost_ns",
                                               ns(part->cost_ns), "best_ns", ns(part->best_ns)));
    }
    return array;
}

static json_t *of_line(const struct gmt_finding_line *line)
{
    return json_pack("{so, so, so, so, so, so}", "file", text(line->file), "line",
                     line->line > 0 ? json_integer(line->line) : json_null(), "caller_file",
                     text(line->caller_file), "caller_line",
                     line->caller_line > 0 ? json_integer(line->caller_line) : json_null(),
                     "ptx_line", line->ptx_line > 0 ? json_integer(line->ptx_line) : json_null(),
                     "opcode", text(line->opcode));
}

static json_t *of_lines(const struct gmt_finding *f)
{
    json_t *array = json_array();

    for (size_t i = 0; i < f->line_count; i++) {
        json_t *json = of_line(&f->lines[i]);

        json_object_set_new(json, "excess_bytes", number(f->lines[i].excess_bytes));
        json_object_set_new(json, "share", number(f->lines[i].share));
        json_array_append_new(array, json);
    }
    return array;
}

static json_t *of_races(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->race_count; i++)
        json_array_append_new(
            array, json_pack("{so, so, so, so}", "kernel", text(r->races[i].kernel), "first",
                             of_line(&r->races[i].first), "second", of_line(&r->races[i].second),
                             "count", number(r->races[i].count)));
    return array;
}

static json_t *of_finding(const struct gmt_finding *f)
{
    json_t *evidence = json_object();

    for (size_t i = 0; i < f->evidence_count; i++)
        json_object_set_new(evidence, f->evidence[i].name,
                            json_pack("{so, ss}", "value", number(f->evidence[i].value), "unit",
                                      f->evidence[i].unit));
    json_t *json = json_pack(
        "{ss, ss, ss, ss, so, so, so, so, so, so, so}", "rule", f->rule, "slug", f->slug, "title",
        f->title, "severity", gmt_severity_name(f->severity), "fingerprint", text(f->fingerprint),
        "headline", text(f->headline), "where", of_where(&f->where), "evidence", evidence, "sql",
        text(f->sql), "cost_ns", ns(f->cost_ns), "excess_bytes", number(f->excess_bytes));
    json_object_set_new(json, "saving", of_saving(&f->saving));
    json_object_set_new(json, "method", text(f->method));
    json_object_set_new(json, "confidence", json_string(gmt_confidence_name(f->confidence)));
    json_object_set_new(json, "effort", json_string(gmt_effort_name(f->effort)));
    json_object_set_new(json, "fix", text(f->fix));
    json_object_set_new(json, "sketch", code(f->sketch));
    if (f->line_count > 0)
        json_object_set_new(json, "lines", of_lines(f));
    if (f->part_count > 0)
        json_object_set_new(json, "parts", of_parts(f));
    if (f->note_why != NULL)
        json_object_set_new(json, "note", text(f->note_why));
    return json;
}

static json_t *of_findings(const struct gmt_finding *findings, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, of_finding(&findings[i]));
    return array;
}

static json_t *of_transfers(const struct gmt_transfer_row *rows, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            array, json_pack("{ss, ss, so, so, so, so}", "direction", rows[i].direction,
                             "host_class", rows[i].host_class, "up_to_bytes",
                             number(rows[i].bucket_bytes), "count", integer(rows[i].count), "bytes",
                             number(rows[i].bytes), "time_ns", ns(rows[i].time_ns)));
    return array;
}

static json_t *of_kernels(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->kernel_count; i++) {
        const struct gmt_kernel_row *k = &r->kernels[i];
        json_t *json = json_pack(
            "{so, s[III], s[III], sI, sI, so, so}", "name", text(k->name), "grid",
            (json_int_t)k->grid[0], (json_int_t)k->grid[1], (json_int_t)k->grid[2], "block",
            (json_int_t)k->block[0], (json_int_t)k->block[1], (json_int_t)k->block[2], "launches",
            (json_int_t)k->launches, "measured_launches", (json_int_t)k->measured, "device_ns",
            ns(k->device_ns), "share_of_wall", number(k->share));

        json_object_set_new(json, "load_efficiency_percent", number(k->load_efficiency));
        json_object_set_new(json, "store_efficiency_percent", number(k->store_efficiency));
        json_object_set_new(json, "shared_ways", number(k->shared_ways));
        json_object_set_new(json, "achieved_occupancy", number(k->achieved_occupancy));
        json_object_set_new(json, "theoretical_occupancy", number(k->theoretical_occupancy));
        json_object_set_new(json, "local_share", number(k->local_share));
        json_object_set_new(json, "dram_bytes_per_s", number(k->dram_bytes_per_s));
        json_object_set_new(json, "occupancy", gmt_json_occupancy(k->occupancy));
        json_array_append_new(array, json);
    }
    return array;
}

static json_t *of_rules(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->rule_count; i++)
        json_array_append_new(
            array, json_pack("{ss, ss, ss, so, so, so}", "id", r->rules[i].id, "slug",
                             r->rules[i].slug, "outcome", gmt_outcome_name(r->rules[i].outcome),
                             "why", text(r->rules[i].why), "findings",
                             integer(r->rules[i].findings), "notes", integer(r->rules[i].notes)));
    return array;
}

static json_t *of_gaps(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->gap_count; i++)
        json_array_append_new(array,
                              json_pack("{so, so, so}", "what", text(r->gaps[i].what), "why",
                                        text(r->gaps[i].why), "remedy", text(r->gaps[i].remedy)));
    return array;
}

static json_t *of_verdict(const struct gmt_report *r)
{
    json_t *json = json_pack("{so, so, so, so, so, so}", "wall_ns", ns(r->wall_ns), "gpu_busy_ns",
                             ns(r->gpu_busy_ns), "copy_ns", ns(r->copy_ns), "kernel_ns",
                             ns(r->kernel_ns), "peak_device_bytes", number(r->peak_device_bytes),
                             "allocations", number(r->allocation_count));

    json_object_set_new(json, "transfers", integer(r->transfers));
    json_object_set_new(json, "launches", integer(r->launches));
    json_object_set_new(json, "measured_launches", integer(r->measured_launches));
    json_object_set_new(json, "kernel_classes", integer(r->kernel_classes));
    json_object_set_new(json, "measured_classes", integer(r->measured_classes));
    json_object_set_new(json, "combined_saving", of_saving(&r->combined));
    return json;
}

static int write_json(const struct gmt_report *r, const struct gmt_writer_options *options,
                      FILE *out)
{
    (void)options;
    json_t *root = json_pack("{ss, si, ss, so, so}", "format", "gmtrace-report", "version",
                             GMT_JSON_VERSION, "schema_version", GMT_JSON_SCHEMA_VERSION,
                             "tool_version", text(r->tool_version), "trace", text(r->trace_path));

    if (root == NULL)
        return -ENOMEM;
    json_object_set_new(root, "process",
                        json_pack("{so, so, so, so}", "command", text(r->command), "exe",
                                  text(r->exe), "hostname", text(r->hostname), "end_reason",
                                  text(r->end_reason)));
    json_object_set_new(root, "device",
                        json_pack("{so, so, so, so, sb}", "name", text(r->device_name), "uuid",
                                  text(r->device_uuid), "compute_capability",
                                  text(r->compute_capability), "driver_version",
                                  text(r->driver_version), "software", (int)r->simulated));
    json_object_set_new(root, "verdict", of_verdict(r));
    json_object_set_new(root, "findings", of_findings(r->findings, r->finding_count));
    json_object_set_new(root, "notes", of_findings(r->notes, r->note_count));
    json_object_set_new(root, "transfers", of_transfers(r->copy_rows, r->copy_row_count));
    json_object_set_new(root, "kernels", of_kernels(r));
    json_object_set_new(root, "races", of_races(r));
    json_object_set_new(root, "rules", of_rules(r));
    json_object_set_new(root, "could_not_check", of_gaps(r));
    json_object_set_new(root, "device_model",
                        json_pack("{ss, so, so, so, so, sb}", "provenance",
                                  gmt_provenance_name(r->model_provenance), "match",
                                  text(gmt_match_name(r->model_provenance)), "origin",
                                  text(r->model_origin), "device", text(r->model_device), "created",
                                  text(r->model_created), "noisy", (int)r->model_noisy));
    int rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 ? 0 : -EIO;
    if (rc == 0 && fputc('\n', out) == EOF)
        rc = -EIO;
    json_decref(root);
    return rc;
}

const struct gmt_writer gmt_writer_json = {
    .name = "json", .extension = "json", .write = write_json};

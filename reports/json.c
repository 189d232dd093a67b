/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON; docs/json.md documents the shape. Unknown numbers are null. */
#include "reports/json.h"

#include <errno.h>

#include "reports/json_parts.h"
#include "reports/json_values.h"
#include "reports/writers.h"

enum { GMT_JSON_VERSION = 1 };
/* Of docs/report.schema.json: the second number grows when fields are added. */
#define GMT_JSON_SCHEMA_VERSION "1.2"

static json_t *of_rules(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->rule_count; i++)
        json_array_append_new(array, json_pack("{ss, ss, ss, ss, so, so, so}", "id", r->rules[i].id,
                                               "slug", r->rules[i].slug, "title", r->rules[i].title,
                                               "outcome", gmt_outcome_name(r->rules[i].outcome),
                                               "why", gmt_json_text(r->rules[i].why), "findings",
                                               gmt_json_integer(r->rules[i].findings), "notes",
                                               gmt_json_integer(r->rules[i].notes)));
    return array;
}

static json_t *of_gaps(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->gap_count; i++)
        json_array_append_new(array,
                              json_pack("{so, so, so}", "what", gmt_json_text(r->gaps[i].what),
                                        "why", gmt_json_text(r->gaps[i].why), "remedy",
                                        gmt_json_text(r->gaps[i].remedy)));
    return array;
}

static json_t *of_joints(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->joint_count; i++) {
        const struct gmt_joint *joint = &r->joints[i];
        json_t *parts = json_array();

        for (size_t k = 0; k < joint->part_count; k++) {
            const struct gmt_finding *finding = &r->findings[joint->parts[k].finding];

            json_array_append_new(parts, json_pack("{ss, ss, so}", "rule", finding->rule,
                                                   "fingerprint", finding->fingerprint, "share",
                                                   gmt_json_number(joint->parts[k].share)));
        }
        json_array_append_new(array,
                              json_pack("{so, so, so, so}", "kernel", gmt_json_text(joint->kernel),
                                        "cost_ns", gmt_json_ns(joint->cost_ns), "saving",
                                        gmt_json_saving(&joint->saving), "parts", parts));
    }
    return array;
}

static json_t *of_verdict(const struct gmt_report *r)
{
    json_t *json = json_pack("{so, so, so, so, so, so}", "wall_ns", gmt_json_ns(r->wall_ns),
                             "gpu_busy_ns", gmt_json_ns(r->gpu_busy_ns), "copy_ns",
                             gmt_json_ns(r->copy_ns), "kernel_ns", gmt_json_ns(r->kernel_ns),
                             "peak_device_bytes", gmt_json_number(r->peak_device_bytes),
                             "allocations", gmt_json_number(r->allocation_count));

    json_object_set_new(json, "transfers", gmt_json_integer(r->transfers));
    json_object_set_new(json, "launches", gmt_json_integer(r->launches));
    json_object_set_new(json, "measured_launches", gmt_json_integer(r->measured_launches));
    json_object_set_new(json, "kernel_classes", gmt_json_integer(r->kernel_classes));
    json_object_set_new(json, "measured_classes", gmt_json_integer(r->measured_classes));
    json_object_set_new(json, "combined_saving", gmt_json_saving(&r->combined));
    return json;
}

static json_t *of_process(const struct gmt_report *r)
{
    json_t *json = json_pack("{so, so, so, so}", "command", gmt_json_text(r->command), "exe",
                             gmt_json_text(r->exe), "hostname", gmt_json_text(r->hostname),
                             "end_reason", gmt_json_text(r->end_reason));

    json_object_set_new(json, "exit_status", gmt_json_number(r->exit_status));
    json_object_set_new(json, "pid", gmt_json_number(r->pid));
    json_object_set_new(json, "rank", gmt_json_text(r->rank));
    json_object_set_new(json, "working_directory", gmt_json_text(r->working_directory));
    json_object_set_new(json, "options", gmt_json_settings(r->options));
    return json;
}

static json_t *of_device(const struct gmt_report *r)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"sm_count", r->sm_count},
        {"memory_bytes", r->memory_bytes},
        {"l2_bytes", r->l2_bytes},
        {"max_threads_per_sm", r->max_threads_per_sm},
        {"registers_per_sm", r->registers_per_sm},
        {"shared_bytes_per_sm", r->shared_bytes_per_sm},
        {"max_blocks_per_sm", r->max_blocks_per_sm},
    };
    json_t *json = json_pack("{so, so, so, so, sb}", "name", gmt_json_text(r->device_name), "uuid",
                             gmt_json_text(r->device_uuid), "compute_capability",
                             gmt_json_text(r->compute_capability), "driver_version",
                             gmt_json_text(r->driver_version), "software", (int)r->simulated);

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        json_object_set_new(json, numbers[i].name, gmt_json_number(numbers[i].value));
    json_object_set_new(json, "attributes", gmt_json_settings(r->device_attributes));
    return json;
}

static json_t *of_capabilities(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->capability_count; i++) {
        const struct gmt_capability_row *row = &r->capabilities[i];

        json_array_append_new(array, json_pack("{so, so, so, so}", "name", gmt_json_text(row->name),
                                               "state", gmt_json_text(row->state), "detail",
                                               gmt_json_text(row->detail), "remedy",
                                               gmt_json_text(row->remedy)));
    }
    return array;
}

static json_t *of_losses(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->loss_count; i++)
        json_array_append_new(array,
                              json_pack("{so, so, sI}", "kind", gmt_json_text(r->losses[i].kind),
                                        "detail", gmt_json_text(r->losses[i].detail), "count",
                                        (json_int_t)r->losses[i].count));
    return array;
}

static json_t *of_model(const struct gmt_report *r)
{
    return json_pack("{ss, so, so, so, so, sb}", "provenance",
                     gmt_provenance_name(r->model_provenance), "match",
                     gmt_json_text(gmt_match_name(r->model_provenance)), "origin",
                     gmt_json_text(r->model_origin), "device", gmt_json_text(r->model_device),
                     "created", gmt_json_text(r->model_created), "noisy", (int)r->model_noisy);
}

static json_t *of_ranges(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->range_count; i++) {
        const struct gmt_range_row *row = &r->ranges[i];

        json_array_append_new(
            array,
            json_pack("{so, sI, so, sI, so}", "name", gmt_json_text(row->label), "count",
                      (json_int_t)row->count, "host_ns", gmt_json_ns(row->host_ns), "findings",
                      (json_int_t)row->findings, "best_ns", gmt_json_ns(row->best_ns)));
    }
    return array;
}

json_t *gmt_json_report(const struct gmt_report *r)
{
    json_t *root = json_pack("{ss, si, ss, so, so}", "format", "gmtrace-report", "version",
                             GMT_JSON_VERSION, "schema_version", GMT_JSON_SCHEMA_VERSION,
                             "tool_version", gmt_json_text(r->tool_version), "trace",
                             gmt_json_text(r->trace_path));

    if (root == NULL)
        return NULL;
    json_object_set_new(root, "process", of_process(r));
    json_object_set_new(root, "device", of_device(r));
    json_object_set_new(root, "verdict", of_verdict(r));
    json_object_set_new(root, "findings", gmt_json_findings(r->findings, r->finding_count));
    json_object_set_new(root, "notes", gmt_json_findings(r->notes, r->note_count));
    json_object_set_new(root, "joint_savings", of_joints(r));
    json_object_set_new(root, "transfers", gmt_json_transfers(r->copy_rows, r->copy_row_count));
    json_object_set_new(root, "kernels", gmt_json_kernels(r));
    json_object_set_new(root, "memory", gmt_json_memory(r));
    json_object_set_new(root, "races", gmt_json_races(r));
    if (r->range_limit != NULL)
        json_object_set_new(root, "range_limit", gmt_json_text(r->range_limit));
    if (r->range_count > 0)
        json_object_set_new(root, "ranges", of_ranges(r));
    json_object_set_new(root, "rules", of_rules(r));
    json_object_set_new(root, "could_not_check", of_gaps(r));
    json_object_set_new(root, "capabilities", of_capabilities(r));
    json_object_set_new(root, "losses", of_losses(r));
    if (r->coverage.line_count > 0)
        json_object_set_new(root, "coverage", gmt_json_coverage(&r->coverage));
    json_object_set_new(root, "device_model", of_model(r));
    return root;
}

static int write_json(const struct gmt_report *r, const struct gmt_writer_options *options,
                      FILE *out)
{
    json_t *root = gmt_json_report(r);

    (void)options;
    if (root == NULL)
        return -ENOMEM;
    int rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 ? 0 : -EIO;
    if (rc == 0 && fputc('\n', out) == EOF)
        rc = -EIO;
    json_decref(root);
    return rc;
}

const struct gmt_writer gmt_writer_json = {
    .name = "json", .extension = "json", .write = write_json};

/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON; docs/json.md documents the shape. Unknown numbers are null. */
#include "reports/json/json.h"

#include <errno.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/answer.h"
#include "reports/model/words.h"

enum { GMT_JSON_VERSION = 1 };
/* Of docs/report.schema.json: the second number grows when fields are added. */
#define GMT_JSON_SCHEMA_VERSION "1.9"

static json_t *of_rule(const void *context, size_t i)
{
    const struct gmt_rule_result *rule = &((const struct gmt_report *)context)->rules[i];

    return json_pack("{ss, ss, ss, ss, so, so, so}", "id", rule->id, "slug", rule->slug, "title",
                     rule->title, "outcome", gmt_outcome_name(rule->outcome), "why",
                     gmt_json_text(rule->why), "findings", gmt_json_integer(rule->findings),
                     "notes", gmt_json_integer(rule->notes));
}

static json_t *of_gap(const void *context, size_t i)
{
    const struct gmt_gap *gap = &((const struct gmt_report *)context)->gaps[i];

    return json_pack("{so, so, so}", "what", gmt_json_text(gap->what), "why",
                     gmt_json_text(gap->why), "remedy", gmt_json_text(gap->remedy));
}

static json_t *of_joint(const void *context, size_t i)
{
    const struct gmt_report *r = context;
    const struct gmt_joint *joint = &r->joints[i];
    json_t *parts = json_array();

    for (size_t k = 0; k < joint->part_count; k++) {
        const struct gmt_finding *finding = &r->findings[joint->parts[k].finding];

        json_array_append_new(parts, json_pack("{ss, ss, so}", "rule", finding->rule, "fingerprint",
                                               finding->fingerprint, "share",
                                               gmt_json_number(joint->parts[k].share)));
    }
    return json_pack("{so, so, so, so}", "kernel", gmt_json_text(joint->kernel), "cost_ns",
                     gmt_json_ns(joint->cost_ns), "saving", gmt_json_saving(&joint->saving),
                     "parts", parts);
}

static json_t *of_verdict(const struct gmt_report *r)
{
    json_t *json = json_pack("{so, so, so, so, so, so}", "wall_ns", gmt_json_ns(r->wall_ns),
                             "gpu_busy_ns", gmt_json_ns(r->gpu_busy_ns), "copy_ns",
                             gmt_json_ns(r->copy_ns), "kernel_ns", gmt_json_ns(r->kernel_ns),
                             "peak_device_bytes", gmt_json_number(r->peak_device_bytes),
                             "allocations", gmt_json_number(r->allocation_count));

    if (r->device_seen < 1) {
        json_object_set_new(json, "device_seen_share", gmt_json_number(r->device_seen));
        json_object_set_new(json, "gpu_busy_error_ns", gmt_json_ns(r->gpu_busy_error_ns));
    }
    json_object_set_new(json, "recorded_ns", gmt_json_ns(r->recorded_ns));
    json_object_set_new(json, "gmtrace_ns", gmt_json_ns(r->own_ns));
    json_object_set_new(json, "transfers", gmt_json_integer(r->transfers));
    json_object_set_new(json, "launches", gmt_json_integer(r->launches));
    json_object_set_new(json, "measured_launches", gmt_json_integer(r->measured_launches));
    json_object_set_new(json, "kernel_classes", gmt_json_integer(r->kernel_classes));
    json_object_set_new(json, "measured_classes", gmt_json_integer(r->measured_classes));
    json_object_set_new(json, "combined_saving", gmt_json_saving(&r->combined));
    json_object_set_new(json, "first_saving", gmt_json_saving(&r->first));
    json_object_set_new(json, "modelled", json_boolean(r->modelled));
    json_object_set_new(json, "modelled_ns", gmt_json_ns(r->modelled_ns));
    json_object_set_new(json, "savings_add_up", json_boolean(gmt_savings_add_up(r)));
    return json;
}

static json_t *of_process(const struct gmt_report *r)
{
    json_t *json = json_pack("{so, so, so, so}", "command", gmt_json_text(r->command), "exe",
                             gmt_json_text(r->exe), "hostname", gmt_json_text(r->hostname),
                             "end_reason", gmt_json_text(r->end_reason));

    json_object_set_new(json, "exit_status", gmt_json_number(r->exit_status));
    json_object_set_new(json, "exit_code", gmt_json_number(r->exit_code));
    json_object_set_new(json, "exit_signal", gmt_json_number(r->exit_signal));
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

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        json_object_set_new(json, numbers[i].name, gmt_json_number(numbers[i].value));
    }
    json_object_set_new(json, "attributes", gmt_json_settings(r->device_attributes));
    return json;
}

static json_t *of_capability(const void *context, size_t i)
{
    const struct gmt_capability_row *row = &((const struct gmt_report *)context)->capabilities[i];

    return json_pack("{so, so, so, so}", "name", gmt_json_text(row->name), "state",
                     gmt_json_text(row->state), "detail", gmt_json_text(row->detail), "remedy",
                     gmt_json_text(row->remedy));
}

static json_t *of_loss(const void *context, size_t i)
{
    const struct gmt_loss_row *row = &((const struct gmt_report *)context)->losses[i];

    return json_pack("{so, so, sI}", "kind", gmt_json_text(row->kind), "detail",
                     gmt_json_text(row->detail), "count", (json_int_t)row->count);
}

static json_t *of_model(const struct gmt_report *r)
{
    return json_pack("{ss, so, so, so, so, sb}", "provenance",
                     gmt_provenance_name(r->model_provenance), "match",
                     gmt_json_text(gmt_match_name(r->model_provenance)), "origin",
                     gmt_json_text(r->model_origin), "device", gmt_json_text(r->model_device),
                     "created", gmt_json_text(r->model_created), "noisy", (int)r->model_noisy);
}

static json_t *of_range(const void *context, size_t i)
{
    const struct gmt_range_row *row = &((const struct gmt_report *)context)->ranges[i];

    return json_pack("{so, sI, so, sI, so}", "name", gmt_json_text(row->label), "count",
                     (json_int_t)row->count, "host_ns", gmt_json_ns(row->host_ns), "findings",
                     (json_int_t)row->findings, "best_ns", gmt_json_ns(row->best_ns));
}

static json_t *of_range_node(const void *context, size_t i)
{
    const struct gmt_range_node *node = &((const struct gmt_report *)context)->range_nodes[i];

    return json_pack(
        "{so, so, sI, sb, sb, sI, sI, so, so, so, so, so, so, so, so, so, so, so, sI, so}", "name",
        gmt_json_text(node->label), "parent",
        node->parent >= 0 ? json_integer(node->parent) : json_null(), "depth",
        (json_int_t)node->depth, "of_process", (int)node->of_process, "others", (int)node->others,
        "count", (json_int_t)node->count, "threads", (json_int_t)node->threads, "host_ns",
        gmt_json_ns(node->host_ns), "host_self_ns", gmt_json_ns(node->host_self_ns), "device_ns",
        gmt_json_ns(node->device_ns), "device_self_ns", gmt_json_ns(node->device_self_ns),
        "idle_ns", gmt_json_ns(node->idle_ns), "launches", gmt_json_number(node->launches),
        "copies", gmt_json_number(node->copies), "h2d_bytes", gmt_json_number(node->h2d_bytes),
        "d2h_bytes", gmt_json_number(node->d2h_bytes), "allocated_bytes",
        gmt_json_number(node->allocated_bytes), "held_bytes", gmt_json_number(node->held_bytes),
        "findings", (json_int_t)node->findings, "best_ns", gmt_json_ns(node->best_ns));
}

void gmt_json_report(struct gmt_json_stream *s, const char *key, const struct gmt_report *r)
{
    gmt_json_open_object(s, key);
    gmt_json_give(s, "format", json_string("gmtrace-report"));
    gmt_json_give(s, "version", json_integer(GMT_JSON_VERSION));
    gmt_json_give(s, "schema_version", json_string(GMT_JSON_SCHEMA_VERSION));
    gmt_json_give(s, "tool_version", gmt_json_text(r->tool_version));
    gmt_json_give(s, "trace", gmt_json_text(r->trace_path));
    gmt_json_give(s, "process", of_process(r));
    gmt_json_give(s, "device", of_device(r));
    gmt_json_give(s, "verdict", of_verdict(r));
    gmt_json_give(s, "time", gmt_json_time(r));
    gmt_json_give_each(s, "findings", r->finding_count, gmt_json_finding, r->findings);
    gmt_json_give_each(s, "notes", r->note_count, gmt_json_finding, r->notes);
    gmt_json_give_each(s, "joint_savings", r->joint_count, of_joint, r);
    gmt_json_give_each(s, "calls", r->call_count, gmt_json_call, r->calls);
    if (r->failed_calls != NULL) {
        gmt_json_failed_calls(s, "failed_calls", r);
    }
    gmt_json_give_each(s, "transfers", r->copy_row_count, gmt_json_transfer, r->copy_rows);
    gmt_json_give_each(s, "kernels", r->kernel_count, gmt_json_kernel, r->kernels);
    gmt_json_memory(s, "memory", r);
    gmt_json_give_each(s, "races", r->race_count, gmt_json_race, r->races);
    if (r->range_limit != NULL) {
        gmt_json_give(s, "range_limit", gmt_json_text(r->range_limit));
    }
    if (r->range_count > 0) {
        gmt_json_give_each(s, "ranges", r->range_count, of_range, r);
        gmt_json_give_each(s, "range_tree", r->range_node_count, of_range_node, r);
    }
    gmt_json_give_each(s, "rules", r->rule_count, of_rule, r);
    gmt_json_give_each(s, "could_not_check", r->gap_count, of_gap, r);
    gmt_json_give_each(s, "capabilities", r->capability_count, of_capability, r);
    gmt_json_give_each(s, "losses", r->loss_count, of_loss, r);
    if (r->coverage.line_count > 0) {
        gmt_json_give(s, "coverage", gmt_json_coverage(&r->coverage));
    }
    if (r->tried != NULL) {
        gmt_json_give(s, "tried", gmt_json_tried_results(r->tried));
    }
    gmt_json_give(s, "device_model", of_model(r));
    gmt_json_close_object(s);
}

static int write_json(const struct gmt_report *r, const struct gmt_writer_options *options,
                      FILE *out)
{
    struct gmt_json_stream stream = {
        .write = gmt_json_to_file, .context = out, .flags = GMT_JSON_INDENTED};

    (void)options;
    gmt_json_report(&stream, NULL, r);
    if (stream.rc == 0 && fputc('\n', out) == EOF) {
        stream.rc = -EIO;
    }
    return stream.rc;
}

const struct gmt_writer gmt_writer_json = {.name = "json", .write = write_json};

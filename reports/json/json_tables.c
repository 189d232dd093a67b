/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of copies and kernels in the JSON report. */
#include <jansson.h>
#include <math.h>

#include "reports/json/json_occupancy.h"
#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"

json_t *gmt_json_transfer(const void *rows, size_t i)
{
    const struct gmt_transfer_row *row = (const struct gmt_transfer_row *)rows + i;

    return json_pack("{ss, ss, so, so, so, so}", "direction", row->direction, "host_class",
                     row->host_class, "up_to_bytes", gmt_json_number(row->bucket_bytes), "count",
                     gmt_json_integer(row->count), "bytes", gmt_json_number(row->bytes), "time_ns",
                     gmt_json_ns(row->time_ns));
}

/* { "name": mean, ... } of what was measured. */
static json_t *of_counters(const struct gmt_kernel_row *k)
{
    json_t *object = json_object();

    for (size_t i = 0; i < k->counter_count; i++) {
        json_object_set_new(object, k->counters[i].name, gmt_json_number(k->counters[i].value));
    }
    return object;
}

json_t *gmt_json_kernel(const void *rows, size_t i)
{
    const struct gmt_kernel_row *k = (const struct gmt_kernel_row *)rows + i;
    json_t *json = json_pack(
        "{so, s[III], s[III], sI, sI, so, so}", "name", gmt_json_text(k->name), "grid",
        (json_int_t)k->grid[0], (json_int_t)k->grid[1], (json_int_t)k->grid[2], "block",
        (json_int_t)k->block[0], (json_int_t)k->block[1], (json_int_t)k->block[2], "launches",
        (json_int_t)k->launches, "measured_launches", (json_int_t)k->measured, "device_ns",
        gmt_json_ns(k->device_ns), "share_of_wall", gmt_json_number(k->share));

    json_object_set_new(json, "launches_in_graphs", json_integer((json_int_t)k->in_graphs));
    json_object_set_new(json, "device_ns_by",
                        !isfinite(k->device_ns) ? json_null()
                                                : json_string(k->by_cycles ? "cycles" : "times"));
    if (k->estimated > 0) {
        json_object_set_new(json, "estimated_launches", json_integer((json_int_t)k->estimated));
        json_object_set_new(json, "device_ns_error", gmt_json_ns(k->estimated_error_ns));
    }
    json_object_set_new(json, "load_efficiency_percent", gmt_json_number(k->load_efficiency));
    json_object_set_new(json, "store_efficiency_percent", gmt_json_number(k->store_efficiency));
    json_object_set_new(json, "shared_ways", gmt_json_number(k->shared_ways));
    json_object_set_new(json, "achieved_occupancy", gmt_json_number(k->achieved_occupancy));
    json_object_set_new(json, "theoretical_occupancy", gmt_json_number(k->theoretical_occupancy));
    json_object_set_new(json, "local_share", gmt_json_number(k->local_share));
    json_object_set_new(json, "dram_bytes_per_s", gmt_json_number(k->dram_bytes_per_s));
    json_object_set_new(json, "class_id", json_integer((json_int_t)k->class_id));
    json_object_set_new(json, "registers", gmt_json_number(k->registers));
    json_object_set_new(json, "static_shared_bytes", gmt_json_number(k->static_shared_bytes));
    json_object_set_new(json, "dynamic_shared_bytes", gmt_json_number(k->dynamic_shared_bytes));
    json_object_set_new(json, "local_bytes", gmt_json_number(k->local_bytes));
    json_object_set_new(json, "max_threads_per_block", gmt_json_number(k->max_threads_per_block));
    if (k->title != NULL) {
        json_object_set_new(json, "title", gmt_json_text(k->title));
    }
    if (k->origin != NULL) {
        json_object_set_new(json, "origin", gmt_json_text(k->origin));
        json_object_set_new(json, "origin_by", gmt_json_text(k->origin_by));
    }
    json_object_set_new(json, "counters", of_counters(k));
    json_object_set_new(json, "occupancy", gmt_json_occupancy(k->occupancy));
    return json;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The occupancy calculator's part of the JSON report. */
#include "reports/json/json_occupancy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static json_t *integer_or_null(int64_t value, int64_t none)
{
    return value != none ? json_integer((json_int_t)value) : json_null();
}

static json_t *share(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* { "value": blocks, ... }: objects, because a line for each number would make reports long. */
static json_t *of_steps(const struct gmt_report_step *steps, size_t n)
{
    json_t *object = json_object();

    for (size_t i = 0; i < n; i++) {
        char key[24];

        snprintf(key, sizeof(key), "%" PRId64, steps[i].value);
        json_object_set_new(object, key, json_integer((json_int_t)steps[i].blocks));
    }
    return object;
}

static json_t *of_limits(const struct gmt_report_occupancy *o)
{
    json_t *object = json_object();

    for (size_t i = 0; i < o->limit_count; i++) {
        json_object_set_new(object, o->limit_names[i], integer_or_null(o->limits[i], INT64_MAX));
    }
    return object;
}

json_t *gmt_json_occupancy(const struct gmt_report_occupancy *o)
{
    if (o == NULL) {
        return json_null();
    }
    if (o->unknown != NULL) {
        return json_pack("{ss}", "unknown", o->unknown);
    }
    json_t *json = json_pack("{sI, sI, sI, so, so, so, so}", "blocks_per_multiprocessor",
                             (json_int_t)o->blocks, "warps_per_multiprocessor",
                             (json_int_t)o->warps, "most_warps", (json_int_t)o->most_warps,
                             "theoretical", share(o->theoretical), "limiter",
                             o->limiter != NULL ? json_string(o->limiter) : json_null(),
                             "without_limiter", share(o->without_limiter), "limits", of_limits(o));

    json_object_set_new(json, "carveout_percent", integer_or_null(o->carveout_percent, -1));
    json_object_set_new(json, "barriers", json_integer((json_int_t)o->barriers));
    json_object_set_new(json, "best_block_size", integer_or_null(o->best_block, 0));
    json_object_set_new(json, "best_grid", integer_or_null(o->best_grid, 0));
    json_object_set_new(json, "cluster_blocks", json_integer((json_int_t)o->cluster_blocks));
    json_object_set_new(json, "clusters_at_most",
                        o->cluster_blocks > 1 ? json_integer((json_int_t)o->most_clusters)
                                              : json_null());
    json_object_set_new(json, "by_block_size", of_steps(o->block_sizes, o->block_size_count));
    json_object_set_new(json, "by_registers", of_steps(o->registers, o->register_count));
    json_object_set_new(json, "by_shared_bytes", of_steps(o->shared_bytes, o->shared_count));
    return json;
}

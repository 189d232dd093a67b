/* SPDX-License-Identifier: Apache-2.0 */
/* Peak memory and failed allocations in the JSON report. */
#include <jansson.h>

#include "reports/json_parts.h"
#include "reports/json_values.h"

static json_t *of_holders(const struct gmt_memory_holder *holders, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct gmt_memory_holder *h = &holders[i];

        json_array_append_new(
            array,
            json_pack("{so, so, so, so, sb}", "where", gmt_json_where(&h->where), "bytes",
                      gmt_json_number(h->bytes), "allocations", gmt_json_number(h->allocations),
                      "idle_bytes", gmt_json_number(h->idle_bytes), "segments", (int)h->segments));
    }
    return array;
}

static json_t *of_failures(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->failure_count; i++) {
        const struct gmt_memory_failure *f = &r->failures[i];

        json_array_append_new(
            array,
            json_pack("{so, ss, so, so, so, so, so}", "where", gmt_json_where(&f->where), "memory",
                      f->host ? "host" : "device", "failures", gmt_json_number(f->failures),
                      "asked_bytes", gmt_json_number(f->asked_bytes), "at_ns",
                      gmt_json_ns(f->at_ns), "held_bytes", gmt_json_number(f->held_bytes),
                      "holders", of_holders(f->holders, f->holder_count)));
    }
    return array;
}

json_t *gmt_json_memory(const struct gmt_report *r)
{
    json_t *json = json_pack("{so, so, so, so, so}", "peak_device_bytes",
                             gmt_json_number(r->peak_device_bytes), "peak_at_ns",
                             gmt_json_ns(r->peak_at_ns), "peak_needed_bytes",
                             gmt_json_number(r->peak_needed_bytes), "peak_pinned_bytes",
                             gmt_json_number(r->peak_pinned_bytes), "peak_holders",
                             of_holders(r->peak_holders, r->peak_holder_count));

    json_object_set_new(json, "failures", of_failures(r));
    return json;
}

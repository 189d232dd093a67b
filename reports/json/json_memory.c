/* SPDX-License-Identifier: Apache-2.0 */
/* Peak memory and failed allocations in the JSON report. */
#include <jansson.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"

static json_t *of_holder(const void *holders, size_t i)
{
    const struct gmt_memory_holder *h = (const struct gmt_memory_holder *)holders + i;

    return json_pack("{so, so, so, so, sb}", "where", gmt_json_where(&h->where), "bytes",
                     gmt_json_number(h->bytes), "allocations", gmt_json_number(h->allocations),
                     "idle_bytes", gmt_json_number(h->idle_bytes), "segments", (int)h->segments);
}

static void write_failure(struct gmt_json_stream *s, const struct gmt_memory_failure *f)
{
    gmt_json_open_object(s, NULL);
    gmt_json_give(s, "where", gmt_json_where(&f->where));
    gmt_json_give(s, "memory", json_string(f->host ? "host" : "device"));
    gmt_json_give(s, "failures", gmt_json_number(f->failures));
    gmt_json_give(s, "asked_bytes", gmt_json_number(f->asked_bytes));
    gmt_json_give(s, "at_ns", gmt_json_ns(f->at_ns));
    gmt_json_give(s, "held_bytes", gmt_json_number(f->held_bytes));
    gmt_json_give_each(s, "holders", f->holder_count, of_holder, f->holders);
    gmt_json_close_object(s);
}

void gmt_json_memory(struct gmt_json_stream *s, const char *key, const struct gmt_report *r)
{
    gmt_json_open_object(s, key);
    gmt_json_give(s, "peak_device_bytes", gmt_json_number(r->peak_device_bytes));
    gmt_json_give(s, "peak_at_ns", gmt_json_ns(r->peak_at_ns));
    gmt_json_give(s, "peak_needed_bytes", gmt_json_number(r->peak_needed_bytes));
    gmt_json_give(s, "peak_pinned_bytes", gmt_json_number(r->peak_pinned_bytes));
    gmt_json_give_each(s, "peak_holders", r->peak_holder_count, of_holder, r->peak_holders);
    gmt_json_open_array(s, "failures");
    for (size_t i = 0; i < r->failure_count; i++) {
        write_failure(s, &r->failures[i]);
    }
    gmt_json_close_array(s);
    if (r->heaps != NULL) {
        gmt_json_give(s, "heaps", gmt_json_heaps(r));
    }
    if (r->snapshot != NULL) {
        gmt_json_give(s, "snapshot", gmt_json_snapshot(r));
    }
    gmt_json_close_object(s);
}

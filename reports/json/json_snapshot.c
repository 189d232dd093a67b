/* SPDX-License-Identifier: Apache-2.0 */
/* The memory snapshot, and what allocators have registered, in the JSON report. */
#include <jansson.h>
#include <math.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/heaps.h"
#include "reports/model/snapshot.h"

static json_t *of_holder(const struct gmt_snapshot_holder *h)
{
    return json_pack("{so, so, so, so, so, so, so}", "label", gmt_json_text(h->label), "name",
                     gmt_json_text(h->name), "function", gmt_json_text(h->function), "file",
                     gmt_json_text(h->file), "line", gmt_json_line(h->line), "bytes",
                     gmt_json_number(h->bytes), "count", gmt_json_number(h->count));
}

static json_t *of_holders(const struct gmt_snapshot_holders *h)
{
    json_t *list = json_array();

    for (size_t i = 0; i < h->count; i++) {
        json_array_append_new(list, of_holder(&h->list[i]));
    }
    return json_pack("{so, so, so, so}", "largest", list, "rest_bytes",
                     gmt_json_number(h->rest_bytes), "rest_count", gmt_json_number(h->rest_count),
                     "rest_places", gmt_json_number(h->rest_places));
}

static json_t *of_moment(const struct gmt_snapshot_moment *m)
{
    return json_pack("{so, so, so, so, so, so, so, so}", "at_ns", gmt_json_ns(m->at_ns),
                     "reserved_bytes", gmt_json_number(m->reserved_bytes), "requested_bytes",
                     gmt_json_number(m->requested_bytes), "asked_bytes",
                     gmt_json_number(m->asked_bytes), "free_bytes", gmt_json_number(m->free_bytes),
                     "holders", of_holders(&m->holders), "outside_bytes",
                     gmt_json_number(m->other_bytes), "outside", of_holders(&m->others));
}

static json_t *of_replay(const struct gmt_snapshot_replay *p)
{
    return json_pack("{so, so, so, so}", "setting", gmt_json_text(p->setting), "reserved_bytes",
                     gmt_json_number(p->reserved_bytes), "needed_bytes",
                     gmt_json_number(p->needed_bytes), "fits",
                     isnan(p->needed_bytes) ? json_null() : json_boolean(p->fits));
}

static json_t *of_history(const struct gmt_report *r, const struct gmt_snapshot_device *d)
{
    json_t *errors = json_array(), *replays = json_array();

    for (size_t i = 0; i < d->error_count; i++) {
        json_array_append_new(errors, of_moment(&d->errors[i]));
    }
    for (size_t i = 0; i < d->replay_count; i++) {
        json_array_append_new(replays, of_replay(&d->replays[i]));
    }
    return json_pack(
        "{so, so, so, so, so, so, so, so, so, so}", "events", gmt_json_number(d->events),
        "recorded_peak_bytes", gmt_json_number(d->recorded_peak_bytes), "older_bytes",
        gmt_json_number(d->lost_bytes), "peak", d->peak != NULL ? of_moment(d->peak) : json_null(),
        "out_of_memory", errors, "out_of_memory_events", gmt_json_number(d->all_errors), "replays",
        replays, "replay_error", gmt_json_number(gmt_snapshot_replay_error(d)), "advice",
        gmt_json_text(gmt_snapshot_advice(r->arena, d)), "caveats",
        gmt_json_text(gmt_snapshot_caveats(r->arena, r->snapshot, d)));
}

static json_t *of_device(const struct gmt_report *r, const struct gmt_snapshot_device *d)
{
    json_t *parts = json_pack(
        "{so, so, so, so, so}", "tensors", gmt_json_number(d->tensor_bytes), "pending",
        gmt_json_number(d->pending_bytes), "rounding", gmt_json_number(d->rounding_bytes), "unused",
        gmt_json_number(d->unused_bytes), "outside", gmt_json_number(d->other_bytes));

    return json_pack(
        "{so, so, so, so, so, so, so, so, so, so, so}", "device", json_integer(d->device), "at_ns",
        gmt_json_ns(d->at_ns), "total_bytes", gmt_json_number(d->total_bytes), "parts", parts,
        "segment_bytes", gmt_json_number(d->segment_bytes), "segments",
        gmt_json_number(d->segments), "blocks", gmt_json_number(d->blocks), "unmatched_bytes",
        gmt_json_number(d->unmatched_bytes), "tensors", of_holders(&d->tensors), "outside",
        of_holders(&d->others), "history", d->replay_count > 0 ? of_history(r, d) : json_null());
}

static json_t *of_named(const struct gmt_heaps_named *h)
{
    return json_pack("{so, so, so, so, so, so, so}", "name", gmt_json_text(h->name), "domain",
                     gmt_json_text(h->domain), "count", gmt_json_number(h->count), "held_bytes",
                     gmt_json_number(h->held_bytes), "region_bytes",
                     gmt_json_number(h->region_bytes), "peak_bytes", gmt_json_number(h->peak_bytes),
                     "peak_at_ns", gmt_json_ns(h->peak_at_ns));
}

static json_t *of_all_named(const struct gmt_heaps_device *d)
{
    json_t *list = json_array();

    for (size_t i = 0; i < d->named_count; i++) {
        json_array_append_new(list, of_named(&d->named[i]));
    }
    return json_pack("{so, so, so, so, so}", "largest", list, "rest_names",
                     gmt_json_number(d->rest_names), "rest_count", gmt_json_number(d->rest_heaps),
                     "rest_held_bytes", gmt_json_number(d->rest_held_bytes), "rest_region_bytes",
                     gmt_json_number(d->rest_region_bytes));
}

static json_t *of_heaps(const struct gmt_heaps_device *d)
{
    json_t *parts = json_pack("{so, so, so}", "regions", gmt_json_number(d->region_bytes), "unused",
                              gmt_json_number(d->slack_bytes), "outside",
                              gmt_json_number(d->other_bytes));

    return json_pack("{so, so, so, so, so, so, so, so, so, so, so}", "device",
                     json_integer(d->device), "at_ns", gmt_json_ns(d->at_ns), "total_bytes",
                     gmt_json_number(d->total_bytes), "parts", parts, "region_count",
                     gmt_json_number(d->regions), "heap_count", gmt_json_number(d->heaps), "heaps",
                     of_all_named(d), "regions", of_holders(&d->holders), "outside",
                     of_holders(&d->others), "never_ended_bytes", gmt_json_number(d->left_bytes),
                     "never_ended", gmt_json_number(d->left_count));
}

json_t *gmt_json_heaps(const struct gmt_report *r)
{
    json_t *devices = json_array();

    for (size_t i = 0; i < r->heaps->device_count; i++) {
        json_array_append_new(devices, of_heaps(&r->heaps->devices[i]));
    }
    return json_pack("{so}", "devices", devices);
}

json_t *gmt_json_snapshot(const struct gmt_report *r)
{
    json_t *devices = json_array();

    for (size_t i = 0; i < r->snapshot->device_count; i++) {
        json_array_append_new(devices, of_device(r, &r->snapshot->devices[i]));
    }
    return json_pack("{so, so, so, sb, sb, so}", "file", gmt_json_text(r->snapshot->path),
                     "settings", gmt_json_text(r->snapshot->conf), "devices", devices,
                     "private_pools", (int)r->snapshot->private_pools, "garbage_collection",
                     (int)r->snapshot->collects, "unknown_actions",
                     gmt_json_number(r->snapshot->unknown_actions));
}

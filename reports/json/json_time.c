/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorded time went to, and the API summary, in the JSON report. */
#include <jansson.h>
#include <math.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/answer.h"
#include "reports/model/words.h"

static json_t *of_place(const struct gmt_call_place *place)
{
    const struct gmt_where *where = &place->where;
    json_t *json = json_pack("{so, so, so, so}", "label", gmt_json_text(where->label), "function",
                             gmt_json_text(where->function), "file", gmt_json_text(where->file),
                             "line", gmt_json_line(where->line));

    if (place->until != NULL) {
        json_object_set_new(json, "until", gmt_json_text(place->until));
    }
    if (place->inner != NULL) {
        json_object_set_new(json, "inner", gmt_json_text(place->inner));
    }
    json_object_set_new(json, "count", gmt_json_number(place->count));
    json_object_set_new(json, "time_ns", gmt_json_ns(place->time_ns));
    json_object_set_new(json, "longest_ns", gmt_json_ns(place->longest_ns));
    return json;
}

static json_t *of_places(const struct gmt_call_place *places, size_t n)
{
    json_t *json = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(json, of_place(&places[i]));
    }
    return json;
}

/* Whole numbers whose sum is that of the whole, too: what rounding leaves goes to the largest. */
static void round_parts(const struct gmt_report *r, double ns[GMT_TIME_PARTS])
{
    double left_ns = round(r->recorded_ns);
    size_t largest = 0;

    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        ns[i] = r->time_parts[i].ns > 0 ? round(r->time_parts[i].ns) : 0;
        left_ns -= ns[i];
        largest = ns[i] > ns[largest] ? i : largest;
    }
    ns[largest] += left_ns;
}

/* Each device by itself, where several had work. */
static json_t *of_devices(const struct gmt_report *r)
{
    json_t *json = json_array();

    for (size_t i = 0; i < r->device_idle_count; i++) {
        const struct gmt_device_idle *device = &r->device_idle[i];
        json_t *causes = json_object();

        for (size_t k = GMT_TIME_ALLOCATION; k <= GMT_TIME_HOST; k++) {
            json_object_set_new(causes, gmt_time_part_name((enum gmt_time_part)k),
                                gmt_json_ns(device->ns[k]));
        }
        json_array_append_new(json, json_pack("{si, so, so, so}", "device", (int)device->device,
                                              "name", gmt_json_text(device->name), "idle_ns",
                                              gmt_json_ns(device->idle_ns), "causes", causes));
    }
    return json;
}

json_t *gmt_json_time(const struct gmt_report *r)
{
    double ns[GMT_TIME_PARTS];
    json_t *parts = json_array();

    if (!r->has_time_parts) {
        json_decref(parts);
        return json_null();
    }
    round_parts(r, ns);
    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        const struct gmt_time_row *row = &r->time_parts[i];

        json_array_append_new(
            parts,
            json_pack("{ss, ss, so, so, so, so, so, so}", "name",
                      gmt_time_part_name((enum gmt_time_part)i), "title",
                      gmt_time_part_title((enum gmt_time_part)i), "ns", gmt_json_ns(ns[i]), "times",
                      gmt_json_number(row->times), "longest_ns", gmt_json_ns(row->longest_ns),
                      "places", of_places(row->places, row->place_count), "more_places",
                      gmt_json_number(row->more_places), "more_ns", gmt_json_ns(row->more_ns)));
    }
    return json_pack("{so, so, so, so, so}", "recorded_ns", gmt_json_ns(r->recorded_ns), "idle",
                     gmt_json_text(gmt_answer_idle(r)), "note",
                     gmt_json_text(gmt_time_parts_note(r)), "parts", parts, "devices",
                     of_devices(r));
}

json_t *gmt_json_call(const void *rows, size_t i)
{
    const struct gmt_call_row *row = (const struct gmt_call_row *)rows + i;

    return json_pack("{so, so, so, so, so, so}", "name", gmt_json_text(row->name), "runtime_name",
                     gmt_json_text(row->runtime_name), "calls", gmt_json_number(row->calls),
                     "time_ns", gmt_json_ns(row->time_ns), "longest_ns",
                     gmt_json_ns(row->longest_ns), "places",
                     of_places(row->places, row->place_count));
}
